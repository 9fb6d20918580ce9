/* SPDX-License-Identifier: MIT */
/* Decodes BPF records, one function for each kind of record. */
#include "record/bpf/decode.h"

#include <string.h>

#include <glib.h>

/* Task states of the kernel: TASK_REPORT, TASK_NOLOAD. */
#define STATES_REPORTED 0x7fu
#define NO_LOAD		0x400u
#define IDLE		(0x2u | NO_LOAD)

/* Same value as the tracepoint's: the highest of the reported bits, 0 for a preempted thread. */
static int16_t state_of(const struct pp_bpf_record *record)
{
	uint32_t reported = record->state & STATES_REPORTED;

	if (record->is_preempted)
		return 0;
	if ((record->state & IDLE) == IDLE)
		return 0x80;
	return reported ? (int16_t)(1 << (31 - __builtin_clz(reported))) : 0;
}

/* Range: 0 to 139, and -1 for a deadline thread. */
static int8_t prio_of(uint8_t prio)
{
	return (int8_t)((prio == UINT8_MAX ? -1 : prio) - PP_MAX_RT_PRIO);
}

static void get_comm(const char *from, char *comm)
{
	memcpy(comm, from, PP_COMM_BYTES);
	comm[PP_COMM_BYTES - 1] = '\0';
}

static void decode_switch(const struct pp_bpf_record *record, struct pp_kevent *event)
{
	event->kind = PP_KEVENT_SWITCH;
	event->tid = record->tid;
	event->prio = prio_of(record->prio);
	event->prev_state = state_of(record);
	event->other_tid = record->other_tid;
	event->other_prio = prio_of(record->other_prio);
	get_comm(record->comm, event->comm);
	get_comm(record->other_comm, event->other_comm);
}

static uint8_t irq_of(const struct pp_bpf_record *record)
{
	return record->state & PP_BPF_HARDIRQ	? PP_IRQ_HARD
	       : record->state & PP_BPF_SOFTIRQ ? PP_IRQ_SOFT
						: PP_IRQ_NONE;
}

static void decode_waking(const struct pp_bpf_record *record, struct pp_kevent *event)
{
	event->kind = PP_KEVENT_WAKING;
	event->tid = record->tid;
	event->prio = prio_of(record->prio);
	event->target_cpu = record->target_cpu;
	event->other_tid = record->other_tid;
	event->irq = irq_of(record);
	get_comm(record->comm, event->comm);
}

/*
 * Between the kernel's updates, the run queue's clock stands still.  The least lag behind
 * CLOCK_MONOTONIC seen so far is the best estimate; it may grow by 500 ppm, because time is slewed.
 */
static void learn_lag(struct pp_bpf_clock *clock, uint64_t time_ns, uint32_t lag_ns)
{
	uint32_t most_ns = clock->lag_ns + (uint32_t)((time_ns - clock->time_ns) / 2048);

	if (clock->time_ns && (int32_t)(lag_ns - most_ns) > 0)
		lag_ns = most_ns;
	clock->lag_ns = lag_ns;
	clock->time_ns = time_ns;
}

static void decode_missed(const struct pp_bpf_record *record, struct pp_bpf_clock *clock,
			  struct pp_kevent *event)
{
	uint64_t lag_ns = record->time_ns - record->clock_ns;

	learn_lag(clock, record->time_ns, (uint32_t)lag_ns);
	lag_ns -= (uint32_t)lag_ns - clock->lag_ns;
	event->kind = PP_KEVENT_SWITCH;
	event->side_band = 1;
	event->time_ns = MIN(record->time_ns, record->arrival_ns + lag_ns);
	event->tid = PP_TID_NOT_KNOWN;
	event->other_tid = record->other_tid;
	event->prio = event->other_prio = PP_PRIO_NOT_KNOWN;
	strcpy(event->comm, PP_COMM_NOT_KNOWN);
	strcpy(event->other_comm, PP_COMM_NOT_KNOWN);
}

static void decode_syscall(const struct pp_bpf_record *record, enum pp_kevent_kind kind,
			   struct pp_kevent *event)
{
	event->kind = kind;
	event->tid = record->tid;
	event->number = record->number == PP_BPF_NO_NUMBER ? -1 : record->number;
	if (kind == PP_KEVENT_SYSCALL_ENTRY)
		memcpy(event->values, record->args, sizeof(record->args));
	else
		event->values[0] = record->args[0];
}

static void decode_fault(const struct pp_bpf_record *record, enum pp_kevent_kind kind,
			 struct pp_kevent *event)
{
	event->kind = kind;
	event->tid = record->tid;
	event->irq = irq_of(record);
	memcpy(event->values, record->values, sizeof(record->values));
}

bool pp_bpf_decode(const struct pp_bpf_record *record, int cpu, struct pp_bpf_clock *clock,
		   struct pp_kevent *event)
{
	*event = (struct pp_kevent){.time_ns = record->time_ns, .cpu = cpu};
	switch ((enum pp_bpf_kind)(record->mark & ~PP_BPF_ODD)) {
	case PP_BPF_SWITCH:
		learn_lag(clock, record->time_ns, record->lag_ns);
		decode_switch(record, event);
		return true;
	case PP_BPF_WAKING:
		decode_waking(record, event);
		return true;
	case PP_BPF_MISSED:
		decode_missed(record, clock, event);
		return true;
	case PP_BPF_ENTER:
		decode_syscall(record, PP_KEVENT_SYSCALL_ENTRY, event);
		return true;
	case PP_BPF_EXIT:
		decode_syscall(record, PP_KEVENT_SYSCALL_EXIT, event);
		return true;
	case PP_BPF_FAULT_USER:
		decode_fault(record, PP_KEVENT_FAULT_USER, event);
		return true;
	case PP_BPF_FAULT_KERNEL:
		decode_fault(record, PP_KEVENT_FAULT_KERNEL, event);
		return true;
	}
	return false;
}
