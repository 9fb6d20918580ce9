/* SPDX-License-Identifier: MIT */
/* Selects the kernel events of the program's tasks: forks, execs, exits, reused thread numbers. */
#include "check.h"

#include <stdbool.h>

#include "record/tree.h"

static bool forked(struct pp_tree *tree, int parent, int child, int child_pid)
{
	struct pp_kevent event = {.kind = PP_KEVENT_FORK,
				  .tid = child,
				  .pid = child_pid,
				  .other_tid = parent,
				  .other_pid = parent};

	return pp_tree_take(tree, &event);
}

static bool exited(struct pp_tree *tree, int tid)
{
	struct pp_kevent event = {.kind = PP_KEVENT_EXIT, .tid = tid};

	return pp_tree_take(tree, &event);
}

static bool switched(struct pp_tree *tree, int prev, int state, int next)
{
	struct pp_kevent event = {.kind = PP_KEVENT_SWITCH,
				  .tid = prev,
				  .other_tid = next,
				  .prev_state = (int16_t)state,
				  .comm = "a",
				  .other_comm = "b"};

	return pp_tree_take(tree, &event);
}

static void test_membership(void)
{
	struct pp_tree tree;

	pp_tree_init(&tree, 100, false);
	CHECK(switched(&tree, 0, 0, 100) && switched(&tree, 100, 1, 0));
	CHECK(!switched(&tree, 0, 0, 7) && !switched(&tree, 7, 1, 8) && !switched(&tree, 0, 0, 0));
	CHECK(!forked(&tree, 7, 9, 9) && !switched(&tree, 9, 1, 0));
	CHECK(forked(&tree, 100, 101, 100) && forked(&tree, 101, 102, 102));
	CHECK(switched(&tree, 7, 1, 102) && switched(&tree, 102, 0, 7));
	CHECK_INT(tree.processes, 2);
	CHECK_INT(tree.threads, 3);
	CHECK_INT(pp_tree_running(&tree, 100), 1);

	/*
	 * After its exit record a thread still runs, may be preempted or block, and is then
	 * switched out for the last time.
	 */
	CHECK(exited(&tree, 102) && switched(&tree, 102, 0, 7) && switched(&tree, 7, 0, 102));
	CHECK(switched(&tree, 102, 2, 7) && switched(&tree, 7, 0, 102));
	CHECK(switched(&tree, 102, 32, 7) && !switched(&tree, 7, 1, 102));
	CHECK_INT(pp_tree_running(&tree, 100), 0);

	/* The number in another program is not ours; reused in this program, it is. */
	CHECK(!forked(&tree, 7, 101, 101) && !switched(&tree, 101, 1, 7));
	CHECK(forked(&tree, 100, 101, 100) && switched(&tree, 101, 1, 7));
	pp_tree_done(&tree);
}

static bool only_110_runs(pid_t pid, uint64_t time_ns)
{
	return pid == 110 && time_ns == 5;
}

/* Exit records are missing: a full ring lost them. */
static void test_settle(void)
{
	struct pp_kevent fork = {.kind = PP_KEVENT_FORK, .other_tid = 100, .other_pid = 100};
	struct pp_tree tree;

	pp_tree_init(&tree, 100, false);
	for (int pid = 110; pid < 113; pid++) {
		fork.tid = fork.pid = pid;
		fork.time_ns = (uint64_t)(pid - 105);
		CHECK(pp_tree_take(&tree, &fork));
	}
	CHECK_INT(pp_tree_running(&tree, 100), 3);
	pp_tree_settle(&tree, only_110_runs);
	CHECK_INT(pp_tree_running(&tree, 100), 1);
	pp_tree_done(&tree);
}

static void test_exec_by_second_thread(void)
{
	struct pp_kevent exec = {.kind = PP_KEVENT_EXEC, .tid = 100, .other_tid = 101};
	struct pp_tree tree;

	pp_tree_init(&tree, 100, false);
	CHECK(forked(&tree, 100, 101, 100) && exited(&tree, 100) && switched(&tree, 100, 32, 7));
	CHECK(pp_tree_take(&tree, &exec));
	CHECK(switched(&tree, 100, 1, 7) && !switched(&tree, 101, 1, 7));
	pp_tree_done(&tree);
}

