/* SPDX-License-Identifier: MIT */
/*
 * Contradictions between events: counted per kind and thread, never repaired by inventing time.
 * A state machine that meets one says so here and goes on from what the newer event proves.
 */
#ifndef PP_ANALYSIS_ANOMALY_H
#define PP_ANALYSIS_ANOMALY_H

#include "core/model.h"

enum pp_anomaly {
	PP_ANOMALY_IN_WHILE_RUNNING,	/* switched in, but it was already on a CPU */
	PP_ANOMALY_OUT_WHILE_OFF,	/* switched out, but it was not on a CPU */
	PP_ANOMALY_IN_WITHOUT_WAKING,	/* left a sleep that no wake-up ended */
	PP_ANOMALY_LEFT_CPU_UNSEEN,	/* another left its CPU although this one was there */
	PP_ANOMALY_SYNC_WHILE_OFF,	/* a synch-event while off the CPU */
	PP_ANOMALY_AFTER_END,		/* a synch-event after the thread's end */
	PP_ANOMALY_SWITCHES_LOST,	/* the thread's state is not known after lost records */
	PP_ANOMALY_UNSEEN,		/* it went on when scheduling was no longer recorded */
	PP_ANOMALY_COMPLETION_NO_BEGIN, /* an operation that always waits, without its begin */
	PP_ANOMALY_BEGIN_NO_COMPLETION, /* a begin given up: the thread went on without it */
	PP_ANOMALY_RELEASE_NOT_TAKEN,	/* unlock of a mutex that was not seen taken */
	PP_ANOMALY_RELEASE_BY_ANOTHER,	/* unlock by a thread other than the owner */
	PP_ANOMALY_RELEASE_MISSING,	/* taken by another thread, and no unlock in between */
	PP_N_ANOMALIES
};

struct pp_anomalies {
	GArray *counts; /* by thread serial, of uint64_t[PP_N_ANOMALIES] */
};

void pp_anomalies_init(struct pp_anomalies *anomalies);
void pp_anomalies_done(struct pp_anomalies *anomalies);

/* Does nothing where anomalies is NULL. */
void pp_anomaly_add(struct pp_anomalies *anomalies, enum pp_anomaly kind,
		    const struct pp_thread *thread);

uint64_t pp_anomaly_count(const struct pp_anomalies *anomalies, enum pp_anomaly kind,
			  const struct pp_thread *thread);

/* One line, as the quality section shows it. */
const char *pp_anomaly_text(enum pp_anomaly kind);

#endif
