/* SPDX-License-Identifier: MIT */
/*
 * Reads tracepoint fields at the offsets given by their formats, and side-band records by their
 * ABI.
 */
#include "record/perf/decode.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define FIELD(name, member)                                                                        \
	{                                                                                          \
		name, offsetof(struct pp_formats, member)                                          \
	}
/* nice 0 in LTTng's encoding */
#define IDLE_PRIO 20

#define END                                                                                        \
	{                                                                                          \
		NULL, 0                                                                            \
	}

static const struct pp_field_wanted switch_fields[] = {
    FIELD("common_type", type),
    FIELD("common_flags", flags),
    FIELD("common_pid", common_pid),
    FIELD("prev_comm", sched_switch.prev_comm),
    FIELD("prev_pid", sched_switch.prev_pid),
    FIELD("prev_prio", sched_switch.prev_prio),
    FIELD("prev_state", sched_switch.prev_state),
    FIELD("next_comm", sched_switch.next_comm),
    FIELD("next_pid", sched_switch.next_pid),
    FIELD("next_prio", sched_switch.next_prio),
    END,
};

static const struct pp_field_wanted waking_fields[] = {
    FIELD("comm", waking.comm),
    FIELD("pid", waking.pid),
    FIELD("prio", waking.prio),
    FIELD("target_cpu", waking.target_cpu),
    END,
};

static const struct pp_field_wanted exec_fields[] = {
    FIELD("filename", exec.filename),
    FIELD("pid", exec.pid),
    FIELD("old_pid", exec.old_pid),
    END,
};

static const char *const tracepoints[PP_N_TRACEPOINTS] = {
    [PP_TP_SWITCH] = "sched/sched_switch",
    [PP_TP_WAKING] = "sched/sched_waking",
    [PP_TP_EXEC] = "sched/sched_process_exec",
};

static int parse_scheduling(struct pp_formats *formats, char *const *texts, struct pp_error *err)
{
	static const struct pp_field_wanted *const fields[] = {
	    [PP_TP_SWITCH] = switch_fields,
	    [PP_TP_WAKING] = waking_fields,
	    [PP_TP_EXEC] = exec_fields,
	};

	for (int i = 0; i < PP_N_TRACEPOINTS; i++) {
		int rc = pp_tracefs_parse(texts[i], fields[i], formats, &formats->id[i], err);

		if (rc)
			return pp_error_add(err, rc, "%s", tracepoints[i]);
	}
	return 0;
}

/* An event whose format cannot be parsed is treated as missing from the kernel. */
static void parse_full(struct pp_full_format *format, const struct pp_full_event *event,
		       const char *text)
{
	struct pp_field_wanted wanted[PP_N_VALUES + 1] = {END};
	struct pp_error ignored = PP_ERROR_INIT;

	for (int i = 0; i < PP_N_VALUES && event->fields[i].kernel; i++)
		wanted[i] = (struct pp_field_wanted){event->fields[i].kernel,
						     offsetof(struct pp_full_format, fields[i])};
	if (!*text || pp_tracefs_parse(text, wanted, format, &format->id, &ignored))
		format->id = 0;
	pp_error_done(&ignored);
}

int pp_formats_load(struct pp_formats *formats, bool full, struct pp_error *err)
{
	g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GPtrArray) texts = NULL;
	int rc;

	for (int i = 0; i < PP_N_TRACEPOINTS; i++)
		g_ptr_array_add(names, g_strdup(tracepoints[i]));
	for (int i = 0; full && i < PP_N_FULL; i++)
		g_ptr_array_add(names, g_strdup(pp_full_events[i].tracepoint));
	if (full)
		pp_syscalls_add_formats(names);
	g_ptr_array_add(names, NULL);
	rc = pp_tracefs_read((const char *const *)names->pdata, PP_N_TRACEPOINTS, &texts, err);
	if (rc == 0)
		rc = parse_scheduling(formats, (char *const *)texts->pdata, err);
	if (rc || !full)
		return rc;
	for (int i = 0; i < PP_N_FULL; i++)
		parse_full(&formats->full[i], &pp_full_events[i],
			   texts->pdata[PP_N_TRACEPOINTS + i]);
	formats->syscalls =
	    pp_syscalls_new((const char *const *)texts->pdata + PP_N_TRACEPOINTS + PP_N_FULL);
	return 0;
}

