/* SPDX-License-Identifier: MIT */
/* The files in which children of fork have places (gmon-mt/children.h), and who uses them. */
#ifndef PP_CAPTURE_CHILDREN_FIND_H
#define PP_CAPTURE_CHILDREN_FIND_H

#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

/* The names, of char *, of all folders of processes in the directory of a capture. */
GPtrArray *pp_children_folders(int capture_fd);

/* The names, of char *, of the files of places in one of these folders. */
GPtrArray *pp_children_files(int capture_fd, const char *folder);

/* The names, of char *, of the packs (packed.h) in one of these folders. */
GPtrArray *pp_children_packs(int capture_fd, const char *folder);

/* Does the process `pid`, in this PID namespace, have places of the capture in `dir` mapped? */
bool pp_children_has_places(const char *dir, pid_t pid);

#endif
