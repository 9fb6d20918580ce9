/* SPDX-License-Identifier: MIT */
/* Each change is replayed alone. Gains cannot be added up: combine.c replays several together. */
#include "cli/replay/rank.h"

#include <errno.h>
#include <stdlib.h>

#include "cli/replay/notes.h"
#include "cli/replay/combine.h"
#include "cli/replay/same.h"
#include "cli/replay/try.h"
#include "replay/sections.h"
#include "replay/simulate.h"

#define TEXT_ROWS 20
#define MAX_LOCKS 30
#define MAX_SITES 100

enum { CHANGE, LOCK, WAIT, CHANGED, EFFECT, ERROR };

static const struct pp_column columns[] = {
    [CHANGE] = {"change", "change", PP_TYPE_TEXT, PP_COLUMN_KEY, "as for --what-if"},
    [LOCK] = {"lock", "lock", PP_TYPE_TEXT, PP_COLUMN_KEY | PP_COLUMN_REPEATED, "that it is about"},
    [WAIT] = {"wait_ns", "wait", PP_TYPE_TIME_NS, 0,
	      "of all threads for the lock, in the replay without the change"},
    [CHANGED] = {"changed_ns", "changed", PP_TYPE_TIME_NS, 0, "run time with the change"},
    [EFFECT] = {"change_pct", "change%", PP_TYPE_PERCENT, PP_COLUMN_SIGNED | PP_COLUMN_MAIN,
		"of the run time"},
    [ERROR] = {"change_error_pct", "+/-%", PP_TYPE_PERCENT, PP_COLUMN_STAYS,
	       "half of the 95 % confidence interval of the change"},
};

/* Locks with one name. */
struct named {
	const char *name;
	int64_t wait_ns;
	bool is_tried;
};

struct rank {
	const struct pp_cli_replay_arguments *arguments;
	const struct pp_replay_model *model;
	struct pp_table *table;
	struct pp_cli_replay_outcome before;
	GHashTable *locks; /* name -> struct named * */
	GHashTable *sites; /* sites of sections of locks with waits: number -> struct named * */
	unsigned n_stuck;  /* changes with which threads wait for ever */
	int code;	   /* of the first replay that failed */
	struct pp_error *err;
	uint32_t *joined; /* pp_replay_join_sites() */
};

static struct named *named_of(const struct rank *self, uint32_t object)
{
	const struct pp_replay_object *of = self->model->objects->pdata[object];

	return g_hash_table_lookup(self->locks, of->name);
}

/* Simulates the run once, and adds up the waits by name. */
static void add_waits(struct rank *self)
{
	struct pp_simulation how = {self->model->n_cpus, 0, self->arguments->fair, 0, NULL};
	struct pp_simulated simulated;

	pp_simulate(self->model, &how, &simulated);
	for (guint i = 0; i < self->model->objects->len; i++) {
		const struct pp_replay_object *object = self->model->objects->pdata[i];
		struct named *named = named_of(self, i);

		if (object->kind != PP_REPLAY_OBJECT_LOCK)
			continue;
		if (!named) {
			named = g_new0(struct named, 1);
			named->name = object->name;
			g_hash_table_insert(self->locks, object->name, named);
		}
		named->wait_ns +=
		    g_array_index(simulated.objects, struct pp_simulated_object, i).wait_ns;
	}
	pp_simulated_done(&simulated);
}

static void add_site(void *data, const struct pp_replay_section *section)
{
	struct rank *self = data;
	struct named *named = named_of(self, section->object), *known;
	void *key = GUINT_TO_POINTER(self->joined[section->site]);

	if (section->site == PP_REPLAY_NO_SITE || named->wait_ns == 0)
		return;
	known = g_hash_table_lookup(self->sites, key);
	if (!known || known->wait_ns < named->wait_ns)
		g_hash_table_insert(self->sites, key, named);
}

/* --- trying ----------------------------------------------------------------------------------- */

static void add_row(struct rank *self, const char *text, const struct named *named,
		    const struct pp_cli_replay_outcome *after)
{
	struct pp_cli_replay_effect effect = pp_cli_replay_effect(&self->before, after);
	struct pp_cell *row = pp_table_add_row(self->table);

	pp_cell_set_text(&row[CHANGE], text);
	pp_cell_set_text(&row[LOCK], named->name);
	pp_cell_set_time(&row[WAIT], named->wait_ns);
	pp_cell_set_time(&row[CHANGED], (int64_t)after->ns.mean);
	pp_cell_set_number(&row[EFFECT], effect.pct);
	pp_cell_set_number(&row[ERROR], effect.error_pct);
}

/* Adds a row if the change can be made. */
static void try_change(struct rank *self, const char *text, const struct named *named)
{
	struct pp_cli_replay_outcome after;
	bool is_made;

	if (self->code)
		return;
	self->code =
	    pp_cli_replay_try(self->arguments, self->model, &text, 1, &after, &is_made, self->err);
	if (!self->code && is_made && after.n_stuck)
		self->n_stuck++;
	else if (!self->code && is_made)
		add_row(self, text, named, &after);
	pp_cli_replay_outcome_done(&after);
}