/* A source without names: the last comm record gives the name. */
static void test_names(void)
{
	struct pp_kevent comm = {.kind = PP_KEVENT_COMM, .tid = 100, .comm = "worker"};
	struct pp_kevent out = {.kind = PP_KEVENT_SWITCH,
				.tid = 100,
				.other_tid = PP_TID_NOT_KNOWN,
				.prio = PP_PRIO_NOT_KNOWN,
				.other_prio = PP_PRIO_NOT_KNOWN,
				.comm = PP_COMM_NOT_KNOWN,
				.other_comm = PP_COMM_NOT_KNOWN};
	struct pp_tree tree;

	pp_tree_init(&tree, 100, true);
	CHECK(!pp_tree_take(&tree, &comm));
	CHECK(pp_tree_take(&tree, &out));
	CHECK_STR(out.comm, "worker");
	CHECK_STR(out.other_comm, "?");
	pp_tree_done(&tree);
}

static bool took(struct pp_tree *tree, int kind, int tid, int irq, uint64_t first, uint64_t second)
{
	struct pp_kevent event = {.kind = kind, .tid = tid, .irq = irq, .values = {first, second}};

	return pp_tree_take(tree, &event);
}

/* Level full: system calls of the program's threads, and their effects elsewhere. */
static void test_full(void)
{
	struct pp_kevent signal = {.kind = PP_KEVENT_SIGNAL_GENERATE, .tid = 7, .values[3] = 100};
	struct pp_tree tree;

	pp_tree_init(&tree, 100, false);
	CHECK(took(&tree, PP_KEVENT_SYSCALL_ENTRY, 100, 0, 0, 0));
	CHECK(!took(&tree, PP_KEVENT_SYSCALL_ENTRY, 7, 0, 0, 0));
	CHECK(!took(&tree, PP_KEVENT_FAULT_KERNEL, 100, PP_IRQ_HARD, 0, 0));

	CHECK(pp_tree_take(&tree, &signal));
	signal.values[3] = 8;
	CHECK(!pp_tree_take(&tree, &signal));
	signal.tid = 100;
	CHECK(pp_tree_take(&tree, &signal));

	/*
	 * A timer that an interrupt handles and restarts; another task's timer at the same address.
	 */
	CHECK(!took(&tree, PP_KEVENT_TIMER_EXPIRE, 7, PP_IRQ_HARD, 0xa0, 0));
	CHECK(!took(&tree, PP_KEVENT_TIMER_START, 100, PP_IRQ_HARD, 0xa0, 0));
	CHECK(took(&tree, PP_KEVENT_TIMER_START, 100, 0, 0xa0, 0));
	CHECK(took(&tree, PP_KEVENT_TIMER_EXPIRE, 7, PP_IRQ_HARD, 0xa0, 0));
	CHECK(took(&tree, PP_KEVENT_TIMER_START, 7, PP_IRQ_HARD, 0xa0, 0));
	CHECK(took(&tree, PP_KEVENT_TIMER_EXPIRE, 8, PP_IRQ_SOFT, 0xa0, 0));
	CHECK(!took(&tree, PP_KEVENT_TIMER_START, 7, 0, 0xa0, 0));
	CHECK(!took(&tree, PP_KEVENT_TIMER_EXPIRE, 100, PP_IRQ_HARD, 0xa0, 0));

	/* A request belongs to the program until it completes; device and sector identify it. */
	CHECK(took(&tree, PP_KEVENT_BLOCK_ISSUE, 100, 0, 1, 8));
	CHECK(!took(&tree, PP_KEVENT_BLOCK_ISSUE, 7, 0, 2, 8));
	CHECK(!took(&tree, PP_KEVENT_BLOCK_COMPLETE, 100, PP_IRQ_SOFT, 2, 8));
	CHECK(took(&tree, PP_KEVENT_BLOCK_COMPLETE, 7, PP_IRQ_SOFT, 1, 8));
	CHECK(!took(&tree, PP_KEVENT_BLOCK_COMPLETE, 7, PP_IRQ_SOFT, 1, 8));
	pp_tree_done(&tree);
}

int main(void)
{
	test_full();
	test_membership();
	test_settle();
	test_exec_by_second_thread();
	test_names();
	return 0;
}
