/* SPDX-License-Identifier: MIT */
/* The selection options, which are the same in all subcommands that read a capture. */
#ifndef PP_CLI_SELECT_H
#define PP_CLI_SELECT_H

#include "cli/options.h"
#include "cli/view.h"
#include "analysis/select.h"

/* Their numbers for getopt_long(). */
enum {
	PP_CLI_SELECT_TID = 0x100,
	PP_CLI_SELECT_THREAD,
	PP_CLI_SELECT_TIME,
	PP_CLI_SELECT_OBJECT,
	PP_CLI_SELECT_FUNCTION,
	PP_CLI_SELECT_MIN_WAIT,
};

/* Rows for the table of a subcommand: all options, or those that it supports. */
#define PP_CLI_SELECT_OPTIONS PP_CLI_SELECT_THREADS, PP_CLI_SELECT_TIMES, PP_CLI_SELECT_OPERATIONS

#define PP_CLI_SELECT_THREADS                                                                      \
	{"tid", "T[,T]...", PP_CLI_SELECT_TID, "only these threads"},                              \
	{                                                                                          \
		"thread", "PATTERN", PP_CLI_SELECT_THREAD, "by name: 'work*'"                      \
	}

#define PP_CLI_SELECT_TIMES                                                                        \
	{                                                                                          \
		"time", "A~B", PP_CLI_SELECT_TIME, "from A to B: 1~2, ~3us"                        \
	}

#define PP_CLI_SELECT_OPERATIONS                                                                   \
	{"object", "OBJECT", PP_CLI_SELECT_OBJECT, "name or 0xADDRESS"},                           \
	    {"min-wait", "TIME", PP_CLI_SELECT_MIN_WAIT, "waits from 10us on"},                    \
	{                                                                                          \
		"function", "PATTERN", PP_CLI_SELECT_FUNCTION, "calls of and in 'f*'"              \
	}

/* Rows for options that a subcommand does not support, to refuse them. */
#define PP_CLI_SELECT_NO_OPERATIONS                                                                \
	{"object", "OBJECT", PP_CLI_SELECT_OBJECT, NULL},                                          \
	    {"function", "PATTERN", PP_CLI_SELECT_FUNCTION, NULL},                                 \
	{                                                                                          \
		"min-wait", "TIME", PP_CLI_SELECT_MIN_WAIT, NULL                                   \
	}

/* Handles the option if it is one of these; *ret_status: PP_EXIT_GOOD, or the exit status. */
bool pp_cli_select_take(const char *command, struct pp_selection *selection, int option,
			const char *value, int *ret_status);

/*
 * Reports a usage error for filters that the command does not support.  Returns PP_EXIT_GOOD if
 * there are none.
 */
int pp_cli_select_refuse(const char *command, const struct pp_selection *selection,
			 unsigned heeded);

/* Sets the selection for the view's passes.  To be called before they start. */
void pp_view_select(struct pp_view *view, struct pp_selection *selection);

/*
 * Returns PP_EXIT_GOOD if exactly one thread is selected, by tid or pattern; else reports a usage
 * error, with the threads of the capture if none is selected.
 */
int pp_cli_select_one(const char *command, const char *dir, const struct pp_selection *selection);

/*
 * Finds the selected thread, and sets final thread names in the model, for which it may read
 * events.  Returns 0; -ENOENT: no thread has such a name; -EINVAL: several have.
 */
int pp_view_select_one(struct pp_view *view, struct pp_selection *selection, uint32_t *ret_tid,
		       struct pp_error *err);

/*
 * To be called after the events: fails if a selected thread, object or function does not exist,
 * since a typing error would look like an empty result.  `heeded`: PP_SELECT_* of the passes that
 * ran.
 */
int pp_cli_select_check(const struct pp_view *view, unsigned heeded, struct pp_error *err);

#endif
