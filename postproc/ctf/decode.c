/* SPDX-License-Identifier: MIT */
/* Tracks the thread and the time of each stream, and maps each record to one core event. */
#include "ctf/decode.h"

#include <string.h>

#include "core/text/json.h"
#include "ctf/ahead.h"
#include "ctf/decode_accesses.h"
#include "ctf/decode_full.h"
#include "ctf/decode_sync.h"
#include "capture/helpers.h"
#include "capture/late_thread.h"

#define MAX_CPU 65535
/* Bits of prev_state that give the reason for a switch; LTTng uses the next bit for "preempted". */
#define STATE_MASK 0xff

/* --- fields --------------------------------------------------------------------------------- */

static int32_t get_tid(const struct pp_record *record, unsigned field)
{
	return record->class->fields[field].index < 0 ? PP_TID_UNKNOWN
						      : (int32_t)record->values[field];
}

/*
 * The kernel's name applies to threads without a name, to names from before the thread's creation,
 * and to threads that ended without recording their last name.
 */
static void name_thread(const struct pp_stream *stream, struct pp_thread *thread, const char *name)
{
	if (!thread || (thread->ended && !thread->kernel_only) || !name ||
	    stream->decoder->capture->names_known)
		return;
	if (thread->name && strcmp(thread->name, name) == 0)
		return;
	g_free(thread->name);
	thread->name = g_utf8_make_valid(name, -1);
}

/* --- threads -------------------------------------------------------------------------------- */

/* Is it, at present, a helper of the runtime libraries? */
static bool is_helper(const struct pp_decoder *decoder, int32_t tid)
{
	return g_hash_table_contains(decoder->helpers, GINT_TO_POINTER(tid));
}

static struct pp_thread *thread_at(const struct pp_stream *stream, int32_t tid, int64_t time_ns)
{
	const struct pp_decoder *decoder = stream->decoder;

	if (tid <= 0 || is_helper(decoder, tid))
		return NULL;
	return pp_model_thread_at(decoder->capture->model, (uint32_t)tid, time_ns);
}

static struct pp_thread *add_kernel_thread(const struct pp_stream *stream, int32_t pid, int32_t tid,
					   int64_t time_ns)
{
	struct pp_model *model = stream->decoder->capture->model;
	struct pp_thread *thread = pp_late_thread_new(model, (uint32_t)pid, (uint32_t)tid, time_ns);

	thread->kernel_only = true;
	return thread;
}

/* --- fields to events ----------------------------------------------------------------------- */

void pp_decoder_emit(struct pp_decoder *decoder, const struct pp_event *event)
{
	decoder->last_ns = event->time_ns;
	pp_model_widen(decoder->capture->model, event->time_ns);
	if (decoder->kinds & PP_EVENT_MASK(event->kind))
		decoder->take(decoder->data, event);
}

/* Did the process record itself, or did `record` list it? */
static bool is_known_process(const struct pp_stream *stream, int32_t pid)
{
	const struct pp_model *model = stream->decoder->capture->model;

	return pid > 0 &&
	       (pp_late_process(model, (uint32_t)pid) || pid == pp_json_int(model->info, "pid", 0));
}

static void set_on_cpu(struct pp_stream *stream, struct pp_thread *thread)
{
	GPtrArray *on_cpu = stream->decoder->on_cpu;

	if (stream->cpu < 0)
		return;
	if ((guint)stream->cpu >= on_cpu->len)
		g_ptr_array_set_size(on_cpu, stream->cpu + 1);
	on_cpu->pdata[stream->cpu] = thread;
}

static void decode_switch(struct pp_stream *stream, const struct pp_record *record,
			  struct pp_event *event)
{
	event->kind = PP_EVENT_SWITCH;
	event->sched_switch.prev_tid = get_tid(record, PP_SWITCH_PREV);
	event->sched_switch.next_tid = get_tid(record, PP_SWITCH_NEXT);
	event->sched_switch.prev_state = (int64_t)(record->values[PP_SWITCH_STATE] & STATE_MASK);
	event->sched_switch.prev = thread_at(stream, event->sched_switch.prev_tid, event->time_ns);
	event->sched_switch.next = thread_at(stream, event->sched_switch.next_tid, event->time_ns);
	set_on_cpu(stream, event->sched_switch.next);
	if (!pp_stream_is_ours(stream, event->sched_switch.prev, event->sched_switch.next,
			       event->time_ns))
		return;
	name_thread(stream, event->sched_switch.prev, record->texts[PP_SWITCH_PREV_COMM]);
	name_thread(stream, event->sched_switch.next, record->texts[PP_SWITCH_NEXT_COMM]);
	if (!event->sched_switch.next)
		event->sched_switch.next_comm = record->texts[PP_SWITCH_NEXT_COMM];
	pp_stream_hand_over(stream, event);
}

