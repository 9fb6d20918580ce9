/* SPDX-License-Identifier: MIT */
#ifndef PP_CORE_DURATION_H
#define PP_CORE_DURATION_H

#include <stdbool.h>
#include <stdint.h>

/* A duration in three digits and a unit: "1.23 ms".  The caller frees it. */
char *pp_duration_text(int64_t time_ns);

/*
 * Reads "1.5ms": a number and a unit, s, ms, us or ns; without one it is in default_unit, or if
 * that is NULL not accepted.
 */
bool pp_duration_read(const char *text, const char *default_unit, int64_t *ret_ns);

#endif
