/* SPDX-License-Identifier: MIT */
/* Pairs are followed from the event of their first acquisition to that of the second one. */
#include "replay/reverse/order.h"

#include "analysis/mix.h"

struct followed {
	struct pp_reversal_end first, second;
	bool is_followed;    /* the first section has begun, and the second one has not */
	GHashTable *threads; /* those affected: serial + 1 -> itself */
	GHashTable *objects; /* ... and objects: a set of addresses */
	GArray *before;	     /* of uint64_t: operations of affected threads; at the end, of all */
	bool is_possible;
};

struct pp_reversal_order {
	GPtrArray *pairs;  /* of struct followed * */
	GHashTable *first; /* a set of struct followed *, the last added with that first section */
	GPtrArray *open;   /* those that are followed */
	GArray *done;	   /* of uint64_t, by serial: operations so far */
};

static guint first_hash(const void *data)
{
	const struct followed *pair = data;

	return (guint)pp_mix(pp_mix(0, pair->first.thread), pair->first.op);
}

static gboolean first_equal(const void *a, const void *b)
{
	const struct followed *x = a, *y = b;

	return x->first.thread == y->first.thread && x->first.op == y->first.op;
}

static void followed_free(void *data)
{
	struct followed *pair = data;

	g_clear_pointer(&pair->threads, g_hash_table_unref);
	g_clear_pointer(&pair->objects, g_hash_table_unref);
	g_clear_pointer(&pair->before, g_array_unref);
	g_free(pair);
}

struct pp_reversal_order *pp_reversal_order_new(void)
{
	struct pp_reversal_order *order = g_new0(struct pp_reversal_order, 1);

	order->pairs = g_ptr_array_new_with_free_func(followed_free);
	order->first = g_hash_table_new(first_hash, first_equal);
	order->open = g_ptr_array_new();
	order->done = g_array_new(FALSE, TRUE, sizeof(uint64_t));
	return order;
}

void pp_reversal_order_free(struct pp_reversal_order *order)
{
	g_hash_table_unref(order->first);
	g_ptr_array_unref(order->open);
	g_ptr_array_unref(order->pairs);
	g_array_unref(order->done);
	g_free(order);
}

void pp_reversal_order_add(struct pp_reversal_order *order, const struct pp_reversal_end *first,
			   const struct pp_reversal_end *second)
{
	struct followed *pair = g_new0(struct followed, 1);

	pair->first = *first;
	pair->second = *second;
	g_ptr_array_add(order->pairs, pair);
	g_hash_table_add(order->first, pair);
}

const GArray *pp_reversal_order_before(const struct pp_reversal_order *order, unsigned pair)
{
	const struct followed *followed = order->pairs->pdata[pair];

	return followed->is_possible ? followed->before : NULL;
}

/* --- effects ---------------------------------------------------------------------------------- */

static uint64_t done_of(const GArray *done, uint32_t thread)
{
	return thread < done->len ? g_array_index(done, uint64_t, thread) : 0;
}

static void set_done(GArray *done, uint32_t thread, uint64_t n)
{
	if (thread >= done->len)
		g_array_set_size(done, thread + 1);
	g_array_index(done, uint64_t, thread) = n;
}

static bool has_thread(const struct followed *pair, uint32_t thread)
{
	return g_hash_table_contains(pair->threads, GUINT_TO_POINTER(thread + 1));
}

/* Operations of the thread from now on come after the first section. */
static void affect_thread(const struct pp_reversal_order *order, struct followed *pair,
			  uint32_t thread)
{
	if (g_hash_table_add(pair->threads, GUINT_TO_POINTER(thread + 1)))
		set_done(pair->before, thread, done_of(order->done, thread));
}

static void affect_object(struct followed *pair, uint64_t address)
{
	if (address)
		g_hash_table_add(pair->objects, g_memdup2(&address, sizeof(address)));
}

static bool has_object(const struct followed *pair, uint64_t address)
{
	return address && g_hash_table_contains(pair->objects, &address);
}

