/* SPDX-License-Identifier: MIT */
/* Snapshots that a recording is asked for, by a signal or a condition (snapshots.h). */
#include "cli/recording/snapshots.h"

#include "cli/commands.h"
#include "cli/recording/notes.h"
#include "cli/recording/snapshot.h"

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

void pp_snapshots_end(struct pp_snapshots *snapshots)
{
	__atomic_store_n(&snapshots->is_over, 1, __ATOMIC_RELAXED);
	g_thread_pool_free(g_steal_pointer(&snapshots->pool), FALSE, TRUE);
	g_mutex_clear(&snapshots->reading);
	g_mutex_clear(&snapshots->asking);
}
