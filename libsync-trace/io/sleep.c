/* SPDX-License-Identifier: MIT */
/* Waits for a time. sleep() tells only whether it was interrupted. */
#include <threads.h>

#include "io/io.h"

unsigned st_io_sleep(unsigned seconds)
{
	ST_IO_BEGIN(sleep, sleep, 0);
	unsigned left = st_io_real.sleep(seconds);

	st_io_end(&io, left != 0 ? EINTR : 0);
	return left;
}

ST_IO_WRAPPER(int, usleep, (useconds_t us), (us), usleep, 0)
ST_IO_WRAPPER(int, nanosleep, (const struct timespec *time, struct timespec *left), (time, left),
	      nanosleep, 0)

int st_io_clock_nanosleep(clockid_t clock, int flags, const struct timespec *time,
			  struct timespec *left)
{
	ST_IO_BEGIN(clock_nanosleep, clock_nanosleep, 0);
	int error = st_io_real.clock_nanosleep(clock, flags, time, left);

	st_io_end(&io, error);
	return error;
}

/* -1: interrupted; less: another error. */
int st_io_thrd_sleep(const struct timespec *time, struct timespec *left)
{
	ST_IO_BEGIN(thrd_sleep, thrd_sleep, 0);
	int value = st_io_real.thrd_sleep(time, left);

	st_io_end(&io, value == 0 ? 0 : value == -1 ? EINTR : EINVAL);
	return value;
}
