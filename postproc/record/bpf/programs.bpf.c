/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The BPF programs: at sched_switch, sched_waking and task_newtask, where TCP sends and receives
 * (senders.bpf.h), and at level full also at system calls and page faults.  records.h describes the
 * memory shared with the collector.
 *
 * The kernel's structures are declared with only the members used here.  The compiler records each
 * access, and libbpf inserts the running kernel's offsets when it loads the programs (CO-RE).
 */
#include <linux/bpf.h>
#include <stdbool.h>
#include <stdint.h>

#include <bpf/bpf_helpers.h>

#include "record/bpf/records.h"

#define INLINE static inline __attribute__((always_inline))

/* bpf_perf_event_output() requires a license compatible with the GPL. */
const char license_text[] SEC("license") = "Dual MIT/GPL";

/* --- kernel structures ----------------------------------------------------------------------- */

#define KERNEL __attribute__((preserve_access_index))

struct rq {
	uint64_t clock;
} KERNEL;

struct cfs_rq {
	const struct rq *rq;
} KERNEL;

struct sched_entity {
	const struct cfs_rq *cfs_rq;
} KERNEL;

struct sched_info {
	uint64_t last_arrival;
} KERNEL;

struct thread_info {
	uint32_t cpu;
} KERNEL;

struct task_struct {
	struct thread_info thread_info;
	int32_t prio;
	struct sched_entity se;
	struct sched_info sched_info;
	int32_t exit_state;
	int32_t pid;
	char comm[PP_COMM_BYTES];
} KERNEL;

/* Registers as in a system call of a 64-bit program. */
struct pt_regs {
	uint64_t r10, r9, r8, dx, si, di, orig_ax, ip;
} KERNEL;

/* --- maps ------------------------------------------------------------------------------------ */

/* The collector creates it, with the number and size of its values. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(key_size, sizeof(uint32_t));
	__uint(value_size, sizeof(struct pp_bpf_ring_head));
	__uint(max_entries, 1);
} gprof_mt_rings SEC(".maps");

/* One perf event for each CPU. */
struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(key_size, sizeof(uint32_t));
	__uint(value_size, sizeof(uint32_t));
	__uint(max_entries, 1);
} gprof_mt_wake SEC(".maps");

const volatile struct pp_bpf_settings settings;
uint64_t tids[PP_BPF_TIDS / 64];

/* --- ring slots ------------------------------------------------------------------------------ */

INLINE bool is_ours(uint32_t tid)
{
	const uint8_t *bytes = (const uint8_t *)tids;

	tid &= PP_BPF_TIDS - 1;
	return bytes[tid / 8] >> tid % 8 & 1;
}

INLINE const struct task_struct *this_thread(void)
{
	return (const void *)bpf_get_current_task_btf();
}

/* Returns NULL if this CPU has no ring. */
INLINE struct pp_bpf_ring_head *this_ring(void)
{
	uint32_t cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&gprof_mt_rings, &cpu);
}

/* A claimed slot. */
struct slot {
	struct pp_bpf_record *record;
	uint64_t number;
	uint64_t time_ns;
};

/* Claims a slot; false: none is free. */
INLINE bool slot_take(struct pp_bpf_ring_head *ring, struct slot *slot)
{
	char *slots = (char *)(ring + 1);

	if (ring->head - *(volatile uint64_t *)&ring->tail >= settings.n_slots - PP_BPF_SPARE) {
		__sync_fetch_and_add(&ring->dropped, 1);
		return false;
	}
	slot->time_ns = bpf_ktime_get_ns();
	slot->number = __sync_fetch_and_add(&ring->head, 1);
	slot->record = (struct pp_bpf_record *)(slots + ((slot->number & (settings.n_slots - 1))
							 << PP_BPF_SLOT_SHIFT));
	slot->record->time_ns = slot->time_ns;
	return true;
}

/* Publishes the slot; wakes the collector after each half of the ring. */
INLINE void slot_done(const struct slot *slot, enum pp_bpf_kind kind, void *context)
{
	/* The mark of an even lap is odd, so that an empty ring has no valid marks. */
	uint64_t lap = slot->number >> settings.slots_shift;
	uint8_t mark = (uint8_t)(((lap << PP_BPF_ODD_SHIFT) & PP_BPF_ODD) ^ (PP_BPF_ODD | kind));
	uint32_t nothing = 0;

	/* release: pairs with the acquire in next_record() */
	__asm__ volatile("" ::: "memory");
	*(volatile uint8_t *)&slot->record->mark = mark;
	if (((slot->number + 1) & (settings.n_slots / 2 - 1)) == 0)
		bpf_perf_event_output(context, &gprof_mt_wake, BPF_F_CURRENT_CPU, &nothing,
				      sizeof(nothing));
}

