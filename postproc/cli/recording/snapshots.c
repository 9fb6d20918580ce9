/* SPDX-License-Identifier: MIT */
/* Snapshots that a recording is asked for, by a signal or a condition (snapshots.h). */
#include "cli/recording/snapshots.h"

#include <fcntl.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/recording/notes.h"
#include "cli/recording/snapshot.h"
#include "gmon-mt/format.h"

#define MAX_WHYS 8 /* reasons that are named; the others are counted */

/* Later requests lead to another snapshot.  The caller frees the text. */
static char *begin_one(struct pp_snapshots *snapshots)
{
	GString *why;

	g_mutex_lock(&snapshots->asking);
	why = g_steal_pointer(&snapshots->why);
	if (snapshots->n_whys > MAX_WHYS)
		g_string_append_printf(why, "; %u more", snapshots->n_whys - MAX_WHYS);
	snapshots->n_whys = 0;
	g_mutex_unlock(&snapshots->asking);
	return g_string_free(why, FALSE);
}

static void write_one(void *asked, void *data)
{
	struct pp_snapshots *snapshots = data;
	struct pp_error err = PP_ERROR_INIT;
	g_autofree char *why = begin_one(snapshots), *made = NULL, *text = NULL;

	(void)asked;
	if (pp_snapshot_write(snapshots->shown_dir, NULL, why, &snapshots->is_over, &made, &err)) {
		pp_cli_fail(&err);
	} else {
		g_mutex_lock(&snapshots->reading);
		text = pp_snapshot_describe(made);
		g_mutex_unlock(&snapshots->reading);
		pp_record_note("%s", text);
	}
}

void pp_snapshots_begin(struct pp_snapshots *snapshots, const char *dir, const char *shown_dir)
{
	*snapshots = (struct pp_snapshots){.dir = dir, .shown_dir = shown_dir};
	g_mutex_init(&snapshots->reading);
	g_mutex_init(&snapshots->asking);
	snapshots->pool = g_thread_pool_new(write_one, snapshots, 1, FALSE, NULL);
}

bool pp_snapshots_ask(struct pp_snapshots *snapshots, const char *why)
{
	bool is_new;

	g_mutex_lock(&snapshots->asking);
	is_new = !snapshots->why;
	if (is_new)
		snapshots->why = g_string_new(why);
	else if (snapshots->n_whys < MAX_WHYS)
		g_string_append_printf(snapshots->why, "; %s", why);
	snapshots->n_whys++;
	g_mutex_unlock(&snapshots->asking);
	if (is_new)
		g_thread_pool_push(snapshots->pool, snapshots, NULL);
	return is_new;
}

/* True if this table of threads has its first one. */
static bool has_thread(const char *path)
{
	struct gm_threads_header header = {.header_bytes = 0};
	struct gm_thread_slot slot = {.state = GM_THREAD_FREE};
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	bool has = fd >= 0 && pread(fd, &header, sizeof(header), 0) == sizeof(header) &&
		   pread(fd, &slot, sizeof(slot), header.header_bytes) == sizeof(slot) &&
		   slot.state != GM_THREAD_FREE;

	if (fd >= 0)
		close(fd);
	return has;
}

static bool has_process(const char *dir)
{
	g_autoptr(GDir) folders = g_dir_open(dir, 0, NULL);
	const char *name;

	while (folders && (name = g_dir_read_name(folders))) {
		g_autofree char *path = g_build_filename(dir, name, "threads", NULL);

		if (g_ascii_isdigit(*name) && has_thread(path))
			return true;
	}
	return false;
}

bool pp_snapshots_may_begin(struct pp_snapshots *snapshots)
{
	if (!snapshots->may_begin_us)
		snapshots->may_begin_us = g_get_monotonic_time() + G_TIME_SPAN_SECOND;
	return has_process(snapshots->dir) || g_get_monotonic_time() >= snapshots->may_begin_us;
}

void pp_snapshots_end(struct pp_snapshots *snapshots)
{
	__atomic_store_n(&snapshots->is_over, 1, __ATOMIC_RELAXED);
	g_thread_pool_free(g_steal_pointer(&snapshots->pool), FALSE, TRUE);
	g_mutex_clear(&snapshots->reading);
	g_mutex_clear(&snapshots->asking);
}
