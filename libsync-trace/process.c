/* SPDX-License-Identifier: MIT */
/*
 * The library in its process: opened by the constructor, or by the first event if another
 * constructor comes earlier; opened again by the first event of a forked child.
 *
 * How a child is recognized: `alive` lies in memory that a fork leaves empty.  That covers fork(),
 * _Fork() and clone() without asking for the process id, and is not fooled by vfork(), whose child
 * runs in its parent's memory and rightly writes into its parent's stream.
 */
#include <errno.h>
#include <stdatomic.h>

#include "internal.h"
#include "real.h"
#include "runtime/runtime.h"
#include "runtime/sys.h"

enum { STATE_NEW, STATE_OPENING, STATE_OPEN, STATE_OFF };

static _Atomic int state;
static bool prepared;
static uint32_t *alive;
static char dir[GM_PATH_MAX + 8];
static uint8_t uuid[16];
static uint64_t packet_max;

const char *st_process_dir(void)
{
	return dir;
}

const uint8_t *st_process_uuid(void)
{
	return uuid;
}

uint64_t st_process_packet_max(void)
{
	return packet_max;
}

void st_process_check_fork(void)
{
	if (alive == NULL || *alive != 0)
		return;
	gm_process_forked();
	st_pool_forget();
	*alive = 1;
	if (atomic_load_explicit(&state, memory_order_relaxed) != STATE_OFF)
		atomic_store_explicit(&state, STATE_NEW, memory_order_relaxed);
}

void st_process_forked(void)
{
	if (alive != NULL)
		*alive = 0;
}

/* Once per program image. */
static bool prepare(void)
{
	st_real_resolve();
	gm_clock_init();
	if (gm_thread_watch_init(st_thread_ended) != 0)
		return false;
	alive = st_memory_new(4096);
	if (alive == NULL)
		return false;
	*alive = 1;
	return st_fork_init() == 0;
}

/* <pid>/user appears with its metadata in it, whole. */
static bool folder_make(const struct gm_process *process)
{
	char *hidden = gm_path_new(process->dir, ".user");
	struct gm_text text = GM_TEXT(dir), error;
	char warning[GM_WARNING_BYTES];
	long code = -ENOMEM;

	gm_text_add(&text, process->dir);
	gm_text_add(&text, "/user");
	if (gm_syscall3(SYS_getrandom, (long)uuid, sizeof(uuid), 0) != sizeof(uuid))
		__builtin_memcpy(uuid, &process->capture.clock_offset_ns, 8);
	if (hidden != NULL) {
		code = gm_sys_mkdir(hidden, 0700);
		if (code == 0)
			code = st_metadata_write(hidden, uuid);
		if (code == 0)
			code = gm_sys_rename(hidden, dir);
		if (code != 0)
			gm_remove_tree(hidden);
	}
	gm_path_free(hidden);
	if (code == 0)
		return true;
	error = GM_TEXT(warning);
	gm_text_add(&error, dir);
	gm_text_add(&error, ": cannot record synchronization: ");
	gm_text_add_errno(&error, code);
	gm_text_add(&error, "; the program runs without");
	gm_warn(warning);
	return false;
}

static bool open_now(void)
{
	const struct gm_process *process;

	/* Always: even a program that is not recorded calls the real functions through us. */
	if (!prepared && !prepare())
		return false;
	prepared = true;
	process = gm_process_open();
	if (process == NULL || process->config.sync_mode == GM_SYNC_OFF)
		return false;
	packet_max = process->config.sync_buffer_bytes;
	return folder_make(process);
}

bool st_process_open(void)
{
	int seen = atomic_load_explicit(&state, memory_order_acquire);

	if (seen == STATE_NEW &&
	    atomic_compare_exchange_strong_explicit(&state, &seen, STATE_OPENING,
						    memory_order_acquire, memory_order_acquire)) {
		seen = open_now() ? STATE_OPEN : STATE_OFF;
		/* release: pairs with the acquire loads here; publishes all that was made */
		atomic_store_explicit(&state, seen, memory_order_release);
	}
	while (seen == STATE_OPENING) {
		gm_syscall3(SYS_sched_yield, 0, 0, 0);
		seen = atomic_load_explicit(&state, memory_order_acquire);
	}
	return seen == STATE_OPEN;
}

__attribute__((constructor)) static void begin(void)
{
	struct st_thread *self = st_enter();

	if (self == NULL)
		return;
	st_leave(self);
	gm_maps_update();
}

__attribute__((destructor)) static void end(void)
{
	struct st_thread *self;
	uint64_t mask;

	if (alive == NULL || *alive == 0)
		return; /* a child of fork that did nothing */
	self = st_enter();
	if (self == NULL)
		return;
	if (self->live) {
		gm_signals_block(&mask);
		st_thread_trim(self);
		st_pool_close();
		gm_signals_restore(mask);
	}
	st_leave(self);
	gm_process_end();
}
