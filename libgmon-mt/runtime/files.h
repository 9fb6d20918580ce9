/* SPDX-License-Identifier: MIT */
/*
 * Opening files without the program seeing a descriptor.
 *
 * A descriptor that another thread of the program could meet would change which number its own
 * open() returns, and the program could close or replace it while it is in use here.  So code that
 * opens anything is a step that gm_files_run() calls where no other thread shares the descriptor
 * table.
 */
#ifndef GM_RUNTIME_FILES_H
#define GM_RUNTIME_FILES_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Calls step(arg), with signals blocked, and returns what it returns.  If the process has other
 * threads, a helper task does so: it has the caller's memory, thread-local storage, credentials,
 * root and working directory, but an empty descriptor table and a thread id of its own, and the
 * caller waits for it.  A step inside a step is called directly.
 *
 * A step leaves no descriptor open, uses none of the program's (warnings are kept for the caller),
 * and returns 0 or more, or -errno.  -errno without a call of `step`: no task can be made (a limit,
 * a seccomp filter), and nothing may be opened.
 */
long gm_files_run(long (*step)(void *), void *arg);

/* The same, by a helper task in any case: its empty table has room where the program's is full. */
long gm_files_run_apart(long (*step)(void *), void *arg);

/* The same for a step that needs much stack: a process of one thread has a helper task, too. */
long gm_files_run_deep(long (*step)(void *), void *arg);

/*
 * The thread waits for its helper.  Who asks is a handler of a forced signal (lock.h): in the
 * helper, with the thread's thread-local storage.
 */
bool gm_files_have_helper(void);

/* In a step of a helper task: keeps a warning for its caller and returns true. */
bool gm_files_keep_warning(const char *text);

/*
 * Reads at most n bytes of a file (/proc, /sys) in one read().  Their number or -errno.
 */
long gm_files_read(const char *path, void *buffer, size_t n);

/* In the child of a fork: no helper is there. */
void gm_files_forget(void);

#endif
