/* SPDX-License-Identifier: MIT */
/* Opens a trace: its directory appears complete with its metadata. */
#include <errno.h>

#include "runtime/files/file.h"
#include "runtime/files/helper_task.h"
#include "runtime/files/warn.h"
#include "runtime/process/process.h"
#include "runtime/process/threads.h"
#include "runtime/stream/stream.h"
#include "runtime/sys/sys.h"

#define PAGE_BYTES	  4096u
#define SEGMENT_PACKETS	  64u /* maximum number of full-sized packets in a file */
#define SEGMENT_MAX_LEAST (4u << 20)
#define RING_FILES	  16u /* files that a ring has at least, of one stream */
#define NAME_BYTES	  48

#define TRACES_MAX 2u /* of a library */

/* Separate from the rest of the trace, which the child of a fork writes to. */
static GM_LARGE char trace_dirs[TRACES_MAX][GM_PATH_MAX + 16];

static long make_step(void *arg)
{
	struct gm_trace *trace = arg;
	const struct gm_process *process = gm_process_get();
	char hidden_name[NAME_BYTES];
	struct gm_text dir = {trace->dir, sizeof(trace_dirs[0]), 0}, dot = GM_TEXT(hidden_name);
	char *hidden;
	int code = gm_process_folder();

	gm_text_add(&dir, process->dir);
	gm_text_add(&dir, "/");
	gm_text_add(&dir, trace->name);
	if (code < 0)
		return code;
	gm_text_add(&dot, ".");
	gm_text_add(&dot, trace->name);
	hidden = gm_path_new(process->dir, hidden_name);
	if (hidden == NULL)
		return -ENOMEM;
	code = gm_sys_mkdir(hidden, 0700);
	if (code == 0)
		code = gm_metadata_write(hidden, trace->uuid, trace->events, trace->n_events);
	if (code == 0)
		code = gm_sys_rename(hidden, trace->dir);
	if (code != 0)
		gm_remove_tree(hidden);
	gm_path_free(hidden);
	return code;
}

int gm_trace_make(struct gm_trace *trace)
{
	int code = 0;

	if (__atomic_load_n(&trace->is_made, __ATOMIC_ACQUIRE))
		return 0;
	if (gm_lock_is_mine(&trace->lock)) /* in a handler that interrupted this function */
		return -EDEADLK;
	if (!gm_lock_take(&trace->lock))
		return -ETIMEDOUT;
	if (!trace->is_made)
		code = (int)gm_files_run(make_step, trace);
	/* release: pairs with the acquire above; publishes `dir` */
	__atomic_store_n(&trace->is_made, code == 0, __ATOMIC_RELEASE);
	gm_lock_release(&trace->lock);
	return code;
}

/* The uuid of a child of fork differs from its parent's in the first half. */
static void uuid_make(struct gm_trace *trace, const struct gm_process *process)
{
	const struct gm_threads_header *header = gm_threads_table();

	if (gm_process_child() != NULL)
		memcpy(trace->uuid, &header->image, sizeof(header->image));
	else if (gm_syscall3(SYS_getrandom, (long)trace->uuid, sizeof(trace->uuid), 0) !=
		 sizeof(trace->uuid))
		memcpy(trace->uuid, &process->capture.clock_offset_ns, 8);
}

/* On its own: a handler of samples opens a trace with little stack, and prints nothing. */
static __attribute__((noinline, cold)) void warn(const struct gm_trace *trace, int code,
						 const char *consequence)
{
	char warning[GM_WARNING_BYTES];
	struct gm_text error = GM_TEXT(warning);

	gm_text_add(&error, trace->dir);
	gm_text_add(&error, ": ");
	gm_text_add(&error, consequence);
	gm_text_add(&error, ": ");
	gm_text_add_errno(&error, code);
	gm_text_add(&error, "; the program runs without it");
	gm_warn(warning);
}

/* Files of a ring are small, since they are removed as a whole. */
static void limit_files(struct gm_trace *trace, const struct gm_config *config)
{
	uint64_t part = gm_config_ring_of_streams(config) / RING_FILES / PAGE_BYTES * PAGE_BYTES;

	trace->segment_max = part < SEGMENT_MAX_LEAST ? part : SEGMENT_MAX_LEAST;
	if (trace->packet_max > trace->segment_max)
		trace->packet_max = trace->segment_max;
}

bool gm_trace_open(struct gm_trace *trace, const char *name, uint64_t buffer_bytes,
		   const struct gm_event_class *events, unsigned n_events, const char *consequence)
{
	const struct gm_process *process = gm_process_get();
	int code;

	trace->dir = trace_dirs[trace->which];
	trace->is_made = false;
	trace->lock = (struct gm_lock){0};
	trace->name = name;
	trace->events = events;
	trace->n_events = n_events;
	/* Number 0 is for its place. */
	trace->n_streams = gm_process_child() != NULL && trace->which == 0;
	trace->packet_max = (buffer_bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
	trace->segment_max = SEGMENT_PACKETS * trace->packet_max;
	if (trace->segment_max < SEGMENT_MAX_LEAST)
		trace->segment_max = SEGMENT_MAX_LEAST;
	if (trace->is_ring)
		limit_files(trace, &process->config);
	uuid_make(trace, process);
	code = gm_process_child() != NULL ? 0 : gm_trace_make(trace);
	if (code == 0)
		return true;
	trace->why = gm_loss_of(code);
	if (consequence != NULL)
		warn(trace, code, consequence);
	return false;
}
