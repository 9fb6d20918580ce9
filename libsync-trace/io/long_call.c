/* SPDX-License-Identifier: MIT */
/*
 * Records calls that took [io] threshold or longer, at their end.
 *
 * The limit in ticks is half the threshold at one tick per nanosecond until the first longer call
 * shows the length of a tick. Asynchronous cancellation is deferred meanwhile. The child of vfork()
 * runs in the memory of its parent, whose calls these are not.
 */
#include "io/io.h"

#include "record/internal.h"
#include "runtime/sys/kernel.h"
#include "runtime/sys/seal.h"

uint64_t st_io_limit_ticks = UINT64_MAX;
bool st_io_by_kernel = true;

static uint64_t threshold_ns = UINT64_MAX; /* ~0: off */
static uint64_t known_mult; /* nanoseconds per tick, as in a gm_clock; 0: not known */

void st_io_set_threshold(uint64_t ns)
{
	/* A child of fork copies each page that it writes to. */
	if (threshold_ns == ns)
		return;
	threshold_ns = ns;
	__atomic_store_n(&st_io_limit_ticks, ns / 2, __ATOMIC_RELAXED);
	__atomic_store_n(&st_io_by_kernel, !gm_clock_trusts_tsc(), __ATOMIC_RELAXED);
}

/* Returns 0 if there is no clock that the thread may read. */
uint64_t st_io_kernel_now(void)
{
	uint64_t now_ns;

	if (__atomic_load_n(&threshold_ns, __ATOMIC_RELAXED) == UINT64_MAX)
		return 0;
	if (gm_sealed || gm_seal_exists())
		now_ns = gm_clock_quiet_ns();
	else
		now_ns = gm_clock_faults ? gm_clock_ns() : gm_clock_kernel_ns();
	return now_ns == 0 ? 0 : now_ns | ST_IO_KERNEL;
}

static uint64_t ticks_to_ns(uint64_t ticks, uint64_t mult)
{
	return (uint64_t)((unsigned __int128)ticks * mult >> GM_CLOCK_SHIFT);
}

/* A little less than the threshold, which is checked again. */
static uint64_t limit_ticks(uint64_t mult)
{
	unsigned __int128 ticks = ((unsigned __int128)threshold_ns << GM_CLOCK_SHIFT) / mult;

	return (uint64_t)(ticks - ticks / 512);
}

/* Returns the length of a tick by the thread's clock; 0: it does not know one. */
static uint64_t own_mult(struct st_thread *self)
{
	/* With LTTng as the only sink, no event has used the clock yet. */
	if (self->clock.tsc_limit == 0 && self->live && st_io_has_tsc())
		gm_clock_anchor(&self->clock);
	return self->clock.tsc_limit > 0 ? self->clock.mult : 0;
}

/*
 * The same, or that of another thread. All threads read the limit, so it is changed only if it
 * differs noticeably.
 */
static uint64_t learn_tick(struct st_thread *self)
{
	uint64_t known = __atomic_load_n(&known_mult, __ATOMIC_RELAXED), mult = own_mult(self);
	bool by_kernel = !gm_clock_trusts_tsc();

	if (by_kernel != __atomic_load_n(&st_io_by_kernel, __ATOMIC_RELAXED))
		__atomic_store_n(&st_io_by_kernel, by_kernel, __ATOMIC_RELAXED);
	if (mult == 0)
		return known;
	if (known == 0 || (mult > known ? mult - known : known - mult) > known / 1024) {
		__atomic_store_n(&known_mult, mult, __ATOMIC_RELAXED);
		__atomic_store_n(&st_io_limit_ticks, limit_ticks(mult), __ATOMIC_RELAXED);
	}
	return mult;
}

/* The times of a call that has ended. */
struct span {
	uint64_t end_ns, duration_ns;
};

/* The time of a reading of the TSC, by a line that the clock followed a moment ago, or follows. */
static uint64_t time_at(const struct gm_clock *clock, uint64_t tsc)
{
	return tsc >= clock->tsc_base
		   ? clock->ns_base + ticks_to_ns(tsc - clock->tsc_base, clock->mult)
		   : clock->ns_base - ticks_to_ns(clock->tsc_base - tsc, clock->mult);
}

/* end: the TSC at the end of the call, or the kernel's clock. Called with the gate closed. */
static struct span measure(struct st_thread *self, uint64_t begin, uint64_t end)
{
	struct span span = {.end_ns = st_stamp_ordered(self)};
	uint64_t mult, end_ns = span.end_ns;

	if ((begin & ST_IO_KERNEL) != 0) {
		span.duration_ns = end - begin;
		end_ns = end & ~ST_IO_KERNEL;
	} else {
		mult = learn_tick(self);
		span.duration_ns = ticks_to_ns(end - begin, mult);
		if (self->clock.tsc_limit > 0)
			end_ns = time_at(&self->clock, end);
	}
	if (end_ns < span.end_ns)
		span.end_ns = end_ns;
	return span;
}

static void record(const struct st_io *io, uint64_t begin, uint64_t end, int error)
{
	struct st_thread *self;
	struct st_record event = {.id = ST_EVENT_io_call, .result = (uint8_t)error};
	struct span span;

	/* A thread that may be sealed makes no system call to find out. */
	if (!gm_seal_exists() && st_process_is_borrowed())
		return;
	self = st_enter();
	if (self == NULL)
		return;
	span = measure(self, begin, end);
	if (span.duration_ns >= threshold_ns) {
		event.site = st_caller(io->place);
		event.object = io->object;
		event.call = (uint8_t)io->call;
		event.extra = span.duration_ns;
		event.now_ns = span.end_ns;
		event.path = st_path_number(self, event.site, span.duration_ns, span.end_ns);
		st_emit(self, &event);
	}
	st_leave(self);
}

void st_io_long(const struct st_io *io, uint64_t begin, uint64_t end, int error)
{
	int saved_errno = errno;
	bool defers;

	/* Not measured, or with another clock. */
	if (begin == 0 || (begin & ST_IO_KERNEL) != (end & ST_IO_KERNEL) || end < begin)
		return;
	if (error == ST_IO_ERRNO)
		error = saved_errno;
	defers = st_cancel_defer((uintptr_t)__builtin_dwarf_cfa());
	record(io, begin, end, error);
	if (defers)
		st_cancel_undefer();
	errno = saved_errno;
}

void st_io_end_by_kernel(const struct st_io *io, uint64_t begin, int error)
{
	uint64_t end = st_io_kernel_now();

	if (end - begin >= __atomic_load_n(&threshold_ns, __ATOMIC_RELAXED))
		st_io_long(io, begin, end, error);
}
