/* SPDX-License-Identifier: MIT */
/*
 * The files of a CPU's stream in kernel/: channel0_<cpu>, and in a ring also channel0_<cpu>_1, _2,
 * ..., of which only the newest are kept.  Babeltrace reads each file as a stream.
 */
#ifndef PP_RECORD_CTF_CPU_FILES_H
#define PP_RECORD_CTF_CPU_FILES_H

#include <stdint.h>
#include <sys/types.h>

#include <glib.h>

struct pp_cpu_files {
	int dir_fd;
	int fd; /* of the newest; -1: none */
	unsigned cpu, number;
	off_t size_bytes;    /* complete packets in the newest file */
	uint64_t n_events;   /* ... and their events */
	GArray *older;	     /* of struct older_file; NULL: none yet */
	uint64_t kept_bytes; /* of a ring; 0: all is kept */
	uint64_t kept_ns;    /* ... that are newer; 0: of any age */
};

/* The least kept_bytes. */
#define PP_CPU_FILES_LEAST (128u << 10)

/* Creates the first file.  Returns 0 or -errno. */
int pp_cpu_files_begin(struct pp_cpu_files *files, int dir_fd, unsigned cpu);

/*
 * Before a packet of n_bytes is written; end_ns: of the last one.  Begins another file if the ring
 * requires it, and removes the oldest.  Returns the number of events in the files removed.
 */
uint64_t pp_cpu_files_ready(struct pp_cpu_files *files, size_t n_bytes, uint64_t end_ns);

/* Appends a packet.  Returns 0 or -errno: the file is as before. */
int pp_cpu_files_write(struct pp_cpu_files *files, const void *packet, size_t n_bytes,
		       uint64_t n_events);

void pp_cpu_files_done(struct pp_cpu_files *files);

#endif
