/* SPDX-License-Identifier: MIT */
/*
 * gmon files for stock gprof, from an opened capture: what libgmon-mt would have written into each
 * <pid> folder (names and format: gmon-mt/gmon.h), also for programs that did not live to do it.
 *
 * A file that is there already is left alone.  None is cut short: each is written in one step, or
 * under another name and renamed.
 */
#ifndef PP_EXPORT_GMON_H
#define PP_EXPORT_GMON_H

#include "input/capture.h"

/* Files that an object cannot have: what of it gprof needs is not known any more. */
struct pp_gmon_gap {
	const char *path; /* of the object; borrowed from the capture */
	const char *why;
	unsigned n_files;
};

struct pp_gmon {
	unsigned n_written;
	GArray *gaps;	   /* of struct pp_gmon_gap */
	unsigned n_failed; /* files that could not be written */
	int error;	   /* of the first of them, -errno */
	char *failed;	   /* its path in the capture */
};

/* dir_fd: the capture's directory.  The result refers to the capture. */
void pp_gmon_write(const struct pp_capture *capture, int dir_fd, struct pp_gmon *ret);
void pp_gmon_done(struct pp_gmon *gmon);

#endif
