/* SPDX-License-Identifier: MIT */
/* The time of all threads in a capture, by mode and by critical section. */
#ifndef PP_CLI_CAMPAIGN_FACTS_H
#define PP_CLI_CAMPAIGN_FACTS_H

#include "campaign/verdict.h"
#include "cli/campaign/contention.h"
#include "cli/origin.h"

/* A critical section that others waited for. */
struct pp_facts_section {
	char *lock, *entry, *exit; /* NULL: not known */
	double share_pct;	   /* of all threads' lifetimes */
};

struct pp_facts {
	struct pp_time_use time;
	GPtrArray *sections; /* of struct pp_facts_section *: those waited for most, in order */
	struct pp_origin origin;
	struct pp_contention contention;
	char *blocked_by; /* the first of these in words; NULL: none */
	char *elsewhere;  /* that most waits are for no critical section, in words; NULL: they are
			     not */
	char *error;	  /* why the capture could not be read; NULL: it was read */
};

struct pp_facts *pp_facts_read(const char *dir);
void pp_facts_free(void *facts);

#endif
