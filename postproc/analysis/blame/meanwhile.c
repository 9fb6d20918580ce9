/* SPDX-License-Identifier: MIT */
/*
 * See meanwhile.h.  A thread has a list of the locks that it holds, by its events alone.  When it
 * returns from a blocking call or a wait, that time belongs to those holds for which other threads
 * are waiting; at the release, it is added to the sums of the two call sites.
 */
#include "analysis/blame/meanwhile.h"

#include "analysis/select.h"
#include "analysis/site_set.h"

/* Entries of each kind; beyond, no fact is known. */
#define N_MAX 65536u
/* Holds of a thread, and calls and waits within them; beyond, some are left out. */
#define N_HOLDS_MAX  64u
#define N_BLOCKS_MAX 256u

struct block {
	struct pp_meanwhile_hold hold; /* of a thread's current hold: `released` is not set yet */
	enum pp_mode mode;
	enum st_io_call call; /* ST_N_IO_CALLS: a wait */
	uint64_t object;      /* that was waited for */
	int64_t ns;
};

struct of_thread {
	bool waits;
	enum st_event op; /* that waits, since: */
	uint64_t object;
	int64_t begin_ns;
	GArray *holds;	/* of struct pp_meanwhile_hold: innermost last */
	GArray *blocks; /* of struct block, within the holds */
};

/* A thread's waits for an object. */
struct wait_sum {
	struct pp_site_key key; /* op: the thread's serial */
	const struct pp_thread *thread;
	int64_t ns;
};

/* An object that has been waited for. */
struct waiting {
	struct pp_site_key key; /* op: pid, detail: image */
	unsigned n;		/* threads that wait for it now */
	/*
	 * The last thread that acquired it, or that a waiter found to be its owner: releases may
	 * have no events; 0: not known.
	 */
	uint32_t holder_tid;
};

struct pp_meanwhile {
	const struct pp_pass_context *context;
	GPtrArray *threads;	    /* of struct of_thread *, by serial; NULL: none yet */
	struct pp_site_set waits;   /* of struct wait_sum */
	struct pp_site_set waiting; /* of struct waiting */
	GHashTable *blocks;	    /* a set of struct block * */
	bool is_full;
};

static void of_thread_free(void *data)
{
	struct of_thread *of = data;

	if (!of)
		return;
	g_array_unref(of->holds);
	g_array_unref(of->blocks);
	g_free(of);
}

static bool is_same_hold(const struct pp_meanwhile_hold *a, const struct pp_meanwhile_hold *b)
{
	return a->process == b->process && a->object == b->object && a->acquired == b->acquired &&
	       a->released == b->released;
}

static guint block_hash(const void *data)
{
	const struct block *block = data;
	uint64_t hash = block->hold.object ^ block->mode ^ (uint64_t)block->call << 8;

	hash = (hash ^ block->hold.acquired << 20) * UINT64_C(0x9e3779b97f4a7c15);
	hash = (hash ^ block->hold.released) * UINT64_C(0x9e3779b97f4a7c15);
	return (guint)((hash ^ block->object) * UINT64_C(0x9e3779b97f4a7c15) >> 32);
}

static gboolean block_equal(const void *a, const void *b)
{
	const struct block *x = a, *y = b;

	return is_same_hold(&x->hold, &y->hold) && x->mode == y->mode && x->call == y->call &&
	       x->object == y->object;
}

static struct of_thread *thread_of(struct pp_meanwhile *self, const struct pp_thread *thread)
{
	struct of_thread *of;

	pp_by_serial_reach(self->threads, thread->serial);
	of = self->threads->pdata[thread->serial];
	if (!of) {
		of = self->threads->pdata[thread->serial] = g_new0(struct of_thread, 1);
		of->holds = g_array_new(FALSE, FALSE, sizeof(struct pp_meanwhile_hold));
		of->blocks = g_array_new(FALSE, FALSE, sizeof(struct block));
	}
	return of;
}

static struct pp_site_key object_key(const struct pp_process *process, uint64_t object)
{
	return (struct pp_site_key){
	    .address = object, .op = process->pid, .detail = process->image};
}

