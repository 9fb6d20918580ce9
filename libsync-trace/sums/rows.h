/* SPDX-License-Identifier: MIT */
/*
 * A file with a header and equal rows (struct st_counts_header), mapped, so that its contents
 * survive SIGKILL. Rows are mapped in segments that stay until the process ends. All functions run
 * with signals blocked.
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
	uint32_t row_bytes;		 /* divides the size of a segment */
	uint8_t **segments;		 /* ST_SEGMENTS_MAX */
	const char *dir;		 /* directory of the file */
	struct st_counts_header *header; /* NULL: no file */
};

/* Makes <dir>/<name>; `dir` must stay valid. Returns false if that fails. */
bool st_rows_open(struct st_rows *rows, const char *dir, uint32_t flags);

/* Returns the row with that number; NULL: no room. */
void *st_rows_at(struct st_rows *rows, uint32_t number);

/* In a forked child: the rows belong to its parent. */
void st_rows_forget(struct st_rows *rows);

#endif
