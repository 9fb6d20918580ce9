/* SPDX-License-Identifier: MIT */
/*
 * Thread activity over time in the form of viewers: slices and instants on tracks.  Each thread has
 * a track of its states, which follow each other without a gap, and one of its operations that
 * waited; each lock has a track of its holders.
 *
 * Slices are passed on when they end, so they are not in time order; those of one track come in
 * order of their ends.  A release is an instant, passed on together with the wait that it ended.
 */
#ifndef PP_EXPORT_TRACE_SLICES_H
#define PP_EXPORT_TRACE_SLICES_H

#include "export/exporter.h"
#include "analysis/state/object_state.h"

enum pp_slice_kind {
	PP_SLICE_STATE,
	PP_SLICE_WAIT,
	PP_SLICE_RELEASE, /* an instant that ended another thread's wait */
	PP_SLICE_HOLD,
};

/*
 * A slice within a wait, from the release that ended it.  The flow leads to this slice, because
 * viewers draw a flow from the slice that began earlier.
 */
#define PP_SLICES_WOKEN "woken"

/* An annotation of a slice. */
struct pp_slice_note {
	const char *key;
	const char *text; /* NULL: use `number` */
	int64_t number;
};

#define PP_SLICE_NOTES 8

struct pp_slice {
	enum pp_slice_kind kind;
	const struct pp_thread *thread; /* the thread of the state or operation; for a hold, the
					 * holder */
	struct pp_object *object;	/* of a hold, wait or release */
	const char *name;
	int64_t start_ns, end_ns;
	bool is_aside;	  /* a hold that overlaps others of the object, such as a reader's */
	uint64_t flow;	  /* connects a release with its wait by the same number; 0: none */
	int64_t woken_ns; /* of a wait with a flow: time of the release */
	unsigned n_notes;
	struct pp_slice_note notes[PP_SLICE_NOTES];
};

struct pp_slices;

#define PP_SLICES_KINDS	  PP_THREAD_STATE_KINDS
#define PP_SLICES_SELECTS (PP_SELECT_THREAD | PP_SELECT_TIME)

/*
 * Passes selected slices to `take`, cut to the selected time.  The texts are valid during the call.
 * After `forget`, there are no more slices of the object, whose memory may be another's then.
 */
struct pp_slices *pp_slices_new(const struct pp_export *export,
				void (*take)(void *data, const struct pp_slice *slice),
				void (*forget)(void *data, const struct pp_object *object),
				void *data);
void pp_slices_free(struct pp_slices *slices);
void pp_slices_event(struct pp_slices *slices, const struct pp_event *event);
void pp_slices_finish(struct pp_slices *slices, int64_t end_ns);

/* Returns the error for an export without any slice. */
int pp_slices_nothing(const struct pp_export *export, struct pp_error *err);

/* If there are no scheduling events, adds a note on the consequences. */
void pp_slices_note_kernel(const struct pp_export *export);

/*
 * Returns the object's name with its address, because several may have the same name.  The text is
 * valid as long as the object, or until the next call for a thread.
 */
const char *pp_slices_object(struct pp_slices *slices, struct pp_object *object);

#endif
