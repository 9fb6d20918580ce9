/* SPDX-License-Identifier: MIT */
/*
 * See blame.h.  The operations on the object during the wait tell who held it then, or which calls
 * the wait was for.  Their number is limited, since a thread may wait while others take a lock
 * millions of times.
 */
#include "index/blame.h"

#include <errno.h>

#include "analysis/state/unknown_hold.h"

/* Operations, or holds without a release, that are looked at. */
#define LOOKED_AT_MAX 16384
/* Operations after the wait that may end a hold during it. */
#define AFTER_MAX 64

struct search {
	const struct pp_index *index;
	struct pp_index_blame *blame;
	uint32_t number;
	const struct pp_index_operation *wait;
	const struct pp_index_more *more;
	int64_t from_ns, to_ns;
};

static const struct pp_index_operation *at(const struct search *search, uint32_t number)
{
	return pp_index_operation(search->index, number);
}

/* The index may be damaged: no sum overflows. */
static int64_t time_of(const struct pp_index_operation *operation)
{
	return (int64_t)MIN(operation->time_ns, INT64_MAX);
}

static int64_t after(int64_t from_ns, int64_t ns)
{
	return from_ns > 0 ? from_ns + MIN(ns, INT64_MAX - from_ns) : from_ns + ns;
}

/* Adds the part of a cause's time that is within from_ns to to_ns; returns its length. */
static int64_t add(const struct search *search, struct pp_index_cause cause, int64_t from_ns,
		   int64_t to_ns)
{
	cause.from_ns = MAX(cause.from_ns, from_ns);
	cause.to_ns = MIN(cause.to_ns, to_ns);
	if (cause.to_ns <= cause.from_ns)
		return 0;
	cause.ns = cause.to_ns - cause.from_ns;
	g_array_append_val(search->blame->causes, cause);
	return cause.ns;
}

/* --- locks ---------------------------------------------------------------------------------- */

static bool is_known(const struct search *search, const struct pp_index_cause *hold, guint first)
{
	for (guint i = first; i < search->blame->causes->len; i++) {
		const struct pp_index_cause *cause =
		    &g_array_index(search->blame->causes, struct pp_index_cause, i);

		if (cause->is_hold && cause->thread == hold->thread && cause->end == hold->end)
			return true;
	}
	return false;
}

/* The hold that the operation released; false: it released none. */
static bool hold_before(const struct search *search, uint32_t number, struct pp_index_cause *ret)
{
	const struct pp_index_operation *release = at(search, number);
	const struct pp_index_operation *begin = release ? at(search, release->mate) : NULL;
	int64_t ns;

	if (!release || !(release->flags & PP_INDEX_RELEASED))
		return false;
	ns = pp_index_ns(search->index, release);
	*ret = (struct pp_index_cause){.begin = PP_INDEX_NONE,
				       .end = number,
				       .thread = release->thread,
				       .is_hold = true,
				       .from_ns = time_of(release) - ns,
				       .to_ns = time_of(release)};
	if (begin && begin->object == release->object && begin->flags & PP_INDEX_ACQUIRED) {
		ret->begin = release->mate;
		ret->from_ns = time_of(begin);
		ret->to_ns = after(ret->from_ns, ns);
	}
	return true;
}

static void add_released(struct search *search, uint32_t object, int64_t from_ns)
{
	const struct pp_index *index = search->index;
	uint64_t n = pp_index_list_n(index, PP_LIST_OBJECT, object), n_after = 0, looked_at = 0;
	uint64_t i = pp_index_list_find(index, PP_LIST_OBJECT, object, (uint64_t)from_ns);

	pp_index_list_want(index, PP_LIST_OBJECT, object, i, AFTER_MAX, false);
	for (; i < n && n_after < AFTER_MAX; i++, looked_at++) {
		uint32_t number = pp_index_list_at(index, PP_LIST_OBJECT, object, i);
		const struct pp_index_operation *operation = at(search, number);
		struct pp_index_cause hold;

		if (looked_at == LOOKED_AT_MAX) {
			search->blame->is_cut = true;
			return;
		}
		n_after += operation && time_of(operation) > search->to_ns;
		if (hold_before(search, number, &hold))
			(void)add(search, hold, from_ns, search->to_ns);
	}
}

/* The acquisition of a hold without a release. */
static uint32_t find_begin(const struct search *search, const struct pp_index_hold *hold)
{
	const struct pp_index *index = search->index;
	uint64_t i =
	    pp_index_list_find(index, PP_LIST_OBJECT, hold->object, (uint64_t)hold->since_ns);

	for (unsigned looked_at = 0; looked_at < AFTER_MAX; looked_at++, i++) {
		uint32_t number = pp_index_list_at(index, PP_LIST_OBJECT, hold->object, i);
		const struct pp_index_operation *operation = at(search, number);

		if (!operation || time_of(operation) != hold->since_ns)
			break;
		if (operation->thread == hold->thread && operation->flags & PP_INDEX_ACQUIRED)
			return number;
	}
	return PP_INDEX_NONE;
}

