/* SPDX-License-Identifier: MIT */
#include "record/bpf/programs.h"

#include <stddef.h>

#define R0 BPF_REG_0
#define R1 BPF_REG_1
#define R2 BPF_REG_2
#define R3 BPF_REG_3
#define R4 BPF_REG_4
#define R5 BPF_REG_5
#define R6 BPF_REG_6
#define R7 BPF_REG_7
#define R8 BPF_REG_8
#define R9 BPF_REG_9
#define FP BPF_REG_10

#define IN_HEAD(member)	  ((int16_t)offsetof(struct pp_bpf_ring_head, member))
#define IN_RECORD(member) ((int16_t)offsetof(struct pp_bpf_record, member))

/* On the stack: a key, and the places of registers while a helper runs. */
#define KEY    (-4)
#define SPILL  (-16)
#define NUMBER (-24) /* of the record under way */
#define MARK   (-32)

/* --- parts ---------------------------------------------------------------------------------- */

/* R4 = is the thread whose number is in `tid` of the program?  1 or 0.  Takes R2, R3. */
static void test_tid(struct pp_bpf_code *code, const struct pp_bpf_maps *maps, uint8_t tid)
{
	pp_bpf_op(code, BPF_MOV, R2, tid);
	pp_bpf_op32_imm(code, BPF_AND, R2, PP_BPF_TIDS - 1);
	pp_bpf_op(code, BPF_MOV, R3, R2);
	pp_bpf_op_imm(code, BPF_RSH, R3, 3);
	pp_bpf_constant(code, R4, BPF_PSEUDO_MAP_VALUE, maps->tids_fd, 0);
	pp_bpf_op(code, BPF_ADD, R4, R3);
	pp_bpf_load(code, BPF_B, R4, R4, 0);
	pp_bpf_op_imm(code, BPF_AND, R2, 7);
	pp_bpf_op(code, BPF_RSH, R4, R2);
	pp_bpf_op_imm(code, BPF_AND, R4, 1);
}

/* R9 = the ring of this CPU.  Takes R0 to R5; the jump is to the end, there being none. */
static unsigned take_ring(struct pp_bpf_code *code, const struct pp_bpf_maps *maps)
{
	pp_bpf_call(code, BPF_FUNC_get_smp_processor_id);
	pp_bpf_store(code, BPF_W, FP, KEY, R0);
	pp_bpf_constant(code, R1, BPF_PSEUDO_MAP_FD, maps->rings_fd, 0);
	pp_bpf_op(code, BPF_MOV, R2, FP);
	pp_bpf_op_imm(code, BPF_ADD, R2, KEY);
	pp_bpf_call(code, BPF_FUNC_map_lookup_elem);
	pp_bpf_op(code, BPF_MOV, R9, R0);
	return pp_bpf_jump_imm(code, BPF_JEQ, R0, 0);
}

/*
 * R5 = a free slot of the ring in R9, with the time; R0 = the time.  Takes R1 to R4; the jump is to
 * behind put_end(), there being no slot.
 */
static unsigned put_begin(struct pp_bpf_code *code, const struct pp_bpf_maps *maps,
			  enum pp_bpf_kind kind)
{
	unsigned free_slot, none;

	pp_bpf_load(code, BPF_DW, R1, R9, IN_HEAD(head));
	pp_bpf_load(code, BPF_DW, R2, R9, IN_HEAD(tail));
	pp_bpf_op(code, BPF_SUB, R1, R2);
	free_slot = pp_bpf_jump_imm(code, BPF_JLT, R1, (int32_t)(maps->n_slots - PP_BPF_SPARE));
	pp_bpf_op_imm(code, BPF_MOV, R1, 1);
	pp_bpf_atomic(code, BPF_ADD, R9, IN_HEAD(dropped), R1);
	none = pp_bpf_jump_imm(code, BPF_JA, 0, 0);
	pp_bpf_land(code, free_slot);
	pp_bpf_call(code, BPF_FUNC_ktime_get_ns);
	pp_bpf_op_imm(code, BPF_MOV, R5, 1);
	pp_bpf_atomic(code, BPF_ADD | BPF_FETCH, R9, IN_HEAD(head), R5);
	pp_bpf_store(code, BPF_DW, FP, NUMBER, R5);
	/* the mark of an even lap is odd, for the ring to begin without marks */
	pp_bpf_op(code, BPF_MOV, R1, R5);
	pp_bpf_op_imm(code, BPF_RSH, R1, __builtin_ctz(maps->n_slots));
	pp_bpf_op_imm(code, BPF_LSH, R1, PP_BPF_ODD_SHIFT);
	pp_bpf_op_imm(code, BPF_AND, R1, PP_BPF_ODD);
	pp_bpf_op_imm(code, BPF_XOR, R1, PP_BPF_ODD | (int32_t)kind);
	pp_bpf_store(code, BPF_DW, FP, MARK, R1);
	pp_bpf_op_imm(code, BPF_AND, R5, (int32_t)maps->n_slots - 1);
	pp_bpf_op_imm(code, BPF_LSH, R5, PP_BPF_SLOT_SHIFT);
	pp_bpf_op(code, BPF_ADD, R5, R9);
	pp_bpf_op_imm(code, BPF_ADD, R5, sizeof(struct pp_bpf_ring_head));
	pp_bpf_store(code, BPF_DW, R5, IN_RECORD(time_ns), R0);
	return none;
}

