/* SPDX-License-Identifier: MIT */
/*
 * Threads in which the runtime makes no system call (seal.c): counting goes on in memory that is
 * there already; all else is counted as lost.
 */
#ifndef GM_RUNTIME_SEAL_H
#define GM_RUNTIME_SEAL_H

#include <stdbool.h>

struct sock_fprog;

extern __thread bool gm_sealed __attribute__((tls_model("initial-exec")));

/* At a thread's first event: is it sealed?  It may have inherited a filter. */
bool gm_seal_newborn(void);

/* May a thread be sealed?  One without an event does not know whether it is. */
bool gm_seal_exists(void);

/* Before a system call: is the thread sealed?  A filter may be for all threads. */
bool gm_seal_is_set(void);

/* Has any thread installed a filter, even one that harms no system call of the slow paths? */
bool gm_seal_has_filter(void);

/*
 * The calling thread has installed a filter; `of_all`: for all threads, which do not know of it
 * before this call.  Returns whether the thread is sealed by it.
 */
bool gm_seal_filter(const struct sock_fprog *program, bool of_all);

/*
 * Defined by each library: the calling thread is about to be sealed, and may make its last system
 * calls; or it was not sealed after all.
 */
void gm_sealing(bool begins);

#endif