/*
 * The waker is the thread on the CPU.  If an interrupt woke, there is none: an interrupt may come
 * during any thread.
 */
static void get_waker(struct pp_stream *stream, const struct pp_record *record,
		      struct pp_event *event)
{
	struct pp_thread *on_cpu = pp_stream_on_cpu(stream);

	event->waking.waker_tid = on_cpu ? (int32_t)on_cpu->tid : PP_TID_UNKNOWN;
	event->waking.by_interrupt = stream->irq_depth || record->values[PP_WAKING_IRQ];
	if (event->waking.by_interrupt)
		return;
	event->waking.waker = on_cpu;
	if (record->class->fields[PP_WAKING_WAKER].index < 0)
		return;
	event->waking.waker_tid = get_tid(record, PP_WAKING_WAKER);
	event->waking.waker = thread_at(stream, event->waking.waker_tid, event->time_ns);
}

static void decode_waking(struct pp_stream *stream, const struct pp_record *record,
			  struct pp_event *event)
{
	if (is_helper(stream->decoder, get_tid(record, PP_WAKING_TID)))
		return;
	event->kind = PP_EVENT_WAKING;
	event->thread = thread_at(stream, get_tid(record, PP_WAKING_TID), event->time_ns);
	if (!pp_stream_is_ours(stream, event->thread, NULL, event->time_ns))
		return;
	event->waking.target_cpu = record->class->fields[PP_WAKING_CPU].index < 0
				       ? PP_CPU_UNKNOWN
				       : (int32_t)record->values[PP_WAKING_CPU];
	get_waker(stream, record, event);
	name_thread(stream, event->thread, record->texts[PP_WAKING_COMM]);
	pp_stream_hand_over(stream, event);
}

static void decode_fork(struct pp_stream *stream, const struct pp_record *record,
			struct pp_event *event)
{
	const struct pp_model *model = stream->decoder->capture->model;
	int32_t child = get_tid(record, PP_FORK_CHILD_TID);
	int32_t pid = get_tid(record, PP_FORK_CHILD_PID);

	g_hash_table_remove(stream->decoder->helpers, GINT_TO_POINTER(child));
	if (pp_helpers_have(model, pid, child, event->time_ns)) {
		g_hash_table_add(stream->decoder->helpers, GINT_TO_POINTER(child));
		return;
	}
	event->kind = PP_EVENT_FORK;
	event->fork.parent_tid = get_tid(record, PP_FORK_PARENT_TID);
	event->fork.parent = thread_at(stream, event->fork.parent_tid, event->time_ns);
	if (!pp_stream_is_ours(stream, event->fork.parent, NULL, event->time_ns))
		return;
	event->fork.child_tid = child;
	event->fork.child_pid = pid;
	if (child > 0 && pid > 0) {
		event->thread = pp_model_thread_from(model, (uint32_t)child, event->time_ns);
		if (event->thread)
			event->thread->start_ns = event->time_ns;
		else
			event->thread = add_kernel_thread(stream, pid, child, event->time_ns);
		name_thread(stream, event->thread, record->texts[PP_FORK_CHILD_COMM]);
	}
	pp_stream_hand_over(stream, event);
}

static void decode_exit(struct pp_stream *stream, const struct pp_record *record,
			struct pp_event *event)
{
	int32_t tid = get_tid(record, PP_TASK_TID);
	struct pp_thread *thread = thread_at(stream, tid, event->time_ns);

	if (is_helper(stream->decoder, tid) ||
	    !pp_stream_is_ours(stream, thread, NULL, event->time_ns))
		return;
	event->kind = PP_EVENT_EXIT;
	event->thread = thread;
	name_thread(stream, thread, record->texts[PP_TASK_COMM]);
	if (thread && event->time_ns > thread->end_ns)
		thread->end_ns = event->time_ns;
	pp_stream_hand_over(stream, event);
}

/*
 * The new program of an exec records itself once its libraries are loaded: its first thread begins
 * at the exec, where the thread of the old program ends.  With several execs, a program without our
 * libraries may have run in between.
 */
