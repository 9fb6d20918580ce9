/* SPDX-License-Identifier: MIT */
/* The tracks of slices, and the tracks under which they are grouped, with their numbers. */
#ifndef PP_EXPORT_TRACE_TRACKS_H
#define PP_EXPORT_TRACE_TRACKS_H

#include "export/trace/slices.h"

enum pp_track_kind {
	PP_TRACK_PROCESS,
	PP_TRACK_LOCKS,	     /* of a process */
	PP_TRACK_OPERATIONS, /* of a thread; groups its tracks */
	PP_TRACK_STATES,     /* of a thread */
	PP_TRACK_LOCK,	     /* of an object */
};

struct pp_track_key {
	enum pp_track_kind kind;
	const void *of;
	const struct pp_thread *by; /* the holder, for holds that overlap others; NULL: the
				     * lock's main track */
};

struct pp_track {
	struct pp_track_key key;
	uint64_t number; /* 1, 2, ... */
	bool has_aside;	 /* a lock's main track: it has others by holder */
};

struct pp_tracks {
	GHashTable *known; /* a set of struct pp_track * */
	uint64_t n_ever;
};

void pp_tracks_init(struct pp_tracks *tracks);
void pp_tracks_done(struct pp_tracks *tracks);

/* *ret_is_new: the track was created by this call. */
const struct pp_track *pp_tracks_get(struct pp_tracks *tracks, struct pp_track_key key,
				     bool *ret_is_new);

/* The object no longer exists: its numbers are not used again. */
void pp_tracks_forget(struct pp_tracks *tracks, const struct pp_object *object);

struct pp_track_key pp_track_of_slice(const struct pp_slice *slice);

/* Sets *ret to the track under which it is grouped; false: none. */
bool pp_track_parent(const struct pp_track_key *key, struct pp_track_key *ret);

/* Returns the name of a process: that of its first thread.  NULL: unknown.  The caller frees it. */
char *pp_track_process_name(const struct pp_process *process);

#endif
