/* SPDX-License-Identifier: MIT */
/*
 * Waits for futexes by syscall(), as std::atomic::wait() and Rust's locks do. syscall() itself
 * jumps here (runtime/lifecycle/interpose.c), so the return address is the program's.
 */
#include <linux/futex.h>

#include "io/io.h"
#include "runtime/lifecycle/interpose.h"
#include "runtime/sys/sys.h"

static bool waits(long number, long operation)
{
	if (number == GM_FUTEX_WAITV)
		return true;
	switch (operation & FUTEX_CMD_MASK) {
	case FUTEX_WAIT:
	case FUTEX_WAIT_BITSET:
	case FUTEX_WAIT_REQUEUE_PI:
	case FUTEX_LOCK_PI:
	case GM_FUTEX_LOCK_PI2:
		return true;
	default:
		return false;
	}
}

/* Before our constructor: the system call itself. */
static long call(long number, long a, long b, long c, long d, long e, long f)
{
	gm_syscall_fn *next = gm_next_syscall;
	long result;

	if (st_likely(next != NULL))
		return next(number, a, b, c, d, e, f);
	result = gm_syscall6(number, a, b, c, d, e, f);
	if (!GM_IS_ERROR(result))
		return result;
	errno = (int)-result;
	return -1;
}

/* The first futex of a vector, which the kernel has read if the call did not fail. */
static uint64_t first_of(const uint64_t *vector, long value)
{
	return value >= 0 ? vector[1] : 0; /* val, uaddr, ... */
}

static long syscall_futex(long number, long a, long b, long c, long d, long e, long f)
{
	bool is_vector = number == GM_FUTEX_WAITV;
	__attribute__((cleanup(st_io_unwound))) struct st_io io = {
	    .object = is_vector ? 0 : (uint64_t)a,
	    .place = ST_SITE_PLACE(),
	    .call = is_vector ? ST_IO_futex_waitv : ST_IO_futex,
	};
	long value;

	if (!waits(number, b))
		return call(number, a, b, c, d, e, f);
	io.begin = st_io_now();
	value = call(number, a, b, c, d, e, f);
	if (is_vector)
		io.object = first_of((const uint64_t *)a, value);
	st_io_end(&io, value < 0 ? ST_IO_ERRNO : 0);
	return value;
}

gm_syscall_fn *gm_syscall_futex = syscall_futex;
