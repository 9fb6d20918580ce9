/* SPDX-License-Identifier: MIT */
/*
 * The code that accesses conflicting memory stays in the section, and so do operations on other
 * objects; the flow between them tells which lines need not (flow/graph.h).  A line that stays in
 * one run, or in one copy of inlined code, stays.
 */
#include "cli/suggest/extents.h"

#include <errno.h>

#include "cli/suggest/addresses.h"
#include "cli/suggest/gain.h"
#include "cli/suggest/inside.h"
#include "cli/suggest/unrecorded.h"
#include "cli/suggest/whole.h"
#include "flow/code.h"
#include "suggest/place.h"

/* --- lines ------------------------------------------------------------------------------------ */

static struct pp_suggest_line *line_in(GArray *lines, int number)
{
	for (guint i = 0; lines && i < lines->len; i++) {
		struct pp_suggest_line *line = &g_array_index(lines, struct pp_suggest_line, i);

		if (line->number == number)
			return line;
	}
	return NULL;
}

static int by_number(const void *x, const void *y)
{
	const struct pp_suggest_line *a = x, *b = y;

	return (a->number > b->number) - (a->number < b->number);
}

static void add_line(GArray *lines, struct pp_suggest_line new)
{
	struct pp_suggest_line *line = line_in(lines, new.number);

	if (!line) {
		g_array_append_val(lines, new);
		return;
	}
	line->is_seen |= new.is_seen;
	if (line->place != new.place)
		line->place = PP_SUGGEST_STAYS;
}

/*
 * The line of the code in the function that contains it, not in one that is inlined there; 0: it is
 * not that function, or not known.
 */
static int line_of(const struct pp_suggest_run *run, const char *function, uint64_t address)
{
	const struct pp_namer *namer = &run->view.namer;
	g_autoptr(GPtrArray) frames =
	    namer->frames(namer->data, pp_suggest_run_process(run), address);
	const struct pp_frame *last = frames->pdata[frames->len - 1];
	g_autofree char *name = pp_suggest_function_of(last->site);
	struct pp_suggest_code code;
	int line = 0;

	if (pp_suggest_code_read(last->site, &code) && g_str_equal(name, function))
		line = code.line;
	pp_suggest_code_done(&code);
	return line;
}

/* --- flows ------------------------------------------------------------------------------------ */

/* A section's flow, with the line of each node. */
struct lined {
	struct pp_flow flow;
	int *lines; /* by node; 0: not known, or outside */
};

static enum pp_suggest_place place_of(const struct lined *lined, int number)
{
	bool goes_before = true, goes_behind = true;

	for (uint32_t i = 0; i < lined->flow.nodes->len; i++) {
		if (lined->lines[i] != number)
			continue;
		goes_before &= pp_flow_at(&lined->flow, i)->goes_before;
		goes_behind &= pp_flow_at(&lined->flow, i)->goes_behind;
	}
	return goes_before   ? PP_SUGGEST_GOES_BEFORE
	       : goes_behind ? PP_SUGGEST_GOES_BEHIND
			     : PP_SUGGEST_STAYS;
}

static bool was_executed(const struct lined *lined, int number)
{
	g_autofree bool *is_one = g_new0(bool, lined->flow.nodes->len);

	for (uint32_t i = 0; i < lined->flow.nodes->len; i++)
		is_one[i] = lined->lines[i] == number;
	return pp_flow_was_executed(&lined->flow, is_one);
}

/* The calls that take and release the lock are not lines of the section. */
static bool is_edge(const struct lined *lined, int number, int entry_line)
{
	for (uint32_t i = 0; i < lined->flow.nodes->len; i++)
		if (pp_flow_at(&lined->flow, i)->is_exit && lined->lines[i] == number)
			return true;
	return number == entry_line;
}

static void add_lines(const struct lined *lined, int entry_line, struct pp_suggest_extent *extent)
{
	g_autoptr(GHashTable) done = g_hash_table_new(NULL, NULL);

	for (uint32_t i = 0; i < lined->flow.nodes->len; i++)
		if (pp_flow_at(&lined->flow, i)->is_exit)
			g_hash_table_add(extent->exits, GINT_TO_POINTER(lined->lines[i]));

	for (uint32_t i = 0; i < lined->flow.nodes->len; i++) {
		int number = lined->lines[i];

		if (!number || !g_hash_table_add(done, GINT_TO_POINTER(number)) ||
		    is_edge(lined, number, entry_line))
			continue;
		add_line(extent->lines, (struct pp_suggest_line){number, place_of(lined, number),
								 was_executed(lined, number)});
	}
}

