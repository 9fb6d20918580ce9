/* SPDX-License-Identifier: MIT */
/* Moves long texts to an unnamed temporary file, and copies them back in blocks. */
#include "export/spool.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "core/text/temporary_file.h"
#include "core/text/write.h"

#define BATCH_BYTES 16384

struct part {
	uint64_t at;
	size_t n_bytes;
};

void pp_spool_done(struct pp_spool *spool)
{
	if (spool->fd >= 0)
		close(spool->fd);
}

void pp_spool_text_init(struct pp_spool_text *text)
{
	text->text = g_string_new(NULL);
	text->parts = g_array_new(FALSE, FALSE, sizeof(struct part));
}

void pp_spool_text_done(struct pp_spool_text *text)
{
	g_string_free(text->text, TRUE);
	g_array_unref(text->parts);
}

void pp_spool_flush(struct pp_spool *spool, struct pp_spool_text *text)
{
	struct part part = {spool->n_bytes, text->text->len};

	if (part.n_bytes < BATCH_BYTES)
		return;
	if (spool->fd < 0 && !spool->error) {
		spool->fd = pp_temporary_file();
		if (spool->fd < 0)
			spool->error = spool->fd;
	}
	if (!spool->error)
		spool->error =
		    pp_write_all_at(spool->fd, text->text->str, part.n_bytes, (off_t)part.at);
	g_string_truncate(text->text, 0);
	if (spool->error)
		return;
	spool->n_bytes += part.n_bytes;
	g_array_append_val(text->parts, part);
}

static int read_at(int fd, char *bytes, size_t left, uint64_t at)
{
	while (left) {
		ssize_t n = TEMP_FAILURE_RETRY(pread(fd, bytes, left, (off_t)at));

		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		bytes += n;
		at += (uint64_t)n;
		left -= (size_t)n;
	}
	return 0;
}

int pp_spool_copy(struct pp_spool *spool, struct pp_spool_text *text, struct pp_out *out,
		  struct pp_error *err)
{
	for (guint i = 0; i < text->parts->len && !spool->error; i++) {
		const struct part *part = &g_array_index(text->parts, struct part, i);
		size_t begin = out->text->len;

		g_string_set_size(out->text, begin + part->n_bytes);
		spool->error = read_at(spool->fd, out->text->str + begin, part->n_bytes, part->at);
		pp_out_flush(out);
	}
	if (spool->error)
		return pp_error_add(err, spool->error, "temporary file: %s",
				    g_strerror(-spool->error));
	g_string_append_len(out->text, text->text->str, (gssize)text->text->len);
	pp_out_flush(out);
	return 0;
}
