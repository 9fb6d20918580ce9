/* SPDX-License-Identifier: MIT */
/* Reads <pid>/threads: the threads of a process, with their names, times and losses. */
#include <inttypes.h>
#include <string.h>

#include "core/loss.h"
#include "gmon-mt/format.h"
#include "capture/live.h"
#include "capture/records.h"

/* Indexes are not reused, but 2^24 threads would make a table of 2 GiB. */
#define MAX_THREADS (1u << 24)
/* [sample] hz ranges from 1 to 1000; a tick is at most 10 ms. */
#define MIN_SAMPLE_PERIOD_NS 1000000u
#define MAX_SAMPLE_PERIOD_NS 1000000000u
/* Linux's PID_MAX_LIMIT. */
#define MAX_TID (1u << 22)

_Static_assert(offsetof(struct gm_threads_header, slot_bytes) ==
		   offsetof(struct pp_records_prefix, record_bytes),
	       "common prefix");
_Static_assert(offsetof(struct gm_threads_header, n_slots) ==
		   offsetof(struct pp_records_prefix, n_records),
	       "common prefix");

static int64_t known_time(uint64_t ns)
{
	return ns && ns <= INT64_MAX ? (int64_t)ns : PP_TIME_UNKNOWN;
}

/* Converts arbitrary bytes to printable, valid UTF-8. */
static char *clean(const char *bytes, size_t max_len)
{
	return g_utf8_make_valid(bytes, (gssize)strnlen(bytes, max_len));
}

/* Returns the fault of the slot; NULL: none. */
static const char *slot_fault(const struct gm_thread_slot *slot, const struct gm_threads_header *h)
{
	if (slot->state > GM_THREAD_ENDED)
		return "thread slots with an unknown state";
	if (!slot->tid || slot->tid > MAX_TID)
		return "thread slots with an invalid tid";
	if (slot->parent_index < -1 || slot->parent_index >= (int64_t)h->n_slots)
		return "threads with an invalid parent";
	if (slot->start_ns > INT64_MAX || slot->end_ns > INT64_MAX ||
	    (slot->end_ns && slot->end_ns < slot->start_ns))
		return "threads that end before they start";
	return NULL;
}

/*
 * Returns true if the thread of a process that still runs began after that time.  Otherwise, takes
 * back an end that came after it.
 */
static bool is_later(struct gm_thread_slot *slot, int64_t until_ns)
{
	if (slot->state == GM_THREAD_FREE || slot->start_ns > (uint64_t)until_ns)
		return true;
	if (slot->end_ns > (uint64_t)until_ns) {
		slot->state = GM_THREAD_LIVE;
		slot->end_ns = 0;
	}
	return false;
}

static unsigned stalled(unsigned bits, unsigned what)
{
	return (bits & what) != 0 ? PP_LOSS_STALLED : 0;
}

static void add_thread(struct pp_model *model, struct pp_process *process,
		       const struct gm_thread_slot *slot, uint32_t index)
{
	struct pp_thread *thread = pp_model_add_thread(model, process, slot->tid, index);

	thread->name = clean(slot->name, sizeof(slot->name));
	thread->start_ns = known_time(slot->start_ns);
	thread->end_ns = known_time(slot->end_ns);
	thread->start_routine = slot->start_routine;
	thread->parent_index = slot->parent_index;
	thread->ended = slot->state == GM_THREAD_ENDED;
	thread->calls_lost = slot->calls_lost;
	thread->events_lost = slot->events_lost;
	thread->records_lost = slot->records_lost;
	thread->samples_missed = slot->samples_missed;
	thread->samples_late = slot->samples_late;
	thread->calls_why = (uint16_t)(slot->calls_why | stalled(slot->stalled, GM_STALLED_CALLS));
	thread->events_why = (uint16_t)(pp_loss_of_events(slot->events_why) |
					stalled(slot->stalled, GM_STALLED_EVENTS));
	thread->records_why = (uint16_t)(pp_loss_of_records(slot->records_why) |
					 stalled(slot->stalled, GM_STALLED_RECORDS));
	thread->samples_why =
	    (uint16_t)(slot->samples_why | stalled(slot->stalled, GM_STALLED_SAMPLES));
	thread->stacks_why = (uint16_t)pp_loss_of_stacks(slot->stacks_why);
	thread->sample_error = (int)slot->sample_error;
	thread->left_out = slot->stalled;
	thread->clock_error_ns = slot->clock_error_ns;
}

static const char *why_no_samples(const struct gm_threads_header *header)
{
	switch (header->sample_state) {
	case GM_SAMPLE_ON:
		return NULL;
	case GM_SAMPLE_UNASKED:
		return "none were requested before the first call";
	case GM_SAMPLE_OFF:
		return "sample.hz = 0";
	case GM_SAMPLE_OLD_KERNEL:
		return "Linux before 5.10 would interrupt system calls";
	default:
		return "for a reason that this gprof-mt does not know";
	}
}

