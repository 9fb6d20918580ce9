/* SPDX-License-Identifier: MIT */
/*
 * A thread is sampled after each period of its CPU time on a CPU.  perf_event_open(2) describes the
 * records.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "record/perf/stacks.h"

/* <asm/perf_regs.h> numbers the registers; these are by DWARF's numbers. */
static const uint8_t places[PP_STACK_REGISTERS] = {
    0, 3, 2, 1, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23, 8,
};

static uint64_t all_registers(void)
{
	uint64_t mask = 0;

	for (unsigned i = 0; i < PP_STACK_REGISTERS; i++)
		mask |= UINT64_C(1) << places[i];
	return mask;
}

int pp_ring_open_stacks(struct pp_ring *ring, int cpu, size_t data_bytes)
{
	int rc;

	*ring = (struct pp_ring){.cpu = cpu, .next.fd = -1, .can_read_lost = true, .current = -1};
	rc = pp_ring_buffer_open(&ring->buffer, cpu, data_bytes);
	if (rc == 0)
		pp_ring_make_scratch(ring);
	return rc;
}

void pp_ring_drop_stacks(struct pp_ring *ring)
{
	close(ring->fds[--ring->n_fds]);
}

static int open_thread(struct pp_ring *ring, pid_t tid, const struct pp_stack_sampling *sampling)
{
	struct perf_event_attr attr = {
	    .type = PERF_TYPE_SOFTWARE,
	    .config = PERF_COUNT_SW_TASK_CLOCK,
	    .sample_period = sampling->period_ns,
	    .sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_REGS_USER,
	    .sample_regs_user = all_registers(),
	    .exclude_kernel = sampling->no_kernel,
	    .exclude_hv = 1,
	    .inherit = 1,
	    .inherit_thread = !sampling->by_pid,
	    .task = 1,
	    .comm = 1,
	    .comm_exec = 1,
	};
	unsigned n = ring->n_fds;
	int rc;

	if (!sampling->no_stack) {
		attr.sample_type |= PERF_SAMPLE_STACK_USER;
		attr.sample_stack_user = PP_STACK_BYTES;
	}
	rc = pp_ring_open_event(ring, &attr, tid);
	if (rc && ring->n_fds > n)
		pp_ring_drop_stacks(ring);
	return rc;
}

/* The first thread tries with less and less of that which the kernel may refuse. */
static int begin(struct pp_ring *ring, pid_t tid, struct pp_stack_sampling *sampling)
{
	int rc = open_thread(ring, tid, sampling);

	if (rc == -EINVAL) {
		sampling->by_pid = true;
		rc = open_thread(ring, tid, sampling);
	}
	if (rc == -EACCES || rc == -EPERM) {
		sampling->no_kernel = true;
		rc = open_thread(ring, tid, sampling);
	}
	sampling->is_begun = rc == 0;
	return rc;
}

int pp_ring_add_stacks(struct pp_ring *ring, pid_t tid, struct pp_stack_sampling *sampling)
{
	return sampling->is_begun ? open_thread(ring, tid, sampling) : begin(ring, tid, sampling);
}

static uint64_t take(const uint8_t **at)
{
	uint64_t value;

	memcpy(&value, *at, sizeof(value));
	*at += sizeof(value);
	return value;
}

static void read_registers(const uint8_t **at, struct pp_stack_sample *sample)
{
	uint64_t in_order[64];

	for (unsigned place = 0; place < 64; place++)
		if (all_registers() >> place & 1)
			in_order[place] = take(at);
	for (unsigned i = 0; i < PP_STACK_REGISTERS; i++)
		sample->registers[i] = in_order[places[i]];
}

void pp_stack_sample_read(const struct perf_event_header *header, bool no_stack,
			  struct pp_stack_sample *ret)
{
	const uint8_t *at = (const uint8_t *)(header + 1);
	uint64_t abi, size_bytes, n_copied;

	*ret = (struct pp_stack_sample){0};
	memcpy(&ret->pid, at, sizeof(ret->pid));
	memcpy(&ret->tid, at + sizeof(ret->pid), sizeof(ret->tid));
	at += sizeof(uint64_t);
	ret->time_ns = take(&at);
	abi = take(&at);
	ret->has_registers = abi == PERF_SAMPLE_REGS_ABI_64;
	if (abi != PERF_SAMPLE_REGS_ABI_NONE)
		read_registers(&at, ret);
	if (no_stack)
		return;
	size_bytes = take(&at);
	if (!size_bytes)
		return;
	ret->stack = at;
	at += size_bytes;
	n_copied = take(&at);
	ret->stack_bytes = MIN(n_copied, size_bytes);
}
