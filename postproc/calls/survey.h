/* SPDX-License-Identifier: MIT */
/* Finds properties of a capture's call histories before they are read. */
#ifndef PP_CALLS_SURVEY_H
#define PP_CALLS_SURVEY_H

#include "capture/capture.h"

/* Arrays by thread serial. */
struct pp_calls_survey {
	guint *streams;	    /* the stream with the thread's history, plus 1; 0: none */
	bool *has_returns;  /* its returns are recorded */
	int64_t *firsts_ns; /* the time of its first record */
	bool is_apart;	    /* no thread is in two streams */
};

/*
 * Reads as little as necessary, packet by packet.  Sets the model's start to the first event if
 * that is earlier.  Does not report damage, which the later reading does.  Without for_returns,
 * has_returns stays false.
 */
struct pp_calls_survey *pp_calls_survey_new(struct pp_capture *capture, bool for_returns);
void pp_calls_survey_free(struct pp_calls_survey *survey);

#endif