INLINE void copy_comm(char *to, const struct task_struct *task)
{
	const uint64_t *from = (const void *)__builtin_preserve_access_index(&task->comm);
	uint64_t *words = (uint64_t *)to;

	words[0] = from[0];
	words[1] = from[1];
}

INLINE const struct rq *run_queue(const struct task_struct *running)
{
	return running->se.cfs_rq->rq;
}

/*
 * Returns the context in which a program runs.  The kernel keeps it in a per-CPU variable, whose
 * address programs get only with CONFIG_KALLSYMS_ALL.  The running thread leads to its CPU's run
 * queue, another per-CPU variable, and the distance between the two is the same on every CPU.
 */
INLINE uint32_t preempt_count(const struct task_struct *running)
{
	uint32_t count = 0;

	bpf_probe_read_kernel(&count, sizeof(count),
			      (const char *)run_queue(running) + settings.preempt_count);
	return count;
}

#include "record/bpf/senders.bpf.h"

/* --- scheduling ------------------------------------------------------------------------------ */

/*
 * Records a missed switch: the previous thread belongs to the program, but no switch to it was
 * seen.  Some kernels run no tracepoint for a few threads, and the switch was made by one of them.
 * The scheduler noted the switch's time by the clock of the run queue.
 */
INLINE void put_missed(struct pp_bpf_ring_head *ring, const struct task_struct *leaves,
		       void *context)
{
	struct slot slot;

	if (!slot_take(ring, &slot))
		return;
	slot.record->other_tid = leaves->pid;
	slot.record->clock_ns = run_queue(leaves)->clock;
	slot.record->arrival_ns = leaves->sched_info.last_arrival;
	slot_done(&slot, PP_BPF_MISSED, context);
}

INLINE void put_switch(struct pp_bpf_ring_head *ring, uint64_t *context,
		       const struct task_struct *leaves, const struct task_struct *comes)
{
	struct pp_bpf_record *record;
	struct slot slot;

	if (!slot_take(ring, &slot))
		return;
	record = slot.record;
	record->is_preempted = (uint8_t)context[0];
	record->state = (uint32_t)context[3] | (uint32_t)leaves->exit_state;
	record->tid = leaves->pid;
	record->other_tid = comes->pid;
	record->prio = (uint8_t)leaves->prio;
	record->other_prio = (uint8_t)comes->prio;
	copy_comm(record->comm, leaves);
	copy_comm(record->other_comm, comes);
	record->lag_ns = (uint32_t)(slot.time_ns - run_queue(leaves)->clock);
	slot_done(&slot, PP_BPF_SWITCH, context);
}

/* sched_switch(preempt, previous, next, prev_state) */
SEC("tp_btf/sched_switch") int gprof_mt_switch(uint64_t *context)
{
	const struct task_struct *leaves = (const void *)context[1];
	const struct task_struct *comes = (const void *)context[2];
	struct pp_bpf_ring_head *ring = this_ring();
	uint32_t left, came, seen;

	if (!ring)
		return 0;
	left = is_ours((uint32_t)leaves->pid) ? (uint32_t)leaves->pid : 0;
	came = is_ours((uint32_t)comes->pid) ? (uint32_t)comes->pid : 0;
	seen = ring->current;
	ring->current = came;
	if (left && left != seen && seen != PP_BPF_CURRENT_UNKNOWN)
		put_missed(ring, leaves, context);
	if (left || came)
		put_switch(ring, context, leaves, comes);
	return 0;
}

