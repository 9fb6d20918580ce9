/* SPDX-License-Identifier: MIT */
/* Waits for data. */
#undef _FORTIFY_SOURCE /* as in poll.c */
#include "io/io.h"

ST_IO_FD_WRAPPER(ssize_t, read, (int fd, void *data, size_t n), (fd, data, n), read)
ST_IO_FD_WRAPPER(ssize_t, __read_chk, (int fd, void *data, size_t n, size_t size_bytes),
		 (fd, data, n, size_bytes), read)
ST_IO_FD_WRAPPER(ssize_t, readv, (int fd, const struct iovec *parts, int n), (fd, parts, n), readv)
ST_IO_FD_WRAPPER(ssize_t, pread, (int fd, void *data, size_t n, off_t at), (fd, data, n, at), pread)
ST_IO_FD_WRAPPER(ssize_t, pread64, (int fd, void *data, size_t n, off64_t at), (fd, data, n, at),
		 pread)
ST_IO_FD_WRAPPER(ssize_t, __pread_chk, (int fd, void *data, size_t n, off_t at, size_t size_bytes),
		 (fd, data, n, at, size_bytes), pread)
ST_IO_FD_WRAPPER(ssize_t, __pread64_chk,
		 (int fd, void *data, size_t n, off64_t at, size_t size_bytes),
		 (fd, data, n, at, size_bytes), pread)
ST_IO_FD_WRAPPER(ssize_t, preadv, (int fd, const struct iovec *parts, int n, off_t at),
		 (fd, parts, n, at), preadv)
ST_IO_FD_WRAPPER(ssize_t, preadv64, (int fd, const struct iovec *parts, int n, off64_t at),
		 (fd, parts, n, at), preadv)
ST_IO_FD_WRAPPER(ssize_t, preadv2, (int fd, const struct iovec *parts, int n, off_t at, int flags),
		 (fd, parts, n, at, flags), preadv2)
ST_IO_FD_WRAPPER(ssize_t, preadv64v2,
		 (int fd, const struct iovec *parts, int n, off64_t at, int flags),
		 (fd, parts, n, at, flags), preadv2)
ST_IO_FD_WRAPPER(ssize_t, recv, (int fd, void *data, size_t n, int flags), (fd, data, n, flags),
		 recv)
ST_IO_FD_WRAPPER(ssize_t, __recv_chk, (int fd, void *data, size_t n, size_t size_bytes, int flags),
		 (fd, data, n, size_bytes, flags), recv)
ST_IO_FD_WRAPPER(ssize_t, recvfrom,
		 (int fd, void *data, size_t n, int flags, void *from, socklen_t *from_bytes),
		 (fd, data, n, flags, from, from_bytes), recvfrom)
ST_IO_FD_WRAPPER(ssize_t, __recvfrom_chk,
		 (int fd, void *data, size_t n, size_t size_bytes, int flags, void *from,
		  socklen_t *from_bytes),
		 (fd, data, n, size_bytes, flags, from, from_bytes), recvfrom)
ST_IO_FD_WRAPPER(ssize_t, recvmsg, (int fd, struct msghdr *message, int flags),
		 (fd, message, flags), recvmsg)
ST_IO_FD_WRAPPER(int, recvmmsg,
		 (int fd, struct mmsghdr *messages, unsigned n, int flags,
		  struct timespec *timeout),
		 (fd, messages, n, flags, timeout), recvmmsg)
ST_IO_FD_WRAPPER(int, eventfd_read, (int fd, uint64_t *got), (fd, got), eventfd_read)
