/* SPDX-License-Identifier: MIT */
/* Waits for children. */
#include "io/io.h"

#define ANY st_io_number(-1)

ST_IO_WRAPPER(pid_t, wait, (int *status), (status), wait, ANY)
ST_IO_WRAPPER(pid_t, wait3, (int *status, int options, struct rusage *usage),
	      (status, options, usage), wait3, ANY)
ST_IO_WRAPPER(pid_t, wait4, (pid_t pid, int *status, int options, struct rusage *usage),
	      (pid, status, options, usage), wait4, st_io_number(pid))
ST_IO_WRAPPER(pid_t, waitpid, (pid_t pid, int *status, int options), (pid, status, options),
	      waitpid, st_io_number(pid))
ST_IO_WRAPPER(int, waitid, (idtype_t type, id_t id, siginfo_t *info, int options),
	      (type, id, info, options), waitid, type == P_ALL ? ANY : st_io_number((pid_t)id))