static void add_endless(struct search *search, uint32_t object, int64_t from_ns)
{
	uint64_t n = pp_index_n(search->index, PP_SECTION_ENDLESS);

	for (uint64_t i = 0; i < MIN(n, LOOKED_AT_MAX); i++) {
		const struct pp_index_hold *hold = pp_index_hold(search->index, i);

		if (hold->object == object && hold->since_ns < search->to_ns &&
		    hold->end_ns > from_ns)
			(void)add(search,
				  (struct pp_index_cause){.begin = find_begin(search, hold),
							  .end = PP_INDEX_NONE,
							  .thread = hold->thread,
							  .is_hold = true,
							  .from_ns = hold->since_ns,
							  .to_ns = hold->end_ns},
				  from_ns, search->to_ns);
	}
}

struct edge {
	int64_t time_ns;
	guint cause;
	bool is_end;
};

static gint compare_edges(gconstpointer a, gconstpointer b)
{
	const struct edge *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->is_end - y->is_end;
}

/*
 * Divides the time among the holds from `first` on: each instant equally among those that hold the
 * object.  Returns the time with a holder.
 */
static int64_t share_out(const struct search *search, guint first)
{
	GArray *causes = search->blame->causes;
	g_autoptr(GArray) edges = g_array_new(FALSE, FALSE, sizeof(struct edge));
	g_autofree double *begun_ns = g_new0(double, causes->len + 1);
	int64_t held_ns = 0, last_ns = 0;
	double clock_ns = 0; /* a holder's share */
	int n = 0;

	for (guint i = first; i < causes->len; i++) {
		const struct pp_index_cause *cause =
		    &g_array_index(causes, struct pp_index_cause, i);
		struct edge begin = {cause->from_ns, i, false}, end = {cause->to_ns, i, true};

		g_array_append_val(edges, begin);
		g_array_append_val(edges, end);
	}
	g_array_sort(edges, compare_edges);
	for (guint i = 0; i < edges->len; i++) {
		const struct edge *edge = &g_array_index(edges, struct edge, i);

		if (n > 0) {
			held_ns += edge->time_ns - last_ns;
			clock_ns += (double)(edge->time_ns - last_ns) / n;
		}
		last_ns = edge->time_ns;
		n += edge->is_end ? -1 : 1;
		if (edge->is_end)
			g_array_index(causes, struct pp_index_cause, edge->cause).ns =
			    (int64_t)(clock_ns - begun_ns[edge->cause]);
		else
			begun_ns[edge->cause] = clock_ns;
	}
	return held_ns;
}

/* Adds the holds of the lock since from_ns; returns the time with a holder. */
static int64_t add_holds(struct search *search, uint32_t object, int64_t from_ns)
{
	guint first = search->blame->causes->len;
	const struct pp_index_operation *owner =
	    search->more ? at(search, search->more->acquisition) : NULL;
	struct pp_index_cause hold;

	add_released(search, object, from_ns);
	if (owner && owner->object == object && hold_before(search, owner->mate, &hold) &&
	    !is_known(search, &hold, first))
		(void)add(search, hold, from_ns, search->to_ns);
	add_endless(search, object, from_ns);
	return share_out(search, first);
}

/* Why no hold is known; NULL: there was none, since the wait began after the release. */
static const char *why_of_lock(const struct search *search)
{
	const struct pp_index_object *object = pp_index_object(search->index, search->wait->object);
	const struct pp_index_more *more = search->more;
	const struct pp_index_thread *owner =
	    more ? pp_index_thread(search->index, more->other) : NULL;
	const struct pp_index_operation *acquisition = more ? at(search, more->acquisition) : NULL;
	struct pp_object of = {.process = object ? pp_index_process(search->index, object->process)
						 : NULL};
	struct pp_lost_threads lost;
	const char *why;

	if (owner && more->how == PP_WAIT_HELD && acquisition)
		return at(search, acquisition->mate) ? NULL : "the release was not recorded";
	if (owner && more->how != PP_WAIT_HELD)
		return NULL;
	if (!of.process)
		return pp_hold_why_text(PP_HOLD_NO_OWNER);
	pp_lost_threads_init(&lost);
	why = pp_hold_why_text(
	    pp_hold_why(search->index->model, &lost, &of, owner ? owner->tid : 0, search->from_ns));
	pp_lost_threads_done(&lost);
	return why;
}

