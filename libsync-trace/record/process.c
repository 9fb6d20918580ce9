/* SPDX-License-Identifier: MIT */
/*
 * The library in its process: opened by the constructor, or by the first event if another
 * constructor runs earlier; opened again by the first event of a forked child.
 *
 * A child is recognized because `alive` lies in memory that is zeroed by a fork. This covers
 * fork(), _Fork() and clone() without reading the process id. The child of vfork() runs in its
 * parent's memory and correctly writes into its parent's stream.
 */
#include <errno.h>

#include "record/hold.h"
#include "record/internal.h"
#include "libc/real.h"
#include "runtime/lifecycle/collector.h"
#include "runtime/files/warn.h"
#include "runtime/process/loadmap.h"
#include "runtime/process/process.h"
#include "runtime/process/threads.h"
#include "runtime/sys/futex.h"
#include "runtime/sys/kernel.h"
#include "runtime/sys/seal.h"
#include "runtime/sys/sys.h"

enum { STATE_NEW, STATE_OPENING, STATE_OPEN, STATE_OFF };
enum { ALIVE_EMPTIED, ALIVE_FORGETTING, ALIVE_KNOWN }; /* EMPTIED: by a fork */

static uint32_t state;
static bool is_lost; /* recording is off, but not by the configuration */
static bool prepared;
/*
 * The process has waited for room on the disk. LTTng-UST is not loaded then, since only the
 * constructor does that.
 */
static bool has_waited;
static uint32_t *alive;
static struct gm_making forgetting, opening;
static struct gm_trace trace;
static enum gm_sync_sink sink;

#define FIELDS_OP	    "uint8_t result; uint16_t site; address_t object; "
#define FIELDS_BEGIN	    FIELDS_OP "uint32_t holder; "
#define FIELDS_VALUE	    FIELDS_OP "uint32_t value; "
#define FIELDS_COND	    FIELDS_OP "address_t mutex; "
#define FIELDS_ROUTINE	    FIELDS_OP "address_t routine; "
#define FIELDS_SITE	    "uint16_t number; address_t address; "
#define FIELDS_CALL_PATH    "uint32_t path; uint32_t object_low; "
#define FIELDS_PATH	    "uint32_t number; uint32_t parent; address_t address; "
#define FIELDS_TRIES	    "address_t object; uint32_t holder; uint64_t more; "
#define FIELDS_CONDITIONALS "uint64_t count; "
#define FIELDS_ORDER	    "uint64_t number; "
#define FIELDS_IO	    FIELDS_OP "uint8_t call; uint32_t path; uint64_t duration; "
#define FIELDS_SAME	    "uint8_t result; uint16_t site; "

static const struct gm_event_class events[] = {
#define ST_EVENT_ROW(name, shape) {#name, FIELDS_##shape},
    ST_EVENTS(ST_EVENT_ROW)
#undef ST_EVENT_ROW
#define ST_SAME_ROW(name) {#name, FIELDS_SAME},
	ST_SAME_EVENTS(ST_SAME_ROW)
#undef ST_SAME_ROW
};

struct gm_trace *st_process_trace(void)
{
	return &trace;
}

enum gm_sync_sink st_process_sink(void)
{
	return sink;
}

/*
 * If a child starts with several threads, all of them arrive here together, with signals blocked.
 */
bool st_process_check_fork(void)
{
	uint32_t seen = ALIVE_EMPTIED;

	/* acquire: pairs with the release in prepare() */
	if (__atomic_load_n(&alive, __ATOMIC_ACQUIRE) == NULL ||
	    __atomic_load_n(alive, __ATOMIC_ACQUIRE) == ALIVE_KNOWN)
		return true;
	if (!__atomic_compare_exchange_n(alive, &seen, ALIVE_FORGETTING, false, __ATOMIC_ACQUIRE,
					 __ATOMIC_ACQUIRE))
		return gm_making_wait(&forgetting, alive, ALIVE_FORGETTING) == 0;
	gm_making_begin(&forgetting);
	gm_process_forked();
	st_pool_forget();
	st_spares_forget();
	st_waits_forget();
	st_counts_forget();
	st_order_forget();
	st_live_forget();
	st_access_forget();
	gm_nodes_forked();
	st_ust_forked();
	if (__atomic_load_n(&state, __ATOMIC_RELAXED) != STATE_OFF || is_lost)
		__atomic_store_n(&state, STATE_NEW, __ATOMIC_RELAXED);
	is_lost = false;
	gm_making_end(&forgetting);
	/*
	 * release: pairs with the acquires above; the other threads then open the process, or find
	 * it open
	 */
	__atomic_store_n(alive, ALIVE_KNOWN, __ATOMIC_RELEASE);
	gm_futex_wake(alive, INT_MAX);
	return true;
}