/* sched_waking(thread) */
SEC("tp_btf/sched_waking") int gprof_mt_waking(uint64_t *context)
{
	const struct task_struct *woken = (const void *)context[0];
	const struct task_struct *waker;
	struct pp_bpf_ring_head *ring;
	struct slot slot;
	uint32_t count;

	if (!is_ours((uint32_t)woken->pid))
		return 0;
	ring = this_ring();
	if (!ring)
		return 0;
	waker = this_thread();
	count = preempt_count(waker);
	if ((count & (PP_BPF_SOFTIRQ | PP_BPF_HARDIRQ)) == PP_BPF_SOFTIRQ && is_sending(waker))
		count &= ~PP_BPF_SOFTIRQ;
	if (!slot_take(ring, &slot))
		return 0;
	slot.record->state = count;
	slot.record->tid = woken->pid;
	slot.record->other_tid = waker->pid;
	slot.record->prio = (uint8_t)woken->prio;
	slot.record->target_cpu = (int32_t)woken->thread_info.cpu;
	copy_comm(slot.record->comm, woken);
	slot_done(&slot, PP_BPF_WAKING, context);
	return 0;
}

/*
 * task_newtask(child), run by the parent: the child's tid belongs to the program if the parent's
 * does, whatever it belonged to before.  Unlike sched_process_fork, it also covers threads that the
 * kernel creates for the program (io_uring).
 */
SEC("tp_btf/task_newtask") int gprof_mt_fork(uint64_t *context)
{
	const struct task_struct *child = (const void *)context[0];
	uint32_t tid = (uint32_t)child->pid & (PP_BPF_TIDS - 1);
	uint64_t bit = UINT64_C(1) << tid % 64;

	if (is_ours((uint32_t)this_thread()->pid))
		__sync_fetch_and_or(&tids[tid / 64], bit);
	else if (is_ours(tid))
		__sync_fetch_and_and(&tids[tid / 64], ~bit);
	return 0;
}

/* --- level full ------------------------------------------------------------------------------ */

/* Claims a slot if the running thread belongs to the program. */
INLINE bool slot_take_ours(const struct task_struct *running, struct slot *slot)
{
	struct pp_bpf_ring_head *ring;

	if (!is_ours((uint32_t)running->pid))
		return false;
	ring = this_ring();
	if (!ring || !slot_take(ring, slot))
		return false;
	slot->record->tid = running->pid;
	return true;
}

/* Limits a system call's number, which programs can choose freely. */
INLINE uint16_t call_number(uint64_t number)
{
	return (uint16_t)(number > PP_BPF_NO_NUMBER ? PP_BPF_NO_NUMBER : number);
}

/* sys_enter(registers, number) */
SEC("tp_btf/sys_enter") int gprof_mt_enter(uint64_t *context)
{
	const struct pt_regs *registers = (const void *)context[0];
	struct slot slot;

	if (!slot_take_ours(this_thread(), &slot))
		return 0;
	slot.record->number = call_number(context[1]);
	slot.record->args[0] = registers->di;
	slot.record->args[1] = registers->si;
	slot.record->args[2] = registers->dx;
	slot.record->args[3] = registers->r10;
	slot.record->args[4] = registers->r8;
	slot.record->args[5] = registers->r9;
	slot_done(&slot, PP_BPF_ENTER, context);
	return 0;
}

/* sys_exit(registers, result) */
SEC("tp_btf/sys_exit") int gprof_mt_exit(uint64_t *context)
{
	const struct pt_regs *registers = (const void *)context[0];
	struct slot slot;

	if (!slot_take_ours(this_thread(), &slot))
		return 0;
	slot.record->number = call_number(registers->orig_ax);
	slot.record->args[0] = context[1];
	slot_done(&slot, PP_BPF_EXIT, context);
	return 0;
}

/* page_fault_...(address, registers, error code) */
INLINE void put_fault(uint64_t *context, enum pp_bpf_kind kind)
{
	const struct pt_regs *registers = (const void *)context[1];
	const struct task_struct *running = this_thread();
	struct slot slot;

	if (!slot_take_ours(running, &slot))
		return;
	slot.record->state = preempt_count(running);
	slot.record->values[0] = context[0];
	slot.record->values[1] = registers->ip;
	slot.record->values[2] = context[2];
	slot_done(&slot, kind, context);
}

SEC("tp_btf/page_fault_user") int gprof_mt_fault(uint64_t *context)
{
	put_fault(context, PP_BPF_FAULT_USER);
	return 0;
}

SEC("tp_btf/page_fault_kernel") int gprof_mt_fault_k(uint64_t *context)
{
	put_fault(context, PP_BPF_FAULT_KERNEL);
	return 0;
}
