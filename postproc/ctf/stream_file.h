/* SPDX-License-Identifier: MIT */
/*
 * A file of a stream, read in blocks.  A capture may have more streams than a process may have open
 * files: beyond that, a file is opened for each block.  Several threads may read, each its own
 * file.
 */
#ifndef PP_CTF_STREAM_FILE_H
#define PP_CTF_STREAM_FILE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct pp_stream_file {
	const char *path; /* NULL: not open */
	uint64_t bytes;	  /* size when it was opened */
	int kept_fd;	  /* -1: opened for each block */
};

/* Raises the limit of open files to the hard limit. */
void pp_stream_files_raise_limit(void);

/* The sizes of these files together; of char *. */
uint64_t pp_stream_files_bytes(const GPtrArray *paths);

/*
 * Returns false if it is not a regular file, or cannot be opened.  The path is borrowed until
 * pp_stream_file_close().
 */
bool pp_stream_file_open(struct pp_stream_file *file, const char *path);

/* Same contract as pread(). */
ssize_t pp_stream_file_read(const struct pp_stream_file *file, void *buffer, size_t n_bytes,
			    uint64_t at);

/* Updates `bytes` for a file that is being written. */
void pp_stream_file_look(struct pp_stream_file *file);

/* Also valid for a file that is not open. */
void pp_stream_file_close(struct pp_stream_file *file);

#endif
