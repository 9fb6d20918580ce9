/* SPDX-License-Identifier: MIT */
/*
 * Contradictions between events.  They are counted by kind and thread; no time is invented to
 * repair them.  A state machine that finds one counts it here and continues from the state that the
 * newer event proves.
 */
#ifndef PP_ANALYSIS_ANOMALY_H
#define PP_ANALYSIS_ANOMALY_H

#include "core/model.h"

enum pp_anomaly {
	PP_ANOMALY_IN_WHILE_RUNNING,  /* switched in, but it was already on a CPU */
	PP_ANOMALY_OUT_WHILE_OFF,     /* switched out, but it was not on a CPU */
	PP_ANOMALY_IN_WITHOUT_WAKING, /* became running, although no wake-up ended its sleep */
	PP_ANOMALY_LEFT_CPU_UNSEEN,   /* another thread was switched out on its CPU */
	PP_ANOMALY_SYNC_WHILE_OFF,    /* a synch-event while it was not on a CPU */
	PP_ANOMALY_AFTER_END,	      /* a synch-event after the thread's end */
	PP_ANOMALY_SWITCHES_LOST,     /* its state is unknown after lost records */
	/* it was alive when recording of its CPU's scheduling ended */
	PP_ANOMALY_UNSEEN,
	PP_ANOMALY_COMPLETION_NO_BEGIN, /* an operation that always waits has no begin */
	/* a begin without completion: the thread continued without it */
	PP_ANOMALY_BEGIN_NO_COMPLETION,
	PP_ANOMALY_RELEASE_NOT_TAKEN,  /* unlock of a mutex without a recorded acquisition */
	PP_ANOMALY_RELEASE_BY_ANOTHER, /* unlock by a thread other than the owner */
	/* acquired by another thread without an unlock in between */
	PP_ANOMALY_RELEASE_MISSING,
	/* stamped later than an acquisition of the lock that came after it ([sync] order) */
	PP_ANOMALY_ORDER,
	PP_N_ANOMALIES
};

struct pp_anomalies {
	GArray *counts; /* by thread serial, of uint64_t[PP_N_ANOMALIES] */
};

void pp_anomalies_init(struct pp_anomalies *anomalies);
void pp_anomalies_done(struct pp_anomalies *anomalies);

/* Does nothing if anomalies is NULL. */
void pp_anomaly_add(struct pp_anomalies *anomalies, enum pp_anomaly kind,
		    const struct pp_thread *thread);

uint64_t pp_anomaly_count(const struct pp_anomalies *anomalies, enum pp_anomaly kind,
			  const struct pp_thread *thread);

/* The text of a row in the quality section. */
const char *pp_anomaly_text(enum pp_anomaly kind);

#endif
