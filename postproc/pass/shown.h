/* SPDX-License-Identifier: MIT */
/* What the passes over call counts share. */
#ifndef PP_PASS_SHOWN_H
#define PP_PASS_SHOWN_H

#include "pass/pass.h"

/* "thread 3 worker (tid 1234, process 1230)".  The caller frees it. */
char *pp_thread_title(const struct pp_thread *thread);

/* Of struct pp_thread *: those that are shown and called something.  The caller unrefs it. */
GPtrArray *pp_threads_with_calls(const struct pp_pass_context *context,
				 const struct pp_process *process);

/* How many calls the thread made.  False: they were not counted. */
bool pp_thread_calls(const struct pp_thread *thread, uint64_t *ret_calls);

/* Says why there are no rows. */
void pp_note_no_calls(struct pp_table *table, const struct pp_pass_context *context);

#endif
