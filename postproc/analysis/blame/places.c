/* SPDX-License-Identifier: MIT */
/* The cells of an object: the time of waits by cause and waiting call; and what causes need. */
#include "analysis/blame/internal.h"

const char *pp_blame_why_text(unsigned why)
{
	switch (why) {
	case PP_BLAME_NOT_ENDED:
		return "the wait did not end";
	case PP_BLAME_TIMED_OUT:
		return "it timed out";
	case PP_BLAME_NO_CALL:
		return "the call that ended it was not recorded";
	case PP_BLAME_NO_RELEASE:
		return "the release was not recorded";
	case PP_BLAME_NO_BEGIN:
		return "the begin of the wait was not recorded";
	case PP_HOLD_NO_OWNER: /* here, an unknown holder has been named before */
		return "no thread of the process held it";
	case PP_BLAME_NOT_FOLLOWED:
		return "the wait of the holder was not followed";
	default:
		return pp_hold_why_text(why);
	}
}

void pp_blame_figures_add(struct pp_blame_figures *sum, const struct pp_blame_figures *figures)
{
	sum->n += figures->n;
	sum->ns += figures->ns;
	for (unsigned mode = 0; mode < PP_N_MODES; mode++)
		sum->mode_ns[mode] += figures->mode_ns[mode];
}

bool pp_blame_call_equal(const struct pp_blame_call *a, const struct pp_blame_call *b)
{
	return a->op == b->op && a->site == b->site && a->path == b->path;
}

bool pp_blame_cause_equal(const struct pp_blame_cause *a, const struct pp_blame_cause *b)
{
	return a->kind == b->kind && a->why == b->why && pp_blame_call_equal(&a->call, &b->call) &&
	       pp_blame_call_equal(&a->acquired, &b->acquired);
}

/* --- cells ---------------------------------------------------------------------------------- */

static uint64_t hash_call(uint64_t hash, const struct pp_blame_call *call)
{
	hash = (hash ^ call->op) * UINT64_C(0x9e3779b97f4a7c15);
	hash = (hash ^ call->site) * UINT64_C(0x9e3779b97f4a7c15);
	hash = (hash ^ (uintptr_t)call->path) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 32;
}

static guint cell_hash(const void *data)
{
	const struct pp_blame_cell *cell = data;
	uint64_t hash = (uint64_t)cell->cause.kind << 8 | cell->cause.why;

	hash = hash_call(hash, &cell->cause.call);
	hash = hash_call(hash, &cell->cause.acquired);
	return (guint)hash_call(hash, &cell->waiter);
}

static gboolean cell_equal(const void *a, const void *b)
{
	const struct pp_blame_cell *x = a, *y = b;

	return pp_blame_cause_equal(&x->cause, &y->cause) &&
	       pp_blame_call_equal(&x->waiter, &y->waiter);
}

void pp_blame_add(struct pp_blame_place *place, const struct pp_blame_cause *cause,
		  const struct pp_blame_call *waiter, const struct pp_blame_figures *figures)
{
	const struct pp_blame_cell key = {.cause = *cause, .waiter = *waiter};
	struct pp_blame_cell *cell;

	if (!place->cells)
		place->cells = g_hash_table_new_full(cell_hash, cell_equal, g_free, NULL);
	cell = g_hash_table_lookup(place->cells, &key);
	if (!cell) {
		cell = g_memdup2(&key, sizeof(key));
		g_hash_table_add(place->cells, cell);
	}
	pp_blame_figures_add(&cell->figures, figures);
	place->wait_ns += figures->ns;
}

void pp_blame_fold_cells(struct pp_blame_place *to, const struct pp_blame_place *from)
{
	GHashTableIter iter;
	gpointer key;

	if (!from->cells)
		return;
	g_hash_table_iter_init(&iter, from->cells);
	while (g_hash_table_iter_next(&iter, &key, NULL)) {
		const struct pp_blame_cell *cell = key;

		pp_blame_add(to, &cell->cause, &cell->waiter, &cell->figures);
	}
}

/* -------------------------------------------------------------------------------------------- */

struct pp_blame_instance *pp_blame_instance_new(struct pp_blame_place *place,
						const struct pp_thread *thread)
{
	struct pp_blame_instance *instance = g_new0(struct pp_blame_instance, 1);

	instance->refs = 1;
	instance->place = place;
	instance->thread = thread;
	return instance;
}

void pp_blame_instance_unref(struct pp_blame_instance *instance)
{
	if (--instance->refs)
		return;
	g_clear_pointer(&instance->pending, g_array_unref);
	g_clear_pointer(&instance->nested, g_array_unref);
	g_clear_pointer(&instance->cells, g_array_unref);
	g_clear_pointer(&instance->marks, g_array_unref);
	g_free(instance);
}

struct pp_blame_place *pp_blame_place_of(struct pp_object *object)
{
	struct pp_blame_place *place = object->data;

	if (!place) {
		place = object->data = g_new0(struct pp_blame_place, 1);
		place->object = object;
	}
	return place;
}

struct pp_blame_wait *pp_blame_wait_new(struct pp_blame_place *place,
					const struct pp_thread *thread, enum st_event op,
					uint64_t site, int64_t begin_ns)
{
	struct pp_blame_wait *wait = g_new0(struct pp_blame_wait, 1);

	wait->place = place;
	wait->thread = thread;
	wait->op = op;
	wait->site = site;
	wait->begin_ns = begin_ns;
	return wait;
}

void pp_blame_wait_enter(struct pp_blame_wait *wait)
{
	struct pp_blame_place *place = wait->place;

	if (!place->waits)
		place->waits = g_ptr_array_new();
	wait->at = place->waits->len;
	g_ptr_array_add(place->waits, wait);
}

void pp_blame_wait_leave(struct pp_blame_wait *wait)
{
	struct pp_blame_place *place = wait->place;

	g_ptr_array_remove_index_fast(place->waits, wait->at);
	if (wait->at < place->waits->len)
		((struct pp_blame_wait *)place->waits->pdata[wait->at])->at = wait->at;
	if (!place->watch)
		return;
	place->watch->n_ownerless -= !wait->has_owner;
	place->watch->may_rest |= !place->waits->len;
}

void pp_blame_hand_over(const struct pp_blame *blame, const struct pp_blame_wait *wait,
			const struct pp_blame_call *waiter, int64_t ns, int64_t runnable_ns)
{
	static const struct pp_blame_cause cause = {.kind = PP_BLAME_HANDOVER};
	struct pp_blame_figures figures = {.n = wait->counts, .ns = ns};

	if (ns <= 0)
		return;
	if (blame->context->has_kernel) {
		figures.mode_ns[PP_MODE_RUNNABLE] = MIN(runnable_ns, ns);
		figures.mode_ns[PP_MODE_BLOCKED_SYNC] = ns - figures.mode_ns[PP_MODE_RUNNABLE];
	} else {
		figures.mode_ns[PP_MODE_UNKNOWN] = ns;
	}
	pp_blame_add(wait->place, &cause, waiter, &figures);
}

void pp_blame_unknown(const struct pp_blame_wait *wait, const struct pp_blame_call *waiter,
		      unsigned why, int64_t ns)
{
	const struct pp_blame_cause cause = {.kind = PP_BLAME_UNKNOWN, .why = why};
	struct pp_blame_figures figures = {.n = wait->counts, .ns = ns};

	if (ns <= 0)
		return;
	figures.mode_ns[PP_MODE_UNKNOWN] = ns;
	pp_blame_add(wait->place, &cause, waiter, &figures);
}
