/* SPDX-License-Identifier: MIT */
/*
 * Waits for any of several descriptors. If there is only one, the call is recorded with it: it is
 * read after the call has succeeded, when the kernel has read it, too.
 */
#undef _FORTIFY_SOURCE /* the wrappers must have the names in the list */
#include "io/io.h"

#define NO_FD st_io_number(-1)

static uint64_t only_fd(const struct pollfd *files, nfds_t n, int value)
{
	return value >= 0 && n == 1 ? st_io_number(files->fd) : NO_FD;
}

/* Defines the wrapper of a function with the parameters `files` and `n`. */
#define POLL_WRAPPER(name, parameters, arguments, which)                                           \
	int st_io_##name parameters                                                                \
	{                                                                                          \
		ST_IO_BEGIN(name, which, NO_FD);                                                   \
		int value = st_io_real.name arguments;                                             \
                                                                                                   \
		io.object = only_fd(files, n, value);                                              \
		st_io_end(&io, value < 0 ? ST_IO_ERRNO : 0);                                       \
		return value;                                                                      \
	}

POLL_WRAPPER(poll, (struct pollfd * files, nfds_t n, int timeout), (files, n, timeout), poll)
POLL_WRAPPER(__poll_chk, (struct pollfd * files, nfds_t n, int timeout, size_t size_bytes),
	     (files, n, timeout, size_bytes), poll)
POLL_WRAPPER(ppoll,
	     (struct pollfd * files, nfds_t n, const struct timespec *timeout,
	      const sigset_t *mask),
	     (files, n, timeout, mask), ppoll)
POLL_WRAPPER(__ppoll_chk,
	     (struct pollfd * files, nfds_t n, const struct timespec *timeout, const sigset_t *mask,
	      size_t size_bytes),
	     (files, n, timeout, mask, size_bytes), ppoll)

ST_IO_WRAPPER(int, select,
	      (int n, fd_set *read, fd_set *write, fd_set *other, struct timeval *timeout),
	      (n, read, write, other, timeout), select, NO_FD)
ST_IO_WRAPPER(int, pselect,
	      (int n, fd_set *read, fd_set *write, fd_set *other, const struct timespec *timeout,
	       const sigset_t *mask),
	      (n, read, write, other, timeout, mask), pselect, NO_FD)
ST_IO_FD_WRAPPER(int, epoll_wait, (int fd, struct epoll_event *events, int n, int timeout),
		 (fd, events, n, timeout), epoll_wait)
ST_IO_FD_WRAPPER(int, epoll_pwait,
		 (int fd, struct epoll_event *events, int n, int timeout, const sigset_t *mask),
		 (fd, events, n, timeout, mask), epoll_pwait)
ST_IO_FD_WRAPPER(int, epoll_pwait2,
		 (int fd, struct epoll_event *events, int n, const struct timespec *timeout,
		  const sigset_t *mask),
		 (fd, events, n, timeout, mask), epoll_pwait2)
