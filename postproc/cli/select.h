/* SPDX-License-Identifier: MIT */
/* The options that choose a part of a capture, the same in all subcommands that look at one. */
#ifndef PP_CLI_SELECT_H
#define PP_CLI_SELECT_H

#include "cli/options.h"
#include "cli/view.h"
#include "pass/select.h"

/* What getopt_long() gives for them. */
enum {
	PP_CLI_SELECT_TID = 0x100,
	PP_CLI_SELECT_THREAD,
	PP_CLI_SELECT_TIME,
	PP_CLI_SELECT_OBJECT,
	PP_CLI_SELECT_FUNCTION,
	PP_CLI_SELECT_MIN_WAIT,
};

/* For the table of a subcommand. */
#define PP_CLI_SELECT_OPTIONS                                                                      \
	{"tid", required_argument, NULL, PP_CLI_SELECT_TID},                                       \
	    {"thread", required_argument, NULL, PP_CLI_SELECT_THREAD},                             \
	    {"time", required_argument, NULL, PP_CLI_SELECT_TIME},                                 \
	    {"object", required_argument, NULL, PP_CLI_SELECT_OBJECT},                             \
	    {"function", required_argument, NULL, PP_CLI_SELECT_FUNCTION},                         \
	{                                                                                          \
		"min-wait", required_argument, NULL, PP_CLI_SELECT_MIN_WAIT                        \
	}

/* Their lines of --help. */
#define PP_CLI_SELECT_HELP                                                                         \
	"  --tid T[,T]...     only these threads\n"                                                \
	"  --thread PATTERN   only threads with such names: 'worker-*'\n"                          \
	"  --time A~B         only from A up to B, since the start of the capture: 1.5~2 (s),\n"   \
	"                     20ms~, ~3us; what began before is known, and its part counts\n"      \
	"  --object OBJECT    only on this: its address (0x...), or that and its generation\n"     \
	"                     (0x.../2), or its name in tables; \"table\" is also \"table+8\"\n"   \
	"  --function PATTERN only calls of such functions, or that stand in them\n"               \
	"  --min-wait TIME    only operations that waited so long: 10us\n"                         \
	"                     (each but --time and --min-wait may be repeated: any of them)\n"

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
