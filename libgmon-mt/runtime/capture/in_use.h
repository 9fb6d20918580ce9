/* SPDX-License-Identifier: MIT */
/* Marks a capture as in use, for readers in any PID namespace, and looks for such marks. */
#ifndef GM_RUNTIME_IN_USE_H
#define GM_RUNTIME_IN_USE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * True if `fd` is on a file system that only this machine uses, and where a mapping keeps the lock
 * of its file.  False if that is unknown.
 */
bool gm_in_use_is_possible(int fd);

/*
 * Marks the capture as in use; `dir` is a descriptor of its directory, `session` a readable one of
 * its session file.  The mark needs no descriptor.  It lasts until this process and all its fork
 * children have ended or executed another program.  Returns 0 or -errno.
 */
int gm_in_use_mark(int dir);
int gm_in_use_mark_session(int session);

/* Removes the mark of this process. */
void gm_in_use_end(void);

/* Whether a process of this machine has marked the capture `dir`: 1, 0, or -errno. */
int gm_in_use(int dir);

/*
 * The value of the field pid_namespace for this process: 0 if it has marked the capture, otherwise
 * its PID namespace or GM_NAMESPACE_UNKNOWN.
 */
uint32_t gm_in_use_namespace(void);

/* The PID namespace of /proc, if this process is in it; otherwise 0. */
uint32_t gm_pid_namespace(void);

#endif
