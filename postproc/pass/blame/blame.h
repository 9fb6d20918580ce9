/* SPDX-License-Identifier: MIT */
/* Shared by the files of this folder: the tables of section `blame`. */
#ifndef PP_PASS_BLAME_BLAME_H
#define PP_PASS_BLAME_BLAME_H

#include "analysis/blame/blame.h"
#include "analysis/blame/suspects.h"

/* Text shows only the first rows, since there may be thousands. */
#define PP_BLAME_TEXT_ROWS 30

enum pp_blame_view {
	PP_BLAME_BY_HOLDER = 1,
	PP_BLAME_BY_WAITER = 2,
	PP_BLAME_BY_SUSPECT = 4,
	PP_BLAME_BY_ALL = 7,
};

/* The view that the option "by" chooses; without it, the other value. */
unsigned pp_blame_views(const struct pp_pass_context *context, unsigned otherwise);

/* Idleness without a suspect. */
#define PP_BLAME_NOBODY_LOCK  "nobody: no thread worked with a lock"
#define PP_BLAME_NOBODY_OTHER "nobody: no thread worked without a lock"

/* Why a table of suspects is empty. */
#define PP_BLAME_NO_SUSPECTS                                                                       \
	"suspects share the waits of all objects and lengths at each instant, so --object and "    \
	"--min-wait do not apply to them"

/* A call as text; each NULL if there is none, or it is not known. */
struct pp_call_text {
	char *function, *site, *path;
};

/* The function that was called, or an end without a call. */
const char *pp_call_function(enum st_event op);
struct pp_call_text pp_call_text(const struct pp_pass_context *context,
				 const struct pp_process *process,
				 const struct pp_blame_call *call);
/* The same for an interrupted instruction: its function and line, and the functions on the path. */
struct pp_call_text pp_call_text_sample(const struct pp_pass_context *context,
					const struct pp_process *process,
					const struct pp_path *path);
void pp_call_text_done(struct pp_call_text *text);
/* The call site that began a hold; NULL: none, or not known. */
char *pp_call_text_acquired(const struct pp_pass_context *context, const struct pp_process *process,
			    const struct pp_blame_cause *cause);

/* For keys of rows. */
static inline const char *pp_text_or_empty(const char *text)
{
	return text ? text : "";
}

/* By cause, and by waiting call. */
void pp_blame_wait_tables(const struct pp_pass_context *context, const struct pp_blame *blame,
			  struct pp_table **ret_causes, struct pp_table **ret_waiters);
/* The cause of a wait in words. */
void pp_blame_set_kind(struct pp_cell *cell, enum pp_blame_kind kind, unsigned why);
/* By cause, and by its cause where a holder was itself blocked. */
struct pp_table *pp_blame_nested_table(const struct pp_pass_context *context,
				       const struct pp_blame *blame);
/* suspects: NULL if the selection rules them out. */
struct pp_table *pp_blame_suspect_table(const struct pp_pass_context *context,
					const struct pp_suspects *suspects);

#endif
