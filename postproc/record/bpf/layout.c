/* SPDX-License-Identifier: MIT */
#include "record/bpf/layout.h"

#include <errno.h>

#include <linux/btf.h>

#include "record/bpf/btf.h"

enum wanted {
	TASK,
	THREAD_INFO,
	ENTITY,
	QUEUE,
	SCHED_INFO,
	RUN_QUEUE,
	SWITCH,
	WAKING,
	FORK,
	RUN_QUEUES,
	PREEMPT_COUNT,
	HOT,
	HOT_TYPE,
	N_WANTED
};

/*
 * In which context a program runs, the kernel keeps in a variable of each CPU, and tells programs
 * its address only if it was built with CONFIG_KALLSYMS_ALL.  The running thread points to its
 * CPU's run queue, which is such a variable, too, and all of them lie alike on every CPU.
 */
static int find_preempt_count(const struct pp_btf *btf, const struct pp_btf_type *types,
			      struct pp_bpf_layout *layout)
{
	const char *per_cpu = pp_btf_section(btf, ".data..percpu");
	int queue = pp_btf_variable(per_cpu, &types[RUN_QUEUES]);
	int count = pp_btf_variable(per_cpu, &types[PREEMPT_COUNT]);

	/* Linux 6.2 to 6.14: a member of a variable. */
	if (count < 0) {
		int hot = pp_btf_variable(per_cpu, &types[HOT]);
		int member = pp_btf_member(btf, &types[HOT_TYPE], "preempt_count");

		if (hot < 0 || member < 0)
			return -ENOENT;
		count = hot + member;
	}
	layout->queue = pp_btf_member(btf, &types[QUEUE], "rq");
	layout->preempt_count = count - queue;
	return queue < 0 || layout->queue < 0 ? -ENOENT : 0;
}

static int find_members(const struct pp_btf *btf, const struct pp_btf_type *types,
			struct pp_bpf_layout *layout)
{
	int entity = pp_btf_member(btf, &types[TASK], "se");
	int info = pp_btf_member(btf, &types[TASK], "thread_info");
	int info_cpu = pp_btf_member(btf, &types[THREAD_INFO], "cpu");
	int queue = pp_btf_member(btf, &types[ENTITY], "cfs_rq");
	int sched_info = pp_btf_member(btf, &types[TASK], "sched_info");
	int arrival = pp_btf_member(btf, &types[SCHED_INFO], "last_arrival");

	layout->pid = pp_btf_member(btf, &types[TASK], "pid");
	layout->prio = pp_btf_member(btf, &types[TASK], "prio");
	layout->comm = pp_btf_member(btf, &types[TASK], "comm");
	layout->exit_state = pp_btf_member(btf, &types[TASK], "exit_state");
	layout->cpu = info_cpu < 0 ? pp_btf_member(btf, &types[TASK], "cpu")
		      : info < 0   ? info
				   : info + info_cpu;
	layout->entity_queue = entity + queue;
	layout->arrival = sched_info + arrival;
	layout->clock = pp_btf_member(btf, &types[RUN_QUEUE], "clock");
	if (layout->pid < 0 || layout->prio < 0 || layout->comm < 0 || layout->exit_state < 0 ||
	    layout->cpu < 0 || layout->clock < 0 || entity < 0 || queue < 0 || sched_info < 0 ||
	    arrival < 0)
		return -ENOENT;
	return 0;
}

/* As in a system call of a 64-bit program. */
static int find_full(const struct pp_btf *btf, struct pp_bpf_layout *layout)
{
	enum { REGISTERS, ENTER, EXIT, FAULT_USER, FAULT_KERNEL, N };
	static const char *const arguments[PP_N_VALUES] = {"di", "si", "dx", "r10", "r8", "r9"};
	struct pp_btf_type types[N] = {
	    [REGISTERS] = {"pt_regs", BTF_KIND_STRUCT, 0, NULL},
	    [ENTER] = {"btf_trace_sys_enter", BTF_KIND_TYPEDEF, 0, NULL},
	    [EXIT] = {"btf_trace_sys_exit", BTF_KIND_TYPEDEF, 0, NULL},
	    [FAULT_USER] = {"btf_trace_page_fault_user", BTF_KIND_TYPEDEF, 0, NULL},
	    [FAULT_KERNEL] = {"btf_trace_page_fault_kernel", BTF_KIND_TYPEDEF, 0, NULL},
	};
	bool found = true;

	pp_btf_find(btf, types, N);
	for (int i = 0; i < PP_N_VALUES; i++) {
		layout->args[i] = pp_btf_member(btf, &types[REGISTERS], arguments[i]);
		found &= layout->args[i] >= 0;
	}
	layout->call_number = pp_btf_member(btf, &types[REGISTERS], "orig_ax");
	layout->ip = pp_btf_member(btf, &types[REGISTERS], "ip");
	layout->enter_id = types[ENTER].id;
	layout->exit_id = types[EXIT].id;
	layout->fault_user_id = types[FAULT_USER].id;
	layout->fault_kernel_id = types[FAULT_KERNEL].id;
	for (int i = 0; i < N; i++)
		found &= types[i].id != 0;
	return found && layout->call_number >= 0 && layout->ip >= 0 ? 0 : -ENOENT;
}

int pp_bpf_layout_read(struct pp_bpf_layout *layout, bool full, struct pp_error *err)
{
	struct pp_btf_type types[N_WANTED] = {
	    [TASK] = {"task_struct", BTF_KIND_STRUCT, 0, NULL},
	    [THREAD_INFO] = {"thread_info", BTF_KIND_STRUCT, 0, NULL},
	    [ENTITY] = {"sched_entity", BTF_KIND_STRUCT, 0, NULL},
	    [QUEUE] = {"cfs_rq", BTF_KIND_STRUCT, 0, NULL},
	    [SCHED_INFO] = {"sched_info", BTF_KIND_STRUCT, 0, NULL},
	    [RUN_QUEUE] = {"rq", BTF_KIND_STRUCT, 0, NULL},
	    [SWITCH] = {"btf_trace_sched_switch", BTF_KIND_TYPEDEF, 0, NULL},
	    [WAKING] = {"btf_trace_sched_waking", BTF_KIND_TYPEDEF, 0, NULL},
	    [FORK] = {"btf_trace_task_newtask", BTF_KIND_TYPEDEF, 0, NULL},
	    [RUN_QUEUES] = {"runqueues", BTF_KIND_VAR, 0, NULL},
	    [PREEMPT_COUNT] = {"__preempt_count", BTF_KIND_VAR, 0, NULL},
	    [HOT] = {"pcpu_hot", BTF_KIND_VAR, 0, NULL},
	    [HOT_TYPE] = {"pcpu_hot", BTF_KIND_STRUCT, 0, NULL},
	};
	struct pp_btf btf;
	int rc = pp_btf_open(&btf, err);

	if (rc)
		return rc;
	pp_btf_find(&btf, types, HOT);
	if (!types[PREEMPT_COUNT].id)
		pp_btf_find(&btf, types, N_WANTED);
	layout->switch_id = types[SWITCH].id;
	layout->waking_id = types[WAKING].id;
	layout->fork_id = types[FORK].id;
	if (!layout->switch_id || !layout->waking_id || !layout->fork_id ||
	    find_members(&btf, types, layout) || find_preempt_count(&btf, types, layout))
		rc = pp_error_add(err, -ENOENT, "unsupported kernel scheduler layout");
	else if (full && find_full(&btf, layout))
		rc = pp_error_add(err, -ENOENT, "unsupported kernel system call layout");
	pp_btf_close(&btf);
	return rc;
}
