/* SPDX-License-Identifier: MIT */
/*
 * Chooses the finding (finding.h) from the cells of blame: first the objects, by sums without
 * names, then the cause among the cells of these objects.  Only objects with long waits, and the
 * causes of the chosen ones, are named, since there may be a million objects.
 */
#include "analysis/blame/finding.h"

#include <string.h>

#include "analysis/select.h"
#include "analysis/state/select_object.h"

/* The objects that are named: those with the longest waits. */
#define N_NAMED 1000
/* Further facts are looked up only for fewer objects, and a cause with fewer pairs of call sites.
 */
#define N_LOOKED_UP 256u
/* The waits by thread have to be those by object, up to this part of them. */
#define MAX_DIFFERENCE 0.01

struct object_sum {
	const struct pp_object *object;
	int64_t ns;
};

/* Objects that read alike. */
struct alike {
	char *name; /* common to them */
	const struct pp_object *first;
	uint64_t n;
	int64_t ns;
	unsigned serial;
	int64_t by_kind_ns[PP_N_BLAME_KINDS];
	GHashTable *objects; /* a set of const struct pp_object * */
	GHashTable *causes;  /* text -> struct cause * */
};

struct cause {
	const char *key;
	enum pp_blame_kind kind;
	unsigned why;
	enum st_event op;
	char *site, *acquired;
	int64_t ns;
	struct pp_blame_figures figures;
	GArray *holds; /* of struct pp_meanwhile_hold */
};

struct search {
	const struct pp_pass_context *context;
	const struct pp_blame *blame;
	const struct pp_meanwhile *meanwhile;
	GArray *objects; /* of struct object_sum */
	int64_t all_ns, waits_ns;
	bool is_selected; /* the last object of `objects` */
	struct alike *leading;
};

/* --- objects -------------------------------------------------------------------------------- */

static void add_to_object(void *data, const struct pp_object *object,
			  const struct pp_blame_cell *cell, int64_t idle_ns)
{
	struct search *search = data;
	struct object_sum *last =
	    search->objects->len
		? &g_array_index(search->objects, struct object_sum, search->objects->len - 1)
		: NULL;

	if (!last || last->object != object) {
		const struct object_sum first = {.object = object};

		g_array_append_val(search->objects, first);
		last = &g_array_index(search->objects, struct object_sum, search->objects->len - 1);
		search->is_selected = pp_selects_object(search->context, object);
	}
	if (!search->is_selected)
		return;
	last->ns += cell->figures.ns - idle_ns;
	search->all_ns += cell->figures.ns;
	search->waits_ns += cell->figures.ns - idle_ns;
}

/* Longest first, then in order of appearance. */
static gint by_wait(gconstpointer a, gconstpointer b)
{
	const struct object_sum *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return x->object->order < y->object->order ? -1 : x->object->order > y->object->order;
}

/* "forks[].lock" for "forks[0].lock", "forks[1].lock", ... */
static char *name_in_common(const struct pp_object *object, const struct pp_namer *namer)
{
	char *name = pp_object_group(object, namer), *to = name;
	bool in_index = false;

	for (const char *from = name; *from; from++) {
		in_index = *from == '[' || (in_index && g_ascii_isdigit(*from));
		if (!in_index || *from == '[')
			*to++ = *from;
	}
	*to = '\0';
	return name;
}

static void cause_free(void *data)
{
	struct cause *cause = data;

	g_free(cause->site);
	g_free(cause->acquired);
	g_array_unref(cause->holds);
	g_free(cause);
}

static void alike_free(void *data)
{
	struct alike *alike = data;

	g_free(alike->name);
	g_hash_table_unref(alike->objects);
	g_hash_table_unref(alike->causes);
	g_free(alike);
}

static void add_alike(const struct search *search, GHashTable *all, const struct object_sum *sum)
{
	g_autofree char *name = name_in_common(sum->object, search->context->namer);
	g_autofree char *key = g_strdup_printf("%d %s", (int)sum->object->type, name);
	struct alike *alike = g_hash_table_lookup(all, key);

	if (!alike) {
		alike = g_new0(struct alike, 1);
		alike->name = g_steal_pointer(&name);
		alike->first = sum->object;
		alike->serial = g_hash_table_size(all);
		alike->objects = g_hash_table_new(NULL, NULL);
		alike->causes = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, cause_free);
		g_hash_table_insert(all, g_steal_pointer(&key), alike);
	}
	alike->n += pp_object_count(sum->object);
	alike->ns += sum->ns;
	g_hash_table_add(alike->objects, (void *)sum->object);
}

/* Takes the leading objects from the table. */
static struct alike *take_leading(GHashTable *all)
{
	struct alike *leading = NULL;
	gpointer key, value;
	GHashTableIter iter;

