/* SPDX-License-Identifier: MIT */
/*
 * A file of a header and equal rows (struct st_counts_header), mapped, so that what is stored there
 * is safe from SIGKILL.  Rows are mapped in segments that stay until the process ends.  Signals are
 * blocked in all of these.
 */
#ifndef ST_ROWS_H
#define ST_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "sync-trace/events.h"

#define ST_SEGMENT_BYTES 65536u
#define ST_SEGMENTS_MAX	 4096u

struct st_rows {
	const char *name, *magic;
	uint32_t row_bytes;		 /* a segment holds a number of them */
	uint8_t **segments;		 /* ST_SEGMENTS_MAX */
	const char *dir;		 /* where the file is */
	struct st_counts_header *header; /* NULL: there is none */
};

/* Makes <dir>/<name>; `dir` lasts.  False: it cannot be made. */
bool st_rows_open(struct st_rows *rows, const char *dir, uint32_t flags);

/* The row of that number; NULL: no room. */
void *st_rows_at(struct st_rows *rows, uint32_t number);

/* In a forked child: they are its parent's. */
void st_rows_forget(struct st_rows *rows);

#endif
