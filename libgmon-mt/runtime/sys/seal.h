/* SPDX-License-Identifier: MIT */
/*
 * Threads in which the runtime makes no system call (seal.c): counting continues in existing
 * memory; everything else is counted as lost.
 */
#ifndef GM_RUNTIME_SEAL_H
#define GM_RUNTIME_SEAL_H

#include <stdbool.h>

struct sock_fprog;

extern __thread bool gm_sealed __attribute__((tls_model("initial-exec")));

/* At a thread's first event: returns true if it is sealed, since it may have inherited a filter. */
bool gm_seal_newborn(void);

/*
 * Returns true if any thread may be sealed. A thread without an event does not know its own state.
 */
bool gm_seal_exists(void);

/* Before a system call: returns true if the thread is sealed, also by a filter for all threads. */
bool gm_seal_is_set(void);

/*
 * Returns true if any thread has installed a filter, even one that affects no system call of the
 * slow paths.
 */
bool gm_seal_has_filter(void);

/*
 * The calling thread has installed a filter; `of_all`: for all threads, which learn of it only
 * through this call. Returns whether the filter seals the thread.
 */
bool gm_seal_filter(const struct sock_fprog *program, bool of_all);

/*
 * Defined by each library: the calling thread is about to be sealed, and may make its last system
 * calls; or (false) it was not sealed after all.
 */
void gm_sealing(bool begins);

#endif
