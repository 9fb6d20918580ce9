/* SPDX-License-Identifier: MIT */
/* See idle.h. */
#include "analysis/state/idle.h"

#include "analysis/select.h"

/* A thread that others wait for. */
struct wanted {
	GPtrArray *locks; /* of const struct pp_object *: held by it, and waited for */
	int64_t since_ns; /* `locks` is not empty since then */
	int64_t sum_ns;	  /* selected time before that */
	int64_t base_ns;  /* sum at the begin of its wait */
};

/* The key: address: the thread's serial plus 1; 0: none; detail: the waiter's, if turns alternate.
 */
struct by_waker {
	struct pp_site_key key;
	struct pp_idle_total total;
};

static void wanted_free(void *data)
{
	struct wanted *wanted = data;

	if (wanted)
		g_ptr_array_unref(wanted->locks);
	g_free(wanted);
}

void pp_idle_init(struct pp_idle *idle, const struct pp_pass_context *context)
{
	idle->context = context;
	idle->threads = g_ptr_array_new_with_free_func(wanted_free);
	idle->waited_for = g_hash_table_new(NULL, NULL);
	idle->owners = (struct pp_site_set){0};
	pp_turns_init(&idle->turns);
	pp_handovers_init(&idle->handovers);
}

void pp_idle_done(struct pp_idle *idle)
{
	g_clear_pointer(&idle->threads, g_ptr_array_unref);
	g_clear_pointer(&idle->waited_for, g_hash_table_unref);
	pp_site_set_done(&idle->owners);
	pp_turns_done(&idle->turns);
	pp_handovers_done(&idle->handovers);
}

void pp_idle_object_free(struct pp_idle_object *of)
{
	if (of)
		pp_site_set_done(&of->peers);
	g_free(of);
}

void pp_idle_sums_done(struct pp_idle_sums *sums)
{
	pp_site_set_done(&sums->by_waker);
}

/* --- threads that hold what others wait for ------------------------------------------------- */

/* NULL: it was never wanted. */
static struct wanted *find_wanted(const struct pp_idle *idle, const struct pp_thread *thread)
{
	return thread->serial < idle->threads->len ? idle->threads->pdata[thread->serial] : NULL;
}

static void want(struct pp_idle *idle, const struct pp_thread *thread, const struct pp_object *lock,
		 int64_t now_ns)
{
	struct wanted *wanted = find_wanted(idle, thread);

	if (!wanted) {
		pp_by_serial_reach(idle->threads, thread->serial);
		wanted = idle->threads->pdata[thread->serial] = g_new0(struct wanted, 1);
		wanted->locks = g_ptr_array_new();
	}
	if (g_ptr_array_find(wanted->locks, lock, NULL))
		return;
	if (!wanted->locks->len)
		wanted->since_ns = now_ns;
	g_ptr_array_add(wanted->locks, (void *)lock);
	g_hash_table_add(idle->waited_for, (void *)lock);
}

/* The selected time in which others waited for it. */
static int64_t wanted_ns(const struct pp_idle *idle, const struct wanted *wanted, int64_t now_ns)
{
	return wanted->sum_ns +
	       (wanted->locks->len
		    ? pp_selected_ns(idle->context, wanted->since_ns, MAX(now_ns, wanted->since_ns))
		    : 0);
}

static void want_no_more(const struct pp_idle *idle, const struct pp_thread *thread,
			 const struct pp_object *lock, int64_t now_ns)
{
	struct wanted *wanted = find_wanted(idle, thread);
	int64_t sum_ns;

	if (!wanted)
		return;
	sum_ns = wanted_ns(idle, wanted, now_ns);
	if (g_ptr_array_remove_fast(wanted->locks, (void *)lock) && !wanted->locks->len)
		wanted->sum_ns = sum_ns;
}

/* Removes locks whose holds ended unnoticed, for example because events were lost. */
static void forget_others(const struct pp_idle *idle, const struct pp_thread *thread,
			  int64_t now_ns)
{
	const struct wanted *wanted = find_wanted(idle, thread);

	for (guint i = wanted ? wanted->locks->len : 0; i-- > 0;) {
		const struct pp_object *lock = wanted->locks->pdata[i];

		if (!pp_object_is_held(lock, thread))
			want_no_more(idle, thread, lock, now_ns);
	}
}

static const struct pp_thread *holder_at(const struct pp_object *lock, guint i)
{
	return g_array_index(lock->holds, struct pp_hold, i).thread;
}

/* A thread begins to wait for something that nobody holds. */
static void begin_idle(const struct pp_idle *idle, const struct pp_thread *thread, int64_t now_ns)
{
	struct wanted *wanted;

	forget_others(idle, thread, now_ns);
	wanted = find_wanted(idle, thread);
	if (wanted)
		wanted->base_ns = wanted_ns(idle, wanted, now_ns);
}