static void set_lines(struct lined *lined, const struct pp_suggest_run *run, const char *function)
{
	lined->lines = g_new0(int, lined->flow.nodes->len + 1);
	for (uint32_t i = 0; i < lined->flow.nodes->len; i++) {
		const struct pp_flow_node *node = pp_flow_at(&lined->flow, i);

		if (node->is_inside)
			lined->lines[i] =
			    line_of(run, function, node->address + MAX(node->len_bytes, 1));
	}
}

/* Without such code, the whole section may be moved, which is another suggestion. */
static bool has_staying(const struct pp_suggest_codes *codes)
{
	return codes && (g_hash_table_size(codes->staying) || codes->frees);
}

/* Returns NULL, or the reason why the lines are not known.  codes: NULL: there are no accesses. */
static const char *add_flow(const struct pp_suggest_run *run,
			    const struct pp_suggest_inside *inside,
			    const struct pp_suggest_codes *codes,
			    const struct pp_suggest_code *entry, const char *function,
			    struct pp_suggest_extent *extent)
{
	struct pp_flow_code code = {.entry = inside->entry,
				    .exits = inside->exits,
				    .staying = pp_suggest_addresses_new(),
				    .seen = pp_suggest_addresses_new(),
				    .frees = codes && codes->frees};
	struct lined lined = {0};
	const char *why = NULL;
	uint64_t where;

	pp_flow_init(&lined.flow);
	if (codes) {
		pp_suggest_addresses_add_all(code.staying, codes->staying);
		pp_suggest_addresses_add_all(code.seen, codes->seen);
	}
	pp_suggest_addresses_add_all(code.staying, inside->operations);
	pp_suggest_addresses_add_all(code.seen, inside->operations);
	if (!line_of(run, function, inside->entry))
		why = "the lock is taken in an inlined function";
	else if (!pp_symbols_text(run->view.symbols, pp_suggest_run_process(run), inside->entry,
				  &code.text))
		why = "the machine code is not known";
	else
		why = pp_flow_read(&lined.flow, &code, &where);
	if (!why) {
		pp_flow_classify(&lined.flow);
		set_lines(&lined, run, function);
		pp_suggest_unrecorded_add(run, &code, &lined.flow, lined.lines, extent->calls);
		if (has_staying(codes))
			add_lines(&lined, entry->line, extent);
	}
	g_free(lined.lines);
	pp_flow_done(&lined.flow);
	g_hash_table_unref(code.staying);
	g_hash_table_unref(code.seen);
	return why;
}

/* --- sites ------------------------------------------------------------------------------------ */

/* Why the sections of the site must stay as they are; NULL: they need not. */
static const char *why_not(const struct pp_suggest_site *site, const struct pp_suggest_code *entry)
{
	if (site->n_unknown)
		return "sections have no known accesses";
	if (site->has_condition)
		return "sections use a condition";
	return entry->line ? NULL : "the line of the lock is not known";
}

static char *entry_name(const struct pp_suggest_run *run, uint64_t entry)
{
	return run->view.namer.site(run->view.namer.data, pp_suggest_run_process(run), entry);
}

/* Adds the lines of the site in one run.  Returns NULL, or the reason why they are not known. */
static const char *add_run(const struct pp_suggest_run *run, const GPtrArray *insides,
			   struct pp_suggest_site *site, const struct pp_suggest_code *entry)
{
	const struct pp_suggest_codes *codes = g_hash_table_lookup(run->codes, site);
	g_autofree char *function = pp_suggest_function_of(site->name);
	const char *why = NULL;

	for (guint i = 0; i < insides->len && !why; i++) {
		const struct pp_suggest_inside *inside = insides->pdata[i];
		g_autofree char *name = entry_name(run, inside->entry);

		if (g_str_equal(name, site->name))
			why = add_flow(run, inside, codes, entry, function, &site->extent);
	}
	return has_staying(codes) ? why : NULL;
}

/* Adds the lines of all sites in one run. */
static int add_lines_of(struct pp_suggest_runs *runs, struct pp_suggest_run *run,
			struct pp_error *err)
{
	g_autoptr(GPtrArray) insides = pp_suggest_inside_read(&run->view, err);

