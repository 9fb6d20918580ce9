/* SPDX-License-Identifier: MIT */
/* What every command that looks at a capture does: open it, sweep its events through passes. */
#ifndef PP_CLI_VIEW_H
#define PP_CLI_VIEW_H

#include "capture/capture.h"
#include "symbols/symbols.h"
#include "analysis/set.h"

#define PP_DEFAULT_CAPTURE "gprof-mt.data"

/* For the table of a subcommand. */
#define PP_CLI_OPTION_INPUT                                                                        \
	{                                                                                          \
		"input", "DIR", 'i', "the capture (default " PP_DEFAULT_CAPTURE ")"                \
	}

struct pp_view {
	struct pp_capture *capture;
	struct pp_symbols *symbols;
	struct pp_namer namer;
	struct pp_pass_context context;
	struct pp_pass_set *passes;
	const char *name; /* what messages call it, where there is another; NULL */
};

/* Of an open capture, which it takes.  `options` as in struct pp_pass_context; may be NULL. */
void pp_view_begin(struct pp_view *view, struct pp_capture *capture, GHashTable *options,
		   const struct pp_symbols_options *symbols);

/* The same, opening it, and with the names that the command line asks for. */
int pp_view_open(struct pp_view *view, const char *dir, GHashTable *options, struct pp_error *err);

/* Threads have their last names from now on: for who wants them before the events. */
int pp_view_name_threads(struct pp_view *view, struct pp_error *err);

/*
 * pp_events_read(), and the threads have their last names: before it if the context selects by
 * name, else after it, even if no event of `kinds` is one that tells them.
 */
int pp_view_read(struct pp_view *view, unsigned kinds,
		 void (*take)(void *data, const struct pp_event *event), void *data,
		 struct pp_error *err);

/* Runs the passes of those names; their tables are then in view->passes. */
int pp_view_run(struct pp_view *view, const char *const *names, unsigned n_names,
		struct pp_error *err);

/* Prints what is damaged in the capture on stderr; the exit status that this means. */
int pp_view_print_damage(const struct pp_view *view);

void pp_view_done(struct pp_view *view);

/* Whether stdout is a terminal that wants colours (NO_COLOR). */
bool pp_cli_wants_colour(void);

/* Writes all of it to stdout; the exit status. */
int pp_cli_print(const GString *text);

/* For text of any length: prints what has grown to `least` bytes, unless printing has failed. */
void pp_cli_print_batch(GString *text, size_t least, int *status);

#endif