bool st_process_is_forgetting(void)
{
	return alive != NULL && __atomic_load_n(alive, __ATOMIC_RELAXED) == ALIVE_FORGETTING;
}

void st_process_check_fork_inside(void)
{
	uint64_t mask;

	/* acquire: as in st_process_check_fork() */
	if (__atomic_load_n(&alive, __ATOMIC_ACQUIRE) == NULL ||
	    __atomic_load_n(alive, __ATOMIC_ACQUIRE) == ALIVE_KNOWN || gm_seal_is_set())
		return;
	gm_signals_block(&mask);
	st_process_check_fork();
	gm_signals_restore(mask);
}

bool st_process_has_begun_anew(void)
{
	/* Writing at once costs one page fault, reading first costs two. */
	return alive != NULL && st_memory_is_wiped &&
	       __atomic_fetch_add(alive, 0, __ATOMIC_ACQUIRE) == ALIVE_KNOWN;
}

void st_process_forked(void)
{
	if (alive != NULL)
		*alive = ALIVE_EMPTIED;
}

/* Runs once per program image. */
static bool prepare(void)
{
	uint32_t *made;

	st_real_resolve();
	/* The program may hold a lock that its own _dl_find_object() takes. */
	gm_libc_resolve();
	st_io_prepare();
	st_jump_init();
	st_stack_init();
	gm_clock_init();
	gm_maps_on_move(gm_object_move, GM_FIRST_PLACE_SYNC);
	gm_thread_watch_init(GM_LIB_SYNC, st_thread_ended);
	made = st_memory_new(4096);
	if (made == NULL)
		return false;
	*made = ALIVE_KNOWN;
	/*
	 * release: other first threads check it at once, and a zeroed word would be taken for a
	 * fork
	 */
	__atomic_store_n(&alive, made, __ATOMIC_RELEASE);
	return st_fork_init() == 0;
}

/* Returns the resulting state: it stays new while the disk has no room for the process. */
static uint32_t open_now(void)
{
	const struct gm_process *process;
	bool is_auto, is_all;

	/* Always: even a program that is not recorded calls the real functions through us. */
	if (!prepared && !prepare())
		return STATE_OFF;
	prepared = true;
	process = gm_process_open();
	if (process == NULL && !gm_process_is_off()) {
		has_waited = true;
		return STATE_NEW;
	}
	if (process == NULL || process->config.sync_mode == GM_SYNC_OFF) {
		st_io_switch_off();
		return STATE_OFF;
	}
	sink = process->config.sync_sink;
	if (sink != GM_SINK_NATIVE && has_waited) {
		trace.why = GM_LOSS_DISK;
		is_lost = true;
		return STATE_OFF;
	}
	trace.lost = st_packet_lost;
	st_ring_open(&trace);
	if (st_path_wait_ns != process->config.sync_path_ns)
		st_path_wait_ns = process->config.sync_path_ns;
	if (st_path_depth != process->config.sync_path_depth)
		st_path_depth = (unsigned)process->config.sync_path_depth;
	st_callers_name(process->config.names_wrappers);
	if (st_path_sample != process->config.sync_path_sample)
		st_path_sample = (uint32_t)process->config.sync_path_sample;
	if (sink != GM_SINK_LTTNG &&
	    !gm_trace_open(&trace, "user", process->config.sync_buffer_bytes, events, ST_N_CLASSES,
			   "cannot record synchronization")) {
		is_lost = true;
		return STATE_OFF;
	}
	/* LTTng's events cost more than this could save. */
	is_auto = process->config.sync_mode == GM_SYNC_AUTO && sink == GM_SINK_NATIVE;
	is_all = process->config.sync_mode == GM_SYNC_ALL && sink == GM_SINK_NATIVE;
	st_budget_watches = is_auto || is_all;
	st_times_holds = process->config.sync_holds == GM_HOLDS_TIMED && sink == GM_SINK_NATIVE;
	st_orders = process->config.sync_order == GM_ORDER_ON && sink != GM_SINK_LTTNG;
	st_counts_open_late(st_budget_watches);
	st_budget_percent = is_auto ? (unsigned)process->config.sync_budget_percent : 0;
	if (is_auto)
		gm_process_set_sync_objects(GM_SYNC_IN_AUTO_MODE);
	if (process->config.sync_mode == GM_SYNC_CONTENDED &&
	    (gm_process_folder() != 0 || !st_counts_open(process->dir, false)))
		gm_warn("cannot make " ST_COUNTS_FILE ": recording all operations, not only waits");
	st_select(&process->config, st_orders && st_live_open());
	st_io_open(&process->config);
	return STATE_OPEN;
}