/* Hands the slot over; wakes the collector for each half of the ring.  R6: the context. */
static void put_end(struct pp_bpf_code *code, const struct pp_bpf_maps *maps)
{
	unsigned not_half;

	pp_bpf_load(code, BPF_DW, R1, FP, MARK);
	pp_bpf_store(code, BPF_B, R5, IN_RECORD(mark), R1);
	pp_bpf_load(code, BPF_DW, R1, FP, NUMBER);
	pp_bpf_op_imm(code, BPF_ADD, R1, 1);
	pp_bpf_op_imm(code, BPF_AND, R1, (int32_t)maps->n_slots / 2 - 1);
	not_half = pp_bpf_jump_imm(code, BPF_JNE, R1, 0);
	pp_bpf_store_imm(code, BPF_W, FP, KEY, 0);
	pp_bpf_op(code, BPF_MOV, R1, R6);
	pp_bpf_constant(code, R2, BPF_PSEUDO_MAP_FD, maps->events_fd, 0);
	pp_bpf_op32_imm(code, BPF_MOV, R3, -1); /* BPF_F_CURRENT_CPU */
	pp_bpf_op(code, BPF_MOV, R4, FP);
	pp_bpf_op_imm(code, BPF_ADD, R4, KEY);
	pp_bpf_op_imm(code, BPF_MOV, R5, sizeof(uint32_t));
	pp_bpf_call(code, BPF_FUNC_perf_event_output);
	pp_bpf_land(code, not_half);
}

/* *(R5 + to) = *(from + at), as much as `width`.  Takes R1. */
static void copy(struct pp_bpf_code *code, uint8_t width, int16_t to, uint8_t from, int at)
{
	pp_bpf_load(code, width, R1, from, (int16_t)at);
	pp_bpf_store(code, width, R5, to, R1);
}

static void copy_prio(struct pp_bpf_code *code, const struct pp_bpf_layout *layout, int16_t to,
		      uint8_t task)
{
	pp_bpf_load(code, BPF_W, R1, task, (int16_t)layout->prio);
	pp_bpf_store(code, BPF_B, R5, to, R1);
}

static void copy_comm(struct pp_bpf_code *code, const struct pp_bpf_layout *layout, int16_t to,
		      uint8_t task)
{
	copy(code, BPF_DW, to, task, layout->comm);
	copy(code, BPF_DW, (int16_t)(to + 8), task, layout->comm + 8);
}

/* R3 = the run queue of the CPU of `task`, the running thread. */
static void load_run_queue(struct pp_bpf_code *code, const struct pp_bpf_layout *layout,
			   uint8_t task)
{
	pp_bpf_load(code, BPF_DW, R3, task, (int16_t)layout->entity_queue);
	pp_bpf_load(code, BPF_DW, R3, R3, (int16_t)layout->queue);
}

/* To SPILL: what `task`, the running thread, leads to; see find_preempt_count(). */
static void read_preempt_count(struct pp_bpf_code *code, const struct pp_bpf_layout *layout,
			       uint8_t task)
{
	load_run_queue(code, layout, task);
	pp_bpf_op_imm(code, BPF_ADD, R3, layout->preempt_count);
	pp_bpf_op(code, BPF_MOV, R1, FP);
	pp_bpf_op_imm(code, BPF_ADD, R1, SPILL);
	pp_bpf_op_imm(code, BPF_MOV, R2, sizeof(uint32_t));
	pp_bpf_call(code, BPF_FUNC_probe_read_kernel);
}

/* --- programs ------------------------------------------------------------------------------- */

