/* SPDX-License-Identifier: MIT */
/* One buffer: of the items that were not written yet, then of those that are read. */
#include "core/item_file.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "core/text/temporary_file.h"
#include "core/text/write.h"

#define BUFFER_BYTES ((size_t)1 << 18)

struct pp_item_file {
	size_t item_bytes;
	char *buffer;
	size_t room, len, next; /* in bytes: of the buffer, in it, read from it */
	int fd;			/* -1: all items are in the buffer */
	uint64_t n_written, n_read;
	int error; /* -errno of the first failure */
};

struct pp_item_file *pp_item_file_new(size_t item_bytes)
{
	struct pp_item_file *file = g_new0(struct pp_item_file, 1);

	file->item_bytes = item_bytes;
	file->room = MAX(BUFFER_BYTES / item_bytes, 1) * item_bytes;
	file->buffer = g_malloc(file->room);
	file->fd = -1;
	return file;
}

void pp_item_file_free(struct pp_item_file *file)
{
	if (!file)
		return;
	if (file->fd >= 0)
		close(file->fd);
	g_free(file->buffer);
	g_free(file);
}

static void flush(struct pp_item_file *file)
{
	int r = 0;

	if (file->fd < 0 && !file->error) {
		file->fd = pp_temporary_file();
		r = file->fd < 0 ? file->fd : 0;
	}
	if (!file->error && !r)
		r = pp_write_all_at(file->fd, file->buffer, file->len, (off_t)file->n_written);
	if (!file->error)
		file->error = r;
	file->n_written += file->len;
	file->len = 0;
}

void pp_item_file_add(struct pp_item_file *file, const void *item)
{
	if (file->len == file->room)
		flush(file);
	memcpy(file->buffer + file->len, item, file->item_bytes);
	file->len += file->item_bytes;
}

int pp_item_file_check(const struct pp_item_file *file, struct pp_error *err)
{
	return file->error ? pp_error_add(err, file->error,
					  "temporary file in %s: %s; set TMPDIR to a folder with "
					  "more space",
					  g_get_tmp_dir(), g_strerror(-file->error))
			   : 0;
}

int pp_item_file_finish(struct pp_item_file *file, struct pp_error *err)
{
	if (file->fd >= 0 || file->error)
		flush(file);
	return pp_item_file_check(file, err);
}

/* Reads the next part of the file. */
static void fill(struct pp_item_file *file)
{
	size_t want = MIN(file->room, file->n_written - file->n_read);

	file->len = file->next = 0;
	while (file->len < want) {
		ssize_t n = pread(file->fd, file->buffer + file->len, want - file->len,
				  (off_t)(file->n_read + file->len));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			file->error = n < 0 ? -errno : -EIO;
			file->len = 0;
			return;
		}
		file->len += (size_t)n;
	}
	file->n_read += want;
}

const void *pp_item_file_next(struct pp_item_file *file)
{
	const void *item;

	if (!file->error && file->next == file->len && file->n_read < file->n_written)
		fill(file);
	if (file->error || file->next == file->len)
		return NULL;
	item = file->buffer + file->next;
	file->next += file->item_bytes;
	return item;
}