void pp_idle_waits(struct pp_idle *idle, const struct pp_object *object,
		   const struct pp_operation *operation)
{
	if (pp_object_is_lock(object)) {
		for (guint i = 0; i < pp_object_n_holds(object); i++)
			want(idle, holder_at(object, i), object, operation->begin_ns);
		return;
	}
	begin_idle(idle, operation->thread, operation->begin_ns);
}

void pp_idle_io_begin(const struct pp_idle *idle, const struct pp_io *io)
{
	begin_idle(idle, io->thread, io->begin_ns);
}

void pp_idle_forget(struct pp_idle *idle, const struct pp_object *object)
{
	if (!g_hash_table_contains(idle->waited_for, object))
		return;
	for (guint i = 0; i < idle->threads->len; i++) {
		const struct wanted *wanted = idle->threads->pdata[i];

		if (wanted)
			g_ptr_array_remove_fast(wanted->locks, (void *)object);
	}
	g_hash_table_remove(idle->waited_for, object);
}

void pp_idle_released(struct pp_idle *idle, const struct pp_object *object,
		      const struct pp_hold *hold, int64_t end_ns)
{
	want_no_more(idle, hold->thread, object, end_ns);
}

/* --- wakers and peers ----------------------------------------------------------------------- */

static bool may_be_idle(const struct pp_object *object, const struct pp_operation *operation)
{
	return operation->waited && object->type == pp_sync_type(operation->op) &&
	       (object->type == GM_SYNC_TYPE_cond || object->type == GM_SYNC_TYPE_sem ||
		object->type == GM_SYNC_TYPE_thread);
}

static struct pp_site_key peer(const struct pp_object *object, uint64_t site, uint32_t thread)
{
	return (struct pp_site_key){
	    .address = object->type == GM_SYNC_TYPE_cond ? site : 0,
	    .detail = thread,
	};
}

static bool wakes(const struct pp_operation *operation)
{
	return operation->finished && operation->result == 0 &&
	       pp_sync_has(operation->op, PP_SYNC_WAKES);
}

/* The number of threads that it may wake.  A post may be for one that does not wait yet. */
static unsigned n_woken(const struct pp_object *object, const struct pp_operation *operation)
{
	guint n_waiters = pp_object_n_waiters(object);

	if (object->type == GM_SYNC_TYPE_sem)
		return 1;
	return operation->op == ST_EVENT_cond_broadcast ? n_waiters : MIN(n_waiters, 1);
}

static struct pp_site_key owner(uint64_t mutex, uint32_t thread)
{
	return (struct pp_site_key){.address = mutex, .detail = thread};
}

/* The thread that ended the wait; NULL: not known. */
static const struct pp_thread *find_waker(const struct pp_idle_object *of,
					  const struct pp_operation *operation)
{
	return of && of->waker && of->waker != operation->thread &&
		       of->waker_ns >= operation->begin_ns && of->waker_ns <= operation->end_ns
		   ? of->waker
		   : NULL;
}

/* The same, or the last thread that posted the semaphore that was acquired without a wait. */
static const struct pp_thread *find_giver(const struct pp_idle_object *of,
					  const struct pp_operation *operation)
{
	if (operation->waited || !of || of->waker == operation->thread)
		return find_waker(of, operation);
	return of->waker;
}

/* Its serial number plus 1; 0: not known. */
static uint64_t waker_of(const struct pp_idle_object *of, const struct pp_operation *operation)
{
	const struct pp_thread *waker = find_waker(of, operation);

	return waker ? waker->serial + 1 : 0;
}

/* Its only waiter was woken. */
static void note_turn(struct pp_idle *idle, struct pp_idle_object *of,
		      const struct pp_operation *operation)
{
	uint64_t waker = waker_of(of, operation);

	if (!of->waiter || !of->mutex || !waker)
		return;
	pp_turns_add(&idle->turns, &(struct pp_turn){of->mutex, operation->site,
						     (uint32_t)(waker - 1), of->waiter->serial});
	of->turns = &idle->turns;
}

/* Finds out whether a condition variable is its waiter's own. */
static void note_owner(struct pp_idle *idle, struct pp_idle_object *of,
		       const struct pp_operation *operation)
{
	struct pp_site_key key;

	if (pp_sync_has(operation->op, PP_SYNC_DESTROYS) && of->waiter == operation->thread &&
	    of->mutex) {
		key = owner(of->mutex, of->waiter->serial);
		(void)pp_site_set_get(&idle->owners, sizeof(key), &key);
		of->owners = &idle->owners;
	} else if (operation->waited) {
		of->waiter =
		    !of->has_waited || of->waiter == operation->thread ? operation->thread : NULL;
		of->has_waited = true;
		of->mutex = operation->value;
		note_turn(idle, of, operation);
	}
}

