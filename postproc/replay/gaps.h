/* SPDX-License-Identifier: MIT */
/* The facts of a run that are missing in its capture. */
#ifndef PP_REPLAY_GAPS_H
#define PP_REPLAY_GAPS_H

#include <stdint.h>

/* A wait of unknown end becomes a sleep. */
struct pp_replay_gaps {
	uint64_t unknown_waits; /* nothing tells what ended them */
	uint64_t lost_events;
	uint64_t only_counted; /* threads of which only waits were recorded, at least at times */
	uint64_t late_threads; /* their begin, or their creator, is not known */
	int64_t filled_ns;     /* the time of unknown waits */
	/* In the history of calls, if it is wanted: */
	uint64_t lost_calls;	  /* calls and returns */
	uint64_t without_returns; /* threads */
	uint64_t lone_returns;	  /* returns from functions that are not on the call stack */
};

#endif
