/* SPDX-License-Identifier: MIT */
/* Waits for signals. A handler runs within most of these calls; its own calls overlap them. */
#include "io/io.h"

int st_io_sigwait(const sigset_t *set, int *number)
{
	ST_IO_BEGIN(sigwait, sigwait, 0);
	int error = st_io_real.sigwait(set, number);

	st_io_end(&io, error);
	return error;
}

ST_IO_WRAPPER(int, sigwaitinfo, (const sigset_t *set, siginfo_t *info), (set, info), sigwaitinfo, 0)
ST_IO_WRAPPER(int, sigtimedwait,
	      (const sigset_t *set, siginfo_t *info, const struct timespec *timeout),
	      (set, info, timeout), sigtimedwait, 0)
ST_IO_WRAPPER(int, sigsuspend, (const sigset_t *mask), (mask), sigsuspend, 0)
ST_IO_WRAPPER(int, pause, (void), (), pause, 0)
/* BSD's takes a mask, System V's a signal; the third one tells which by its second argument. */
ST_IO_WRAPPER(int, sigpause, (int mask), (mask), sigpause, 0)
ST_IO_WRAPPER(int, __xpg_sigpause, (int number), (number), sigpause, 0)
ST_IO_WRAPPER(int, __sigpause, (int number_or_mask, int is_number), (number_or_mask, is_number),
	      sigpause, 0)
