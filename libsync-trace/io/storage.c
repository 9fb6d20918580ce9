/* SPDX-License-Identifier: MIT */
/* Waits until data are in storage. */
#include "io/io.h"

ST_IO_FD_WRAPPER(int, fsync, (int fd), (fd), fsync)
ST_IO_FD_WRAPPER(int, fdatasync, (int fd), (fd), fdatasync)
ST_IO_FD_WRAPPER(int, syncfs, (int fd), (fd), syncfs)
ST_IO_WRAPPER(int, msync, (void *start, size_t n, int flags), (start, n, flags), msync,
	      st_io_address(start))

void st_io_sync(void)
{
	ST_IO_BEGIN(sync, sync, 0);
	st_io_real.sync();
	st_io_end(&io, 0);
}