	g_hash_table_iter_init(&iter, all);
	while (g_hash_table_iter_next(&iter, NULL, &value)) {
		struct alike *alike = value;

		if (!leading || alike->ns > leading->ns ||
		    (alike->ns == leading->ns && alike->serial < leading->serial))
			leading = alike;
	}
	g_hash_table_iter_init(&iter, all);
	while (leading && g_hash_table_iter_next(&iter, &key, &value))
		if (value == leading) {
			g_hash_table_iter_steal(&iter);
			g_free(key);
			break;
		}
	return leading;
}

static void find_objects(struct search *search)
{
	g_autoptr(GHashTable) all =
	    g_hash_table_new_full(g_str_hash, g_str_equal, g_free, alike_free);

	g_array_sort(search->objects, by_wait);
	for (guint i = 0; i < search->objects->len && i < N_NAMED; i++) {
		const struct object_sum *sum =
		    &g_array_index(search->objects, struct object_sum, i);

		if (sum->ns > 0)
			add_alike(search, all, sum);
	}
	search->leading = take_leading(all);
}

/* --- causes --------------------------------------------------------------------------------- */

static char *site_of(const struct search *search, const struct pp_object *object,
		     const struct pp_blame_call *call)
{
	const struct pp_namer *namer = search->context->namer;

	return call->site ? namer->site(namer->data, object->process, call->site) : NULL;
}

static const char *text_or_none(const char *text)
{
	return text ? text : "";
}

static struct cause *cause_of(struct search *search, const struct pp_object *object,
			      const struct pp_blame_cause *of)
{
	bool is_hold = of->kind == PP_BLAME_HOLD, has_call = is_hold || of->kind == PP_BLAME_CALL;
	g_autofree char *site = has_call ? site_of(search, object, &of->call) : NULL;
	g_autofree char *acquired = is_hold ? site_of(search, object, &of->acquired) : NULL;
	enum st_event op = has_call ? of->call.op : ST_N_EVENTS;
	char *key = g_strdup_printf("%d %u %d\n%s\n%s", (int)of->kind, of->why, (int)op,
				    text_or_none(site), text_or_none(acquired));
	struct cause *cause = g_hash_table_lookup(search->leading->causes, key);

	if (cause) {
		g_free(key);
		return cause;
	}
	cause = g_new0(struct cause, 1);
	cause->key = key;
	cause->kind = of->kind;
	cause->why = of->why;
	cause->op = op;
	cause->site = g_steal_pointer(&site);
	cause->acquired = g_steal_pointer(&acquired);
	cause->holds = g_array_new(FALSE, FALSE, sizeof(struct pp_meanwhile_hold));
	g_hash_table_insert(search->leading->causes, key, cause);
	return cause;
}

static void add_hold(struct cause *cause, const struct pp_object *object,
		     const struct pp_blame_cause *of)
{
	const struct pp_meanwhile_hold hold = {
	    .process = object->process,
	    .object = object->address,
	    .acquired = of->acquired.site,
	    .released = of->call.site,
	};

	for (guint i = 0; i < cause->holds->len; i++) {
		const struct pp_meanwhile_hold *other =
		    &g_array_index(cause->holds, struct pp_meanwhile_hold, i);

		if (other->process == hold.process && other->object == hold.object &&
		    other->acquired == hold.acquired && other->released == hold.released)
			return;
	}
	if (cause->holds->len < N_LOOKED_UP)
		g_array_append_val(cause->holds, hold);
}

static void add_to_cause(void *data, const struct pp_object *object,
			 const struct pp_blame_cell *cell, int64_t idle_ns)
{
	struct search *search = data;
	struct alike *leading = search->leading;
	struct cause *cause;

	if (!g_hash_table_contains(leading->objects, object))
		return;
	cause = cause_of(search, object, &cell->cause);
	if (cause->kind == PP_BLAME_HOLD)
		add_hold(cause, object, &cell->cause);
	cause->ns += cell->figures.ns - idle_ns;
	cause->figures.n += cell->figures.n;
	cause->figures.ns += cell->figures.ns;
	for (unsigned mode = 0; mode < PP_N_MODES; mode++)
		cause->figures.mode_ns[mode] += cell->figures.mode_ns[mode];
	leading->by_kind_ns[cell->cause.kind] += cell->figures.ns - idle_ns;
}

static bool leads(const struct cause *a, const struct cause *b)
{
	return !b || a->ns > b->ns || (a->ns == b->ns && strcmp(a->key, b->key) < 0);
}