	if (!insides)
		return -EINVAL;
	pp_suggest_unrecorded_read(run);
	for (guint l = 0; l < runs->facts.locks->len; l++) {
		const struct pp_suggest_lock *lock = runs->facts.locks->pdata[l];

		for (guint i = 0; i < lock->sites->len; i++) {
			struct pp_suggest_site *site = lock->sites->pdata[i];
			struct pp_suggest_extent *extent = &site->extent;
			struct pp_suggest_code entry;

			pp_suggest_code_read(site->name, &entry);
			if (!extent->lines) {
				extent->lines =
				    g_array_new(FALSE, FALSE, sizeof(struct pp_suggest_line));
				extent->exits = g_hash_table_new(NULL, NULL);
				extent->calls =
				    g_array_new(FALSE, FALSE, sizeof(struct pp_suggest_call));
				g_array_set_clear_func(extent->calls, pp_suggest_call_done);
			}
			if (!extent->why)
				extent->why = why_not(site, &entry);
			if (!extent->why)
				extent->why = add_run(run, insides, site, &entry);
			pp_suggest_code_done(&entry);
		}
	}
	return 0;
}

/* --- CPU time --------------------------------------------------------------------------------- */

/* The line of the section's function in which the sample was taken; 0: not known. */
static int sampled_line(const struct pp_suggest_run *run, const char *function,
			const struct pp_path *path)
{
	int line = 0;

	for (unsigned i = 0; i < path->n && !line; i++)
		line = line_of(run, function, path->addresses[i]);
	return line;
}

static void add_samples(const struct pp_suggest_run *run, const struct pp_suggest_inside *inside,
			struct pp_suggest_site *site)
{
	g_autofree char *function = pp_suggest_function_of(site->name);
	GHashTableIter at;
	void *value;

	g_hash_table_iter_init(&at, inside->samples);
	while (g_hash_table_iter_next(&at, NULL, &value)) {
		const struct pp_suggest_sample *sample = value;
		struct pp_suggest_line *line =
		    line_in(site->extent.lines, sampled_line(run, function, sample->path));

		site->extent.n_samples += sample->n;
		site->extent.all_ns += sample->ns;
		if (line)
			line->is_seen = true;
		if (line && line->place != PP_SUGGEST_STAYS)
			site->extent.moved_ns += sample->ns;
	}
}

static void add_samples_at(struct pp_suggest_runs *runs, const struct pp_suggest_run *run,
			   const struct pp_suggest_inside *inside)
{
	g_autofree char *name = entry_name(run, inside->entry);

	for (guint l = 0; l < runs->facts.locks->len; l++) {
		const struct pp_suggest_lock *lock = runs->facts.locks->pdata[l];

		for (guint i = 0; i < lock->sites->len; i++) {
			struct pp_suggest_site *site = lock->sites->pdata[i];

			if (site->extent.lines && g_str_equal(site->name, name))
				add_samples(run, inside, site);
		}
	}
}

static int add_samples_of(struct pp_suggest_runs *runs, struct pp_suggest_run *run,
			  struct pp_error *err)
{
	g_autoptr(GPtrArray) insides = pp_suggest_inside_read(&run->view, err);

	for (guint i = 0; insides && i < insides->len; i++)
		add_samples_at(runs, run, insides->pdata[i]);
	return insides ? 0 : -EINVAL;
}

/* ---------------------------------------------------------------------------------------------- */

/* Lines are known of all runs, or not at all. */
static void finish_lines(struct pp_suggest_runs *runs)
{
	for (guint l = 0; l < runs->facts.locks->len; l++) {
		const struct pp_suggest_lock *lock = runs->facts.locks->pdata[l];

		for (guint i = 0; i < lock->sites->len; i++) {
			struct pp_suggest_site *site = lock->sites->pdata[i];

			if (site->extent.why)
				g_clear_pointer(&site->extent.lines, g_array_unref);
			else if (site->extent.lines)
				g_array_sort(site->extent.lines, by_number);
			pp_suggest_keep_whole(site, runs->sources);
		}
	}
}

int pp_suggest_extents(struct pp_suggest_runs *runs, struct pp_error *err)
{
	bool is_slowed = pp_suggest_gain_is_slowed(runs);
	int rc = 0;

	for (guint i = 0; i < runs->all->len && rc == 0; i++) {
		struct pp_suggest_run *run = runs->all->pdata[i];

		if (run->has_accesses)
			rc = add_lines_of(runs, run, err);
	}
	finish_lines(runs);
	for (guint i = 0; i < runs->all->len && rc == 0; i++) {
		struct pp_suggest_run *run = runs->all->pdata[i];

		if (!run->has_accesses || is_slowed)
			rc = add_samples_of(runs, run, err);
	}
	return rc;
}