/* NULL: nobody has waited for it. */
static struct waiting *find_waiting(const struct pp_meanwhile *self,
				    const struct pp_process *process, uint64_t object)
{
	const struct pp_site_key key = object_key(process, object);

	return pp_site_set_find(&self->waiting, sizeof(struct waiting), &key);
}

/* --- holds ---------------------------------------------------------------------------------- */

/* Ends the hold; what happened in it is not known to be in it if its release had no event. */
static void forget_hold(struct of_thread *of, uint64_t object)
{
	for (guint i = of->holds->len; i-- > 0;)
		if (g_array_index(of->holds, struct pp_meanwhile_hold, i).object == object)
			g_array_remove_index(of->holds, i);
	for (guint i = of->blocks->len; i-- > 0;)
		if (g_array_index(of->blocks, struct block, i).hold.object == object)
			g_array_remove_index_fast(of->blocks, i);
}

static void acquire(const struct pp_meanwhile *self, struct of_thread *of,
		    const struct pp_event *event, uint64_t object)
{
	const struct pp_process *process = event->thread->process;
	const struct pp_meanwhile_hold hold = {
	    .process = process, .object = object, .acquired = event->sync.site};
	struct waiting *waiting = find_waiting(self, process, object);

	if (waiting)
		waiting->holder_tid = event->thread->tid;
	forget_hold(of, object);
	if (of->holds->len < N_HOLDS_MAX)
		g_array_append_val(of->holds, hold);
}

static void add_block(struct pp_meanwhile *self, struct block *block, uint64_t released)
{
	struct block *known;

	block->hold.released = released;
	known = g_hash_table_lookup(self->blocks, block);
	if (known) {
		known->ns += block->ns;
		return;
	}
	self->is_full |= g_hash_table_size(self->blocks) >= N_MAX;
	if (!self->is_full)
		g_hash_table_add(self->blocks, g_memdup2(block, sizeof(*block)));
}

static void release(struct pp_meanwhile *self, struct of_thread *of, const struct pp_event *event,
		    uint64_t object)
{
	for (guint i = 0; i < of->blocks->len; i++) {
		struct block *block = &g_array_index(of->blocks, struct block, i);

		if (block->hold.object == object)
			add_block(self, block, event->sync.site);
	}
	forget_hold(of, object);
}

static void add_to_hold(struct of_thread *of, const struct block *block)
{
	for (guint i = 0; i < of->blocks->len; i++) {
		struct block *known = &g_array_index(of->blocks, struct block, i);

		if (block_equal(known, block)) {
			known->ns += block->ns;
			return;
		}
	}
	if (of->blocks->len < N_BLOCKS_MAX)
		g_array_append_vals(of->blocks, block, 1);
}

/* The thread was blocked for so long, while others waited for what it holds. */
static void was_blocked(const struct pp_meanwhile *self, struct of_thread *of,
			const struct pp_thread *thread, struct block block)
{
	for (guint i = 0; block.ns > 0 && i < of->holds->len; i++) {
		const struct waiting *waiting;

		block.hold = g_array_index(of->holds, struct pp_meanwhile_hold, i);
		waiting = find_waiting(self, thread->process, block.hold.object);
		if (waiting && waiting->n &&
		    (!waiting->holder_tid || waiting->holder_tid == thread->tid))
			add_to_hold(of, &block);
	}
}

/* --- events --------------------------------------------------------------------------------- */

static void begin_wait(struct pp_meanwhile *self, struct of_thread *of,
		       const struct pp_event *event)
{
	const struct pp_site_key key = object_key(event->thread->process, event->sync.object);
	struct waiting *waiting;

	self->is_full |= self->waiting.n >= N_MAX;
	if (self->is_full)
		return;
	waiting = pp_site_set_get(&self->waiting, sizeof(struct waiting), &key);
	waiting->n++;
	if (event->sync.holder)
		waiting->holder_tid = event->sync.holder;
	of->waits = true;
	of->op = pp_sync_completion(event->sync.op);
	of->object = event->sync.object;
	of->begin_ns = event->time_ns;
	if (pp_sync_has(of->op, PP_SYNC_YIELDS))
		release(self, of, event, event->sync.value);
}

