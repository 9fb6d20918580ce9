/* SPDX-License-Identifier: MIT */
/*
 * A selection is the part of a capture that options choose: threads, a time range, objects,
 * functions, and waits of a minimum length.  Values of one kind are alternatives; different kinds
 * must all match.
 *
 * State machines process every event, regardless of the selection, so a thread's state and a lock's
 * owner at the start of the time range are known.  Filters limit what is counted, not what is
 * tracked: durations count with their part within the range, instantaneous events at their time,
 * operations at their return.  Adjacent ranges thus add up to the whole.  Objects are in
 * select_object.h.
 */
#ifndef PP_ANALYSIS_SELECT_H
#define PP_ANALYSIS_SELECT_H

#include "core/windows.h"
#include "analysis/pass.h"

struct pp_operation;

/* Kinds of filters: those that a selection has, and those that a pass supports. */
enum {
	PP_SELECT_THREAD = 1,
	PP_SELECT_TIME = 2,
	PP_SELECT_OBJECT = 4,
	PP_SELECT_FUNCTION = 8,
	PP_SELECT_MIN_WAIT = 16,
	PP_SELECT_ALL = 31,
};

struct pp_selection {
	unsigned by;
	unsigned by_ring; /* PP_SELECT_TIME if nobody but the capture of a ring asks for it */
	const struct pp_model *model; /* times are relative to its start; set with the view */
	int64_t from_ns, to_ns;	      /* from <= time - start < to */
	struct pp_windows *windows;   /* instead of a range of time; NULL */
	int64_t min_wait_ns;
	GPtrArray *tids, *threads, *objects, *functions; /* of struct pp_wanted * */
	/* struct key of a site -> whether its function matches; filled on demand */
	GHashTable *sites;
};

/* A selected value: a name or a number. */
struct pp_wanted {
	char *text;
	uint64_t number;     /* tid, or address; 0: a name */
	unsigned generation; /* for an object given by its address; 0: all */
	bool found;
};

struct pp_selection *pp_selection_new(void);
void pp_selection_free(struct pp_selection *selection);

void pp_select_tid(struct pp_selection *selection, uint32_t tid);

/* True if the thread's name, as tables show it or as the kernel has it, matches the pattern. */
bool pp_thread_has_name(const struct pp_thread *thread, const char *pattern);

/* Selects threads by name, with a shell pattern. */
void pp_select_thread_name(struct pp_selection *selection, const char *pattern);

/* Selects functions by a shell pattern; it matches callers and callees. */
void pp_select_function(struct pp_selection *selection, const char *pattern);

/*
 * Selects "0xADDRESS", "0xADDRESS/GENERATION", or a name as tables show it.  Returns false if the
 * text is malformed.
 */
bool pp_select_object(struct pp_selection *selection, const char *text);

/*
 * Selects "A~B", "A~" or "~B": seconds since the start, or with a unit.  Returns false if the text
 * is not such a range.
 */
bool pp_select_time(struct pp_selection *selection, const char *text);

/*
 * Limits the selection to the time that the capture of a ring has (pp_model_begins_late()): of
 * some threads it has earlier events, too.
 */
void pp_select_of_ring(struct pp_selection *selection, const struct pp_model *model);

/*
 * Selects waits of at least "10us"; the unit is required.  Returns false if the text is not a
 * duration.
 */
bool pp_select_min_wait(struct pp_selection *selection, const char *text);

/*
 * The options that belong to these bits: "--time, --object"; NULL if there are none.  The caller
 * frees the text.
 */
char *pp_selection_names(unsigned by);

/* --- for passes; without a selection, everything matches ------------------------------------ */

bool pp_selects_by(const struct pp_pass_context *context, unsigned by);

bool pp_selects_thread(const struct pp_pass_context *context, const struct pp_thread *thread);

bool pp_selects_function(const struct pp_pass_context *context, const char *name);

/* These require a selection; use the inline functions below. */
bool pp_selection_has_time(const struct pp_selection *selection, int64_t time_ns);
int64_t pp_selection_part_ns(const struct pp_selection *selection, int64_t start_ns,
			     int64_t end_ns);
bool pp_selection_part(const struct pp_selection *selection, int64_t *start_ns, int64_t *end_ns);
bool pp_selection_has_operation(const struct pp_pass_context *context,
				const struct pp_operation *operation);
bool pp_selection_has_call(const struct pp_pass_context *context, const struct pp_thread *thread,
			   const char *name, uint64_t site, int64_t wait_ns);

static inline bool pp_selects_time(const struct pp_pass_context *context, int64_t time_ns)
{
	return !context->selection || pp_selection_has_time(context->selection, time_ns);
}

/* The part of the interval that is within the selected time, in ns. */
static inline int64_t pp_selected_ns(const struct pp_pass_context *context, int64_t start_ns,
				     int64_t end_ns)
{
	return context->selection ? pp_selection_part_ns(context->selection, start_ns, end_ns)
				  : end_ns - start_ns;
}

/* Limits the interval to the selected time.  Returns false if nothing is left. */
static inline bool pp_select_part(const struct pp_pass_context *context, int64_t *start_ns,
				  int64_t *end_ns)
{
	return !context->selection ? *end_ns > *start_ns
				   : pp_selection_part(context->selection, start_ns, end_ns);
}

/* Checks thread, function and wait, but neither time nor object. */
static inline bool pp_selects_operation(const struct pp_pass_context *context,
					const struct pp_operation *operation)
{
	return !context->selection || pp_selection_has_operation(context, operation);
}

/* The same for a call of that function, from that site, which took so long. */
static inline bool pp_selects_call(const struct pp_pass_context *context,
				   const struct pp_thread *thread, const char *name, uint64_t site,
				   int64_t wait_ns)
{
	return !context->selection || pp_selection_has_call(context, thread, name, site, wait_ns);
}

#endif