static void take_header(struct pp_process *process, const struct gm_threads_header *header)
{
	process->why_no_samples = why_no_samples(header);
	if (!process->why_no_samples)
		process->sample_period_ns = header->sample_period_ns;
	process->asked_for_samples = header->sample_state != GM_SAMPLE_UNASKED;
	process->ppid = header->ppid;
	process->proc_start = header->proc_start;
	process->start_ns = known_time(header->start_ns);
	process->end_ns = known_time(header->end_ns);
	process->threads_lost = header->threads_lost;
	process->calls_lost = header->calls_lost;
	process->events_lost = header->events_lost;
	process->paths_lost = header->paths_lost;
	process->samples_missed = header->samples_missed;
	process->sync_types_off = header->sync_types_off;
	process->sync_objects_chosen = (header->sync_objects & GM_SYNC_OBJECTS_SOME) != 0;
	process->sync_objects_unsorted = (header->sync_objects & GM_SYNC_OBJECTS_UNSORTED) != 0;
	process->sync_auto = (header->sync_objects & GM_SYNC_IN_AUTO_MODE) != 0;
	process->has_ring = (header->sync_objects & GM_SYNC_RING) != 0;
	process->io_recorded = (header->sync_objects & GM_SYNC_IO) != 0;
	process->io_threshold_ns = known_time(header->io_threshold_ns);
	process->left_out = header->stalled;
	process->maps_left_out = header->maps_left_out;
	process->task_waits_left_out = header->task_waits_left_out;
	process->accesses_lost = header->accesses_lost;
	process->n_without_accesses = header->n_without_accesses;
	process->not_stepped = header->not_stepped;
	process->blocks_lost = header->blocks_lost;
	process->stepped_calls = header->stepped_calls;
	process->threads_why =
	    (uint16_t)(header->threads_why | stalled(header->stalled, GM_STALLED_THREADS));
	process->calls_why =
	    (uint16_t)(header->calls_why | stalled(header->stalled, GM_STALLED_CALLS));
	process->events_why = (uint16_t)(pp_loss_of_events(header->events_why) |
					 stalled(header->stalled, GM_STALLED_EVENTS));
}

static void note_unwritten(struct pp_model *model, const struct gm_threads_header *header)
{
	for (uint32_t i = 0; i < header->n_unwritten && i < GM_UNWRITTEN_MAX; i++) {
		const struct gm_unwritten *child = &header->unwritten[i];
		g_autofree char *pid = g_strdup_printf("%u", child->pid);

		if (child->pid)
			pp_capture_add_unwritten(model, pid, (int)(child->error & 0xfff));
	}
	if (header->n_unwritten > GM_UNWRITTEN_MAX) {
		pp_model_add_problem(
		    model,
		    "process not recorded: the list of reasons is full, so its reason is unknown",
		    "children", header->n_unwritten - GM_UNWRITTEN_MAX);
		model->n_unwritten += header->n_unwritten - GM_UNWRITTEN_MAX;
	}
}

/* Checks what take_header() took. */
static void check_header(struct pp_capture *capture, struct pp_process *process,
			 const struct gm_threads_header *header, const char *path)
{
	if (!process->why_no_samples && (process->sample_period_ns < MIN_SAMPLE_PERIOD_NS ||
					 process->sample_period_ns > MAX_SAMPLE_PERIOD_NS)) {
		pp_capture_add_damage(capture, path, "invalid sampling period");
		process->why_no_samples = "the sampling period is damaged";
	}
	if (header->pid != process->pid)
		pp_capture_add_damage(capture, path, "belongs to process %u instead of process %u",
				      header->pid, process->pid);
}

static void take_slot(struct pp_capture *capture, struct pp_process *process,
		      const struct gm_threads_header *header, const struct gm_thread_slot *slot,
		      uint32_t index, const char *path)
{
	const char *fault = slot_fault(slot, header);

	if (slot->state == GM_THREAD_FREE)
		pp_model_add_problem(
		    capture->model,
		    "threads that ended before they were entered into the thread table", path, 1);
	else if (fault)
		pp_capture_add_damage(capture, path, "%s", fault);
	else
		add_thread(capture->model, process, slot, index);
}

void pp_threads_take(struct pp_capture *capture, struct pp_process *process,
		     const struct gm_threads_header *header, const struct gm_thread_slot *slot,
		     const char *path)
{
	take_header(process, header);
	check_header(capture, process, header, path);
	take_slot(capture, process, header, slot, 0, path);
}

int pp_threads_read(struct pp_capture *capture, struct pp_process *process, const char *path,
		    struct pp_error *err)
{
	static const struct pp_records_layout layout = {
	    .magic = GM_THREADS_MAGIC,
	    .schema = GM_CAPTURE_SCHEMA,
	    .header_bytes = sizeof(struct gm_threads_header),
	    .record_bytes = sizeof(struct gm_thread_slot),
	    .max_records = MAX_THREADS,
	};
	struct pp_model *model = capture->model;
	struct gm_threads_header header;
	struct pp_records records;
	const void *record;
	uint32_t index = 0;
	int ret;

	ret = pp_records_open(&records, path, &layout, &header, err);
	if (ret < 0)
		return ret;
	take_header(process, &header);
	pp_live_process(capture, process, header.pid_namespace == 0);
	note_unwritten(model, &header);
	check_header(capture, process, &header, path);
	for (; (record = pp_records_next(&records)); index++) {
		struct gm_thread_slot slot;

		memcpy(&slot, record, sizeof(slot));
		if (!process->is_live || !is_later(&slot, model->until_ns))
			take_slot(capture, process, &header, &slot, index, path);
	}
	if (records.n_missing)
		pp_capture_add_damage(capture, path, "cut short: %" PRIu64 " of %u threads missing",
				      records.n_missing, header.n_slots);
	pp_records_done(&records);
	if (!header.end_ns)
		process->n_in_memory =
		    header.n_in_memory & GM_FILES_IN_MEMORY ? index : header.n_in_memory;
	return 0;
}
