/* SPDX-License-Identifier: MIT */
/* A table of counters by kind and thread, and the text of each kind. */
#include "analysis/anomaly.h"

struct counts {
	uint64_t of[PP_N_ANOMALIES];
};

static const char *const texts[PP_N_ANOMALIES] = {
    [PP_ANOMALY_IN_WHILE_RUNNING] = "switched in while already running",
    [PP_ANOMALY_OUT_WHILE_OFF] = "switched out while not running",
    [PP_ANOMALY_IN_WITHOUT_WAKING] = "ended a sleep without a recorded wake-up",
    [PP_ANOMALY_LEFT_CPU_UNSEEN] = "left its CPU without a recorded switch",
    [PP_ANOMALY_SYNC_WHILE_OFF] = "synch-event while off the CPU",
    [PP_ANOMALY_AFTER_END] = "synch-event after the thread's end",
    [PP_ANOMALY_SWITCHES_LOST] = "state unknown after lost scheduling events",
    [PP_ANOMALY_UNSEEN] = "continued after its scheduling was no longer recorded",
    [PP_ANOMALY_COMPLETION_NO_BEGIN] = "end of a wait without its begin",
    [PP_ANOMALY_BEGIN_NO_COMPLETION] = "begin of a wait without its end",
    [PP_ANOMALY_RELEASE_NOT_TAKEN] = "unlock without a recorded lock",
    [PP_ANOMALY_RELEASE_BY_ANOTHER] = "unlock by a thread other than the owner",
    [PP_ANOMALY_RELEASE_MISSING] = "acquired twice without an unlock",
    [PP_ANOMALY_ORDER] = "acquisition stamped later than one that followed it",
};

void pp_anomalies_init(struct pp_anomalies *anomalies)
{
	anomalies->counts = g_array_new(FALSE, TRUE, sizeof(struct counts));
}

void pp_anomalies_done(struct pp_anomalies *anomalies)
{
	g_clear_pointer(&anomalies->counts, g_array_unref);
}

void pp_anomaly_add(struct pp_anomalies *anomalies, enum pp_anomaly kind,
		    const struct pp_thread *thread)
{
	if (!anomalies)
		return;
	if (thread->serial >= anomalies->counts->len)
		g_array_set_size(anomalies->counts, thread->serial + 1);
	g_array_index(anomalies->counts, struct counts, thread->serial).of[kind]++;
}

uint64_t pp_anomaly_count(const struct pp_anomalies *anomalies, enum pp_anomaly kind,
			  const struct pp_thread *thread)
{
	if (thread->serial >= anomalies->counts->len)
		return 0;
	return g_array_index(anomalies->counts, struct counts, thread->serial).of[kind];
}

const char *pp_anomaly_text(enum pp_anomaly kind)
{
	return texts[kind];
}