/*
 * Who leaves, in R7, is ours, and was not seen to come: some kernels tell nothing of what a few
 * threads do, and the switch was in the name of one of them.  When it was, the scheduler noted by
 * the clock of the run queue.  Keeps R5.
 */
static void put_missed(struct pp_bpf_code *code, const struct pp_bpf_layout *layout,
		       const struct pp_bpf_maps *maps)
{
	unsigned no_slot;

	pp_bpf_store(code, BPF_DW, FP, SPILL, R5);
	no_slot = put_begin(code, maps, PP_BPF_MISSED);
	copy(code, BPF_W, IN_RECORD(other_tid), R7, layout->pid);
	load_run_queue(code, layout, R7);
	copy(code, BPF_DW, IN_RECORD(clock_ns), R3, layout->clock);
	copy(code, BPF_DW, IN_RECORD(arrival_ns), R7, layout->arrival);
	put_end(code, maps);
	pp_bpf_land(code, no_slot);
	pp_bpf_load(code, BPF_DW, R5, FP, SPILL);
}

/* R7: who leaves, R8: who comes. */
static void put_switch(struct pp_bpf_code *code, const struct pp_bpf_layout *layout,
		       const struct pp_bpf_maps *maps)
{
	unsigned no_slot = put_begin(code, maps, PP_BPF_SWITCH);

	pp_bpf_load(code, BPF_DW, R1, R6, 0);
	pp_bpf_store(code, BPF_B, R5, IN_RECORD(is_preempted), R1);
	pp_bpf_load(code, BPF_DW, R1, R6, 24);
	pp_bpf_load(code, BPF_W, R2, R7, (int16_t)layout->exit_state);
	pp_bpf_op(code, BPF_OR, R1, R2);
	pp_bpf_store(code, BPF_W, R5, IN_RECORD(state), R1);
	copy(code, BPF_W, IN_RECORD(tid), R7, layout->pid);
	copy(code, BPF_W, IN_RECORD(other_tid), R8, layout->pid);
	copy_prio(code, layout, IN_RECORD(prio), R7);
	copy_prio(code, layout, IN_RECORD(other_prio), R8);
	copy_comm(code, layout, IN_RECORD(comm), R7);
	copy_comm(code, layout, IN_RECORD(other_comm), R8);
	load_run_queue(code, layout, R7);
	pp_bpf_load(code, BPF_DW, R1, R3, (int16_t)layout->clock);
	pp_bpf_op(code, BPF_SUB, R0, R1);
	pp_bpf_store(code, BPF_W, R5, IN_RECORD(lag_ns), R0);
	put_end(code, maps);
	pp_bpf_land(code, no_slot);
}

/* sched_switch(preempt, previous, next, prev_state) */
void pp_bpf_make_switch(struct pp_bpf_code *code, const struct pp_bpf_layout *layout,
			const struct pp_bpf_maps *maps)
{
	unsigned no_ring, as_seen, stranger, unknown, not_ours;

	pp_bpf_op(code, BPF_MOV, R6, R1);
	pp_bpf_load(code, BPF_DW, R7, R6, 8);
	pp_bpf_load(code, BPF_DW, R8, R6, 16);
	no_ring = take_ring(code, maps);
	pp_bpf_load(code, BPF_W, R1, R7, (int16_t)layout->pid);
	test_tid(code, maps, R1);
	pp_bpf_op(code, BPF_MOV, R5, R4);
	pp_bpf_op(code, BPF_MUL, R1, R4); /* its number if it is ours, else 0 */
	pp_bpf_load(code, BPF_W, R0, R8, (int16_t)layout->pid);
	test_tid(code, maps, R0);
	pp_bpf_op(code, BPF_OR, R5, R4); /* either is ours */
	pp_bpf_op(code, BPF_MUL, R0, R4);
	pp_bpf_load(code, BPF_W, R2, R9, IN_HEAD(current));
	pp_bpf_store(code, BPF_W, R9, IN_HEAD(current), R0);
	as_seen = pp_bpf_jump(code, BPF_JEQ, R1, R2);
	stranger = pp_bpf_jump_imm(code, BPF_JEQ, R1, 0);
	pp_bpf_op32_imm(code, BPF_MOV, R1, (int32_t)PP_BPF_CURRENT_UNKNOWN);
	unknown = pp_bpf_jump(code, BPF_JEQ, R1, R2);
	put_missed(code, layout, maps);
	pp_bpf_land(code, as_seen);
	pp_bpf_land(code, stranger);
	pp_bpf_land(code, unknown);
	not_ours = pp_bpf_jump_imm(code, BPF_JEQ, R5, 0);
	put_switch(code, layout, maps);
	pp_bpf_land(code, no_ring);
	pp_bpf_land(code, not_ours);
	pp_bpf_return(code);
}