static void begin_image(const struct pp_stream *stream, struct pp_thread *thread, int64_t time_ns)
{
	const struct pp_model *model = stream->decoder->capture->model;
	struct pp_thread *next;

	if (!thread)
		return;
	next = thread->process->start_ns > time_ns
		   ? thread
		   : pp_model_thread_from(model, thread->tid, time_ns);
	if (!next || next->kernel_only || next->process->pid != thread->process->pid ||
	    next->process->start_ns <= time_ns)
		return;
	next->start_ns = time_ns;
	if (thread != next)
		thread->end_ns = time_ns;
}

static void decode_exec(struct pp_stream *stream, const struct pp_record *record,
			struct pp_event *event)
{
	int32_t tid = get_tid(record, PP_TASK_TID);

	event->kind = PP_EVENT_EXEC;
	event->thread = thread_at(stream, tid, event->time_ns);
	/* The program may not load our libraries; then this exec is the first event known of it. */
	if (!event->thread && tid > 0 && (!stream->all_programs || is_known_process(stream, tid)))
		event->thread = add_kernel_thread(stream, tid, tid, event->time_ns);
	if (!pp_stream_is_ours(stream, event->thread, NULL, event->time_ns))
		return;
	begin_image(stream, event->thread, event->time_ns);
	pp_stream_hand_over(stream, event);
}

/* Only the recorder's own snapshot has the bits. */
static void decode_state(struct pp_stream *stream, const struct pp_record *record,
			 struct pp_event *event)
{
	if (record->class->fields[PP_STATE_BITS].index < 0)
		return;
	event->kind = PP_EVENT_STATE;
	event->thread = thread_at(stream, get_tid(record, PP_STATE_TID), event->time_ns);
	event->state.bits = (int64_t)(record->values[PP_STATE_BITS] & STATE_MASK);
	if (event->thread && pp_stream_is_ours(stream, event->thread, NULL, event->time_ns))
		pp_stream_hand_over(stream, event);
}

/* In a stream of a CPU, any thread may be the one whose events were lost. */
static void emit_lost_of_all(struct pp_stream *stream, int64_t time_ns)
{
	const GPtrArray *threads = stream->decoder->capture->model->threads;

	for (guint i = 0; i < threads->len; i++) {
		struct pp_thread *thread = threads->pdata[i];
		struct pp_event event = {
		    .kind = PP_EVENT_LOST,
		    .cpu = stream->cpu,
		    .time_ns = time_ns,
		    .thread = thread,
		    .lost = {.count = stream->lost},
		};

		if (thread->in_ust && !thread->process->has_streams)
			pp_stream_hand_over(stream, &event);
	}
}

static void emit_lost(struct pp_stream *stream, int64_t time_ns)
{
	struct pp_event event = {
	    .kind = PP_EVENT_LOST,
	    .cpu = stream->cpu,
	    .time_ns = time_ns,
	    .thread = stream->thread,
	    .lost = {.count = stream->lost},
	};

	if (stream->trace->is_ust)
		emit_lost_of_all(stream, time_ns);
	else
		pp_stream_hand_over(stream, &event);
	stream->lost = 0;
	stream->irq_depth = 0;
	stream->path = NULL;
}

void pp_stream_begin_event(struct pp_stream *stream, int64_t time_ns)
{
	if (stream->lost)
		emit_lost(stream, time_ns);
	stream->decoder->last_ns = time_ns;
	stream->n_events += !stream->io_begins;
}

void pp_stream_take(struct pp_stream *stream, const struct pp_record *record, int64_t time_ns)
{
	struct pp_event event = {.cpu = stream->cpu, .time_ns = time_ns};

	if (!stream->all_programs)
		pp_model_widen(stream->decoder->capture->model, time_ns);
	switch ((enum pp_class)record->class->what) {
	case PP_CLASS_SITE:
	case PP_CLASS_CALL_PATH:
	case PP_CLASS_PATH:
	case PP_CLASS_TRIES:
	case PP_CLASS_CONDITIONALS:
	case PP_CLASS_ORDER:
		pp_decode_definition(stream, record);
		break;
	case PP_CLASS_SYNC:
		if (pp_decode_sync(stream, record, &event))
			pp_stream_hand_over(stream, &event);
		break;
	case PP_CLASS_IO:
		pp_stream_take_io(stream, record, time_ns);
		break;
	case PP_CLASS_SAMPLE:
		pp_decode_sample(stream, record, &event);
		pp_stream_hand_over(stream, &event);
		break;
	case PP_CLASS_LINES:
		pp_decode_lines(stream, record);
		break;
	case PP_CLASS_KNOWN_LINES:
		pp_decode_known_lines(stream, record);
		break;
	case PP_CLASS_SEGMENT:
		if (pp_decode_segment(stream, record, &event))
			pp_stream_hand_over(stream, &event);
		break;
	case PP_CLASS_HEAP_BLOCK:
	case PP_CLASS_HEAP_FREED:
		pp_decode_heap(stream, record, &event);
		pp_stream_hand_over(stream, &event);
		break;
	case PP_CLASS_SWITCH:
		decode_switch(stream, record, &event);
		break;
	case PP_CLASS_WAKING:
		decode_waking(stream, record, &event);
		break;
	case PP_CLASS_FORK:
		decode_fork(stream, record, &event);
		break;
	case PP_CLASS_EXIT:
		decode_exit(stream, record, &event);
		break;
	case PP_CLASS_EXEC:
		decode_exec(stream, record, &event);
		break;
	case PP_CLASS_STATE:
		decode_state(stream, record, &event);
		break;
	case PP_CLASS_IRQ_ENTRY:
		stream->irq_depth++;
		break;
	case PP_CLASS_IRQ_EXIT:
		stream->irq_depth -= stream->irq_depth > 0;
		break;
	default:
		pp_decode_full(stream, record, &event);
		break;
	}
}

