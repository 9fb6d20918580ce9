/* SPDX-License-Identifier: MIT */
/*
 * The end of the process: writes the data that exists only in memory (files_in_memory.h,
 * stream_memory.c), and marks the end as orderly in the table's header.
 *
 * A child of vfork() or of another clone() with CLONE_VM may call exit() or _exit() in the memory
 * of its parent, which goes on.  So the process that ends must have the number that opened the
 * capture.
 */
#include "runtime/capture/in_use.h"
#include "runtime/files/helper_task.h"
#include "runtime/files/files_in_memory.h"
#include "runtime/files/warn.h"
#include "runtime/process/loadmap.h"
#include "runtime/process/process.h"
#include "runtime/process/threads.h"
#include "runtime/stream/clock.h"
#include "runtime/stream/stream.h"
#include "runtime/sys/kernel.h"
#include "runtime/sys/seal.h"
#include "runtime/sys/sys.h"

static void (*on_save)(void);

void gm_process_on_save(void (*saved)(void))
{
	on_save = saved;
}

/* Writes the data that exists only in memory. Losses are counted before the table is written. */
static long save_step(void *unused)
{
	struct gm_threads_header *header = gm_threads_table();
	long code, table_code = 0;

	(void)unused;
	gm_streams_save();
	code = gm_kept_save();
	if (on_save != NULL)
		on_save();
	header->end_ns = gm_clock_ns();
	if (gm_kept_is_on())
		table_code = gm_threads_save();
	return table_code < 0 ? table_code : code;
}

static bool has_memory(void)
{
	return gm_kept_is_on() || gm_streams_in_memory();
}

static void save(void)
{
	char warning[GM_WARNING_BYTES];
	struct gm_text text = GM_TEXT(warning);
	long code = gm_files_run(save_step, NULL);

	if (code >= 0)
		return;
	gm_text_add(&text, gm_process_get()->dir);
	gm_text_add(&text, ": cannot write data of the capture from memory: ");
	gm_text_add_errno(&text, code);
	gm_text_add(&text, "; free disk space, or choose another directory ([output] dir)");
	gm_warn(warning);
}

/* Makes a system call. */
static bool is_own_memory(void)
{
	const struct gm_process *process = gm_process_get();

	return process != NULL && gm_threads_table() != NULL && gm_sys_getpid() == process->pid;
}

static void note_end(void)
{
	if (has_memory())
		save();
	else
		gm_threads_table()->end_ns = gm_clock_ns();
}

void gm_process_save(void)
{
	uint64_t mask;

	gm_process_settle();
	/* The order of the tests matters: a sealed thread makes no system call. */
	if (gm_process_get() == NULL || gm_seal_is_set())
		return;
	gm_signals_block(&mask);
	if (is_own_memory())
		note_end();
	gm_signals_restore(mask);
}

void gm_process_goes_on(void)
{
	if (!gm_seal_is_set() && is_own_memory())
		gm_threads_table()->end_ns = 0;
}

void gm_process_end(void)
{
	struct gm_threads_header *header;

	gm_process_settle();
	if (!gm_seal_is_set()) {
		if (!is_own_memory())
			return;
		gm_maps_update();
		note_end();
		gm_in_use_end();
		return;
	}
	header = gm_threads_table();
	if (gm_process_get() != NULL && header != NULL && !has_memory())
		header->end_ns = gm_clock_quiet_ns();
}