/* sched_waking(thread) */
void pp_bpf_make_waking(struct pp_bpf_code *code, const struct pp_bpf_layout *layout,
			const struct pp_bpf_maps *maps)
{
	unsigned not_ours, no_ring, no_slot;

	pp_bpf_op(code, BPF_MOV, R6, R1);
	pp_bpf_load(code, BPF_DW, R7, R6, 0);
	pp_bpf_load(code, BPF_W, R1, R7, (int16_t)layout->pid);
	test_tid(code, maps, R1);
	not_ours = pp_bpf_jump_imm(code, BPF_JEQ, R4, 0);
	no_ring = take_ring(code, maps);
	pp_bpf_call(code, BPF_FUNC_get_current_task_btf);
	pp_bpf_op(code, BPF_MOV, R8, R0);
	read_preempt_count(code, layout, R8);
	no_slot = put_begin(code, maps, PP_BPF_WAKING);
	copy(code, BPF_W, IN_RECORD(state), FP, SPILL);
	copy(code, BPF_W, IN_RECORD(tid), R7, layout->pid);
	copy(code, BPF_W, IN_RECORD(other_tid), R8, layout->pid);
	copy_prio(code, layout, IN_RECORD(prio), R7);
	copy(code, BPF_W, IN_RECORD(target_cpu), R7, layout->cpu);
	copy_comm(code, layout, IN_RECORD(comm), R7);
	put_end(code, maps);
	pp_bpf_land(code, not_ours);
	pp_bpf_land(code, no_ring);
	pp_bpf_land(code, no_slot);
	pp_bpf_return(code);
}

/*
 * task_newtask(child), by its maker: the child's number is of the program if the maker's is,
 * whomever it belonged to before.  Unlike sched_process_fork it also tells of threads that the
 * kernel makes for the program (io_uring).
 */
void pp_bpf_make_fork(struct pp_bpf_code *code, const struct pp_bpf_layout *layout,
		      const struct pp_bpf_maps *maps)
{
	unsigned not_ours, was_not;

	pp_bpf_load(code, BPF_DW, R7, R1, 0);
	pp_bpf_call(code, BPF_FUNC_get_current_task_btf);
	pp_bpf_load(code, BPF_W, R1, R0, (int16_t)layout->pid);
	test_tid(code, maps, R1);
	pp_bpf_op(code, BPF_MOV, R5, R4);
	pp_bpf_load(code, BPF_W, R1, R7, (int16_t)layout->pid);
	test_tid(code, maps, R1);
	/* R8 = the word that holds its bit, R0 = the bit */
	pp_bpf_op32_imm(code, BPF_AND, R1, PP_BPF_TIDS - 1);
	pp_bpf_op(code, BPF_MOV, R2, R1);
	pp_bpf_op_imm(code, BPF_RSH, R2, 6);
	pp_bpf_op_imm(code, BPF_LSH, R2, 3);
	pp_bpf_constant(code, R8, BPF_PSEUDO_MAP_VALUE, maps->tids_fd, 0);
	pp_bpf_op(code, BPF_ADD, R8, R2);
	pp_bpf_op_imm(code, BPF_AND, R1, 63);
	pp_bpf_op_imm(code, BPF_MOV, R0, 1);
	pp_bpf_op(code, BPF_LSH, R0, R1);
	not_ours = pp_bpf_jump_imm(code, BPF_JEQ, R5, 0);
	pp_bpf_atomic(code, BPF_OR, R8, 0, R0);
	pp_bpf_return(code);
	pp_bpf_land(code, not_ours);
	was_not = pp_bpf_jump_imm(code, BPF_JEQ, R4, 0);
	pp_bpf_op_imm(code, BPF_XOR, R0, -1);
	pp_bpf_atomic(code, BPF_AND, R8, 0, R0);
	pp_bpf_land(code, was_not);
	pp_bpf_return(code);
}

/*
 * R8 = the running thread; the first jump is to the end, it not being the program's.  Then R9 = the
 * ring, the second jump likewise.
 */