/* The kinds of which the leading cause is one: a set of bits. */
static unsigned leading_kinds(const struct alike *leading)
{
	const int64_t *ns = leading->by_kind_ns;

	if (ns[PP_BLAME_HANDOVER] >= leading->ns - ns[PP_BLAME_HANDOVER])
		return 1u << PP_BLAME_HANDOVER;
	if (ns[PP_BLAME_UNKNOWN] >= leading->ns - ns[PP_BLAME_UNKNOWN])
		return 1u << PP_BLAME_UNKNOWN;
	if (ns[PP_BLAME_HOLD] > 0 || ns[PP_BLAME_CALL] > 0)
		return 1u << PP_BLAME_HOLD | 1u << PP_BLAME_CALL;
	return 1u << PP_BLAME_HANDOVER | 1u << PP_BLAME_UNKNOWN;
}

static struct cause *find_cause(struct search *search)
{
	unsigned kinds = leading_kinds(search->leading);
	struct cause *best = NULL;
	GHashTableIter iter;
	gpointer value;

	g_hash_table_iter_init(&iter, search->leading->causes);
	while (g_hash_table_iter_next(&iter, NULL, &value)) {
		struct cause *cause = value;

		if (kinds >> cause->kind & 1 && leads(cause, best))
			best = cause;
	}
	return best;
}

/* --- the finding ---------------------------------------------------------------------------- */

/* By what the thread did for most of the time. */
static enum pp_finding_kind kind_of_hold(const struct pp_blame_figures *figures)
{
	static const enum pp_finding_kind kinds[PP_N_MODES] = {
	    [PP_MODE_UNKNOWN] = PP_FINDING_HOLDER,     [PP_MODE_RUNNING] = PP_FINDING_HELD,
	    [PP_MODE_RUNNABLE] = PP_FINDING_PREEMPTED, [PP_MODE_BLOCKED_SYNC] = PP_FINDING_NESTED,
	    [PP_MODE_BLOCKED_IO] = PP_FINDING_IO,      [PP_MODE_BLOCKED_OTHER] = PP_FINDING_SLEEP,
	};
	unsigned most = PP_MODE_UNKNOWN;

	for (unsigned mode = 0; mode < PP_N_MODES; mode++)
		if (figures->mode_ns[mode] > figures->mode_ns[most])
			most = mode;
	return kinds[most];
}

static enum pp_finding_kind kind_of(const struct cause *cause)
{
	int64_t runnable_ns = cause->figures.mode_ns[PP_MODE_RUNNABLE];

	switch (cause->kind) {
	case PP_BLAME_HOLD:
		return kind_of_hold(&cause->figures);
	case PP_BLAME_CALL:
		return PP_FINDING_CALL;
	case PP_BLAME_HANDOVER:
		return runnable_ns >= cause->figures.ns - runnable_ns ? PP_FINDING_NO_CPU
								      : PP_FINDING_PASSED;
	default:
		return PP_FINDING_UNKNOWN;
	}
}

/* The name of one object, or the common one of several. */
static char *display_name(const struct search *search)
{
	struct alike *leading = search->leading;

	return g_hash_table_size(leading->objects) == 1
		   ? pp_object_name(leading->first, search->context->namer)
		   : g_steal_pointer(&leading->name);
}

static void set_cause(struct pp_finding *finding, struct search *search, struct cause *cause)
{
	finding->kind = kind_of(cause);
	finding->object_ns = search->leading->ns;
	finding->cause_ns = cause->ns;
	finding->figures = cause->figures;
	finding->type = search->leading->first->type;
	/* A folded object has its number in its name. */
	finding->n_objects =
	    g_hash_table_size(search->leading->objects) == 1 ? 1 : search->leading->n;
	finding->object = display_name(search);
	finding->is_hold = cause->kind == PP_BLAME_HOLD;
	finding->op = cause->op;
	finding->site = g_steal_pointer(&cause->site);
	finding->acquired = g_steal_pointer(&cause->acquired);
	finding->why = cause->why;
}

/* --- further facts -------------------------------------------------------------------------- */

struct object_search {
	const struct pp_meanwhile_block *block;
	const struct pp_object *found; /* the newest one at the address */
};

static void find_object(void *data, const struct pp_object *object,
			const struct pp_blame_cell *cell, int64_t idle_ns)
{
	struct object_search *search = data;

	(void)cell;
	(void)idle_ns;
	if (object->process == search->block->process && object->address == search->block->object &&
	    !pp_object_is_group(object) &&
	    (!search->found || search->found->generation < object->generation))
		search->found = object;
}

/* "write()", "queue.lock"; NULL: not known. */
static char *name_of_block(const struct search *search, const struct pp_meanwhile_block *block)
{
	struct object_search objects = {.block = block};

	if (block->call < ST_N_IO_CALLS)
		return g_strdup_printf("%s()", pp_io_name(block->call));
	pp_blame_walk(search->blame, find_object, &objects);
	return objects.found ? pp_object_name(objects.found, search->context->namer) : NULL;
}

