/* SPDX-License-Identifier: MIT */
/*
 * Decides whether threads that acquire locks in a cycle can deadlock.  They can if there is a cycle
 * with a different thread for each step, in which each thread holds the lock that the previous one
 * wants, no two steps hold a common lock (a gate), no step consists of readers only (Havelund's
 * GoodLock, for any number of threads), and no thread has ended before another one of the cycle
 * began (as joins and creations prove).  Threads that merely did not overlap in this run do not
 * exclude a deadlock.  A step with a timeout gives up, which ends the cycle.
 *
 * There may be very many cycles.  The search ends after a limited number of steps, and reports
 * that.
 */
#include "pass/lock_order/lock_order.h"

#define MAX_STEPS   300000u
#define MAX_LENGTH  1000u
#define MAX_THREADS 64u /* of threads with identical steps */
#define MAX_LINKS   64u /* of creations or joins that are followed from thread to thread */

/* A link without its call sites. */
struct arc {
	uint32_t to, thread, held;
	bool timed; /* waits with a timeout */
	int64_t first_ns, last_ns;
	const struct pp_link *link;
};

/* The conditions for a deadlock; each level adds one. */
enum level { THREADS, MODES, GATES, TIMES, LIMITS };

struct search {
	const struct pp_call_sites *sites;
	const GPtrArray *sets;
	const GArray *lives; /* of struct pp_order_life */
	bool left_out;	     /* more than MAX_THREADS threads have the same step */
	GPtrArray *outgoing; /* by the object's number in this search, of GArray * of struct arc */
	enum level level;
	uint32_t start;
	guint limit;  /* maximum length */
	GArray *path; /* of struct arc */
	bool *on_path;
	uint64_t n_steps;
	bool given_up;
};

static const struct arc *path_at(const struct search *search, guint i)
{
	return &g_array_index(search->path, struct arc, i);
}

/* An object in both sets, unless both threads only read it; PP_LINK_NONE. */
static uint32_t common_object(const GPtrArray *sets, uint32_t a, uint32_t b)
{
	size_t n_x, n_y;
	const uint32_t *x = g_bytes_get_data(sets->pdata[a], &n_x);
	const uint32_t *y = g_bytes_get_data(sets->pdata[b], &n_y);

	n_x /= sizeof(*x);
	n_y /= sizeof(*y);
	for (size_t i = 0, j = 0; i < n_x && j < n_y;) {
		if (x[i] >> 1 == y[j] >> 1 && !(x[i] & y[j] & 1))
			return x[i] >> 1;
		if (x[i] >> 1 <= y[j] >> 1)
			i++;
		else
			j++;
	}
	return PP_LINK_NONE;
}

/* True if the wanted and the held side are both shared (readers). */
static bool is_shared(const struct arc *wants, const struct arc *holds)
{
	return wants->held & PP_ORDER_WANTED_SHARED && holds->held & PP_ORDER_HELD_SHARED;
}

static const struct pp_order_life *life_of(const struct search *search, uint32_t thread)
{
	static const struct pp_order_life unknown = {PP_LINK_NONE, PP_LINK_NONE, 0, 0};

	return thread < search->lives->len
		   ? &g_array_index(search->lives, struct pp_order_life, thread)
		   : &unknown;
}

/* True if thread a's time a_ns precedes thread b's time b_ns, or b's begin. */
static bool precedes_begin(const struct search *search, uint32_t a, int64_t a_ns, uint32_t b,
			   int64_t b_ns)
{
	for (unsigned i = 0; i < MAX_LINKS && b != PP_LINK_NONE; i++) {
		const struct pp_order_life *life = life_of(search, b);

		if (a == b && a_ns < b_ns)
			return true;
		b = life->creator;
		b_ns = life->created_ns;
	}
	return false;
}

/* True if `a` always ends before `b` begins: follows joins first, then creations. */
static bool is_before(const struct search *search, const struct arc *a, const struct arc *b)
{
	uint32_t thread = a->thread;
	int64_t now_ns = a->last_ns;

	for (unsigned i = 0; i < MAX_LINKS && thread != PP_LINK_NONE; i++) {
		const struct pp_order_life *life = life_of(search, thread);

		if (precedes_begin(search, thread, now_ns, b->thread, b->first_ns))
			return true;
		thread = life->joiner;
		now_ns = life->joined_ns;
	}
	return false;
}

