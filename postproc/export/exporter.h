/* SPDX-License-Identifier: MIT */
/*
 * One format, of one kind of figures.  Like a pass it sees the events of a capture in order of
 * time; what comes out is a file.  None keeps the events: the memory is bounded by threads,
 * functions, objects and stacks that are told apart.
 *
 * Adding one: its own file, and the list in registry.c.
 */
#ifndef PP_EXPORT_EXPORTER_H
#define PP_EXPORT_EXPORTER_H

#include "core/error.h"
#include "export/out.h"
#include "capture/capture.h"
#include "analysis/pass.h"
#include "analysis/set.h"

struct pp_calls_survey; /* calls/survey.h */
struct pp_capture;
struct pp_exporter;
struct pp_stacks;

struct pp_export {
	const struct pp_exporter *exporter;
	const struct pp_pass_context *context;
	const struct pp_pass_set *passes; /* those that it needs, over when it finishes */
	struct pp_out *out;
	const char *output;	    /* its name */
	struct pp_capture *capture; /* for what no event tells; and to read it once more */
	bool no_sources;	    /* no lines of source files */
	bool no_threads;	    /* stacks of all threads together */
	const struct pp_calls_survey *survey; /* of the histories; NULL: it does not use them */
	GPtrArray *notes; /* of char *, to be added to: what the user has to know */
};

struct pp_exporter {
	const char *format, *what; /* what: the figures; NULL: the format has one kind only */
	const char *summary;	   /* of the format, for --help; NULL but for its first */
	const char *file_name;	   /* if none is given */
	unsigned kinds, selects;
	const char *const *needs; /* passes, NULL-terminated; NULL: none */
	/* Of an exporter of stacks, if not as "folded"; false: there is none. */
	bool (*write_stacks)(const struct pp_stacks *stacks, const char *unit, struct pp_out *out);
	bool has_thread_frames; /* of which no_threads is */
	bool has_sources;	/* of which no_sources is */
	bool needs_history;	/* of calls */
	bool may_use_history;	/* if there is one */
	bool is_directory;	/* what it writes; it makes that itself, there is no `out` */
	void *(*start)(const struct pp_export *export);
	/*
	 * Reads by itself all that it wants of the capture; false: it has to come by event().
	 * NULL: that, always.
	 */
	bool (*read)(void *state, struct pp_capture *capture);
	void (*event)(void *state, const struct pp_event *event); /* NULL: none wanted */
	int (*finish)(void *state, int64_t end_ns, struct pp_error *err);
	void (*free)(void *state);
};

/* NULL-terminated; registry.c.  Those of one format follow each other, the default first. */
extern const struct pp_exporter *const pp_exporters[];

void pp_export_note(const struct pp_export *export, const char *format, ...) G_GNUC_PRINTF(2, 3);

#endif
