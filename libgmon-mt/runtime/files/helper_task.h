/* SPDX-License-Identifier: MIT */
/*
 * Opens files without making a descriptor visible to the program.
 *
 * A descriptor that another thread of the program can see would change the number that its own
 * open() returns, and the program could close or replace it during its use here. Therefore code
 * that opens files is a step that gm_files_run() calls where no other thread shares the descriptor
 * table.
 */
#ifndef GM_RUNTIME_HELPER_TASK_H
#define GM_RUNTIME_HELPER_TASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Calls step(arg) with signals blocked and returns its result. If the process has other threads, a
 * helper task calls it: the helper has the caller's memory, thread-local storage, credentials, root
 * and working directory, but an empty descriptor table and a thread id of its own, and the caller
 * waits for it. A step inside a step is called directly.
 *
 * A step leaves no descriptor open, uses none of the program's (warnings are kept for the caller),
 * and returns 0 or more, or -errno. If no task can be made (a limit, a seccomp filter), -errno is
 * returned without a call of `step`, and no file may be opened.
 */
long gm_files_run(long (*step)(void *), void *arg);

/* The same, always by a helper task: its empty table has room even if the program's is full. */
long gm_files_run_apart(long (*step)(void *), void *arg);

/*
 * The same for a step that needs much stack: a helper task runs it even in a process with one
 * thread.
 */
long gm_files_run_deep(long (*step)(void *), void *arg);

/*
 * Returns true if this thread waits for its helper. Only the handler of a forced signal (lock.h)
 * can see that, in the helper, which has the thread's thread-local storage.
 */
bool gm_files_have_helper(void);

/* In a step of a helper task: stores a warning for the caller and returns true. */
bool gm_files_keep_warning(const char *text);

/* Reads at most n bytes of a file (/proc, /sys) in one read(). Returns their number or -errno. */
long gm_files_read(const char *path, void *buffer, size_t n);

/*
 * From now on each helper task calls `note`, with the time when it was made, before it ends.  To be
 * called before the process has other threads that make files.
 */
void gm_files_on_helper(void (*note)(uint64_t begin_ns));

/* In the child of a fork, which has no helper. */
void gm_files_forget(void);

#endif