void pp_formats_done(struct pp_formats *formats)
{
	g_clear_pointer(&formats->syscalls, pp_syscalls_free);
}

/* --- tracepoints --- */

struct raw {
	const char *data;
	uint32_t len_bytes;
};

static int64_t get_int(const struct raw *raw, const struct pp_field *field)
{
	const char *at = raw->data + field->offset;
	union {
		uint8_t u8;
		int16_t i16;
		int32_t i32;
		int64_t i64;
	} value = {.i64 = 0};

	if ((uint32_t)field->offset + field->size > raw->len_bytes || field->size > sizeof(value))
		return 0;
	memcpy(&value, at, field->size);
	switch (field->size) {
	case 1:
		return value.u8;
	case 2:
		return value.i16;
	case 4:
		return value.i32;
	default:
		return value.i64;
	}
}

static void get_comm(const struct raw *raw, const struct pp_field *field, char *comm)
{
	if ((uint32_t)field->offset + PP_COMM_BYTES > raw->len_bytes ||
	    field->size != PP_COMM_BYTES) {
		strcpy(comm, PP_COMM_NOT_KNOWN);
		return;
	}
	memcpy(comm, raw->data + field->offset, PP_COMM_BYTES);
	comm[PP_COMM_BYTES - 1] = '\0';
}

static int8_t get_prio(const struct raw *raw, const struct pp_field *field)
{
	return get_int(raw, field) - PP_MAX_RT_PRIO;
}

static bool decode_switch(const struct pp_formats *formats, const struct raw *raw,
			  struct pp_kevent *event)
{
	event->kind = PP_KEVENT_SWITCH;
	event->tid = get_int(raw, &formats->sched_switch.prev_pid);
	event->prio = get_prio(raw, &formats->sched_switch.prev_prio);
	event->prev_state = get_int(raw, &formats->sched_switch.prev_state) & PP_STATE_MASK;
	event->other_tid = get_int(raw, &formats->sched_switch.next_pid);
	event->other_prio = get_prio(raw, &formats->sched_switch.next_prio);
	get_comm(raw, &formats->sched_switch.prev_comm, event->comm);
	get_comm(raw, &formats->sched_switch.next_comm, event->other_comm);
	return true;
}

/* The kernel's TRACE_FLAG_ bits. */
static uint8_t get_irq(const struct pp_formats *formats, const struct raw *raw)
{
	enum { FLAG_HARDIRQ = 0x08, FLAG_SOFTIRQ = 0x10 };
	int flags = get_int(raw, &formats->flags);

	return flags & FLAG_HARDIRQ   ? PP_IRQ_HARD
	       : flags & FLAG_SOFTIRQ ? PP_IRQ_SOFT
				      : PP_IRQ_NONE;
}

static bool decode_waking(const struct pp_formats *formats, const struct raw *raw,
			  struct pp_kevent *event)
{
	event->kind = PP_KEVENT_WAKING;
	event->tid = get_int(raw, &formats->waking.pid);
	event->prio = get_prio(raw, &formats->waking.prio);
	event->target_cpu = get_int(raw, &formats->waking.target_cpu);
	event->other_tid = get_int(raw, &formats->common_pid);
	event->irq = get_irq(formats, raw);
	get_comm(raw, &formats->waking.comm, event->comm);
	return true;
}

static bool decode_exec(const struct pp_formats *formats, const struct raw *raw,
			struct pp_kevent *event)
{
	/* __data_loc: the string's offset in the lower half, its length in the upper half. */
	uint32_t loc = get_int(raw, &formats->exec.filename);
	uint32_t offset = loc & 0xffff, len = loc >> 16;

	event->kind = PP_KEVENT_EXEC;
	event->tid = get_int(raw, &formats->exec.pid);
	event->other_tid = get_int(raw, &formats->exec.old_pid);
	if (offset + len <= raw->len_bytes)
		event->filename = g_strndup(raw->data + offset, len);
	return true;
}

