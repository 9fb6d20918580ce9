/* SPDX-License-Identifier: MIT */
/* The load map of a running process (gmon-mt/format.h), from /proc/PID/maps and the ELF files. */
#ifndef PP_RECORD_ATTACH_MAPS_H
#define PP_RECORD_ATTACH_MAPS_H

#include <stdint.h>
#include <sys/types.h>

#include <glib.h>

/*
 * Appends the lines of all objects, the executable first.  Returns the number of objects whose
 * files are gone or cannot be read, so that their addresses have no names.
 */
unsigned pp_target_maps_add(pid_t pid, int64_t time_ns, GString *text);

#endif