static void take_ours(struct pp_bpf_code *code, const struct pp_bpf_layout *layout,
		      const struct pp_bpf_maps *maps, unsigned jumps[2])
{
	pp_bpf_op(code, BPF_MOV, R6, R1);
	pp_bpf_call(code, BPF_FUNC_get_current_task_btf);
	pp_bpf_op(code, BPF_MOV, R8, R0);
	pp_bpf_load(code, BPF_W, R1, R8, (int16_t)layout->pid);
	test_tid(code, maps, R1);
	jumps[0] = pp_bpf_jump_imm(code, BPF_JEQ, R4, 0);
	jumps[1] = take_ring(code, maps);
}

/* Hands the slot over, and ends; where take_ours() and put_begin() may jump to. */
static void end_program(struct pp_bpf_code *code, const struct pp_bpf_maps *maps,
			const unsigned jumps[2], unsigned no_slot)
{
	put_end(code, maps);
	pp_bpf_land(code, jumps[0]);
	pp_bpf_land(code, jumps[1]);
	pp_bpf_land(code, no_slot);
	pp_bpf_return(code);
}

/* In R1: a system call's number, which programs may make up. */
static void put_number(struct pp_bpf_code *code)
{
	unsigned fits = pp_bpf_jump_imm(code, BPF_JLE, R1, PP_BPF_NO_NUMBER);

	pp_bpf_op_imm(code, BPF_MOV, R1, PP_BPF_NO_NUMBER);
	pp_bpf_land(code, fits);
	pp_bpf_store(code, BPF_H, R5, IN_RECORD(number), R1);
}

/* sys_enter(registers, number) */
void pp_bpf_make_enter(struct pp_bpf_code *code, const struct pp_bpf_layout *layout,
		       const struct pp_bpf_maps *maps)
{
	unsigned ends[2], no_slot;

	take_ours(code, layout, maps, ends);
	pp_bpf_load(code, BPF_DW, R7, R6, 0);
	no_slot = put_begin(code, maps, PP_BPF_ENTER);
	pp_bpf_load(code, BPF_DW, R1, R6, 8);
	put_number(code);
	copy(code, BPF_W, IN_RECORD(tid), R8, layout->pid);
	for (int i = 0; i < PP_N_VALUES; i++)
		copy(code, BPF_DW, IN_RECORD(args[i]), R7, layout->args[i]);
	end_program(code, maps, ends, no_slot);
}

/* sys_exit(registers, result) */
void pp_bpf_make_exit(struct pp_bpf_code *code, const struct pp_bpf_layout *layout,
		      const struct pp_bpf_maps *maps)
{
	unsigned ends[2], no_slot;

	take_ours(code, layout, maps, ends);
	pp_bpf_load(code, BPF_DW, R7, R6, 0);
	no_slot = put_begin(code, maps, PP_BPF_EXIT);
	pp_bpf_load(code, BPF_DW, R1, R7, (int16_t)layout->call_number);
	put_number(code);
	copy(code, BPF_W, IN_RECORD(tid), R8, layout->pid);
	copy(code, BPF_DW, IN_RECORD(args[0]), R6, 8);
	end_program(code, maps, ends, no_slot);
}

/* page_fault_...(address, registers, error code) */
static void make_fault(struct pp_bpf_code *code, const struct pp_bpf_layout *layout,
		       const struct pp_bpf_maps *maps, enum pp_bpf_kind kind)
{
	unsigned ends[2], no_slot;

	take_ours(code, layout, maps, ends);
	read_preempt_count(code, layout, R8);
	pp_bpf_load(code, BPF_DW, R7, R6, 8);
	no_slot = put_begin(code, maps, kind);
	copy(code, BPF_W, IN_RECORD(tid), R8, layout->pid);
	copy(code, BPF_W, IN_RECORD(state), FP, SPILL);
	copy(code, BPF_DW, IN_RECORD(values[0]), R6, 0);
	copy(code, BPF_DW, IN_RECORD(values[1]), R7, layout->ip);
	copy(code, BPF_DW, IN_RECORD(values[2]), R6, 16);
	end_program(code, maps, ends, no_slot);
}

void pp_bpf_make_fault_user(struct pp_bpf_code *code, const struct pp_bpf_layout *layout,
			    const struct pp_bpf_maps *maps)
{
	make_fault(code, layout, maps, PP_BPF_FAULT_USER);
}

void pp_bpf_make_fault_kernel(struct pp_bpf_code *code, const struct pp_bpf_layout *layout,
			      const struct pp_bpf_maps *maps)
{
	make_fault(code, layout, maps, PP_BPF_FAULT_KERNEL);
}