/* --- packets and other messages ------------------------------------------------------------- */

static bool of_kernel(const struct pp_stream *stream)
{
	return !stream->trace->process && !stream->trace->is_ust;
}

static void find_thread(struct pp_stream *stream, struct pp_process *process, uint64_t tid,
			uint64_t index)
{
	struct pp_capture *capture = stream->decoder->capture;
	const struct pp_thread *before = stream->thread;

	stream->thread_unknown = false;
	stream->thread = index <= UINT32_MAX ? pp_process_thread(process, (uint32_t)index) : NULL;
	if (stream->thread != before)
		stream->conditionals = stream->order = 0;
	if (stream->thread && stream->thread->tid == tid) {
		stream->losses_reported |= stream->thread->events_lost > 0;
		return;
	}
	if (stream->thread || index > UINT32_MAX || !tid || tid > INT32_MAX) {
		pp_capture_add_damage(capture, stream->name,
				      "left out: its thread is not in the thread table");
		stream->thread = NULL;
		stream->thread_unknown = true;
		return;
	}
	pp_model_add_problem(capture->model, "threads missing from the thread table", stream->name,
			     1);
	stream->thread =
	    pp_model_add_thread(capture->model, process, (uint32_t)tid, (uint32_t)index);
}

/* In a pack, `number` is that of the process, and definitions are those of its own packets. */
static void find_child(struct pp_stream *stream, uint64_t tid, uint64_t number)
{
	const GPtrArray *processes = stream->trace->processes;
	struct pp_process *process = number < processes->len ? processes->pdata[number] : NULL;

	if (process && stream->thread && stream->thread->process == process)
		return;
	g_array_set_size(stream->sites, 0);
	g_array_set_size(stream->nodes, 0);
	stream->path = NULL;
	stream->more_tries = stream->tries_holder = stream->conditionals = stream->order = 0;
	if (process) {
		find_thread(stream, process, tid, 0);
		return;
	}
	pp_capture_add_damage(stream->decoder->capture, stream->name,
			      "left out: its process is not in the table of the pack");
	stream->thread = NULL;
	stream->thread_unknown = true;
}

void pp_stream_packet(struct pp_stream *stream, uint64_t cpu, uint64_t tid, uint64_t index)
{
	stream->cpu = cpu <= MAX_CPU ? (int)cpu : PP_CPU_UNKNOWN;
	stream->has_object = false;
	/* When a thread ends, its stream may be used by a later thread. */
	if (stream->trace->processes)
		find_child(stream, tid, index);
	else if (stream->trace->process && (!stream->thread || stream->thread->index != index))
		find_thread(stream, stream->trace->process, tid, index);
}

/* The number of samples that were not written is that of the histogram less those in the stream. */
void pp_stream_lose(struct pp_stream *stream, uint64_t count)
{
	if (stream->trace->is_samples)
		return;
	/* The thread's operations are in another trace, and are not lost. */
	if (stream->trace->is_accesses) {
		pp_lose_segments(stream, count);
		return;
	}
	stream->lost += MAX(count, 1);
	stream->n_lost += count;
	stream->lost_more |= count == 0;
}

