/* SPDX-License-Identifier: MIT */
#include "input/decode_full.h"

#define FULL_KINDS  (PP_EVENT_MASK(PP_N_EVENT_KINDS) - PP_EVENT_MASK(PP_EVENT_SYSCALL_ENTRY))
#define RWBS_WRITES 3 /* LTTng's bits: writing, discarding */

static struct pp_thread *thread_at(const struct pp_stream *stream, int32_t tid, int64_t time_ns)
{
	return tid > 0 ? pp_model_thread_at(stream->decoder->capture->model, (uint32_t)tid, time_ns)
		       : NULL;
}

static int32_t member(const bt_field *structure, int index)
{
	return (int32_t)pp_field_integer(
	    bt_field_structure_borrow_member_field_by_index_const(structure, (uint64_t)index));
}

/* Whose event it is: as its contexts have it, or else of the thread on that CPU. */
static struct pp_thread *whose(const struct pp_stream *stream, const struct pp_event_class *class,
			       const bt_event *bt_event, int64_t time_ns, int32_t *ret_tid)
{
	const struct pp_thread *on_cpu;

	*ret_tid = PP_TID_UNKNOWN;
	if (class->tid >= 0)
		*ret_tid =
		    member(bt_event_borrow_specific_context_field_const(bt_event), class->tid);
	else if (class->common_tid >= 0)
		*ret_tid =
		    member(bt_event_borrow_common_context_field_const(bt_event), class->common_tid);
	if (*ret_tid != PP_TID_UNKNOWN)
		return thread_at(stream, *ret_tid, time_ns);
	on_cpu = pp_stream_on_cpu(stream);
	if (on_cpu)
		*ret_tid = (int32_t)on_cpu->tid;
	return pp_stream_on_cpu(stream);
}

static void decode_syscall(const struct pp_syscall_class *syscall, const bt_field *payload,
			   bool is_exit, struct pp_event *event)
{
	event->kind = is_exit ? PP_EVENT_SYSCALL_EXIT : PP_EVENT_SYSCALL_ENTRY;
	event->syscall.name = syscall->name;
	event->syscall.n_values = syscall->n;
	event->syscall.names = syscall->names;
	for (unsigned i = 0; i < syscall->n; i++)
		event->syscall.values[i] = (int64_t)pp_field_unsigned(payload, &syscall->fields[i]);
}

/* A signal is for whom it is raised, and who raises it need not be ours. */
static void decode_signal(struct pp_stream *stream, const struct pp_event_class *class,
			  const bt_field *payload, struct pp_event *event)
{
	event->kind = PP_EVENT_SIGNAL;
	event->signal.number = (int)pp_field_unsigned(payload, &class->fields[PP_SIGNAL_NUMBER]);
	event->signal.delivered = class->what == PP_CLASS_SIGNAL_DELIVER;
	if (event->signal.delivered)
		return;
	event->signal.sender = event->thread;
	event->thread =
	    thread_at(stream, (int32_t)pp_field_unsigned(payload, &class->fields[PP_SIGNAL_TARGET]),
		      event->time_ns);
}

static void decode_block(struct pp_stream *stream, const struct pp_event_class *class,
			 const bt_field *payload, struct pp_event *event)
{
	const struct pp_field *fields = class->fields;

	event->kind = PP_EVENT_BLOCK;
	if (fields[PP_BLOCK_TID].index >= 0)
		event->thread =
		    thread_at(stream, (int32_t)pp_field_unsigned(payload, &fields[PP_BLOCK_TID]),
			      event->time_ns);
	event->block.sector = pp_field_unsigned(payload, &fields[PP_BLOCK_SECTOR]);
	event->block.bytes = pp_field_unsigned(payload, &fields[PP_BLOCK_BYTES]);
	event->block.is_write = pp_field_unsigned(payload, &fields[PP_BLOCK_RWBS]) & RWBS_WRITES;
}

void pp_decode_full(struct pp_stream *stream, const struct pp_event_class *class,
		    const bt_event *bt_event, struct pp_event *event)
{
	const bt_field *payload = bt_event_borrow_payload_field_const(bt_event);
	int32_t tid;

	if (!(stream->decoder->kinds & FULL_KINDS))
		return;
	event->thread = whose(stream, class, bt_event, event->time_ns, &tid);
	switch (class->what) {
	case PP_CLASS_SYSCALL_ENTRY:
	case PP_CLASS_SYSCALL_EXIT:
		decode_syscall(class->syscall, payload, class->what == PP_CLASS_SYSCALL_EXIT,
			       event);
		break;
	case PP_CLASS_FAULT:
		event->kind = PP_EVENT_FAULT;
		event->fault.address = pp_field_unsigned(payload, &class->fields[PP_FAULT_ADDRESS]);
		event->fault.ip = pp_field_unsigned(payload, &class->fields[PP_FAULT_IP]);
		break;
	case PP_CLASS_SIGNAL_GENERATE:
	case PP_CLASS_SIGNAL_DELIVER:
		event->signal.sender_tid = tid;
		decode_signal(stream, class, payload, event);
		break;
	case PP_CLASS_BLOCK_ISSUE:
		decode_block(stream, class, payload, event);
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
