/* SPDX-License-Identifier: MIT */
/*
 * Writes gmon files for stock gprof from an opened capture: the files that libgmon-mt writes into
 * each <pid> folder (names and format: gmon-mt/gmon.h), also for programs that were killed before
 * they could.
 *
 * Existing files are kept.  No file is ever incomplete: each is written with one write(), or under
 * another name and then renamed.
 */
#ifndef PP_EXPORT_GMON_GMON_H
#define PP_EXPORT_GMON_GMON_H

#include "capture/capture.h"
#include "analysis/pass.h"

/* Files that cannot be written because data that gprof needs of the object is no longer known. */
struct pp_gmon_gap {
	const char *path; /* path of the object; borrowed from the capture */
	const char *why;
	unsigned n_files;
};

struct pp_gmon {
	unsigned n_written;
	unsigned n_without; /* threads with calls, but without files of their own */
	GArray *gaps;	    /* of struct pp_gmon_gap */
	unsigned n_failed;  /* number of files that could not be written */
	int error;	    /* -errno of the first of them */
	char *failed;	    /* its path in the capture */
};

/*
 * dir_fd: the capture's directory, or another with the same <pid> folders.  in_packs: it has packs,
 * and the files of their children are made there.  chosen: selects threads; NULL: all.
 * n_threads_max: only the first threads of each process, and the first children in packs, get files
 * of their own (UINT64_MAX: all); the merged files have the calls of all threads of a process.  The
 * result refers to the model.
 */
void pp_gmon_write(const struct pp_model *model, const struct pp_pass_context *chosen,
		   uint64_t n_threads_max, int dir_fd, bool in_packs, struct pp_gmon *ret);

/* Does the process have calls of chosen threads? */
bool pp_gmon_has_calls(const struct pp_process *process, const struct pp_pass_context *chosen);

/*
 * Builds one file of the chosen threads' calls within the process's executable; *ret_elsewhere is
 * the number of their calls of functions in libraries.  Returns 0 or -errno.
 */
int pp_gmon_merge(const struct pp_process *process, const struct pp_pass_context *chosen,
		  GByteArray *file, uint64_t *ret_elsewhere, struct pp_error *err);
void pp_gmon_done(struct pp_gmon *gmon);

#endif
