/* SPDX-License-Identifier: MIT */
/*
 * Reading a binary file of a header and equal-sized records, none of whose fields can be trusted.
 * Read with pread, not mapped: the file may be live, and may shrink.
 */
#ifndef PP_CAPTURE_RECORDS_H
#define PP_CAPTURE_RECORDS_H

#include <stddef.h>
#include <stdint.h>

#include "core/error.h"

struct pp_records {
	int fd;
	uint64_t file_bytes;
	uint64_t offset; /* of the next record in the file */
	uint32_t record_bytes;
	uint64_t n_left;    /* that the header promises and the file holds */
	uint64_t n_missing; /* that the header promises and the file does not hold */
	unsigned char *buffer;
	size_t at, filled;
};

/* What the start of the file must say. */
struct pp_records_layout {
	const char *magic;     /* 8 bytes */
	uint32_t schema;       /* greatest that can be read */
	uint32_t header_bytes; /* least; `header` takes this many */
	uint32_t record_bytes; /* least */
	uint64_t max_records;  /* more is absurd */
};

/* The fields with which both kinds of file begin. */
struct pp_records_prefix {
	char magic[8];
	uint32_t schema;
	uint32_t header_bytes;
	uint32_t record_bytes;
	uint32_t n_records;
};

/* Opens the file, looks at no header yet. */
int pp_records_open_file(struct pp_records *records, const char *path, struct pp_error *err);

/* Opens and checks; `header` gets layout->header_bytes bytes. */
int pp_records_open(struct pp_records *records, const char *path,
		    const struct pp_records_layout *layout, void *header, struct pp_error *err);

/*
 * Goes on with another header and its records at `offset` of the same file.  On failure the file
 * stays open, without records.
 */
int pp_records_start(struct pp_records *records, uint64_t offset,
		     const struct pp_records_layout *layout, void *header, struct pp_error *err);

/* Reads what stands at `offset`, up to `size_bytes`; how much, or -errno. */
int64_t pp_records_peek(const struct pp_records *records, uint64_t offset, void *to,
			size_t size_bytes);

/* The next record, valid until the next call; NULL at the end.  A read error ends it early. */
const void *pp_records_next(struct pp_records *records);

void pp_records_done(struct pp_records *records);

#endif