bool st_process_is_lost(uint16_t *ret_why)
{
	*ret_why = trace.why;
	return is_lost;
}

bool st_process_waits(void)
{
	return __atomic_load_n(&state, __ATOMIC_ACQUIRE) == STATE_NEW &&
	       gm_process_waits(GM_LIB_SYNC);
}

bool st_process_is_open(void)
{
	return __atomic_load_n(&state, __ATOMIC_RELAXED) == STATE_OPEN;
}

bool st_process_is_borrowed(void)
{
	const struct gm_process *process = gm_process_get();

	return process != NULL && alive != NULL &&
	       __atomic_load_n(alive, __ATOMIC_ACQUIRE) == ALIVE_KNOWN &&
	       process->pid != gm_sys_getpid();
}

bool st_process_open(void)
{
	uint32_t seen = __atomic_load_n(&state, __ATOMIC_ACQUIRE);

	if (seen == STATE_NEW && __atomic_compare_exchange_n(&state, &seen, STATE_OPENING, false,
							     __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE)) {
		gm_making_begin(&opening);
		seen = open_now();
		gm_making_end(&opening);
		/* release: pairs with the acquire loads here; publishes everything that was made */
		__atomic_store_n(&state, seen, __ATOMIC_RELEASE);
		gm_futex_wake(&state, INT_MAX);
	}
	if (seen == STATE_OPENING && gm_making_wait(&opening, &state, STATE_OPENING) == 0)
		seen = __atomic_load_n(&state, __ATOMIC_ACQUIRE);
	return seen == STATE_OPEN;
}

bool st_process_is_opening(void)
{
	return __atomic_load_n(&state, __ATOMIC_RELAXED) == STATE_OPENING;
}

void st_process_left(uint32_t tid)
{
	gm_process_left(tid);
	if (!st_process_is_opening() || !gm_making_is_by(&opening, tid))
		return;
	trace.why = GM_LOSS_COUNTING_ONLY;
	is_lost = gm_process_get() != NULL;
	gm_making_end(&opening);
	/*
	 * release: as in st_process_open(); waiters check periodically, since no system call may be
	 * made
	 */
	__atomic_store_n(&state, STATE_OFF, __ATOMIC_RELEASE);
}

__attribute__((constructor)) static void begin(void)
{
	struct st_thread *self = st_enter();
	const struct gm_process *process;

	if (self == NULL)
		return;
	st_leave(self);
	process = gm_process_get();
	if (process != NULL)
		gm_collector_start(process);
	gm_maps_update();
	if (sink != GM_SINK_NATIVE)
		st_ust_open(sink == GM_SINK_BOTH);
}

/*
 * A child of fork without an event has no load map and knows no sites; but it has its parent's
 * unwind rules.
 */
void gm_unloads(uint64_t address)
{
	bool is_open = alive != NULL && __atomic_load_n(alive, __ATOMIC_RELAXED) == ALIVE_KNOWN &&
		       __atomic_load_n(&state, __ATOMIC_RELAXED) == STATE_OPEN;

	st_callers_forget();
	if (is_open && gm_maps_unload(address))
		st_pool_detour(ST_DETOUR_UNLOADED);
	else
		gm_maps_leave(address);
}

__attribute__((destructor)) static void end(void)
{
	struct st_thread *self;
	uint64_t mask;

	if (alive == NULL || *alive == ALIVE_EMPTIED)
		return; /* a child of fork without an event */
	self = st_enter();
	if (self == NULL)
		return;
	if (self->live && !gm_seal_is_set()) {
		if (st_access != NULL)
			st_access_finish(self);
		gm_signals_block(&mask);
		st_thread_trim(self);
		st_pool_trim();
		gm_signals_restore(mask);
	}
	st_leave(self);
	gm_process_end();
}
