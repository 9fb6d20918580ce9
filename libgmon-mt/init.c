/* SPDX-License-Identifier: MIT */
/*
 * Start and end of the process, and the functions that -pg programs expect of a C library.
 *
 * gcrt1.o calls __monstartup() before any constructor. It registers _mcleanup() with atexit(), so
 * _mcleanup() runs before the destructors of the program's objects, which may call profiled
 * functions. _mcleanup() therefore writes the counts so far, and our own destructor, the last to
 * run, writes them again. Programs linked without gcrt1.o have only the constructor and the
 * destructor.
 */
#include "internal.h"
#include "runtime/lifecycle/collector.h"
#include "runtime/process/loadmap.h"
#include "runtime/process/process.h"
#include "runtime/sys/kernel.h"
#include "runtime/sys/seal.h"

bool gm_started;
bool gm_sampled;

/* For mcount.S: thread-local storage exists; and the calls counted before it did. */
bool gm_up;
uint64_t gm_calls_early;

static bool ready;

#define EXPORTED __attribute__((visibility("default")))

EXPORTED void __monstartup(unsigned long low_pc, unsigned long high_pc);
EXPORTED void monstartup(unsigned long low_pc, unsigned long high_pc);
EXPORTED void moncontrol(int mode);
EXPORTED void _mcleanup(void);

__attribute__((constructor(101))) static void start(void)
{
	const struct gm_process *process;
	uint64_t mask;

	if (ready)
		return;
	ready = true;
	gm_up = true;
	gm_maps_on_move(gm_calls_move, GM_FIRST_PLACE_CALLS);
	gm_threads_init();
	gm_arena_init();
	gm_signals_block(&mask);
	process = gm_process_open();
	if (process != NULL)
		gm_collector_start(process);
	gm_signals_restore(mask);
	gm_process_count_lost(GM_LIB_CALLS, gm_calls_early, GM_LOSS_TOO_EARLY);
	if (process == NULL)
		return;
	gm_maps_update();
	gm_sample_begin(process);
}

/* The range of code is not needed: calls are counted at every address, in any object. */
void __monstartup(unsigned long low_pc, unsigned long high_pc)
{
	(void)low_pc;
	(void)high_pc;
	start();
	gm_started = true;
}

void monstartup(unsigned long low_pc, unsigned long high_pc)
{
	__monstartup(low_pc, high_pc);
}

/* As in glibc: 0 stops counting, any other value resumes it, for all threads. */
void moncontrol(int mode)
{
	gm_threads_pause(mode == 0);
}

/*
 * At the end of a process that has counted no call. Without a sample, all control blocks are those
 * of another copy of this library.
 */
static void flush_samples(void)
{
	uint64_t mask;

	gm_sample_end_early();
	if (!gm_sampled)
		return;
	if (!gm_flush_lock(&mask)) {
		gm_threads_settle(false);
		return;
	}
	gm_threads_finish();
	gm_threads_settle(true);
	gm_flush_unlock(mask);
}

static void flush(void)
{
	const struct gm_process *process;
	uint64_t mask;

	if (gm_seal_is_set())
		return;
	gm_threads_check_fork();
	process = gm_process_get();
	if (process == NULL || process->config.calls_mode == GM_CALLS_OFF)
		return;
	if (!gm_started) {
		flush_samples();
		return;
	}
	gm_maps_update(); /* takes the loader's lock; a holder of that may want ours */
	gm_tls_leave();	  /* exit() may run in a handler that interrupted gm_calls_miss() */
	if (!gm_flush_lock(&mask)) {
		gm_gmon_give_up();
		gm_threads_settle(false);
		return;
	}
	gm_gmon_all();
	gm_flush_unlock(mask);
}

void _mcleanup(void)
{
	flush();
}

void gm_unloads(uint64_t address)
{
	gm_threads_check_fork();
	if (!gm_maps_unload(address))
		gm_maps_leave(address);
	gm_stacks_unload();
}

__attribute__((destructor(101))) static void end(void)
{
	uint64_t mask;

	flush();
	if (!gm_seal_is_set())
		gm_stacks_write_kept(gm_tls.control);
	if (!gm_seal_is_set() && gm_flush_lock(&mask)) {
		gm_history_trim(gm_tls.control);
		gm_stacks_trim(gm_tls.control);
		gm_flush_unlock(mask);
	}
	gm_process_end();
}
