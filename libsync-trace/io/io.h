/* SPDX-License-Identifier: MIT */
/*
 * The measurement of a blocking call.
 *
 * A wrapper reads the TSC before and after the call. A call that took less than [io] threshold is
 * forgotten at once: nothing of the thread's writer is touched, so the wrapper may run at any time,
 * in a handler or in a child of vfork(). A longer one becomes an event (long_call.c). errno is that
 * of the call.
 *
 * The files with wrappers are compiled with -fexceptions: if the thread is cancelled in the call,
 * the unwinder runs st_io_unwound(), which records the call with ECANCELED. Nothing is registered.
 */
#ifndef ST_IO_H
#define ST_IO_H

#include <errno.h>

#include "libc/real_io.h"
#include "record/writer.h"
#include "sync-trace/calls.h"

struct st_io {
	uint64_t
	    begin; /* ticks, or of the kernel's clock (ST_IO_KERNEL); 0: not measured, or over */
	uint64_t object;
	const volatile uintptr_t *place;
	enum st_io_call call;
};

#define ST_IO_ERRNO  (-1) /* an error: its number is in errno */
#define ST_IO_KERNEL (UINT64_C(1) << 63)

/* Shorter calls are shorter than the threshold. */
extern uint64_t st_io_limit_ticks __attribute__((visibility("hidden")));

/* The TSC is not used: the kernel does not trust it, or the process is not open yet. */
extern bool st_io_by_kernel __attribute__((visibility("hidden")));

uint64_t st_io_kernel_now(void);

/* From now on calls of at least that time are recorded. */
void st_io_set_threshold(uint64_t ns);

/* The call took at least the limit: records it. `end`: by the clock of `begin`. */
void st_io_long(const struct st_io *io, uint64_t begin, uint64_t end, int error) ST_COLD;

/* The same after a check of its duration by the kernel's clock. */
void st_io_end_by_kernel(const struct st_io *io, uint64_t begin, int error);

static inline bool st_io_has_tsc(void)
{
	return st_likely(!__atomic_load_n(&st_io_by_kernel, __ATOMIC_RELAXED)) &&
	       st_likely(!gm_clock_faults);
}

static inline uint64_t st_io_now(void)
{
	return st_io_has_tsc() ? gm_tsc() : st_io_kernel_now();
}

/* error: 0, an error number, or ST_IO_ERRNO. */
static inline __attribute__((always_inline)) void st_io_end(struct st_io *io, int error)
{
	uint64_t begin = io->begin, end;

	io->begin = 0;
	if (st_unlikely(!st_io_has_tsc())) {
		st_io_end_by_kernel(io, begin, error);
		return;
	}
	end = gm_tsc();
	if (st_unlikely(end - begin >= __atomic_load_n(&st_io_limit_ticks, __ATOMIC_RELAXED)))
		st_io_long(io, begin, end, error);
}

/* Runs at the end of the wrapper's scope. A call that has not ended is unwound. */
static inline __attribute__((always_inline)) void st_io_unwound(struct st_io *io)
{
	if (st_unlikely(io->begin != 0))
		st_io_end(io, ECANCELED);
}

/* An object that is a descriptor or an identifier. */
static inline uint64_t st_io_number(int64_t number)
{
	return (uint64_t)number;
}

static inline uint64_t st_io_address(const volatile void *address)
{
	return (uintptr_t)address;
}

/* Declares `io` in a wrapper, which calls st_io_real.name next. */
#define ST_IO_BEGIN(name, which, its_object)                                                       \
	__attribute__((cleanup(st_io_unwound))) struct st_io io = {                                \
	    .object = (its_object), .place = ST_SITE_PLACE(), .call = ST_IO_##which};              \
                                                                                                   \
	if (st_unlikely(st_io_real.name == NULL))                                                  \
		st_io_resolve();                                                                   \
	io.begin = st_io_now()

/* Defines the wrapper of a function that returns a negative number, with errno, if it fails. */
#define ST_IO_WRAPPER(type, name, parameters, arguments, which, its_object)                        \
	type st_io_##name parameters                                                               \
	{                                                                                          \
		ST_IO_BEGIN(name, which, its_object);                                              \
		type value = st_io_real.name arguments;                                            \
                                                                                                   \
		st_io_end(&io, value < 0 ? ST_IO_ERRNO : 0);                                       \
		return value;                                                                      \
	}

/* The same, of a function whose object is its parameter fd. */
#define ST_IO_FD_WRAPPER(type, name, parameters, arguments, which)                                 \
	ST_IO_WRAPPER(type, name, parameters, arguments, which, st_io_number(fd))

#define ST_IO_DECLARE(type, name, parameters)                                                      \
	__attribute__((visibility("hidden"))) type st_io_##name parameters;
ST_IO_REALS(ST_IO_DECLARE)
#undef ST_IO_DECLARE

#endif