static void blame_lock(struct search *search)
{
	search->blame->rest_ns -= add_holds(search, search->wait->object, search->from_ns);
	if (!search->blame->causes->len)
		search->blame->why = why_of_lock(search);
}

/* --- barriers -------------------------------------------------------------------------------- */

static gint by_begin(gconstpointer a, gconstpointer b)
{
	const struct pp_index_cause *x = a, *y = b;

	if (x->to_ns != y->to_ns)
		return x->to_ns < y->to_ns ? -1 : 1;
	return x->end < y->end ? -1 : x->end > y->end;
}

/* The last arrival, which does not wait; NULL: not found. */
static const struct pp_index_operation *last_arrival(struct search *search, uint64_t *ret_at,
						     uint32_t *ret_number)
{
	uint64_t n = pp_index_list_n(search->index, PP_LIST_OBJECT, search->wait->object);

	for (unsigned i = 0; *ret_at + i < n && i < LOOKED_AT_MAX; i++) {
		uint32_t number = pp_index_list_at(search->index, PP_LIST_OBJECT,
						   search->wait->object, *ret_at + i);
		const struct pp_index_operation *operation = at(search, number);

		if (operation && pp_sync_has(operation->op, PP_SYNC_PASSES) &&
		    !(operation->flags & PP_INDEX_WAITED)) {
			*ret_at += i;
			*ret_number = number;
			return operation;
		}
	}
	return NULL;
}

/* Each thread that arrived later, for the time since the arrival before. */
static void blame_barrier(struct search *search)
{
	GArray *causes = search->blame->causes;
	uint32_t object = search->wait->object, number = PP_INDEX_NONE;
	uint64_t i =
	    pp_index_list_find(search->index, PP_LIST_OBJECT, object, (uint64_t)search->from_ns);
	uint64_t n = pp_index_list_n(search->index, PP_LIST_OBJECT, object);
	const struct pp_index_operation *last = last_arrival(search, &i, &number);
	struct pp_index_cause cause = {.begin = PP_INDEX_NONE, .end = number};
	int64_t last_ns = search->from_ns;

	if (!last) {
		search->blame->why = "the call that ended it was not recorded";
		return;
	}
	cause.thread = last->thread;
	cause.to_ns = time_of(last);
	g_array_append_val(causes, cause);
	/* Their waits end after it. */
	for (unsigned looked_at = 0; i < n && looked_at < LOOKED_AT_MAX; i++, looked_at++) {
		const struct pp_index_operation *other;

		cause.end = pp_index_list_at(search->index, PP_LIST_OBJECT, object, i);
		other = at(search, cause.end);
		if (!other || other == last || !(other->flags & PP_INDEX_WAITED))
			continue;
		cause.thread = other->thread;
		cause.to_ns = pp_index_begin_ns(search->index, other);
		if (other != search->wait && cause.to_ns > search->from_ns &&
		    cause.to_ns < time_of(last))
			g_array_append_val(causes, cause);
	}
	g_array_sort(causes, by_begin);
	for (guint k = 0; k < causes->len; k++) {
		struct pp_index_cause *one = &g_array_index(causes, struct pp_index_cause, k);

		one->from_ns = last_ns;
		last_ns = one->to_ns = CLAMP(one->to_ns, last_ns, search->to_ns);
		one->ns = one->to_ns - one->from_ns;
		search->blame->rest_ns -= one->ns;
	}
}

/* --- other calls ----------------------------------------------------------------------------- */

/* The acquisition of a semaphore by the thread that then posts it, which makes it a lock. */
static uint32_t acquired_before(const struct search *search, uint64_t post, uint32_t thread)
{
	for (unsigned i = 0; i < AFTER_MAX && post-- > 0; i++) {
		uint32_t number =
		    pp_index_list_at(search->index, PP_LIST_OBJECT, search->wait->object, post);
		const struct pp_index_operation *operation = at(search, number);

		if (operation && operation->thread == thread)
			return operation->flags & PP_INDEX_ACQUIRED ? number : PP_INDEX_NONE;
	}
	return PP_INDEX_NONE;
}

/* Posts by threads that had acquired the semaphore.  Returns the time up to which they last. */
static int64_t add_posts(struct search *search)
{
	const struct pp_index *index = search->index;
	uint32_t object = search->wait->object;
	uint64_t n = pp_index_list_n(index, PP_LIST_OBJECT, object);
	uint64_t i = pp_index_list_find(index, PP_LIST_OBJECT, object, (uint64_t)search->from_ns);
	int64_t until_ns = search->from_ns;

	for (unsigned looked_at = 0; i < n && looked_at < LOOKED_AT_MAX; i++, looked_at++) {
		uint32_t number = pp_index_list_at(index, PP_LIST_OBJECT, object, i);
		const struct pp_index_operation *post = at(search, number);
		struct pp_index_cause cause = {.end = number, .is_hold = true};

		if (!post || time_of(post) > search->to_ns)
			break;
		if (post->op != ST_EVENT_sem_post || post->result)
			continue;
		cause.begin = acquired_before(search, i, post->thread);
		if (cause.begin == PP_INDEX_NONE)
			continue;
		cause.thread = post->thread;
		cause.from_ns = time_of(at(search, cause.begin));
		cause.to_ns = time_of(post);
		search->blame->rest_ns -= add(search, cause, until_ns, search->to_ns);
		until_ns = MAX(until_ns, cause.to_ns);
	}
	return until_ns;
}