/* Returns the n-th element of an array of longs. */
static uint64_t get_long(const struct raw *raw, const struct pp_field *array, unsigned n)
{
	struct pp_field field = {array->offset + n * sizeof(uint64_t), sizeof(uint64_t)};

	return get_int(raw, &field);
}

static void decode_values(const struct pp_full_event *row, const struct pp_full_format *format,
			  const struct raw *raw, struct pp_kevent *event)
{
	for (int i = 0; i < PP_N_VALUES && row->fields[i].kernel; i++) {
		const struct pp_field *field = &format->fields[i];
		bool fits = (uint32_t)field->offset + field->size <= raw->len_bytes;

		if (row->fields[i].type != 'r')
			event->values[i] = get_int(raw, field);
		else if (fits)
			event->values[i] = pp_full_rwbs(raw->data + field->offset, field->size);
	}
}

static bool decode_full(const struct pp_formats *formats, unsigned which, const struct raw *raw,
			struct pp_kevent *event)
{
	const struct pp_full_format *format = &formats->full[which];

	event->kind = PP_KEVENT_FULL + which;
	event->tid = get_int(raw, &formats->common_pid);
	event->irq = get_irq(formats, raw);
	switch (event->kind) {
	case PP_KEVENT_SYSCALL_ENTRY:
		event->number = get_int(raw, &format->fields[0]);
		for (int i = 0; i < PP_N_VALUES; i++)
			event->values[i] = get_long(raw, &format->fields[1], i);
		break;
	case PP_KEVENT_SYSCALL_EXIT:
		event->number = get_int(raw, &format->fields[0]);
		event->values[0] = get_int(raw, &format->fields[1]);
		break;
	default:
		decode_values(&pp_full_events[which], format, raw, event);
		break;
	}
	return true;
}

static bool decode_sample(const struct pp_formats *formats, const char *body, size_t len_bytes,
			  struct pp_kevent *event)
{
	struct {
		uint32_t pid, tid;
		uint64_t time_ns;
		uint32_t raw_bytes;
	} __attribute__((packed)) sample;
	struct raw raw;
	uint64_t type;

	if (!formats || len_bytes < sizeof(sample))
		return false;
	memcpy(&sample, body, sizeof(sample));
	raw.data = body + sizeof(sample);
	raw.len_bytes = MIN(sample.raw_bytes, len_bytes - sizeof(sample));
	event->time_ns = sample.time_ns;
	event->pid = 0;
	type = get_int(&raw, &formats->type);
	if (type == formats->id[PP_TP_SWITCH])
		return decode_switch(formats, &raw, event);
	if (type == formats->id[PP_TP_WAKING])
		return decode_waking(formats, &raw, event);
	if (type == formats->id[PP_TP_EXEC])
		return decode_exec(formats, &raw, event);
	for (unsigned i = 0; i < PP_N_FULL; i++)
		if (type == formats->full[i].id)
			return decode_full(formats, i, &raw, event);
	return false;
}

/* --- side-band records --- */

static bool decode_task(const char *body, size_t len_bytes, enum pp_kevent_kind kind,
			struct pp_kevent *event)
{
	struct {
		uint32_t pid, ppid, tid, ptid;
		uint64_t time_ns;
	} task;

	if (len_bytes < sizeof(task))
		return false;
	memcpy(&task, body, sizeof(task));
	event->kind = kind;
	event->pid = task.pid;
	event->tid = task.tid;
	event->other_pid = task.ppid;
	event->other_tid = task.ptid;
	return true;
}

static bool decode_comm(const char *body, size_t len_bytes, bool exec, struct pp_kevent *event)
{
	uint32_t ids[2];

	if (len_bytes <= sizeof(ids))
		return false;
	memcpy(ids, body, sizeof(ids));
	event->kind = exec ? PP_KEVENT_EXEC : PP_KEVENT_COMM;
	event->pid = ids[0];
	event->tid = ids[1];
	event->other_tid = ids[1];
	snprintf(event->comm, sizeof(event->comm), "%.*s", (int)(len_bytes - sizeof(ids)),
		 body + sizeof(ids));
	return true;
}

