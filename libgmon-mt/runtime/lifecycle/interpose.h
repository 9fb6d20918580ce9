/* SPDX-License-Identifier: MIT */
/* The wrapper of syscall(), and what a library may do at calls of futex(). */
#ifndef GM_RUNTIME_INTERPOSE_H
#define GM_RUNTIME_INTERPOSE_H

#define GM_FUTEX_WAITV	  449 /* since Linux 5.16 */
#define GM_FUTEX_LOCK_PI2 13  /* since Linux 5.14 */

typedef long gm_syscall_fn(long number, long a, long b, long c, long d, long e, long f);

/* The next syscall() in the loader's order; NULL: not looked up yet. */
extern gm_syscall_fn *gm_next_syscall __attribute__((visibility("hidden")));

/* If a library defines it: performs the program's calls of futex() and futex_waitv(). */
extern gm_syscall_fn *gm_syscall_futex __attribute__((visibility("hidden")));

#endif
