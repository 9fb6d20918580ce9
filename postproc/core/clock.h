/* SPDX-License-Identifier: MIT */
/* CLOCK_MONOTONIC, by which captures are stamped. */
#ifndef PP_CORE_CLOCK_H
#define PP_CORE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Returns nanoseconds. */
static inline int64_t pp_clock_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

#endif
