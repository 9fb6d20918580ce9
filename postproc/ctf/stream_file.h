/* SPDX-License-Identifier: MIT */
/*
 * A file of a stream, read in pieces.  A capture may have more streams than a process may have open
 * files: where too many are open, the others are opened for each piece.  Several threads may read,
 * each its own file.
 */
#ifndef PP_CTF_STREAM_FILE_H
#define PP_CTF_STREAM_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct pp_stream_file {
	const char *path; /* NULL: none is open */
	uint64_t bytes;	  /* when it was opened */
	int kept_fd;	  /* -1: opened for each piece */
};

/* Lets the process open as many files as its hard limit permits. */
void pp_stream_files_raise_limit(void);

/* False: it is no regular file, or cannot be opened.  The path is borrowed until it is closed. */
bool pp_stream_file_open(struct pp_stream_file *file, const char *path);

/* As pread() does. */
ssize_t pp_stream_file_read(const struct pp_stream_file *file, void *buffer, size_t n_bytes,
			    uint64_t at);

/* None may be open. */
void pp_stream_file_close(struct pp_stream_file *file);

#endif
