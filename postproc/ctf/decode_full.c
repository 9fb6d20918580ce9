/* SPDX-License-Identifier: MIT */
/*
 * Decodes events of level full, one function per group: system calls, signals, block I/O; a table
 * for the rest.
 */
#include "ctf/decode_full.h"

#define FULL_KINDS  (PP_EVENT_MASK(PP_N_EVENT_KINDS) - PP_EVENT_MASK(PP_EVENT_SYSCALL_ENTRY))
#define RWBS_WRITES 3 /* LTTng's bits for write and discard */

static struct pp_thread *thread_at(const struct pp_stream *stream, int32_t tid, int64_t time_ns)
{
	return tid > 0 ? pp_model_thread_at(stream->decoder->capture->model, (uint32_t)tid, time_ns)
		       : NULL;
}

/* Returns the event's thread: by its contexts, or else the thread on that CPU. */
static struct pp_thread *thread_of_event(const struct pp_stream *stream,
					 const struct pp_record *record, int64_t time_ns,
					 int32_t *ret_tid)
{
	const struct pp_thread *on_cpu;

	*ret_tid = record->tid;
	if (*ret_tid != PP_TID_UNKNOWN)
		return thread_at(stream, *ret_tid, time_ns);
	on_cpu = pp_stream_on_cpu(stream);
	if (on_cpu)
		*ret_tid = (int32_t)on_cpu->tid;
	return pp_stream_on_cpu(stream);
}

static void decode_syscall(const struct pp_record *record, bool is_exit, struct pp_event *event)
{
	const struct pp_syscall_class *syscall = record->class->syscall;

	event->kind = is_exit ? PP_EVENT_SYSCALL_EXIT : PP_EVENT_SYSCALL_ENTRY;
	event->syscall.name = syscall->name;
	event->syscall.n_values = syscall->n;
	event->syscall.names = syscall->names;
	for (unsigned i = 0; i < syscall->n; i++)
		event->syscall.values[i] = (int64_t)record->values[i];
}

/* The event belongs to the signal's receiver; the sender may be outside the program. */
static void decode_signal(struct pp_stream *stream, const struct pp_record *record,
			  struct pp_event *event)
{
	event->kind = PP_EVENT_SIGNAL;
	event->signal.number = (int)record->values[PP_SIGNAL_NUMBER];
	event->signal.delivered = record->class->what == PP_CLASS_SIGNAL_DELIVER;
	if (event->signal.delivered)
		return;
	event->signal.sender = event->thread;
	event->thread =
	    thread_at(stream, (int32_t)record->values[PP_SIGNAL_TARGET], event->time_ns);
}

static void decode_block(struct pp_stream *stream, const struct pp_record *record,
			 struct pp_event *event)
{
	event->kind = PP_EVENT_BLOCK;
	if (record->class->fields[PP_BLOCK_TID].index >= 0)
		event->thread =
		    thread_at(stream, (int32_t)record->values[PP_BLOCK_TID], event->time_ns);
	event->block.sector = record->values[PP_BLOCK_SECTOR];
	event->block.bytes = record->values[PP_BLOCK_BYTES];
	event->block.is_write = record->values[PP_BLOCK_RWBS] & RWBS_WRITES;
}

void pp_decode_full(struct pp_stream *stream, const struct pp_record *record,
		    struct pp_event *event)
{
	int32_t tid;

	if (!(stream->decoder->kinds & FULL_KINDS))
		return;
	event->thread = thread_of_event(stream, record, event->time_ns, &tid);
	switch (record->class->what) {
	case PP_CLASS_SYSCALL_ENTRY:
	case PP_CLASS_SYSCALL_EXIT:
		decode_syscall(record, record->class->what == PP_CLASS_SYSCALL_EXIT, event);
		break;
	case PP_CLASS_FAULT:
		event->kind = PP_EVENT_FAULT;
		event->fault.address = record->values[PP_FAULT_ADDRESS];
		event->fault.ip = record->values[PP_FAULT_IP];
		break;
	case PP_CLASS_SIGNAL_GENERATE:
	case PP_CLASS_SIGNAL_DELIVER:
		event->signal.sender_tid = tid;
		decode_signal(stream, record, event);
		break;
	case PP_CLASS_BLOCK_ISSUE:
		decode_block(stream, record, event);
		break;
	case PP_CLASS_TIMER_EXPIRE:
		event->kind = PP_EVENT_TIMER;
		event->thread = NULL;
		pp_stream_hand_over(stream, event);
		return;
	default:
		return;
	}
	if (event->thread && pp_stream_is_ours(stream, event->thread, NULL, event->time_ns))
		pp_stream_hand_over(stream, event);
}
