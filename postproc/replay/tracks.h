/* SPDX-License-Identifier: MIT */
/*
 * The state of a builder. Its parts add time and steps to the tracks of threads (tracks.c), take
 * the operations (build.c), and make the model (assemble.c).
 */
#ifndef PP_REPLAY_TRACKS_H
#define PP_REPLAY_TRACKS_H

#include "analysis/contention/contention.h"
#include "analysis/state/object_state.h"
#include "analysis/state/wait_end.h"
#include "analysis/state/thread_state.h"
#include "replay/call_times.h"
#include "replay/cut.h"
#include "replay/delays.h"
#include "replay/gaps.h"
#include "replay/numbers.h"
#include "replay/others.h"
#include "replay/shares.h"
#include "replay/units.h"
#include "replay/wakes.h"

#define PP_BUILD_LATER                                                                             \
	UINT32_MAX /* the number of a step or thread that is known at the end only                 \
		    */

struct track {
	const struct pp_thread *thread;
	GArray *steps; /* of struct pp_replay_step */
	bool has_creator;
	bool is_woken;	 /* since it had a CPU */
	uint32_t number; /* in the model */
	uint32_t *rank;	 /* of the last step, of all threads */
	struct pp_contention *contention;
	struct pp_contender contender;
	struct pp_replay_call_times *call_times; /* NULL: not wanted */
	GArray *contended; /* of uint32_t: numbers of the steps after contended releases; NULL */
};

/* struct pp_object.data */
struct mapped {
	uint32_t number;    /* PP_BUILD_LATER: it has none so far */
	int64_t value;	    /* of a semaphore: posts minus waits so far */
	int64_t least;	    /* ... and its minimum */
	unsigned n_waiting; /* threads */
};

/* A thread was created by that step. */
struct creation {
	struct track *creator;
	uint32_t step;
	const struct pp_object *object;
};

/* The part of the time that the model is of; times are since the begin of the capture. */
struct pp_build_part {
	bool is_wanted, is_begun;
	int64_t from_ns, to_ns;
	int64_t run_ns;	 /* the begin of the run, as the time of an event */
	GArray *threads; /* of struct pp_replay_cut_thread, by serial */
};

struct pp_replay_builder {
	const struct pp_pass_context *context;
	struct pp_thread_listener thread_listener;
	struct pp_object_listener object_listener;
	struct pp_thread_states *states;
	struct pp_objects objects;
	struct pp_wait_ends ends;
	GPtrArray *tracks; /* by serial, of struct track * */
	GPtrArray *mapped; /* of const struct pp_object *, by number in the model */
	GArray *creations; /* of struct creation */
	struct pp_replay_numbers *numbers;
	GHashTable *sites; /* address -> number */
	GArray *addresses; /* of uint64_t, by number - 1 */
	struct pp_replay_wakes *wakes;
	struct pp_replay_others *others;
	struct pp_replay_delays *delays;
	enum pp_replay_wake_to wake_to;	 /* the CPU to which the present switch brings a thread */
	struct pp_replay_shares *shares; /* NULL: not wanted */
	struct pp_replay_call_times *call_times; /* the same */
	struct pp_replay_units *units;
	struct pp_contention *contention;
	const struct pp_process *process;
	struct pp_replay_gaps gaps;
	uint32_t rank; /* of the last step */
	struct pp_build_part part;
};

/*
 * Notes how far all threads are when the part begins, at the first event in it. Returns false for
 * an event behind the part.
 */
bool pp_build_part_has(struct pp_replay_builder *self, const struct pp_event *event);

/* The time of an event at that time of the capture. */
int64_t pp_build_part_time(const struct pp_replay_builder *self, int64_t since_ns);

/* The time, or the end of the part, if that is first. */
int64_t pp_build_part_end(const struct pp_replay_builder *self, int64_t ns);

/* No more events come. */
void pp_build_part_finish(struct pp_replay_builder *self);

/* The thread's track, which is added if there is none; with the time up to now. */
struct track *pp_build_track(struct pp_replay_builder *self, const struct pp_thread *thread);
struct track *pp_build_track_until(struct pp_replay_builder *self, const struct pp_thread *thread,
				   int64_t now_ns);

/* The track of the thread with that serial number; NULL: there is none. */
struct track *pp_build_track_at(const struct pp_replay_builder *self, uint32_t serial);
void pp_build_track_free(void *data);

/* The number of a call site; PP_REPLAY_NO_SITE for 0. */
uint32_t pp_build_site(struct pp_replay_builder *self, uint64_t site);

/* Adds time up to then, in that mode. */
void pp_build_account(struct track *track, int64_t until_ns, enum pp_mode mode);

/*
 * Adds the step, with the CPU time since the one before, and returns its number. Callbacks come in
 * the order of time, and so do the steps of all threads; without the last ones, which are added at
 * the end.
 */
uint32_t pp_build_step(struct track *track, struct pp_replay_step step);
void pp_build_sleep(struct track *track, int64_t ns);

#endif
