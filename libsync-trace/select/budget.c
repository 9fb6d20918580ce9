/* SPDX-License-Identifier: MIT */
/*
 * sync.mode = auto: a thread is recorded in full until the cost exceeds sync.budget percent of its
 * CPU time; from then on only its waits are recorded, with their holders (hold.h). With both `all`
 * and `auto`, the same is done when the capture is near its limit (output.max), before the limit
 * stops all output.
 *
 * The check runs when the thread's clock is synchronized, at least every 20 ms, over periods of at
 * least 10 ms of its CPU time. Blocking calls (io/) do not count: they are recorded in either case.
 * Locks held at the switch are events already, and their releases will be: a release that does not
 * find its acquisition pending is written.
 */
#include <time.h>

#include "record/hold.h"
#include "record/internal.h"
#include "runtime/stream/output.h"
#include "runtime/sys/sys.h"

#define STRETCH_NS 10000000u
/*
 * The cost of an event has three parts: one reading of the clock, which is measured (a virtual
 * machine may intercept RDTSC, or another clock may be in use); its part of preparing the packet's
 * pages, which is measured, too; and REST_NS for instructions and stores.
 */
#define REST_NS	    10u
#define ROOM_BYTES  (128u << 10) /* less is not measured: opening the file is most of the time */
#define EVENT_BYTES 12u		 /* 8 or 16 */
#define READINGS    16u
#define ATTEMPTS    4u /* the minimum counts: the thread may lose the CPU in between */

unsigned st_budget_percent;
bool st_budget_watches;
static uint32_t event_ns; /* 0: not measured yet */
/* The least time that preparing 1 MiB of pages took, and the number of measurements. */
static uint32_t room_ns = UINT32_MAX, n_rooms;

static uint64_t cpu_now_ns(void)
{
	struct timespec now;

	/* A direct system call, because the program may define clock_gettime() itself. */
	if (gm_syscall3(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, (long)&now, 0) != 0)
		return 0;
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint32_t event_cost(struct gm_clock *clock)
{
	uint64_t least_ns = UINT64_MAX;
	uint32_t ns = __atomic_load_n(&event_ns, __ATOMIC_RELAXED);

	for (unsigned i = 0; ns == 0 && i < ATTEMPTS; i++) {
		uint64_t begin_ns = gm_clock_read(clock), end_ns = begin_ns;

		for (unsigned k = 0; k < READINGS; k++)
			end_ns = gm_clock_read(clock);
		if (end_ns >= begin_ns && end_ns - begin_ns < least_ns)
			least_ns = end_ns - begin_ns;
	}
	if (ns == 0) {
		ns = REST_NS + (uint32_t)(least_ns < 1000000 ? least_ns / READINGS : 0);
		__atomic_store_n(&event_ns, ns, __ATOMIC_RELAXED);
	}
	return ns;
}

void st_budget_note_room(uint64_t ns, uint64_t n_bytes)
{
	uint64_t per_mib;

	if (n_bytes < ROOM_BYTES)
		return;
	per_mib = (ns << 20) / n_bytes;
	if (per_mib < __atomic_load_n(&room_ns, __ATOMIC_RELAXED))
		__atomic_store_n(&room_ns, (uint32_t)per_mib, __ATOMIC_RELAXED);
	if (__atomic_load_n(&n_rooms, __ATOMIC_RELAXED) < ATTEMPTS)
		__atomic_fetch_add(&n_rooms, 1, __ATOMIC_RELAXED);
}

static uint64_t room_cost(uint64_t n_bytes)
{
	if (__atomic_load_n(&n_rooms, __ATOMIC_RELAXED) < ATTEMPTS)
		return 0;
	return n_bytes * __atomic_load_n(&room_ns, __ATOMIC_RELAXED) >> 20;
}

/* Returns the bytes in the stream's newest file. */
static uint64_t written_bytes(const struct gm_stream *stream)
{
	return stream->packet == NULL
		   ? 0
		   : stream->packet_offset + (uint64_t)(stream->pos - (uint8_t *)stream->packet);
}

static void mark(struct st_budget *budget, const struct gm_stream *stream, uint64_t cpu_ns)
{
	budget->cpu_ns = cpu_ns;
	budget->n_segments = stream->n_segments;
	budget->bytes = written_bytes(stream);
	budget->io_bytes = 0;
}

/* Returns false if there is no room for its counts now. */
static bool switch_to_waits(struct st_thread *self, enum st_since_why why, uint64_t now_ns)
{
	uint64_t *row = st_counts_row_late(self->stream.index);

	if (row == NULL)
		return false;
	self->counts = row;
	if (!self->ust)
		__atomic_fetch_and(&self->detours, (uint8_t)~ST_DETOUR_ALWAYS, __ATOMIC_RELAXED);
	if (st_access != NULL)
		st_access_switch_off();
	self->budget.watched = false;
	/* Another writer of the thread may have switched already. */
	if (self->counts[ST_COUNTS_SINCE] == 0) {
		self->counts[ST_COUNTS_SINCE_WHY] = why;
		self->counts[ST_COUNTS_SINCE] = now_ns;
	}
	self->sure_counts = st_is_picking() ? NULL : self->counts;
	self->pending = self->stream.pos;
	self->last_object = NULL; /* not maintained with counts */
	self->selective = true;
	st_holds_count(self);
	return true;
}

void st_budget_check_output(struct st_thread *self, uint64_t now_ns)
{
	if (gm_output_is_near())
		switch_to_waits(self, ST_SINCE_OUTPUT_MAX, now_ns);
}

/* The number of files between two of a stream; the first one counts from 1. */
static uint64_t full_files(uint32_t newer, uint32_t older)
{
	uint32_t first = older > 1 ? older : 1;

	return newer > first + 1 ? newer - first - 1 : 0;
}

void st_budget_check(struct st_thread *self, uint64_t now_ns)
{
	struct st_budget *budget = &self->budget;
	uint64_t cpu_ns = st_budget_percent != 0 ? cpu_now_ns() : 0, spent_ns,
		 bytes = written_bytes(&self->stream);
	bool is_over;

	if (st_budget_percent == 0)
		return;
	if (cpu_ns < budget->cpu_ns || budget->cpu_ns == 0) {
		mark(budget, &self->stream, cpu_ns);
		return;
	}
	if (cpu_ns - budget->cpu_ns < STRETCH_NS)
		return;
	/*
	 * The stream continues in another file, and the used size of the former one is not known.
	 * In a ring, several may have followed, which are full but for the first, which is small.
	 */
	if (self->stream.n_segments == budget->n_segments && bytes >= budget->bytes)
		bytes -= budget->bytes;
	else if (self->stream.trace->is_ring)
		bytes += full_files(self->stream.n_segments, budget->n_segments) *
			 self->stream.trace->segment_max;
	bytes -= bytes < budget->io_bytes ? bytes : budget->io_bytes;
	spent_ns = bytes / EVENT_BYTES * event_cost(&self->clock) + room_cost(bytes);
	is_over = spent_ns * 100 > (cpu_ns - budget->cpu_ns) * st_budget_percent;
	if (!is_over || !switch_to_waits(self, ST_SINCE_BUDGET, now_ns))
		mark(budget, &self->stream, cpu_ns);
}