static void end_wait(struct pp_meanwhile *self, struct of_thread *of, const struct pp_event *event)
{
	const struct pp_thread *thread = event->thread;
	struct waiting *waiting = find_waiting(self, thread->process, of->object);
	int64_t ns = pp_selected_ns(self->context, of->begin_ns, event->time_ns);
	const struct pp_site_key key = {.address = of->object, .op = thread->serial};
	struct wait_sum *sum;

	of->waits = false;
	if (waiting && waiting->n)
		waiting->n--;
	was_blocked(self, of, thread,
		    (struct block){.mode = PP_MODE_BLOCKED_SYNC,
				   .call = ST_N_IO_CALLS,
				   .object = of->object,
				   .ns = ns});
	self->is_full |= self->waits.n >= N_MAX;
	if (self->is_full)
		return;
	sum = pp_site_set_get(&self->waits, sizeof(struct wait_sum), &key);
	sum->thread = thread;
	sum->ns += ns;
}

static void sync_event(struct pp_meanwhile *self, const struct pp_event *event)
{
	struct of_thread *of = thread_of(self, event->thread);
	enum st_event op = event->sync.op;
	bool is_lock = pp_sync_type_is_lock(pp_sync_type(op));

	if (pp_sync_has(op, PP_SYNC_BEGIN)) {
		begin_wait(self, of, event);
		return;
	}
	if (of->waits && of->op == op && of->object == event->sync.object)
		end_wait(self, of, event);
	if (pp_sync_has(op, PP_SYNC_YIELDS))
		acquire(self, of, event, event->sync.value);
	else if (is_lock && pp_sync_acquired(op, event->sync.result))
		acquire(self, of, event, event->sync.object);
	else if (is_lock && pp_sync_has(op, PP_SYNC_RELEASES) && !event->sync.result)
		release(self, of, event, event->sync.object);
}

static void io_event(const struct pp_meanwhile *self, const struct pp_event *event)
{
	struct of_thread *of = event->thread->serial < self->threads->len
				   ? self->threads->pdata[event->thread->serial]
				   : NULL;
	uint64_t past_ns = (uint64_t)MAX(event->time_ns, 0);
	int64_t begin_ns = (int64_t)(past_ns - MIN(event->io.duration_ns, past_ns));

	if (of && of->holds->len)
		was_blocked(
		    self, of, event->thread,
		    (struct block){.mode = pp_mode_in_io(event->io.call),
				   .call = event->io.call,
				   .ns = pp_selected_ns(self->context, begin_ns, event->time_ns)});
}

/* The holds of the thread are not known any more. */
static void lost_event(struct pp_meanwhile *self, const struct pp_thread *thread)
{
	struct of_thread *of = thread_of(self, thread);

	of->waits = false;
	g_array_set_size(of->holds, 0);
	g_array_set_size(of->blocks, 0);
}

void pp_meanwhile_event(struct pp_meanwhile *self, const struct pp_event *event)
{
	if (!event->thread || self->is_full)
		return;
	if (event->kind == PP_EVENT_SYNC && !pp_sync_has(event->sync.op, PP_SYNC_DEFINES))
		sync_event(self, event);
	else if (event->kind == PP_EVENT_IO)
		io_event(self, event);
	else if (event->kind == PP_EVENT_LOST)
		lost_event(self, event->thread);
}

struct pp_meanwhile *pp_meanwhile_new(const struct pp_pass_context *context)
{
	struct pp_meanwhile *self = g_new0(struct pp_meanwhile, 1);

	self->context = context;
	self->threads = g_ptr_array_new_with_free_func(of_thread_free);
	self->blocks = g_hash_table_new_full(block_hash, block_equal, g_free, NULL);
	return self;
}