/* The mutex of a condition wait, which is reacquired by the next operation. */
static void add_mutex(struct search *search, int64_t from_ns)
{
	const struct pp_index_operation *regained =
	    search->number + 1 ? at(search, search->number + 1) : NULL;

	if (regained && regained->flags & PP_INDEX_REGAINED &&
	    regained->thread == search->wait->thread && from_ns < search->to_ns)
		search->blame->rest_ns -= add_holds(search, regained->object, from_ns);
}

/* The call by which the joined thread ended, which is its last one; PP_INDEX_NONE: not recorded. */
static uint32_t find_exit(const struct search *search)
{
	uint32_t thread = search->more ? search->more->other : PP_INDEX_NONE, number;
	uint64_t n = pp_index_list_n(search->index, PP_LIST_THREAD, thread);
	const struct pp_index_operation *last;

	number = n ? pp_index_list_at(search->index, PP_LIST_THREAD, thread, n - 1) : PP_INDEX_NONE;
	last = at(search, number);
	return last && last->op == ST_EVENT_thread_exit ? number : PP_INDEX_NONE;
}

/* The call that ended the wait, up to that call. */
static void blame_call(struct search *search)
{
	const struct pp_index_object *object = pp_index_object(search->index, search->wait->object);
	struct pp_index_cause cause = {.begin = PP_INDEX_NONE,
				       .end = pp_index_ender(search->index, search->wait),
				       .from_ns = search->from_ns};
	const struct pp_index_operation *call;
	const struct pp_index_thread *joined = NULL;
	int64_t until_ns = search->from_ns;

	if (object && object->type == GM_SYNC_TYPE_sem) {
		until_ns = add_posts(search);
	} else if (object && object->type == GM_SYNC_TYPE_thread && search->more) {
		cause.end = find_exit(search);
		joined = pp_index_thread(search->index, search->more->other);
	}
	call = at(search, cause.end);
	if (search->wait->result == ETIMEDOUT) {
		search->blame->why = "it timed out";
		return;
	}
	if (!call && !joined) {
		if (until_ns == search->from_ns)
			search->blame->why = "the call that ended it was not recorded";
		return;
	}
	cause.thread = call ? call->thread : search->more->other;
	cause.to_ns = call ? time_of(call) : joined->end_ns;
	search->blame->rest_ns -= add(search, cause, until_ns, search->to_ns);
	add_mutex(search, MAX(cause.to_ns, search->from_ns));
}

/* -------------------------------------------------------------------------------------------- */

static gint by_ns(gconstpointer a, gconstpointer b)
{
	const struct pp_index_cause *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return x->from_ns < y->from_ns ? -1 : x->from_ns > y->from_ns;
}

void pp_index_blame_init(struct pp_index_blame *blame, const struct pp_index *index,
			 uint32_t operation)
{
	struct search search = {.index = index,
				.blame = blame,
				.number = operation,
				.wait = pp_index_operation(index, operation)};
	enum gm_sync_type type = search.wait ? pp_sync_type(search.wait->op) : PP_SYNC_TYPE_NONE;

	*blame = (struct pp_index_blame){
	    .causes = g_array_new(FALSE, FALSE, sizeof(struct pp_index_cause))};
	if (!search.wait || !(search.wait->flags & PP_INDEX_WAITED))
		return;
	search.more = pp_index_more(index, search.wait);
	search.from_ns = pp_index_begin_ns(index, search.wait);
	blame->wait_ns = pp_index_ns(index, search.wait);
	search.to_ns = after(search.from_ns, blame->wait_ns);
	blame->wait_ns = blame->rest_ns = search.to_ns - search.from_ns;
	if (pp_sync_type_is_lock(type))
		blame_lock(&search);
	else if (type == GM_SYNC_TYPE_barrier)
		blame_barrier(&search);
	else
		blame_call(&search);
	if (!(search.wait->flags & PP_INDEX_FINISHED))
		blame->why = "the wait did not end";
	g_array_sort(blame->causes, by_ns);
}

void pp_index_blame_done(struct pp_index_blame *blame)
{
	g_clear_pointer(&blame->causes, g_array_unref);
}
