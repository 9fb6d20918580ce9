/* SPDX-License-Identifier: MIT */
/* Numbers for the call sites of operations and of blocking calls, as indexes of counters. */
#ifndef PP_ANALYSIS_GRAPH_CALL_SITES_H
#define PP_ANALYSIS_GRAPH_CALL_SITES_H

#include "core/event.h"
#include "core/namer.h"

struct pp_call_site {
	const struct pp_process *process;
	/* the call's return address; for a thread's begin, its start routine; 0: not known */
	uint64_t site;
	/* never X_begin; ST_N_EVENTS: the thread began; of a blocking call: pp_io_op() */
	enum st_event op;
};

struct pp_call_sites {
	GArray *all; /* of struct pp_call_site */
	GHashTable *number_of;
};

void pp_call_sites_init(struct pp_call_sites *sites);
void pp_call_sites_done(struct pp_call_sites *sites);

/* Returns the site's number: 0, 1, ... in order of appearance. */
uint32_t pp_call_sites_number(struct pp_call_sites *sites, struct pp_call_site site);

static inline const struct pp_call_site *pp_call_sites_at(const struct pp_call_sites *sites,
							  uint32_t number)
{
	return &g_array_index(sites->all, struct pp_call_site, number);
}

/* The call site of a synch-event or a blocking call; begin and end have the same. */
struct pp_call_site pp_call_site_of(const struct pp_event *event);

/* The site as text; NULL if not known.  The caller frees it. */
char *pp_call_site_text(const struct pp_call_site *site, const struct pp_namer *namer);

/* The called function, "pthread_mutex_lock", or the event's name; NULL if the thread began. */
const char *pp_call_site_function(const struct pp_call_site *site);

#endif
