/* SPDX-License-Identifier: MIT */
/*
 * A pass is one analysis over the events of a capture.  It lists the kinds of events that it needs,
 * receives them in time order, keeps state per thread, object and call site (never per event), and
 * produces tables at the end.
 *
 * A new pass needs its own file and a line in registry.c; see DESIGN.md, "Adding a pass".
 */
#ifndef PP_ANALYSIS_PASS_H
#define PP_ANALYSIS_PASS_H

#include "core/event.h"
#include "core/model.h"
#include "core/namer.h"
#include "table/table.h"

struct pp_selection;
struct pp_pass_set;
struct pp_thread_states;

/* The passes of a set share this. */
struct pp_pass_shared {
	struct pp_thread_states *states; /* analysis/state/thread_state.h; NULL: none yet */
	uint64_t n_events;		 /* that the set has received */
};

struct pp_pass_context {
	const struct pp_model *model;
	const struct pp_namer *namer;
	bool has_kernel;       /* there are scheduling events */
	bool has_switch_pairs; /* ... with the next thread (not with the `switches` source) */
	bool has_wakings;      /* ... and wake-ups */
	bool has_calls;	       /* there is a history of calls */
	bool is_cut;	       /* events were read only up to the time that finish() gets */
	/* The output is text: tables with text_rows need only that many rows (n_left_out). */
	bool for_text;
	/*
	 * Texts laid out by passes: the maximum number of functions of a thread (0: all), and
	 * whether similar threads are one.
	 */
	unsigned top;
	bool group;
	struct pp_selection *selection; /* analysis/select.h; NULL: everything */
	/* string -> string; may be NULL.  "through-idle", "bottom-up", "by" */
	GHashTable *options;
	const struct pp_pass_set *set; /* the passes of this run; set by pp_pass_set_new() */
	struct pp_pass_shared *shared; /* of the set; NULL: a pass alone */
};

struct pp_pass {
	const char *name;
	const char *summary; /* its line in `report --help`; NULL: its tables are no section */
	bool is_default;     /* shown if no section is asked for */
	unsigned kinds;	     /* PP_EVENT_MASK(...) of the events it needs */
	unsigned selects;    /* PP_SELECT_*: the filters that it applies */
	/* Its tables have figures of operations, and notes about those not recorded. */
	bool has_operations;
	/*
	 * Passes that start, receive each event and finish before this one, which reads their
	 * tables in its finish(), or listens to one of them; NULL-terminated; NULL: none.
	 */
	const char *const *needs;
	void *(*start)(const struct pp_pass_context *context);
	/* NULL: the streams of its kinds are read only to count their losses. */
	void (*event)(void *state, const struct pp_event *event);
	/*
	 * Between two other events, calls of different threads may arrive at event() in any order
	 * and at the same time; a thread's first event may not.
	 */
	bool calls_apart;
	/*
	 * Ends the pass and adds its tables, which the array owns, in display order.  The array
	 * already contains the tables of needed passes.  `end_ns` is the time of the capture's last
	 * event.
	 */
	void (*finish)(void *state, int64_t end_ns, GPtrArray *tables);
	void (*free)(void *state);
};

/* NULL-terminated; registry.c. */
extern const struct pp_pass *const pp_passes[];
const struct pp_pass *pp_pass_find(const char *name);

#endif