void pp_idle_operation(struct pp_idle *idle, struct pp_idle_object **of,
		       const struct pp_object *object, const struct pp_operation *operation,
		       bool acquired)
{
	const struct pp_thread *thread = operation->thread;
	bool is_peer =
	    object->type == GM_SYNC_TYPE_cond ? operation->waited : acquired || operation->waited;
	struct pp_site_key key;

	if (pp_object_is_lock(object)) {
		if (acquired && pp_object_n_waiters(object))
			want(idle, thread, object, operation->end_ns);
		for (guint i = 0; !pp_object_n_waiters(object) && i < pp_object_n_holds(object);
		     i++)
			want_no_more(idle, holder_at(object, i), object, operation->end_ns);
		return;
	}
	if (operation->waited || (acquired && object->type == GM_SYNC_TYPE_sem))
		pp_handovers_got(&idle->handovers, operation, find_giver(*of, operation),
				 *of ? (*of)->waker_ns : 0);
	if (object->type != GM_SYNC_TYPE_cond && object->type != GM_SYNC_TYPE_sem)
		return;
	if (!*of)
		*of = g_new0(struct pp_idle_object, 1);
	(*of)->handovers = &idle->handovers;
	if (object->type == GM_SYNC_TYPE_cond)
		note_owner(idle, *of, operation);
	if (wakes(operation)) {
		(*of)->waker = thread;
		(*of)->waker_ns = operation->end_ns;
		pp_handovers_wakes(&idle->handovers, thread, n_woken(object, operation));
	} else if (is_peer) {
		key = peer(object, operation->site, thread->serial);
		(void)pp_site_set_get(&(*of)->peers, sizeof(key), &key);
	}
}

/* --- sums ----------------------------------------------------------------------------------- */

/* The part of a wait that has ended in which others waited for the thread. */
static int64_t wanted_part(const struct pp_idle *idle, const struct pp_thread *thread,
			   int64_t end_ns, int64_t wait_ns)
{
	const struct wanted *wanted = find_wanted(idle, thread);

	return wanted ? MIN(wanted_ns(idle, wanted, end_ns) - wanted->base_ns, wait_ns) : 0;
}

int64_t pp_idle_io_ns(const struct pp_idle *idle, const struct pp_io *io, int64_t wait_ns)
{
	return pp_io_is_idle(io->call)
		   ? wait_ns - wanted_part(idle, io->thread, io->end_ns, wait_ns)
		   : 0;
}

void pp_idle_add(const struct pp_idle *idle, const struct pp_idle_object *of,
		 struct pp_idle_sums *sums, const struct pp_object *object,
		 const struct pp_operation *operation, bool counts, int64_t wait_ns)
{
	struct pp_site_key key = {.address = waker_of(of, operation)};
	int64_t idle_ns =
	    wait_ns - wanted_part(idle, operation->thread, operation->end_ns, wait_ns);
	struct by_waker *sum;

	if (!may_be_idle(object, operation))
		return;
	if (pp_handovers_alternate(&idle->handovers, operation))
		key.detail = operation->thread->serial + 1;
	sum = pp_site_set_get(&sums->by_waker, sizeof(*sum), &key);
	sum->total.n += counts && idle_ns == wait_ns;
	sum->total.ns += idle_ns;
	sum->total.runnable_ns += MIN(operation->runnable_ns, idle_ns);
}

static bool is_peer(const struct pp_idle_object *of, const struct pp_object *object, uint64_t site,
		    uint64_t waker)
{
	struct pp_site_key key;

	if (!of || !waker)
		return false;
	key = peer(object, site, (uint32_t)(waker - 1));
	if (pp_site_set_find(&of->peers, sizeof(key), &key))
		return true;
	key = owner(of->mutex, (uint32_t)(waker - 1));
	if (of->owners && pp_site_set_find(of->owners, sizeof(key), &key))
		return true;
	return of->turns && of->waiter &&
	       pp_turns_has(of->turns, &(struct pp_turn){of->mutex, site, (uint32_t)(waker - 1),
							 of->waiter->serial});
}

static bool is_handover(const struct pp_idle_object *of, const struct pp_site_key *key)
{
	return of && key->detail &&
	       pp_handovers_has(of->handovers, (uint32_t)(key->address - 1), key->detail - 1);
}

void pp_idle_get(const struct pp_idle_object *of, const struct pp_object *object,
		 const struct pp_idle_sums *sums, uint64_t site, struct pp_idle_total *total)
{
	for (unsigned i = 0; i < sums->by_waker.n; i++) {
		const struct by_waker *sum = PP_SITE_SET_AT(&sums->by_waker, struct by_waker, i);

		if (is_peer(of, object, site, sum->key.address) || is_handover(of, &sum->key))
			continue;
		total->n += sum->total.n;
		total->ns += sum->total.ns;
		total->runnable_ns += sum->total.runnable_ns;
	}
}
