/* SPDX-License-Identifier: MIT */
/* Finds properties of a capture's call histories before they are read. */
#ifndef PP_CALLS_SURVEY_H
#define PP_CALLS_SURVEY_H

#include "capture/capture.h"

/*
 * Arrays by thread serial.  Threads that only the kernel knows may join the model after the survey;
 * they have no history, so ask through the functions below.
 */
struct pp_calls_survey {
	guint n_threads;    /* in the model at the time of the survey */
	guint *streams;	    /* the stream with the thread's history, plus 1; 0: none */
	bool *has_returns;  /* its returns are recorded */
	int64_t *firsts_ns; /* the time of its first record */
	bool is_apart;	    /* no thread is in two streams */
};

static inline bool pp_calls_survey_has_history(const struct pp_calls_survey *survey, guint serial)
{
	return serial < survey->n_threads && survey->streams[serial];
}

static inline bool pp_calls_survey_has_returns(const struct pp_calls_survey *survey, guint serial)
{
	return serial < survey->n_threads && survey->has_returns[serial];
}

/*
 * Reads as little as necessary, packet by packet.  Sets the model's start to the first event if
 * that is earlier.  Does not report damage, which the later reading does.  Without for_returns,
 * has_returns stays false.
 */
struct pp_calls_survey *pp_calls_survey_new(struct pp_capture *capture, bool for_returns);
void pp_calls_survey_free(struct pp_calls_survey *survey);

#endif
