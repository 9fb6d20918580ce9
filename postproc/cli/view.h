/* SPDX-License-Identifier: MIT */
/* Functions shared by the commands that read a capture: open it, and run passes over its events. */
#ifndef PP_CLI_VIEW_H
#define PP_CLI_VIEW_H

#include "core/windows.h"
#include "capture/capture.h"
#include "symbols/symbols.h"
#include "analysis/pass_set.h"

#define PP_DEFAULT_CAPTURE "gprof-mt.data"

/* Rows for the table of a subcommand. */
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
	struct pp_selection *of_ring; /* the time that a ring has; NULL: all of it */
	const char *name;	      /* its name in messages if there is a second view; NULL */
};

/*
 * Begins a view of an open capture, whose ownership it takes.  `options` as in struct
 * pp_pass_context; may be NULL.
 */
void pp_view_begin(struct pp_view *view, struct pp_capture *capture, GHashTable *options,
		   const struct pp_symbols_options *symbols);

/* Opens the capture, with the options for names of the command line.  Returns 0 or -errno. */
int pp_view_open(struct pp_view *view, const char *dir, GHashTable *options, struct pp_error *err);

/* True if accesses in critical sections were recorded; the check fails with -ENODATA if not. */
bool pp_view_has_accesses(const struct pp_view *view);
int pp_view_check_accesses(const struct pp_view *view, struct pp_error *err);

/*
 * Reads the threads' last names, for callers that need them before the events.  Returns 0 or
 * -errno.
 */
int pp_view_name_threads(struct pp_view *view, struct pp_error *err);

/*
 * Calls pp_events_read(), and makes sure that threads have their last names: before it if the
 * context selects by name, else after it, even if `kinds` has no event that contains names.
 */
int pp_view_read(struct pp_view *view, unsigned kinds,
		 void (*take)(void *data, const struct pp_event *event), void *data,
		 struct pp_error *err);

/*
 * The same, but calls of different threads may arrive at the same time (pp_events_read_apart()).
 */
int pp_view_read_apart(struct pp_view *view, unsigned kinds,
		       void (*take)(void *data, const struct pp_event *event), void *data,
		       struct pp_error *err);

/* As pp_view_read(), but ends when go_on(data) returns false, which is called regularly:
 * -ECANCELED. */
int pp_view_read_while(struct pp_view *view, unsigned kinds,
		       void (*take)(void *data, const struct pp_event *event),
		       bool (*go_on)(void *data), void *data, struct pp_error *err);

/* Runs the passes with those names; view->passes then has their tables.  Returns 0 or -errno. */
int pp_view_run(struct pp_view *view, const char *const *names, unsigned n_names,
		struct pp_error *err);

/*
 * The same for passes that need no names of threads, but ends when go_on(data) returns false, which
 * is called regularly.  The passes then know the events up to the time *ret_end_ns;
 * PP_TIME_UNKNOWN: all events.
 */
int pp_view_run_while(struct pp_view *view, const char *const *names, unsigned n_names,
		      bool (*go_on)(void *data), void *data, int64_t *ret_end_ns,
		      struct pp_error *err);

/*
 * The same, but with the events in windows of the time (events/events.h); the context has a
 * selection, to which these are added.  If it was ended, there are fewer windows, in a part of the
 * time.  The caller frees them with pp_windows_done(), when the view is not used any more.
 * go_on may be NULL.
 */
int pp_view_run_windows(struct pp_view *view, const char *const *names, unsigned n_names,
			struct pp_windows *windows, uint64_t max_bytes, bool (*go_on)(void *data),
			void *data, struct pp_error *err);

/* Adds the names of [names] wrappers that no function has to the problems. */
void pp_view_check_wrappers(struct pp_view *view);

/* Prints the capture's damage to stderr.  Returns the resulting exit status. */
int pp_view_print_damage(const struct pp_view *view);

void pp_view_done(struct pp_view *view);

/* Writes the text to stdout.  Returns the exit status. */
int pp_cli_print(const GString *text);

/*
 * For long output: prints and empties the text when it has at least `least` bytes, unless printing
 * has failed.
 */
void pp_cli_print_batch(GString *text, size_t least, int *status);

#endif
