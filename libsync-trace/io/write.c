/* SPDX-License-Identifier: MIT */
/* Waits for room for data. */
#include "io/io.h"

ST_IO_FD_WRAPPER(ssize_t, write, (int fd, const void *data, size_t n), (fd, data, n), write)
ST_IO_FD_WRAPPER(ssize_t, writev, (int fd, const struct iovec *parts, int n), (fd, parts, n),
		 writev)
ST_IO_FD_WRAPPER(ssize_t, pwrite, (int fd, const void *data, size_t n, off_t at), (fd, data, n, at),
		 pwrite)
ST_IO_FD_WRAPPER(ssize_t, pwrite64, (int fd, const void *data, size_t n, off64_t at),
		 (fd, data, n, at), pwrite)
ST_IO_FD_WRAPPER(ssize_t, pwritev, (int fd, const struct iovec *parts, int n, off_t at),
		 (fd, parts, n, at), pwritev)
ST_IO_FD_WRAPPER(ssize_t, pwritev64, (int fd, const struct iovec *parts, int n, off64_t at),
		 (fd, parts, n, at), pwritev)
ST_IO_FD_WRAPPER(ssize_t, pwritev2, (int fd, const struct iovec *parts, int n, off_t at, int flags),
		 (fd, parts, n, at, flags), pwritev2)
ST_IO_FD_WRAPPER(ssize_t, pwritev64v2,
		 (int fd, const struct iovec *parts, int n, off64_t at, int flags),
		 (fd, parts, n, at, flags), pwritev2)
ST_IO_FD_WRAPPER(ssize_t, send, (int fd, const void *data, size_t n, int flags),
		 (fd, data, n, flags), send)
ST_IO_FD_WRAPPER(ssize_t, sendto,
		 (int fd, const void *data, size_t n, int flags, const void *to,
		  socklen_t to_bytes),
		 (fd, data, n, flags, to, to_bytes), sendto)
ST_IO_FD_WRAPPER(ssize_t, sendmsg, (int fd, const struct msghdr *message, int flags),
		 (fd, message, flags), sendmsg)
ST_IO_FD_WRAPPER(int, sendmmsg, (int fd, struct mmsghdr *messages, unsigned n, int flags),
		 (fd, messages, n, flags), sendmmsg)
ST_IO_FD_WRAPPER(int, eventfd_write, (int fd, uint64_t add), (fd, add), eventfd_write)
ST_IO_FD_WRAPPER(ssize_t, sendfile, (int fd, int from, off_t *at, size_t n), (fd, from, at, n),
		 sendfile)
ST_IO_FD_WRAPPER(ssize_t, sendfile64, (int fd, int from, off64_t *at, size_t n), (fd, from, at, n),
		 sendfile)
ST_IO_FD_WRAPPER(ssize_t, splice,
		 (int from, off64_t *from_at, int fd, off64_t *at, size_t n, unsigned flags),
		 (from, from_at, fd, at, n, flags), splice)
ST_IO_FD_WRAPPER(ssize_t, copy_file_range,
		 (int from, off64_t *from_at, int fd, off64_t *at, size_t n, unsigned flags),
		 (from, from_at, fd, at, n, flags), copy_file_range)