static bool fits(const struct search *search, const struct arc *arc)
{
	guint n = search->path->len;

	if (search->level >= LIMITS && arc->timed)
		return false;
	for (guint i = 0; i < n; i++)
		if (path_at(search, i)->thread == arc->thread)
			return false;
	if (search->level >= MODES && n && is_shared(path_at(search, n - 1), arc))
		return false;
	if (search->level >= MODES && arc->to == search->start && n &&
	    is_shared(arc, path_at(search, 0)))
		return false;
	for (guint i = 0; search->level >= GATES && i < n; i++)
		if (common_object(search->sets, path_at(search, i)->held >> 2, arc->held >> 2) !=
		    PP_LINK_NONE)
			return false;
	for (guint i = 0; search->level >= TIMES && i < n; i++)
		if (is_before(search, path_at(search, i), arc) ||
		    is_before(search, arc, path_at(search, i)))
			return false;
	return true;
}

/* Extends the path from the object to the start.  Returns true if it succeeded. */
static bool extend(struct search *search, uint32_t object)
{
	const GArray *arcs = search->outgoing->pdata[object];

	if (search->path->len == search->limit)
		return false;
	for (guint i = 0; i < arcs->len && !search->given_up; i++) {
		const struct arc *arc = &g_array_index(arcs, struct arc, i);

		search->given_up = ++search->n_steps > MAX_STEPS;
		/* Visit each cycle once: from its object with the smallest number. */
		if (arc->to < search->start || search->on_path[arc->to] || !fits(search, arc))
			continue;
		g_array_append_val(search->path, *arc);
		if (arc->to == search->start)
			return true;
		search->on_path[arc->to] = true;
		if (extend(search, arc->to))
			return true;
		search->on_path[arc->to] = false;
		g_array_set_size(search->path, search->path->len - 1);
	}
	return false;
}

/* Short cycles first: they are easier to understand. */
static bool find_circle(struct search *search, enum level level)
{
	guint n = search->outgoing->len;
	const guint limits[] = {2, 3, 4, MIN(n, MAX_LENGTH)};

	search->level = level;
	search->n_steps = 0;
	search->given_up = false;
	for (guint l = 0; l < G_N_ELEMENTS(limits); l++)
		for (search->start = 0; search->start < n && !search->given_up; search->start++) {
			g_array_set_size(search->path, 0);
			search->limit = limits[l];
			if (extend(search, search->start))
				return true;
		}
	search->given_up |= n > MAX_LENGTH;
	return false;
}

/* --- the objects of the component ----------------------------------------------------------- */

/* A condition wait re-acquires its mutex without a timeout. */
static bool is_timed(const struct pp_call_site *site)
{
	return pp_sync_has(site->op, PP_SYNC_TIMED) && !pp_sync_has(site->op, PP_SYNC_YIELDS);
}

/* Returns false if the arc is left out. */
static bool add_arc(const struct search *search, GArray *arcs, uint32_t to,
		    const struct pp_link *link)
{
	struct arc new = {
	    .to = to,
	    .thread = link->parts[PP_ORDER_PART_THREAD],
	    .held = link->parts[PP_ORDER_PART_HELD],
	    .timed = is_timed(pp_call_sites_at(search->sites, link->parts[PP_ORDER_PART_SITE])),
	    .first_ns = link->first_ns,
	    .last_ns = link->last_ns,
	    .link = link,
	};
	guint n_alike = 0;

	for (guint i = 0; i < arcs->len; i++) {
		struct arc *arc = &g_array_index(arcs, struct arc, i);

		if (arc->to != to || arc->held != new.held || arc->timed != new.timed)
			continue;
		if (arc->thread == new.thread) {
			arc->first_ns = MIN(arc->first_ns, new.first_ns);
			arc->last_ns = MAX(arc->last_ns, new.last_ns);
			return true;
		}
		if (++n_alike == MAX_THREADS)
			return false;
	}
	g_array_append_val(arcs, new);
	return true;
}

