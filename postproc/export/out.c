/* SPDX-License-Identifier: MIT */
/* Opens a temporary file beside the output, writes to it, and renames it at the end. */
#include "export/out.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/json_writer.h"
#include "core/write.h"

#define BATCH_BYTES 65536

static int open_file(struct pp_out *out, const char *path, struct pp_error *err)
{
	struct stat st;
	mode_t mask;
	int rc;

	/* A rename would replace a device or a symlink by a file. */
	if (lstat(path, &st) == 0 && !S_ISREG(st.st_mode))
		return pp_error_add(err, -EEXIST,
				    "%s: exists and is not a regular file; name another output",
				    path);
	out->path = g_strdup(path);
	out->unfinished = g_strconcat(path, ".XXXXXX", NULL);
	out->fd = mkostemp(out->unfinished, O_CLOEXEC);
	if (out->fd < 0) {
		rc = -errno;
		g_clear_pointer(&out->unfinished, g_free);
		return pp_error_add(err, rc, "%s: %s", path, g_strerror(-rc));
	}
	mask = umask(0);
	umask(mask);
	fchmod(out->fd, 0666 & ~mask);
	return 0;
}

int pp_out_open(struct pp_out *out, const char *path, struct pp_error *err)
{
	*out = (struct pp_out){.text = g_string_new(NULL), .fd = STDOUT_FILENO};
	return g_str_equal(path, PP_OUT_STDOUT) ? 0 : open_file(out, path, err);
}

static void write_text(struct pp_out *out)
{
	if (!out->error)
		out->error = pp_write_all(out->fd, out->text->str, out->text->len);
	g_string_truncate(out->text, 0);
}

void pp_out_flush(struct pp_out *out)
{
	if (out->text->len >= BATCH_BYTES)
		write_text(out);
}

int pp_out_finish(struct pp_out *out, struct pp_error *err)
{
	write_text(out);
	if (out->unfinished && close(out->fd) && !out->error)
		out->error = -errno;
	if (out->unfinished) {
		out->fd = -1;
		if (!out->error && rename(out->unfinished, out->path))
			out->error = -errno;
		if (!out->error)
			g_clear_pointer(&out->unfinished, g_free);
	}
	if (!out->error)
		return 0;
	return pp_error_add(err, out->error, "%s: %s", out->path ?: "standard output",
			    g_strerror(-out->error));
}

void pp_out_done(struct pp_out *out)
{
	if (out->unfinished) {
		if (out->fd >= 0)
			close(out->fd);
		unlink(out->unfinished);
	}
	if (out->text)
		g_string_free(out->text, TRUE);
	g_free(out->unfinished);
	g_free(out->path);
}
