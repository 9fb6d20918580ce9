/* SPDX-License-Identifier: MIT */
/* Waits for locks of files and of FILEs. Other commands of fcntl() do not wait. */
#include <fcntl.h>
#include <stdarg.h>

#include "io/io.h"

ST_IO_FD_WRAPPER(int, flock, (int fd, int operation), (fd, operation), flock)
ST_IO_FD_WRAPPER(int, lockf, (int fd, int command, off_t n), (fd, command, n), lockf)
ST_IO_FD_WRAPPER(int, lockf64, (int fd, int command, off64_t n), (fd, command, n), lockf)

void st_io_flockfile(FILE *file)
{
	ST_IO_BEGIN(flockfile, flockfile, st_io_address(file));
	st_io_real.flockfile(file);
	st_io_end(&io, 0);
}

/* The argument is passed on whether or not the command has one, as glibc does. */
#define FCNTL_WRAPPER(name)                                                                        \
	static int name##_waits(int fd, int command, void *argument,                               \
				const volatile uintptr_t *place)                                   \
	{                                                                                          \
		ST_IO_BEGIN(name, fcntl, st_io_number(fd));                                        \
		int value;                                                                         \
                                                                                                   \
		io.place = place;                                                                  \
		value = st_io_real.name(fd, command, argument);                                    \
		st_io_end(&io, value < 0 ? ST_IO_ERRNO : 0);                                       \
		return value;                                                                      \
	}                                                                                          \
                                                                                                   \
	int st_io_##name(int fd, int command, ...)                                                 \
	{                                                                                          \
		void *argument;                                                                    \
		va_list list;                                                                      \
                                                                                                   \
		va_start(list, command);                                                           \
		argument = va_arg(list, void *);                                                   \
		va_end(list);                                                                      \
		if (command == F_SETLKW || command == F_OFD_SETLKW)                                \
			return name##_waits(fd, command, argument, ST_SITE_PLACE());               \
		if (st_unlikely(st_io_real.name == NULL))                                          \
			st_io_resolve();                                                           \
		return st_io_real.name(fd, command, argument);                                     \
	}

FCNTL_WRAPPER(fcntl)
FCNTL_WRAPPER(fcntl64)
