/* SPDX-License-Identifier: MIT */
/* The options that choose a part of a capture, the same in all subcommands that look at one. */
#ifndef PP_CLI_SELECT_H
#define PP_CLI_SELECT_H

#include "cli/options.h"
#include "cli/view.h"
#include "analysis/select.h"

/* What getopt_long() gives for them. */
enum {
	PP_CLI_SELECT_TID = 0x100,
	PP_CLI_SELECT_THREAD,
	PP_CLI_SELECT_TIME,
	PP_CLI_SELECT_OBJECT,
	PP_CLI_SELECT_FUNCTION,
	PP_CLI_SELECT_MIN_WAIT,
};

/* For the table of a subcommand: all, or those parts that it can be narrowed by. */
#define PP_CLI_SELECT_OPTIONS PP_CLI_SELECT_THREADS, PP_CLI_SELECT_TIMES, PP_CLI_SELECT_OPERATIONS

#define PP_CLI_SELECT_THREADS                                                                      \
	{"tid", "T[,T]...", PP_CLI_SELECT_TID, "only these threads"},                              \
	{                                                                                          \
		"thread", "PATTERN", PP_CLI_SELECT_THREAD, "by name: 'work*'"                      \
	}

#define PP_CLI_SELECT_TIMES                                                                        \
	{                                                                                          \
		"time", "A~B", PP_CLI_SELECT_TIME, "only from A to B: 1.5~2 (s), 20ms~, ~3us"      \
	}

#define PP_CLI_SELECT_OPERATIONS                                                                   \
	{"object", "OBJECT", PP_CLI_SELECT_OBJECT,                                                 \
	 "only this object: NAME, 0xADDRESS, 0xADDRESS/GENERATION"},                               \
	    {"function", "PATTERN", PP_CLI_SELECT_FUNCTION,                                        \
	     "only calls of, and in, matching functions"},                                         \
	{                                                                                          \
		"min-wait", "TIME", PP_CLI_SELECT_MIN_WAIT,                                        \
		    "only operations that waited at least this long: 10us"                         \
	}

/* ... and of one that cannot, to say so. */
#define PP_CLI_SELECT_NO_OPERATIONS                                                                \
	{"object", "OBJECT", PP_CLI_SELECT_OBJECT, NULL},                                          \
	    {"function", "PATTERN", PP_CLI_SELECT_FUNCTION, NULL},                                 \
	{                                                                                          \
		"min-wait", "TIME", PP_CLI_SELECT_MIN_WAIT, NULL                                   \
	}

/* Takes the option, if it is one of these; *ret_status: PP_EXIT_GOOD, or the exit status. */
bool pp_cli_select_take(const char *command, struct pp_selection *selection, int option,
			const char *value, int *ret_status);

/* Says, as wrong usage, what the command cannot be narrowed by.  PP_EXIT_GOOD: nothing. */
int pp_cli_select_refuse(const char *command, const struct pp_selection *selection,
			 unsigned heeded);

/* Its passes are to heed it; before they start. */
void pp_view_select(struct pp_view *view, struct pp_selection *selection);

/* PP_EXIT_GOOD: it names one thread, by its tid or by a pattern, and no more; else wrong usage. */
int pp_cli_select_one(const char *command, const struct pp_selection *selection);

/*
 * The thread that it names, and its last name in the model: some have theirs from events, which are
 * read for that.  -ENOENT: none has such a name; -EINVAL: several have.
 */
int pp_view_select_one(struct pp_view *view, struct pp_selection *selection, uint32_t *ret_tid,
		       struct pp_error *err);

/*
 * After the events: each thread, object and function asked for has to be there, lest a typing error
 * shows as an empty answer.  `heeded`: PP_SELECT_* of all that ran.
 */
int pp_cli_select_check(const struct pp_view *view, unsigned heeded, struct pp_error *err);

#endif
