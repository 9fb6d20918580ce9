/* SPDX-License-Identifier: MIT */
/*
 * Compares the file's inode and times before and after the run, because the program itself writes
 * it and `record` has to tell the user about each file that a run leaves.
 */
#include <string.h>

#include <glib.h>

#include "record/gmon_out.h"

void pp_gmon_out_init(struct pp_gmon_out *gmon_out, pid_t pid)
{
	const char *prefix = g_getenv("GMON_OUT_PREFIX");

	*gmon_out = (struct pp_gmon_out){
	    .path = prefix && *prefix ? g_strdup_printf("%s.%d", prefix, (int)pid)
				      : g_strdup("gmon.out"),
	};
	if (stat(gmon_out->path, &gmon_out->before))
		gmon_out->before = (struct stat){0};
}

void pp_gmon_out_done(struct pp_gmon_out *gmon_out)
{
	g_clear_pointer(&gmon_out->path, g_free);
}

bool pp_gmon_out_written(const struct pp_gmon_out *gmon_out)
{
	const struct stat *before = &gmon_out->before;
	struct stat now;

	if (stat(gmon_out->path, &now) || !S_ISREG(now.st_mode))
		return false;
	return now.st_ino != before->st_ino || now.st_dev != before->st_dev ||
	       memcmp(&now.st_ctim, &before->st_ctim, sizeof(now.st_ctim)) != 0;
}
