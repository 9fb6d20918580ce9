/* SPDX-License-Identifier: MIT */
/* Waits for connections of sockets. */
#include "io/io.h"

ST_IO_FD_WRAPPER(int, accept, (int fd, void *peer, socklen_t *peer_bytes), (fd, peer, peer_bytes),
		 accept)
ST_IO_FD_WRAPPER(int, accept4, (int fd, void *peer, socklen_t *peer_bytes, int flags),
		 (fd, peer, peer_bytes, flags), accept4)
ST_IO_FD_WRAPPER(int, connect, (int fd, const void *peer, socklen_t peer_bytes),
		 (fd, peer, peer_bytes), connect)