static uint32_t number_of(GHashTable *numbers, GPtrArray *outgoing, uint32_t serial)
{
	void *number = g_hash_table_lookup(numbers, GUINT_TO_POINTER(serial + 1));

	if (number)
		return GPOINTER_TO_UINT(number) - 1;
	g_ptr_array_add(outgoing, g_array_new(FALSE, FALSE, sizeof(struct arc)));
	g_hash_table_insert(numbers, GUINT_TO_POINTER(serial + 1), GUINT_TO_POINTER(outgoing->len));
	return outgoing->len - 1;
}

static void index_arcs(struct search *search, const GPtrArray *links)
{
	g_autoptr(GHashTable) numbers = g_hash_table_new(NULL, NULL);
	GPtrArray *outgoing = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);

	for (guint i = 0; i < links->len; i++) {
		const struct pp_link *link = links->pdata[i];
		uint32_t from = number_of(numbers, outgoing, link->from);
		uint32_t to = number_of(numbers, outgoing, link->to);

		search->left_out |= !add_arc(search, outgoing->pdata[from], to, link);
	}
	search->outgoing = outgoing;
}

static bool is_of_one_thread(const GPtrArray *links)
{
	const struct pp_link *first = links->pdata[0];

	for (guint i = 1; i < links->len; i++)
		if (((const struct pp_link *)links->pdata[i])->parts[PP_ORDER_PART_THREAD] !=
		    first->parts[PP_ORDER_PART_THREAD])
			return false;
	return true;
}

/* --- verdict -------------------------------------------------------------------------------- */

static enum pp_cycle_verdict judge(struct search *search, const GPtrArray *links)
{
	if (is_of_one_thread(links))
		return PP_CYCLE_ONE_THREAD;
	if (find_circle(search, LIMITS))
		return PP_CYCLE_DEADLOCK;
	if (search->given_up)
		return PP_CYCLE_UNDECIDED;
	if (find_circle(search, TIMES))
		return search->left_out ? PP_CYCLE_UNDECIDED : PP_CYCLE_TIMED;
	if (search->given_up)
		return PP_CYCLE_UNDECIDED;
	if (find_circle(search, GATES))
		return search->left_out ? PP_CYCLE_UNDECIDED : PP_CYCLE_APART;
	if (search->given_up)
		return PP_CYCLE_UNDECIDED;
	if (find_circle(search, MODES))
		return PP_CYCLE_GATED;
	if (search->given_up)
		return PP_CYCLE_UNDECIDED;
	if (find_circle(search, THREADS))
		return PP_CYCLE_READERS;
	return search->given_up ? PP_CYCLE_UNDECIDED : PP_CYCLE_FEW;
}

static uint32_t find_gate(const struct search *search)
{
	for (guint i = 0; i < search->path->len; i++)
		for (guint j = i + 1; j < search->path->len; j++) {
			uint32_t gate = common_object(search->sets, path_at(search, i)->held >> 2,
						      path_at(search, j)->held >> 2);

			if (gate != PP_LINK_NONE)
				return gate;
		}
	return PP_LINK_NONE;
}

void pp_cycle_judge(struct pp_cycle *cycle, const GPtrArray *links,
		    const struct pp_lock_order *order)
{
	struct search search = {
	    .sites = &order->sites,
	    .sets = order->sets,
	    .lives = order->lives,
	    .path = g_array_new(FALSE, FALSE, sizeof(struct arc)),
	};

	index_arcs(&search, links);
	search.on_path = g_new0(bool, search.outgoing->len);
	cycle->verdict = judge(&search, links);
	cycle->steps = g_ptr_array_new();
	cycle->gate = PP_LINK_NONE;
	if (cycle->verdict == PP_CYCLE_GATED)
		cycle->gate = find_gate(&search);
	if (cycle->verdict == PP_CYCLE_DEADLOCK || cycle->verdict == PP_CYCLE_TIMED ||
	    cycle->verdict == PP_CYCLE_APART || cycle->verdict == PP_CYCLE_GATED ||
	    cycle->verdict == PP_CYCLE_READERS)
		for (guint i = 0; i < search.path->len; i++)
			g_ptr_array_add(cycle->steps, (void *)path_at(&search, i)->link);
	g_free(search.on_path);
	g_array_unref(search.path);
	g_ptr_array_unref(search.outgoing);
}

void pp_cycle_done(struct pp_cycle *cycle)
{
	g_ptr_array_unref(cycle->steps);
}
