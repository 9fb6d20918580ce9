/* SPDX-License-Identifier: MIT */
/* Threads of two runs correspond by their numbers, and objects by the operations on them. */
#include "replay/live/compare.h"

#include <inttypes.h>

#include "core/operation.h"

/* --- determinism ------------------------------------------------------------------------------ */

struct cursor {
	const struct pp_schedule *schedule;
	const struct pp_schedule_thread *thread;
	guint at;
};

static const struct st_schedule_op *op_at(const struct cursor *cursor)
{
	return cursor->at < cursor->thread->ops->len
		   ? &g_array_index(cursor->thread->ops, struct st_schedule_op, cursor->at)
		   : NULL;
}

static const struct pp_schedule_site *site_of(const struct pp_schedule *schedule,
					      const struct st_schedule_op *op)
{
	return op->site < schedule->sites->len
		   ? &g_array_index(schedule->sites, struct pp_schedule_site, op->site)
		   : NULL;
}

/* Moves to the next operation that is compared. */
static const struct st_schedule_op *skip_waits(struct cursor *cursor)
{
	const struct st_schedule_op *op;

	while ((op = op_at(cursor)) && pp_sync_has(op->event, PP_SYNC_YIELDS))
		cursor->at++;
	return op;
}

/* Moves beyond the operation, and if it is a try, beyond all tries at its site in a row. */
static void skip_op(struct cursor *cursor)
{
	const struct st_schedule_op *op = op_at(cursor), *next;

	cursor->at++;
	while (pp_sync_has(op->event, PP_SYNC_TRIES) && (next = skip_waits(cursor)) &&
	       next->event == op->event && next->site == op->site)
		cursor->at++;
}

static bool is_same_site(const struct pp_schedule_site *a, const struct pp_schedule_site *b)
{
	return !a || !b ||
	       (a->module == b->module && a->offset == b->offset && a->build_id == b->build_id);
}

static char *op_text(const struct cursor *cursor)
{
	const struct st_schedule_op *op = op_at(cursor);
	const struct pp_schedule_site *site = op ? site_of(cursor->schedule, op) : NULL;

	if (!op)
		return g_strdup("no operation");
	return site ? g_strdup_printf("%s at %s", pp_sync_name(op->event), site->name)
		    : g_strdup(pp_sync_name(op->event));
}

static char *difference_text(uint32_t thread, const struct cursor *first,
			     const struct cursor *second)
{
	g_autofree char *a = op_text(first), *b = op_text(second);

	return g_strdup_printf("thread %u, operation %u: %s in the first run, %s in the second",
			       thread, first->at + 1, a, b);
}

static char *thread_difference(uint32_t number, struct cursor *first, struct cursor *second)
{
	for (;;) {
		const struct st_schedule_op *a = skip_waits(first), *b = skip_waits(second);

		if ((!a && (!b || !first->thread->ended)) || (!b && !second->thread->ended))
			return NULL;
		if (!a || !b || a->event != b->event ||
		    !is_same_site(site_of(first->schedule, a), site_of(second->schedule, b)))
			return difference_text(number, first, second);
		skip_op(first);
		skip_op(second);
	}
}

char *pp_schedule_difference(const struct pp_schedule *first, const struct pp_schedule *second)
{
	for (guint i = 0; i < MIN(first->threads->len, second->threads->len); i++) {
		struct cursor a = {first, first->threads->pdata[i], 0};
		struct cursor b = {second, second->threads->pdata[i], 0};
		char *text;

		if (a.thread->creator != b.thread->creator || a.thread->nth != b.thread->nth)
			return g_strdup_printf("thread %u has another creator in the second run",
					       i);
		text = thread_difference(i, &a, &b);
		if (text)
			return text;
	}
	if (first->threads->len == second->threads->len)
		return NULL;
	return g_strdup_printf("%u threads in the first run, %u in the second", first->threads->len,
			       second->threads->len);
}

/* --- the order -------------------------------------------------------------------------------- */

/* The objects of two runs, one to one. */
struct pairs {
	GArray *second_of; /* of uint32_t, by the object of the first run, plus 1; 0: none yet */
	GArray *first_of;
};

static bool is_pair(struct pairs *pairs, uint32_t first, uint32_t second)
{
	uint32_t *a = &g_array_index(pairs->second_of, uint32_t, first);
	uint32_t *b = &g_array_index(pairs->first_of, uint32_t, second);

	if (*a == 0 && *b == 0) {
		*a = second + 1;
		*b = first + 1;
	}
	return *a == second + 1 && *b == first + 1;
}

static void count_thread(struct pp_schedule_order *order, const struct pp_schedule_thread *recorded,
			 const struct pp_schedule_thread *replayed, struct pairs *pairs)
{
	guint n_replayed = replayed ? replayed->ops->len : 0;

	for (guint i = 0; i < recorded->ops->len && (recorded->ended || i < n_replayed); i++) {
		const struct st_schedule_op *a =
		    &g_array_index(recorded->ops, struct st_schedule_op, i);
		const struct st_schedule_op *b =
		    i < n_replayed ? &g_array_index(replayed->ops, struct st_schedule_op, i) : NULL;

		if (a->turn == ST_TURN_NONE || pp_sync_type(a->event) == GM_SYNC_TYPE_sem)
			continue;
		order->n_recorded++;
		order->n_kept += b && a->turn == b->turn && a->event == b->event &&
				 is_pair(pairs, a->object, b->object);
	}
}

struct pp_schedule_order pp_schedule_compare_order(const struct pp_schedule *recorded,
						   const struct pp_schedule *replayed)
{
	struct pp_schedule_order order = {0};
	struct pairs pairs = {g_array_new(FALSE, TRUE, sizeof(uint32_t)),
			      g_array_new(FALSE, TRUE, sizeof(uint32_t))};

	g_array_set_size(pairs.second_of, recorded->n_objects);
	g_array_set_size(pairs.first_of, replayed->n_objects);
	for (guint i = 0; i < recorded->threads->len; i++)
		count_thread(&order, recorded->threads->pdata[i],
			     i < replayed->threads->len ? replayed->threads->pdata[i] : NULL,
			     &pairs);
	g_array_unref(pairs.second_of);
	g_array_unref(pairs.first_of);
	return order;
}
