/* SPDX-License-Identifier: MIT */
/* The file of a schedule, and its outcome. */
#ifndef PP_REPLAY_LIVE_FILE_H
#define PP_REPLAY_LIVE_FILE_H

#include "replay/live/schedule.h"

/*
 * Writes the schedule to a new file that only this user may access. Returns its first page, in
 * which the process that takes it stores the outcome, or NULL. The caller frees it with
 * pp_schedule_page_free().
 */
struct st_schedule *pp_schedule_write(const struct pp_schedule *schedule, const char *path,
				      struct pp_error *err);
void pp_schedule_page_free(struct st_schedule *page);

/*
 * How the program has left the schedule: "thread 2, operation 7: mutex_lock at f (a.c:3), recorded
 * as mutex_trylock at g (a.c:5)". site: of the operation; NULL: not known. The caller frees it.
 */
char *pp_schedule_left_text(const struct pp_schedule *schedule,
			    const struct st_schedule_outcome *outcome, const char *site);

#endif