bool pp_stream_admit(struct pp_stream *stream, int64_t *time_ns)
{
	if (stream->thread_unknown && !stream->trace->is_ust)
		return false;
	if (!pp_model_is_near(stream->decoder->capture->model, *time_ns)) {
		pp_model_add_problem(stream->decoder->capture->model,
				     "events more than 104 days from the start: left out",
				     stream->name, 1);
		return false;
	}
	if (*time_ns < stream->last_ns) {
		pp_model_add_problem(stream->decoder->capture->model,
				     "events with decreasing times", stream->name, 1);
		*time_ns = stream->last_ns;
	}
	stream->last_ns = *time_ns;
	return true;
}

/* Matches "kernel" against "kernel, CPU 1". */
static bool is_part_of(const char *where, const char *whole)
{
	size_t n = strlen(whole);

	return where && strncmp(where, whole, n) == 0 && (where[n] == '\0' || where[n] == ',');
}

/* Does info.json list the losses of the kernel's or LTTng's events, with reasons? */
static bool recorder_reported(const struct pp_model *model, const char *where)
{
	for (guint i = 0; i < model->problems->len; i++) {
		const struct pp_problem *problem = model->problems->pdata[i];

		if (is_part_of(problem->where, where))
			return true;
	}
	return false;
}

/*
 * Losses that the thread table or the recorder lists are reported from there, with their reasons.
 */
static void note_losses(const struct pp_stream *stream)
{
	struct pp_model *model = stream->decoder->capture->model;

	if (stream->losses_reported || (of_kernel(stream) && recorder_reported(model, "kernel")) ||
	    (stream->trace->is_ust && recorder_reported(model, "ust")))
		return;
	if (stream->n_lost)
		pp_model_add_problem(model, "events discarded during recording", stream->name,
				     stream->n_lost);
	if (stream->lost_more)
		pp_model_add_problem(model, "events discarded during recording, number unknown",
				     stream->name, 0);
}

void pp_stream_end(struct pp_stream *stream)
{
	note_losses(stream);
	if (of_kernel(stream))
		stream->decoder->n_kernel_events += stream->n_events;
	if (stream->lost)
		emit_lost(stream, MAX(stream->last_ns, stream->decoder->last_ns));
}

bool pp_stream_is_of_cpu(const struct pp_stream *stream)
{
	return of_kernel(stream);
}

void pp_stream_emit_unseen(const struct pp_stream *stream, int64_t time_ns)
{
	struct pp_event event = {.kind = PP_EVENT_UNSEEN, .cpu = stream->cpu, .time_ns = time_ns};
	struct pp_decoder *decoder = stream->decoder;

	if (decoder->kinds & PP_EVENT_MASK(event.kind))
		decoder->take(decoder->data, &event);
}

/* --- creation and release ------------------------------------------------------------------- */

void pp_decoder_init(struct pp_decoder *decoder, struct pp_capture *capture, unsigned kinds,
		     void (*take)(void *data, const struct pp_event *event), void *data)
{
	/* Each sweep counts them anew. */
	for (guint i = 0; i < capture->model->processes->len; i++) {
		struct pp_process *process = capture->model->processes->pdata[i];

		memset(process->path_ends, 0, sizeof(process->path_ends));
		memset(process->sample_ends, 0, sizeof(process->sample_ends));
		process->sample_paths_lost = 0;
		process->segments_lost = 0;
		memset(process->abandoned, 0, sizeof(process->abandoned));
	}
	for (guint i = 0; i < capture->model->threads->len; i++)
		((struct pp_thread *)capture->model->threads->pdata[i])->stack_samples = 0;
	*decoder = (struct pp_decoder){
	    .capture = capture,
	    .kinds = kinds,
	    .take = take,
	    .data = data,
	    .on_cpu = g_ptr_array_new(),
	    .helpers = g_hash_table_new(NULL, NULL),
	};
}

void pp_decoder_done(struct pp_decoder *decoder)
{
	g_clear_pointer(&decoder->on_cpu, g_ptr_array_unref);
	g_clear_pointer(&decoder->helpers, g_hash_table_unref);
}

void pp_stream_init(struct pp_stream *stream, struct pp_decoder *decoder,
		    const struct pp_trace *trace, const char *name)
{
	*stream = (struct pp_stream){
	    .decoder = decoder,
	    .trace = trace,
	    .name = g_utf8_make_valid(name, -1),
	    .cpu = PP_CPU_UNKNOWN,
	    .sites = g_array_new(FALSE, TRUE, sizeof(uint64_t)),
	    .nodes = g_array_new(FALSE, FALSE, sizeof(struct pp_path_node)),
	};
}

void pp_stream_done(struct pp_stream *stream)
{
	g_array_unref(stream->sites);
	g_array_unref(stream->nodes);
	pp_defined_sets_free(stream->sets);
	g_free(stream->name);
}
