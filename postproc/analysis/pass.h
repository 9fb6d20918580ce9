/* SPDX-License-Identifier: MIT */
/*
 * A pass: one analysis over the events of a capture.  It names the kinds it wants, sees them in
 * time order, keeps state per thread, object and call site (never per event), and ends in tables.
 *
 * Adding one touches its own file and the list in registry.c; DESIGN.md, "Adding a pass".
 */
#ifndef PP_ANALYSIS_PASS_H
#define PP_ANALYSIS_PASS_H

#include "core/event.h"
#include "core/model.h"
#include "core/namer.h"
#include "table/table.h"

struct pp_selection;

struct pp_pass_context {
	const struct pp_model *model;
	const struct pp_namer *namer;
	bool has_kernel;       /* scheduling events are there */
	bool has_switch_pairs; /* ... and say who ran next (not so with the `switches` source) */
	bool has_wakings;      /* ... and wake-ups */
	bool has_calls;	       /* there is a history of calls */
	/* People will read it: of a table with text_rows only those need be made (n_left_out). */
	bool for_text;
	struct pp_selection *selection; /* analysis/select.h; NULL: everything */
	GHashTable *options;		/* string -> string; may be NULL.  "through-idle" */
};

struct pp_pass {
	const char *name;
	const char *summary; /* its line in `report --help`; NULL: its tables are no section */
	bool is_default;     /* shown if no section is asked for */
	unsigned kinds;	     /* PP_EVENT_MASK(...) it wants */
	unsigned selects;    /* PP_SELECT_*: what of a selection it heeds */
	/* Passes whose tables this one reads in its finish(), NULL-terminated; NULL: none. */
	const char *const *needs;
	void *(*start)(const struct pp_pass_context *context);
	/* NULL: it only wants the streams of its kinds read, for what they lost. */
	void (*event)(void *state, const struct pp_event *event);
	/*
	 * Calls of different threads may come to event() in any order between two other events, and
	 * at the same time; but not a thread's first.
	 */
	bool calls_apart;
	/*
	 * Ends the pass: adds its tables (owned by the array) in the order they are shown.  The
	 * array already holds those of the passes it needs.
	 * `end_ns` is the time of the last event of the capture.
	 */
	void (*finish)(void *state, int64_t end_ns, GPtrArray *tables);
	void (*free)(void *state);
};

/* NULL-terminated; registry.c. */
extern const struct pp_pass *const pp_passes[];
const struct pp_pass *pp_pass_find(const char *name);

#endif
