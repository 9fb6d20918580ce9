/* SPDX-License-Identifier: MIT */
/*
 * The file that a program built with -pg writes into its working directory when it ends: gmon.out,
 * or $GMON_OUT_PREFIX.PID, as with glibc.
 */
#ifndef PP_RECORD_GMON_OUT_H
#define PP_RECORD_GMON_OUT_H

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

struct pp_gmon_out {
	char *path;
	struct stat before; /* st_ino is 0 if there was no such file */
};

/* To be called before process `pid` starts.  Free with pp_gmon_out_done(). */
void pp_gmon_out_init(struct pp_gmon_out *gmon_out, pid_t pid);
void pp_gmon_out_done(struct pp_gmon_out *gmon_out);

/*
 * True if the file at `path` was made or changed since then.  A program that changes its working
 * directory writes the file there; this function does not find it.
 */
bool pp_gmon_out_written(const struct pp_gmon_out *gmon_out);

#endif