static int compare_names(const void *a, const void *b)
{
	const struct named *x = *(const struct named *const *)a;
	const struct named *y = *(const struct named *const *)b;

	return x->wait_ns != y->wait_ns ? (x->wait_ns < y->wait_ns) - (x->wait_ns > y->wait_ns)
					: g_strcmp0(x->name, y->name);
}

static void try_lock(struct rank *self, const struct named *named)
{
	/* the last two need known accesses */
	static const char *const forms[] = {"drop %s", "split %s by site", "split %s by object",
					    "rwlock %s"};
	unsigned n = self->model->accesses->len ? 4 : 2;

	for (unsigned i = 0; i < n; i++) {
		GString *text = g_string_new(forms[i]);

		g_string_replace(text, "%s", named->name, 1);
		try_change(self, text->str, named);
		g_string_free(text, TRUE);
	}
}

/* Tries the locks with the longest waits. */
static void try_locks(struct rank *self)
{
	g_autoptr(GPtrArray) locks = g_ptr_array_new();
	unsigned n_idle = 0, n_more = 0;
	GHashTableIter at;
	void *value;

	g_hash_table_iter_init(&at, self->locks);
	while (g_hash_table_iter_next(&at, NULL, &value))
		g_ptr_array_add(locks, value);
	if (locks->len)
		qsort(locks->pdata, locks->len, sizeof(void *), compare_names);
	for (guint i = 0; i < locks->len; i++) {
		struct named *named = locks->pdata[i];

		named->is_tried = named->wait_ns > 0 && i < MAX_LOCKS;
		if (named->is_tried)
			try_lock(self, named);
		else if (named->wait_ns == 0)
			n_idle++;
		else
			n_more++;
	}
	if (n_idle)
		pp_table_note(self->table, "locks left out, since no thread waits for them: %u",
			      n_idle);
	if (n_more)
		pp_table_note(self->table,
			      "locks left out, for which threads wait less than for %d others: %u",
			      MAX_LOCKS, n_more);
}

static void try_sites(struct rank *self)
{
	unsigned n_tried = 0, n_more = 0;

	for (uint32_t site = 1; site <= self->model->sites->len; site++) {
		const struct named *named =
		    g_hash_table_lookup(self->sites, GUINT_TO_POINTER(site));
		const char *name = self->model->sites->pdata[site - 1];
		g_autofree char *shrink = g_strdup_printf("shrink %s to 50 %%", name);

		if (!named || !named->is_tried)
			continue;
		if (n_tried == MAX_SITES) {
			n_more++;
			continue;
		}
		n_tried++;
		try_change(self, shrink, named);
	}
	if (n_more)
		pp_table_note(self->table, "call sites left out: %u", n_more);
}

static int compare_rows(const void *a, const void *b)
{
	double x = (*(struct pp_cell *const *)a)[EFFECT].number;
	double y = (*(struct pp_cell *const *)b)[EFFECT].number;

	return (x > y) - (x < y);
}

static void try_all(struct rank *self)
{
	add_waits(self);
	pp_replay_each_section((struct pp_replay_model *)self->model, add_site, self);
	try_locks(self);
	try_sites(self);
	if (self->table->rows->len)
		qsort(self->table->rows->pdata, self->table->rows->len, sizeof(void *),
		      compare_rows);
	else
		pp_table_note(self->table, "no change of a lock that threads wait for can be made");
	if (self->n_stuck)
		pp_table_note(self->table, "changes left out, with which threads wait for ever: %u",
			      self->n_stuck);
}

static void rank(struct rank *self, const struct pp_cli_replay_source *source)
{
	bool is_skeleton = self->arguments->engine == PP_CLI_REPLAY_SKELETON;

	if (self->before.n_stuck) {
		pp_table_note(self->table, "no figures: threads wait for ever in the replay");
		return;
	}
	self->locks = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, g_free);
	self->sites = g_hash_table_new(NULL, NULL);
	self->joined = pp_replay_join_sites(self->model);
	try_all(self);
	pp_cli_replay_note_source(self->table, source, is_skeleton ? "replayed" : "simulated");
	pp_table_note(self->table,
		      "whether the program is still correct with a change is not known; "
		      "gains of changes cannot be added up");
	g_hash_table_unref(self->sites);
	g_free(self->joined);
	g_hash_table_unref(self->locks);
}

/* Adds the table of combinations, unless it is empty. Returns 0 or -errno. */
static int add_combined(const struct rank *self, GPtrArray *tables)
{
	struct pp_table *combined = pp_cli_replay_combine(self->arguments, self->model,
							  &self->before, self->table, self->err);

	if (!combined)
		return -EINVAL;
	if (combined->rows->len)
		g_ptr_array_add(tables, combined);
	else
		pp_table_free(combined);
	return 0;
}

int pp_cli_replay_rank(const struct pp_cli_replay_arguments *arguments,
		       const struct pp_cli_replay_source *source, GPtrArray *tables,
		       struct pp_error *err)
{
	struct rank self = {.arguments = arguments, .model = source->model, .err = err};

	if (pp_cli_replay_before(arguments, source, &self.before, err))
		return -EINVAL;
	self.table = pp_table_new("rank", "Changes by their gain", columns, G_N_ELEMENTS(columns));
	self.table->text_rows = TEXT_ROWS;
	rank(&self, source);
	g_ptr_array_add(tables, self.table);
	return self.code ? self.code : add_combined(&self, tables);
}
