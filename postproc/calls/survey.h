/* SPDX-License-Identifier: MIT */
/* What the histories of calls of a capture are like, before they are read. */
#ifndef PP_CALLS_SURVEY_H
#define PP_CALLS_SURVEY_H

#include "capture/capture.h"

/* By serial of the thread. */
struct pp_calls_survey {
	guint *streams;	    /* that its history is in, plus 1; 0: it has none */
	bool *has_returns;  /* which tells of returns */
	int64_t *firsts_ns; /* when it begins */
	bool is_apart;	    /* no thread is in two streams */
};

/*
 * Reads no more than it has to, packet by packet.  The model's start is no later than their first
 * event then.  Says nothing of damage: whoever reads them does.
 * Not for_returns: has_returns stays as it is, false.
 */
struct pp_calls_survey *pp_calls_survey_new(struct pp_capture *capture, bool for_returns);
void pp_calls_survey_free(struct pp_calls_survey *survey);

#endif