void pp_meanwhile_free(struct pp_meanwhile *self)
{
	g_ptr_array_unref(self->threads);
	g_hash_table_unref(self->blocks);
	pp_site_set_done(&self->waits);
	pp_site_set_done(&self->waiting);
	g_free(self);
}

/* --- results -------------------------------------------------------------------------------- */

static bool is_object_of(const GArray *objects, const struct pp_process *process, uint64_t address)
{
	for (guint i = 0; i < objects->len; i++) {
		const struct pp_meanwhile_hold *hold =
		    &g_array_index(objects, struct pp_meanwhile_hold, i);

		if (hold->process == process && hold->object == address)
			return true;
	}
	return false;
}

void pp_meanwhile_waiters(const struct pp_meanwhile *self, const GArray *objects,
			  struct pp_meanwhile_waiters *ret)
{
	g_autoptr(GHashTable) by_thread = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	GHashTableIter iter;
	gpointer key, value;

	*ret = (struct pp_meanwhile_waiters){0};
	for (unsigned i = 0; !self->is_full && i < self->waits.n; i++) {
		const struct wait_sum *wait = PP_SITE_SET_AT(&self->waits, struct wait_sum, i);
		int64_t *sum_ns;

		if (wait->ns <= 0 ||
		    !is_object_of(objects, wait->thread->process, wait->key.address))
			continue;
		sum_ns = g_hash_table_lookup(by_thread, wait->thread);
		if (!sum_ns) {
			sum_ns = g_new0(int64_t, 1);
			g_hash_table_insert(by_thread, (void *)wait->thread, sum_ns);
		}
		*sum_ns += wait->ns;
		ret->sum_ns += wait->ns;
	}
	ret->n = g_hash_table_size(by_thread);
	g_hash_table_iter_init(&iter, by_thread);
	while (g_hash_table_iter_next(&iter, &key, &value)) {
		const struct pp_thread *thread = key;
		int64_t sum_ns = *(const int64_t *)value;

		if (ret->longest &&
		    (sum_ns < ret->longest_ns ||
		     (sum_ns == ret->longest_ns && thread->serial > ret->longest->serial)))
			continue;
		ret->longest = thread;
		ret->longest_ns = sum_ns;
	}
}

static bool is_hold_of(const GArray *holds, const struct pp_meanwhile_hold *hold)
{
	for (guint i = 0; i < holds->len; i++)
		if (is_same_hold(&g_array_index(holds, struct pp_meanwhile_hold, i), hold))
			return true;
	return false;
}

/* Adds the time to that of the same call, or of a wait for the same object. */
static void add_alike(GArray *sums, const struct block *block)
{
	for (guint i = 0; i < sums->len; i++) {
		struct block *sum = &g_array_index(sums, struct block, i);

		if (sum->call == block->call && sum->object == block->object &&
		    sum->hold.process == block->hold.process) {
			sum->ns += block->ns;
			return;
		}
	}
	g_array_append_vals(sums, block, 1);
}

bool pp_meanwhile_find_block(const struct pp_meanwhile *self, const GArray *holds,
			     enum pp_mode mode, struct pp_meanwhile_block *ret)
{
	g_autoptr(GArray) sums = g_array_new(FALSE, FALSE, sizeof(struct block));
	const struct block *longest = NULL;
	int64_t all_ns = 0;
	GHashTableIter iter;
	gpointer key;

	g_hash_table_iter_init(&iter, self->blocks);
	while (!self->is_full && g_hash_table_iter_next(&iter, &key, NULL)) {
		const struct block *block = key;

		if (block->mode != mode || !is_hold_of(holds, &block->hold))
			continue;
		add_alike(sums, block);
		all_ns += block->ns;
	}
	for (guint i = 0; i < sums->len; i++) {
		const struct block *sum = &g_array_index(sums, struct block, i);

		if (!longest || sum->ns > longest->ns)
			longest = sum;
	}
	if (!longest || longest->ns <= all_ns - longest->ns)
		return false;
	*ret = (struct pp_meanwhile_block){longest->call, longest->hold.process, longest->object,
					   longest->ns};
	return true;
}