/* Does the operation pass something on to later operations on its object? */
static bool sends(enum st_event op)
{
	if (pp_sync_has(op, PP_SYNC_DEFINES))
		return false;
	if (!pp_sync_has(op, PP_SYNC_BEGIN))
		return true;
	/* Arriving at a barrier, and the release of a condition wait's mutex. */
	return pp_sync_type(op) == GM_SYNC_TYPE_barrier ||
	       pp_sync_has(pp_sync_completion(op), PP_SYNC_YIELDS);
}

/* Can an earlier operation on its object have an effect on it? */
static bool receives(enum st_event op)
{
	return !pp_sync_has(op, PP_SYNC_DEFINES | PP_SYNC_BEGIN | PP_SYNC_RELEASES | PP_SYNC_WAKES);
}

/* The mutex of a condition wait; 0: another operation. */
static uint64_t mutex_of(const struct pp_event *event)
{
	enum st_event op = event->sync.op, end = pp_sync_completion(op);

	return pp_sync_has(op, PP_SYNC_YIELDS) ||
		       (end != ST_N_EVENTS && pp_sync_has(end, PP_SYNC_YIELDS))
		   ? event->sync.value
		   : 0;
}

static void take_effects(const struct pp_reversal_order *order, struct followed *pair,
			 const struct pp_event *event)
{
	uint64_t mutex = mutex_of(event);
	uint32_t thread = event->thread->serial;

	if (receives(event->sync.op) &&
	    (has_object(pair, event->sync.object) || has_object(pair, mutex)))
		affect_thread(order, pair, thread);
	if (!has_thread(pair, thread) || !sends(event->sync.op))
		return;
	/* A condition wait begins with the release of the mutex, which alone counts here. */
	if (!pp_sync_has(event->sync.op, PP_SYNC_BEGIN) || !mutex)
		affect_object(pair, event->sync.object);
	affect_object(pair, mutex);
}

/* --- pairs ------------------------------------------------------------------------------------ */

static bool is_end(const struct pp_reversal_end *end, const struct pp_event *event, uint64_t op)
{
	return end->thread == event->thread->serial && end->op == op;
}

static void begin(struct pp_reversal_order *order, struct followed *pair,
		  const struct pp_event *event)
{
	pair->is_followed = true;
	pair->threads = g_hash_table_new(NULL, NULL);
	pair->objects = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	pair->before = g_array_new(FALSE, TRUE, sizeof(uint64_t));
	affect_thread(order, pair, event->thread->serial);
	affect_object(pair, event->sync.object);
	affect_object(pair, mutex_of(event));
	g_ptr_array_add(order->open, pair);
}

/* Threads that are not affected have all of their operations so far. */
static void end(const struct pp_reversal_order *order, struct followed *pair)
{
	pair->is_followed = false;
	pair->is_possible = !has_thread(pair, pair->second.thread) &&
			    done_of(order->done, pair->second.thread) == pair->second.op &&
			    done_of(pair->before, pair->first.thread) == pair->first.op;
	for (uint32_t i = 0; i < order->done->len; i++)
		if (!has_thread(pair, i))
			set_done(pair->before, i, done_of(order->done, i));
	g_clear_pointer(&pair->threads, g_hash_table_unref);
	g_clear_pointer(&pair->objects, g_hash_table_unref);
}

static void follow_open(struct pp_reversal_order *order, const struct pp_event *event, uint64_t op)
{
	for (guint i = order->open->len; i-- > 0;) {
		struct followed *pair = order->open->pdata[i];

		if (!is_end(&pair->second, event, op)) {
			take_effects(order, pair, event);
			continue;
		}
		end(order, pair);
		g_ptr_array_remove_index_fast(order->open, i);
	}
}

void pp_reversal_order_event(struct pp_reversal_order *order, const struct pp_event *event,
			     uint64_t op)
{
	struct followed key, *pair;

	if (event->kind != PP_EVENT_SYNC || !event->thread)
		return;
	follow_open(order, event, op);
	if (op == UINT64_MAX)
		return;
	key.first = (struct pp_reversal_end){event->thread->serial, op};
	pair = g_hash_table_lookup(order->first, &key);
	if (pair && !pair->before)
		begin(order, pair, event);
	set_done(order->done, event->thread->serial, op + 1);
}