/*
 * A context switch of one thread: the record does not name the other thread of the switch.  For a
 * voluntary switch it does not distinguish the states S and D; S stands for both.
 */
static bool decode_switch_record(uint16_t misc, struct pp_kevent *event)
{
	int32_t self = event->tid;

	event->kind = PP_KEVENT_SWITCH;
	event->side_band = 1;
	event->prio = event->other_prio = PP_PRIO_NOT_KNOWN;
	strcpy(event->comm, PP_COMM_NOT_KNOWN);
	strcpy(event->other_comm, PP_COMM_NOT_KNOWN);
	if (misc & PERF_RECORD_MISC_SWITCH_OUT) {
		event->tid = self;
		event->other_tid = PP_TID_NOT_KNOWN;
		event->prev_state = misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT ? 0 : 1;
	} else {
		event->tid = PP_TID_NOT_KNOWN;
		event->other_tid = self;
		event->prev_state = 0;
	}
	return true;
}

/*
 * A context switch of any thread of the CPU.  The record has no reason for the stop, so the
 * previous thread is named only if it was the idle thread, which is always runnable.
 */
static bool decode_switch_cpu_wide(const char *body, size_t len_bytes, uint16_t misc,
				   struct pp_kevent *event)
{
	uint32_t prev[2];

	if (len_bytes < sizeof(prev))
		return false;
	memcpy(prev, body, sizeof(prev));
	decode_switch_record(misc, event);
	if (prev[1] == 0) {
		event->tid = 0;
		event->prio = IDLE_PRIO;
		snprintf(event->comm, sizeof(event->comm), "swapper/%d", event->cpu);
	}
	return true;
}

static bool decode_lost(const char *body, size_t len_bytes, struct pp_kevent *event)
{
	uint64_t id_lost[2];

	if (len_bytes < sizeof(id_lost))
		return false;
	memcpy(id_lost, body, sizeof(id_lost));
	event->kind = PP_KEVENT_LOST;
	event->lost = id_lost[1];
	return true;
}

bool pp_decode(const struct pp_formats *formats, const struct pp_ring *ring,
	       const struct perf_event_header *header, struct pp_kevent *event)
{
	const char *body = (const char *)(header + 1);
	size_t len_bytes = header->size - sizeof(*header);
	/* sample_id_all: ends every record except samples. */
	struct {
		uint32_t pid, tid;
		uint64_t time_ns;
	} id;

	/* Skip these first: they are half of all records on a busy machine. */
	if (header->type == PERF_RECORD_SWITCH_CPU_WIDE &&
	    (header->misc & PERF_RECORD_MISC_SWITCH_OUT))
		return false;
	memset(event, 0, sizeof(*event));
	event->cpu = ring->cpu;
	if (header->type == PERF_RECORD_SAMPLE)
		return decode_sample(formats, body, len_bytes, event);
	if (len_bytes < sizeof(id))
		return false;
	len_bytes -= sizeof(id);
	memcpy(&id, body + len_bytes, sizeof(id));
	event->time_ns = id.time_ns;
	event->pid = id.pid;
	event->tid = id.tid;
	switch (header->type) {
	case PERF_RECORD_FORK:
		return decode_task(body, len_bytes, PP_KEVENT_FORK, event);
	case PERF_RECORD_EXIT:
		return decode_task(body, len_bytes, PP_KEVENT_EXIT, event);
	case PERF_RECORD_COMM:
		/* If a tracepoint records the exec, this record only brings the new name. */
		return decode_comm(body, len_bytes,
				   !formats && (header->misc & PERF_RECORD_MISC_COMM_EXEC), event);
	case PERF_RECORD_SWITCH:
		return decode_switch_record(header->misc, event);
	case PERF_RECORD_SWITCH_CPU_WIDE:
		return decode_switch_cpu_wide(body, len_bytes, header->misc, event);
	case PERF_RECORD_LOST:
		return decode_lost(body, len_bytes, event);
	default:
		return false;
	}
}
