/* SPDX-License-Identifier: MIT */
/*
 * Checks the header against the file's size, then reads records in blocks and checks each before it
 * is returned.
 */
#include "capture/records.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUFFER_BYTES	 (256 * 1024)
#define MAX_RECORD_BYTES 4096

/* Reads up to `len` bytes, fewer only at the end of the file.  Returns the count, or -errno. */
static ssize_t read_at(const struct pp_records *records, void *to, size_t len, uint64_t offset)
{
	size_t done = 0;

	if (records->memory) {
		done = MIN(len, records->file_bytes - MIN(offset, records->file_bytes));
		memcpy(to, records->memory + offset, done);
		return (ssize_t)done;
	}
	while (done < len) {
		ssize_t n =
		    pread(records->fd, (char *)to + done, len - done, (off_t)(offset + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		done += (size_t)n;
	}
	return (ssize_t)done;
}

static int check_prefix(const struct pp_records_layout *layout,
			const struct pp_records_prefix *prefix, uint64_t left_bytes,
			struct pp_error *err)
{
	if (memcmp(prefix->magic, layout->magic, sizeof(prefix->magic)) != 0)
		return pp_error_add(err, -EINVAL, "damaged: does not begin with \"%s\"",
				    layout->magic);
	if (prefix->schema > layout->schema)
		return pp_error_add(
		    err, -ENOTSUP,
		    "schema %u is newer than %u, the newest that this gprof-mt reads; "
		    "use a newer gprof-mt",
		    prefix->schema, layout->schema);
	if (prefix->header_bytes < layout->header_bytes || prefix->header_bytes > left_bytes)
		return pp_error_add(err, -EINVAL,
				    "damaged: header of %u bytes in %" PRIu64 " bytes",
				    prefix->header_bytes, left_bytes);
	if (prefix->record_bytes < layout->record_bytes || prefix->record_bytes > MAX_RECORD_BYTES)
		return pp_error_add(err, -EINVAL, "damaged: records of %u bytes",
				    prefix->record_bytes);
	if (prefix->n_records > layout->max_records)
		return pp_error_add(err, -EINVAL, "damaged: %u records", prefix->n_records);
	return 0;
}

static int open_file(struct pp_records *records, const char *path, struct pp_error *err)
{
	struct stat st;

	*records = (struct pp_records){.fd = -1};
	records->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (records->fd < 0 || fstat(records->fd, &st) < 0)
		return pp_error_add(err, -errno, "%s", g_strerror(errno));
	if (!S_ISREG(st.st_mode))
		return pp_error_add(err, -EINVAL, "not a regular file");
	records->file_bytes = (uint64_t)st.st_size;
	records->buffer = g_malloc(BUFFER_BYTES);
	return 0;
}

int pp_records_open_file(struct pp_records *records, const char *path, struct pp_error *err)
{
	int ret = open_file(records, path, err);

	if (ret < 0) {
		pp_records_done(records);
		return pp_error_add(err, ret, "%s", path);
	}
	return 0;
}

void pp_records_open_memory(struct pp_records *records, const uint8_t *bytes, size_t n_bytes)
{
	*records = (struct pp_records){.fd = -1, .memory = bytes, .file_bytes = n_bytes};
}

int64_t pp_records_peek(const struct pp_records *records, uint64_t offset, void *to,
			size_t size_bytes)
{
	return read_at(records, to, size_bytes, offset);
}

int pp_records_start(struct pp_records *records, uint64_t offset,
		     const struct pp_records_layout *layout, void *header, struct pp_error *err)
{
	uint64_t left = records->file_bytes - MIN(offset, records->file_bytes);
	struct pp_records_prefix prefix;
	ssize_t n;
	uint64_t fit;
	int ret;

	records->n_left = 0;
	if (left < layout->header_bytes)
		return pp_error_add(err, -EINVAL,
				    "cut short: %" PRIu64 " of %u bytes of its header", left,
				    layout->header_bytes);
	n = read_at(records, header, layout->header_bytes, offset);
	if (n < 0)
		return pp_error_add(err, (int)n, "%s", g_strerror((int)-n));
	if ((size_t)n < layout->header_bytes)
		return pp_error_add(err, -EINVAL, "cut short while being read");
	memcpy(&prefix, header, sizeof(prefix));
	ret = check_prefix(layout, &prefix, left, err);
	if (ret < 0)
		return ret;
	fit = (left - prefix.header_bytes) / prefix.record_bytes;
	records->offset = offset + prefix.header_bytes;
	records->record_bytes = prefix.record_bytes;
	records->n_left = MIN(fit, prefix.n_records);
	records->n_missing = prefix.n_records - records->n_left;
	records->at = 0;
	records->filled = 0;
	return 0;
}

int pp_records_open(struct pp_records *records, const char *path,
		    const struct pp_records_layout *layout, void *header, struct pp_error *err)
{
	int ret;

	ret = open_file(records, path, err);
	if (ret == 0)
		ret = pp_records_start(records, 0, layout, header, err);
	if (ret < 0) {
		pp_records_done(records);
		return pp_error_add(err, ret, "%s", path);
	}
	return 0;
}

const void *pp_records_next(struct pp_records *records)
{
	const void *record;

	if (!records->n_left)
		return NULL;
	if (records->memory) {
		record = records->memory + records->offset;
		records->offset += records->record_bytes;
		records->n_left--;
		return record;
	}
	if (records->at == records->filled) {
		uint64_t n = MIN(records->n_left, BUFFER_BYTES / records->record_bytes);
		ssize_t got =
		    read_at(records, records->buffer, n * records->record_bytes, records->offset);

		records->at = 0;
		records->filled = 0;
		if (got > 0)
			records->filled = (size_t)got - (size_t)got % records->record_bytes;
		if (!records->filled) {
			records->n_missing += records->n_left;
			records->n_left = 0;
			return NULL;
		}
		records->offset += records->filled;
	}
	record = records->buffer + records->at;
	records->at += records->record_bytes;
	records->n_left--;
	return record;
}

void pp_records_done(struct pp_records *records)
{
	if (records->fd >= 0)
		close(records->fd);
	g_free(records->buffer);
	*records = (struct pp_records){.fd = -1};
}
