/* SPDX-License-Identifier: MIT */
/*
 * What of a capture is to be shown: some threads, a part of the time, some objects, some functions,
 * waits of some length.  Of one kind any may match, of different kinds all must.
 *
 * State machines see every event, whatever is selected: what a thread was in when the time begins,
 * and who held a lock then, is known.  Filters limit what is counted, not what is tracked: a
 * duration to its part within the time; what happens once counts when it happens, an operation when
 * it returns.  So adjacent times add up to the whole.  select_object.h has the objects.
 */
#ifndef PP_ANALYSIS_SELECT_H
#define PP_ANALYSIS_SELECT_H

#include "analysis/pass.h"

struct pp_operation;

/* Bits: what a selection chooses by, and what a pass can be chosen by. */
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
	const struct pp_model *model; /* whose start the time is counted from; set with the view */
	int64_t from_ns, to_ns;	      /* from <= time - start < to */
	int64_t min_wait_ns;
	GPtrArray *tids, *threads, *objects, *functions; /* of struct pp_wanted * */
	GHashTable *sites; /* struct key of a site -> does its function match; filled as needed */
};

/* Something asked for by name, or number. */
struct pp_wanted {
	char *text;
	uint64_t number;     /* tid, or address; 0: a name */
	unsigned generation; /* of an object given by its address; 0: all */
	bool found;
};

struct pp_selection *pp_selection_new(void);
void pp_selection_free(struct pp_selection *selection);

void pp_select_tid(struct pp_selection *selection, uint32_t tid);

/* A pattern, as the shell has them, for the threads' names. */
void pp_select_thread_name(struct pp_selection *selection, const char *pattern);

/* A pattern for functions: that make the call, or that are called. */
void pp_select_function(struct pp_selection *selection, const char *pattern);

/* "0xADDRESS", "0xADDRESS/GENERATION", or a name as tables show it.  False: none of these. */
bool pp_select_object(struct pp_selection *selection, const char *text);

/* "A~B", "A~", "~B": seconds since the start, or with a unit.  False: not such a range. */
bool pp_select_time(struct pp_selection *selection, const char *text);

/* "10us": a unit must be there.  False: not a duration. */
bool pp_select_min_wait(struct pp_selection *selection, const char *text);

/* "--time, --object": the options of those bits; NULL: none.  The caller frees it. */
char *pp_selection_names(unsigned by);

/* --- for passes; all is selected where the context has no selection ------------------------- */

bool pp_selects_by(const struct pp_pass_context *context, unsigned by);

bool pp_selects_thread(const struct pp_pass_context *context, const struct pp_thread *thread);

bool pp_selects_function(const struct pp_pass_context *context, const char *name);

/* Where there is a selection; see below. */
bool pp_selection_has_time(const struct pp_selection *selection, int64_t time_ns);
int64_t pp_selection_part_ns(const struct pp_selection *selection, int64_t start_ns,
			     int64_t end_ns);
bool pp_selection_part(const struct pp_selection *selection, int64_t *start_ns, int64_t *end_ns);
bool pp_selection_has_operation(const struct pp_pass_context *context,
				const struct pp_operation *operation);

static inline bool pp_selects_time(const struct pp_pass_context *context, int64_t time_ns)
{
	return !context->selection || pp_selection_has_time(context->selection, time_ns);
}

/* So much of it is within the time. */
static inline int64_t pp_selected_ns(const struct pp_pass_context *context, int64_t start_ns,
				     int64_t end_ns)
{
	return context->selection ? pp_selection_part_ns(context->selection, start_ns, end_ns)
				  : end_ns - start_ns;
}

/* Cuts it to that; false: nothing of it is. */
static inline bool pp_select_part(const struct pp_pass_context *context, int64_t *start_ns,
				  int64_t *end_ns)
{
	return !context->selection ? *end_ns > *start_ns
				   : pp_selection_part(context->selection, start_ns, end_ns);
}

/* By thread, function and wait; not by time and object. */
static inline bool pp_selects_operation(const struct pp_pass_context *context,
					const struct pp_operation *operation)
{
	return !context->selection || pp_selection_has_operation(context, operation);
}

#endif
