/* SPDX-License-Identifier: MIT */
/* Snapshots that a recording is asked for, by a signal or a condition (snapshots.h). */
#include "cli/recording/snapshots.h"

#include "cli/commands.h"
#include "cli/recording/notes.h"
#include "cli/recording/snapshot.h"

static void write_one(void *why, void *data)
{
	struct pp_snapshots *snapshots = data;
	struct pp_error err = PP_ERROR_INIT;
	g_autofree char *made = NULL, *text = NULL;

	if (pp_snapshot_write(snapshots->shown_dir, NULL, why, &snapshots->is_over, &made, &err)) {
		pp_cli_fail(&err);
	} else {
		g_mutex_lock(&snapshots->reading);
		text = pp_snapshot_describe(made);
		g_mutex_unlock(&snapshots->reading);
		pp_record_note("%s", text);
	}
	g_free(why);
}

void pp_snapshots_begin(struct pp_snapshots *snapshots, const char *dir, const char *shown_dir)
{
	*snapshots = (struct pp_snapshots){.dir = dir, .shown_dir = shown_dir};
	g_mutex_init(&snapshots->reading);
	snapshots->pool = g_thread_pool_new(write_one, snapshots, 1, FALSE, NULL);
}

void pp_snapshots_ask(struct pp_snapshots *snapshots, const char *why)
{
	g_thread_pool_push(snapshots->pool, g_strdup(why), NULL);
}

void pp_snapshots_end(struct pp_snapshots *snapshots)
{
	__atomic_store_n(&snapshots->is_over, 1, __ATOMIC_RELAXED);
	g_thread_pool_free(g_steal_pointer(&snapshots->pool), FALSE, TRUE);
	g_mutex_clear(&snapshots->reading);
}
