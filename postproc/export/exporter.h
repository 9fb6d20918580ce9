/* SPDX-License-Identifier: MIT */
/*
 * The interface of an export format, for one kind of figures.  Like a pass, an exporter sees the
 * events of a capture in time order; its output is a file.  None stores the events: memory is
 * bounded by threads, functions, objects and distinct stacks.
 *
 * To add one, write a file and add a line to the list in registry.c.
 */
#ifndef PP_EXPORT_EXPORTER_H
#define PP_EXPORT_EXPORTER_H

#include "core/error.h"
#include "export/out.h"
#include "capture/capture.h"
#include "analysis/pass.h"
#include "analysis/pass_set.h"

struct pp_calls_survey; /* calls/survey.h */
struct pp_capture;
struct pp_exporter;
struct pp_stacks;

struct pp_export {
	const struct pp_exporter *exporter;
	const struct pp_pass_context *context;
	const struct pp_pass_set *passes; /* results of the passes that it needs, complete when
					   * finish() runs */
	struct pp_out *out;
	const char *output;	    /* name of the output */
	struct pp_capture *capture; /* for data that is not in events, and to read the capture
				     * again */
	bool no_sources;	    /* omit lines of source files */
	bool no_threads;	    /* merge the stacks of all threads */
	const struct pp_calls_survey *survey; /* of the call histories; NULL: the exporter does
					       * not use them */
	GPtrArray *notes;		      /* of char *: notes for the user; exporters append */
};

struct pp_exporter {
	const char *format, *what; /* what: the kind of figures; NULL: the format has only one */
	const char *summary;	   /* of the format, for --help; only in its first exporter */
	const char *file_name;	   /* default name of the output */
	unsigned kinds, selects;
	const char *const *needs; /* names of passes, NULL-terminated; NULL: none */
	/* For exporters of stacks in another form than "folded"; false: there are no stacks. */
	bool (*write_stacks)(const struct pp_stacks *stacks, const char *unit, struct pp_out *out);
	bool has_thread_frames; /* affected by no_threads */
	bool has_sources;	/* affected by no_sources */
	bool needs_history;	/* needs a history of calls */
	bool may_use_history;	/* uses a history of calls if there is one */
	bool is_directory;	/* the output is a directory, which the exporter creates; there
				 * is no `out` */
	void *(*start)(const struct pp_export *export);
	/*
	 * Reads everything that it needs from the capture by itself; false: pass the events to
	 * event(). NULL: always use event().
	 */
	bool (*read)(void *state, struct pp_capture *capture);
	void (*event)(void *state, const struct pp_event *event); /* NULL: no events needed */
	int (*finish)(void *state, int64_t end_ns, struct pp_error *err);
	void (*free)(void *state);
};

/* NULL-terminated; registry.c.  Exporters of the same format are adjacent, the default first. */
extern const struct pp_exporter *const pp_exporters[];

void pp_export_note(const struct pp_export *export, const char *format, ...) G_GNUC_PRINTF(2, 3);

#endif
