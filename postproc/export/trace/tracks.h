/* SPDX-License-Identifier: MIT */
/* The tracks that slices are on, and those that these are grouped under, with a number each. */
#ifndef PP_EXPORT_TRACE_TRACKS_H
#define PP_EXPORT_TRACE_TRACKS_H

#include "export/trace/slices.h"

enum pp_track_kind {
	PP_TRACK_PROCESS,
	PP_TRACK_LOCKS,	     /* of a process */
	PP_TRACK_OPERATIONS, /* of a thread, and what stands for that */
	PP_TRACK_STATES,     /* of a thread */
	PP_TRACK_LOCK,	     /* of an object */
};

struct pp_track_key {
	enum pp_track_kind kind;
	const void *of;
	const struct pp_thread *by; /* of a lock, whose holds overlap others'; NULL: the rest */
};

struct pp_track {
	struct pp_track_key key;
	uint64_t number; /* 1, 2, ... */
};

GHashTable *pp_tracks_new(void); /* a set of struct pp_track * */

/* *ret_is_new: it was not there yet. */
const struct pp_track *pp_tracks_get(GHashTable *tracks, struct pp_track_key key, bool *ret_is_new);

struct pp_track_key pp_track_of_slice(const struct pp_slice *slice);

/* What it is grouped under; false: nothing. */
bool pp_track_parent(const struct pp_track_key *key, struct pp_track_key *ret);

const struct pp_process *pp_track_process(const struct pp_track_key *key);

/* The name of a process: its first thread's.  NULL: not known.  The caller frees it. */
char *pp_track_process_name(const struct pp_process *process);

#endif
