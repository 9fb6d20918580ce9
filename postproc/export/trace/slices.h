/* SPDX-License-Identifier: MIT */
/*
 * What threads did over time, as viewers draw it: slices and instants on tracks.  Each thread has a
 * track of its states, which follow each other without a gap, and one of its operations that had to
 * wait; each lock has a track of who held it.
 *
 * Slices come when they are over, so not in order of time; those of one track come in the order of
 * their ends.  What released an object is an instant, told with the wait that it ended.
 */
#ifndef PP_EXPORT_TRACE_SLICES_H
#define PP_EXPORT_TRACE_SLICES_H

#include "export/exporter.h"
#include "analysis/state/object_state.h"

enum pp_slice_kind {
	PP_SLICE_STATE,
	PP_SLICE_WAIT,
	PP_SLICE_RELEASE, /* an instant: ended another thread's wait */
	PP_SLICE_HOLD,
};

/*
 * A slice within a wait, from the release that ended it on.  The flow leads to that, as viewers
 * have flows lead from the slice that began earlier to the other.
 */
#define PP_SLICES_WOKEN "woken"

/* More about a slice. */
struct pp_slice_note {
	const char *key;
	const char *text; /* NULL: it is the number */
	int64_t number;
};

#define PP_SLICE_NOTES 8

struct pp_slice {
	enum pp_slice_kind kind;
	const struct pp_thread *thread; /* that is in it; of a hold: that held the object */
	struct pp_object *object;	/* of a hold, wait or release: which */
	const char *name;
	int64_t start_ns, end_ns;
	bool is_aside;	  /* a hold: overlaps the object's others, as readers' do */
	uint64_t flow;	  /* from a release to the wait with the same; 0: none */
	int64_t woken_ns; /* of a wait with a flow: when the release was */
	unsigned n_notes;
	struct pp_slice_note notes[PP_SLICE_NOTES];
};

struct pp_slices;

#define PP_SLICES_KINDS	  PP_THREAD_STATE_KINDS
#define PP_SLICES_SELECTS (PP_SELECT_THREAD | PP_SELECT_TIME)

/* What is selected goes to `take`, cut to the time selected; its texts stay valid. */
struct pp_slices *pp_slices_new(const struct pp_export *export,
				void (*take)(void *data, const struct pp_slice *slice), void *data);
void pp_slices_free(struct pp_slices *slices);
void pp_slices_event(struct pp_slices *slices, const struct pp_event *event);
void pp_slices_finish(struct pp_slices *slices, int64_t end_ns);

/* There was nothing to tell: the error that says so. */
int pp_slices_nothing(const struct pp_export *export, struct pp_error *err);

/* Notes what is not known without scheduling events, if there are none. */
void pp_slices_note_kernel(const struct pp_export *export);

/* What a person calls the object, with its address: several may have one name.  Stays valid. */
const char *pp_slices_object(struct pp_slices *slices, struct pp_object *object);

#endif
