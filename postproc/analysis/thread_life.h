/* SPDX-License-Identifier: MIT */
/*
 * The inside of thread_state.h: one thread's life as contiguous intervals, and the operations that
 * it waits in, innermost last.  For thread_state.c alone.
 */
#ifndef PP_ANALYSIS_THREAD_LIFE_H
#define PP_ANALYSIS_THREAD_LIFE_H

#include "analysis/thread_state.h"

struct pp_cpu {
	struct pp_thread_state *current; /* NULL: none of ours, or not known */
	int64_t last_ns;		 /* of the last switch here */
};

struct pp_thread_states {
	const struct pp_pass_context *context;
	const struct pp_model *model;
	const struct pp_thread_listener *listener;
	struct pp_anomalies *anomalies;
	bool has_kernel, has_wakings;
	bool unseen;	    /* of a CPU, at least, there are no more events */
	GPtrArray *threads; /* by serial, of struct pp_thread_state *; NULL: not seen */
	GHashTable *by_tid; /* tid -> the state of the thread that had it last */
	GArray *cpus;	    /* of struct pp_cpu */
};

void pp_life_anomaly(struct pp_thread_states *states, enum pp_anomaly kind,
		     const struct pp_thread_state *self);

/* Whoever had the tid before is gone, even if no event said so. */
void pp_life_start(struct pp_thread_states *states, struct pp_thread_state *self, int64_t now_ns,
		   enum pp_mode mode);

/* Also the end of whatever operations it was in.  `mode`: since the last change. */
void pp_life_end(struct pp_thread_states *states, struct pp_thread_state *self, int64_t now_ns,
		 enum pp_mode mode);

/* The time since the last change, up to until_ns, was spent in `mode`. */
void pp_life_close(struct pp_thread_states *states, struct pp_thread_state *self, int64_t until_ns,
		   enum pp_mode mode);

/* From the last close on. */
void pp_life_enter(struct pp_thread_states *states, struct pp_thread_state *self,
		   enum pp_mode mode);

/* Both. */
void pp_life_change(struct pp_thread_states *states, struct pp_thread_state *self, int64_t now_ns,
		    enum pp_mode mode);

/* The operation that the thread is waiting in; NULL: none. */
const struct pp_operation *pp_life_innermost(const struct pp_thread_state *self);

/* An X_begin, an X. */
void pp_life_begin(struct pp_thread_states *states, struct pp_thread_state *self,
		   const struct pp_event *event);
void pp_life_complete(struct pp_thread_states *states, struct pp_thread_state *self,
		      const struct pp_event *event);

/*
 * Operations from `keep` inwards will not return any more.  end_ns: until when they waited;
 * PP_TIME_UNKNOWN: nobody can tell.
 */
void pp_life_give_up(struct pp_thread_states *states, struct pp_thread_state *self, unsigned keep,
		     int64_t end_ns);

#endif
