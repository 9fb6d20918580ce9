/* SPDX-License-Identifier: MIT */
/*
 * gmon files for stock gprof, from an opened capture: what libgmon-mt would have written into each
 * <pid> folder (names and format: gmon-mt/gmon.h), also for programs that did not live to do it.
 *
 * A file that is there already is left alone.  None is cut short: each is written in one step, or
 * under another name and renamed.
 */
#ifndef PP_EXPORT_GMON_GMON_H
#define PP_EXPORT_GMON_GMON_H

#include "capture/capture.h"
#include "analysis/pass.h"

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

/*
 * dir_fd: the capture's directory, or another with its <pid> folders.  chosen: of whose threads;
 * NULL: all.  The result refers to the model.
 */
void pp_gmon_write(const struct pp_model *model, const struct pp_pass_context *chosen, int dir_fd,
		   struct pp_gmon *ret);

/* The process has calls of chosen threads. */
bool pp_gmon_has_calls(const struct pp_process *process, const struct pp_pass_context *chosen);

/*
 * A file of what chosen threads called in the process's executable, all of them together;
 * *ret_elsewhere: their calls of functions in libraries.
 */
int pp_gmon_merge(const struct pp_process *process, const struct pp_pass_context *chosen,
		  GByteArray *file, uint64_t *ret_elsewhere, struct pp_error *err);
void pp_gmon_done(struct pp_gmon *gmon);

#endif
