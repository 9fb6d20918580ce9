/* SPDX-License-Identifier: MIT */
/*
 * gmon files as this project writes them: by the program for itself, and by `gprof-mt record` for
 * the programs it ran.
 *
 * Format: gprof's documentation, "Profiling Data File Format"; binutils gmon_out.h. A file has a
 * header, the histogram (histogram.h), and one record per arc. gprof processes one object per run,
 * by its link-time addresses, and drops an arc, with its calls, if the caller is not in that
 * object. Such a caller is therefore written as the object's entry point or, in a library without
 * one, its DT_INIT; without either, as the last byte of its code.
 *
 * Files of a <pid> folder:
 *   gmon.<index>.<tid>             a thread's calls of functions of the executable
 *   gmon.<index>.<tid>.<library>   a thread's calls of functions of a library
 *   gmon.merged.<library>          the same of all threads
 * where <library> is the file's name without directory, cut to GM_GMON_LIBRARY_BYTES. If several
 * loaded files have the same name, the second one has "~2" appended, and so on.
 */
#ifndef GMON_MT_GMON_H
#define GMON_MT_GMON_H

#include <stdint.h>

#define GM_GMON_LIBRARY_BYTES 59

#define GM_GMON_TAG_HISTOGRAM 0
#define GM_GMON_TAG_ARC	      1

#define GM_GMON_COUNT_MAX UINT32_MAX /* more calls take several records of the same arc */

struct gm_gmon_header {
	char cookie[4];
	uint32_t version;
	char spare[12];
} __attribute__((packed));
_Static_assert(sizeof(struct gm_gmon_header) == 20, "on-disk size");

#define GM_GMON_HEADER                                                                             \
	{                                                                                          \
		.cookie = {'g', 'm', 'o', 'n'}, .version = 1                                       \
	}

struct gm_gmon_arc {
	uint8_t tag;
	uint64_t from; /* the call instruction: a byte before the return address */
	uint64_t self;
	uint32_t count;
} __attribute__((packed));
_Static_assert(sizeof(struct gm_gmon_arc) == 21, "on-disk size");

#endif
