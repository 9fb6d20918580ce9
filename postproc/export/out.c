/* SPDX-License-Identifier: MIT */
/* Opens a temporary file beside the output, writes to it, and renames it at the end. */
#include "export/out.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/text/json_writer.h"
#include "core/text/write.h"

#define BATCH_BYTES 65536

/* The file that a signal removes; NULL: none.  Set while the signals are blocked. */
static const char *volatile unfinished;

static const int ends[] = {SIGINT, SIGTERM, SIGHUP};

static sigset_t block_ends(void)
{
	sigset_t set, before;

	sigemptyset(&set);
	for (unsigned i = 0; i < G_N_ELEMENTS(ends); i++)
		sigaddset(&set, ends[i]);
	pthread_sigmask(SIG_BLOCK, &set, &before);
	return before;
}

/* The parent process sees the signal: its action is the default one again (SA_RESETHAND). */
static void remove_unfinished(int signal_number)
{
	if (unfinished)
		unlink(unfinished);
	raise(signal_number);
}

/* An ignored signal (nohup) stays ignored. */
static void catch_ends(void)
{
	struct sigaction action = {.sa_handler = remove_unfinished, .sa_flags = SA_RESETHAND};

	for (unsigned i = 0; i < G_N_ELEMENTS(ends); i++) {
		struct sigaction old;

		if (sigaction(ends[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
			sigaction(ends[i], &action, NULL);
	}
}

static void set_unfinished(struct pp_out *out, char *path)
{
	unfinished = path;
	if (!path)
		g_clear_pointer(&out->unfinished, g_free);
}

static int open_file(struct pp_out *out, const char *path, struct pp_error *err)
{
	sigset_t before;
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
	catch_ends();
	before = block_ends();
	out->fd = mkostemp(out->unfinished, O_CLOEXEC);
	rc = -errno;
	set_unfinished(out, out->fd < 0 ? NULL : out->unfinished);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (out->fd < 0)
		return pp_error_add(err, rc, "%s: %s", path, g_strerror(-rc));
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
	sigset_t before;

	write_text(out);
	if (out->unfinished && close(out->fd) && !out->error)
		out->error = -errno;
	if (out->unfinished) {
		out->fd = -1;
		before = block_ends();
		if (!out->error && rename(out->unfinished, out->path))
			out->error = -errno;
		if (!out->error)
			set_unfinished(out, NULL);
		pthread_sigmask(SIG_SETMASK, &before, NULL);
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
		unfinished = NULL;
	}
	if (out->text)
		g_string_free(out->text, TRUE);
	g_free(out->unfinished);
	g_free(out->path);
}
