/* SPDX-License-Identifier: MIT */
/*
 * Reads a binary file of a header and records of equal size, without trust in any field.  Uses
 * pread instead of mmap: the file may be in use, and may shrink.
 */
#ifndef PP_CAPTURE_RECORDS_H
#define PP_CAPTURE_RECORDS_H

#include <stddef.h>
#include <stdint.h>

#include "core/error.h"

struct pp_records {
	int fd;
	const uint8_t *memory; /* read instead of the file; NULL: none */
	uint64_t file_bytes;
	uint64_t offset; /* of the next record in the file */
	uint32_t record_bytes;
	uint64_t n_left;    /* promised by the header and present in the file */
	uint64_t n_missing; /* promised by the header and missing from the file */
	unsigned char *buffer;
	size_t at, filled;
};

/* The expected layout of a file. */
struct pp_records_layout {
	const char *magic;     /* 8 bytes */
	uint32_t schema;       /* the greatest that can be read */
	uint32_t header_bytes; /* the least; `header` has this size */
	uint32_t record_bytes; /* the least */
	uint64_t max_records;  /* a greater number is damage */
};

/* The fields at the start of both kinds of file. */
struct pp_records_prefix {
	char magic[8];
	uint32_t schema;
	uint32_t header_bytes;
	uint32_t record_bytes;
	uint32_t n_records;
};

/* Opens the file without reading a header.  Returns 0 or -errno. */
int pp_records_open_file(struct pp_records *records, const char *path, struct pp_error *err);

/* The same for bytes in memory, which stay valid until pp_records_done(). */
void pp_records_open_memory(struct pp_records *records, const uint8_t *bytes, size_t n_bytes);

/*
 * Opens the file and checks its header; `header` receives layout->header_bytes bytes.  Returns 0 or
 * -errno.
 */
int pp_records_open(struct pp_records *records, const char *path,
		    const struct pp_records_layout *layout, void *header, struct pp_error *err);

/*
 * Continues with another header and its records at `offset` of the same file.  On failure the file
 * stays open, without records.
 */
int pp_records_start(struct pp_records *records, uint64_t offset,
		     const struct pp_records_layout *layout, void *header, struct pp_error *err);

/* Reads up to `size_bytes` at `offset`.  Returns the number of bytes, or -errno. */
int64_t pp_records_peek(const struct pp_records *records, uint64_t offset, void *to,
			size_t size_bytes);

/* Returns the next record, valid until the next call; NULL at the end, or after a read error. */
const void *pp_records_next(struct pp_records *records);

void pp_records_done(struct pp_records *records);

#endif