static void set_blocked_in(struct pp_finding *finding, const struct search *search,
			   const struct cause *cause)
{
	static const enum pp_mode modes[] = {PP_MODE_BLOCKED_SYNC, PP_MODE_BLOCKED_IO,
					     PP_MODE_BLOCKED_OTHER};

	for (unsigned i = 0; i < G_N_ELEMENTS(modes); i++) {
		int64_t mode_ns = finding->figures.mode_ns[modes[i]];
		struct pp_meanwhile_block block;

		if (mode_ns > 0 &&
		    pp_meanwhile_find_block(search->meanwhile, cause->holds, modes[i], &block) &&
		    block.ns >= mode_ns / 2)
			finding->blocked_in[modes[i]] = name_of_block(search, &block);
	}
}

/* Waits for other objects may be idle, so these are not the waits that the share is of. */
static bool has_no_idle_waits(enum gm_sync_type type)
{
	return pp_sync_type_is_lock(type) || type == GM_SYNC_TYPE_barrier ||
	       type == GM_SYNC_TYPE_once;
}

static char *name_of_thread(const struct pp_thread *thread)
{
	const char *name = pp_thread_name(thread);

	return name && *name ? g_strdup_printf("%s (tid %u)", name, thread->tid)
			     : g_strdup_printf("tid %u", thread->tid);
}

static void set_waiters(struct pp_finding *finding, const struct search *search)
{
	g_autoptr(GArray) objects = g_array_new(FALSE, FALSE, sizeof(struct pp_meanwhile_hold));
	struct pp_meanwhile_waiters waiters;
	GHashTableIter iter;
	gpointer key;

	if (!finding->lifetimes_ns || !has_no_idle_waits(finding->type) ||
	    g_hash_table_size(search->leading->objects) > N_LOOKED_UP)
		return;
	g_hash_table_iter_init(&iter, search->leading->objects);
	while (g_hash_table_iter_next(&iter, &key, NULL)) {
		const struct pp_object *object = key;
		const struct pp_meanwhile_hold hold = {.process = object->process,
						       .object = object->address};

		g_array_append_val(objects, hold);
	}
	pp_meanwhile_waiters(search->meanwhile, objects, &waiters);
	if (!waiters.n || ABS(waiters.sum_ns - finding->object_ns) >
			      (int64_t)(MAX_DIFFERENCE * (double)finding->object_ns))
		return;
	finding->n_waiters = waiters.n;
	finding->waiter = name_of_thread(waiters.longest);
	finding->waiter_ns = waiters.longest_ns;
	finding->waiter_lifetime_ns =
	    pp_thread_lifetime_ns(pp_thread_state(pp_blame_states(search->blame), waiters.longest));
}

/* -------------------------------------------------------------------------------------------- */

/* 0: they are not those of the selected waits. */
static int64_t lifetimes(const struct search *search)
{
	return pp_selects_by(search->context, PP_SELECT_ALL & ~PP_SELECT_TIME)
		   ? 0
		   : pp_thread_lifetimes_ns(pp_blame_states(search->blame), search->context->model);
}

static bool is_little(const struct pp_finding *finding)
{
	return finding->waits_ns <= 0 || (finding->lifetimes_ns > 0 &&
					  100.0 * (double)finding->waits_ns <
					      PP_FINDING_LEAST_PCT * (double)finding->lifetimes_ns);
}

struct pp_finding *pp_finding_new(const struct pp_blame *blame,
				  const struct pp_meanwhile *meanwhile,
				  const struct pp_pass_context *context)
{
	struct search search = {
	    .context = context,
	    .blame = blame,
	    .meanwhile = meanwhile,
	    .objects = g_array_new(FALSE, FALSE, sizeof(struct object_sum)),
	};
	struct pp_finding *finding = g_new0(struct pp_finding, 1);

	pp_blame_walk(blame, add_to_object, &search);
	finding->op = ST_N_EVENTS;
	finding->lifetimes_ns = lifetimes(&search);
	finding->all_ns = search.all_ns;
	finding->waits_ns = search.waits_ns;
	if (!is_little(finding))
		find_objects(&search);
	if (search.leading) {
		struct cause *cause;

		pp_blame_walk(blame, add_to_cause, &search);
		cause = find_cause(&search);
		if (cause) {
			set_cause(finding, &search, cause);
			set_blocked_in(finding, &search, cause);
			set_waiters(finding, &search);
		}
		alike_free(search.leading);
	}
	g_array_unref(search.objects);
	return finding;
}

void pp_finding_free(struct pp_finding *finding)
{
	if (!finding)
		return;
	g_free(finding->object);
	g_free(finding->site);
	g_free(finding->acquired);
	for (unsigned mode = 0; mode < PP_N_MODES; mode++)
		g_free(finding->blocked_in[mode]);
	g_free(finding->waiter);
	g_free(finding);
}
