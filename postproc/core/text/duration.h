/* SPDX-License-Identifier: MIT */
#ifndef PP_CORE_TEXT_DURATION_H
#define PP_CORE_TEXT_DURATION_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/time.h>

/* Formats a duration with three digits and a unit: "1.23 ms".  The caller frees the text. */
char *pp_duration_text(int64_t time_ns);

/*
 * Reads a duration such as "1.5ms": a number and a unit (s, ms, us or ns).  A number without a unit
 * is in default_unit; if that is NULL, it is refused.
 */
bool pp_duration_read(const char *text, const char *default_unit, int64_t *ret_ns);

static inline int64_t pp_timeval_ns(const struct timeval *time)
{
	return time->tv_sec * INT64_C(1000000000) + time->tv_usec * INT64_C(1000);
}

#endif
