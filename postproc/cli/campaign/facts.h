/* SPDX-License-Identifier: MIT */
/* The time of all threads in a capture, by mode and by critical section. */
#ifndef PP_CLI_CAMPAIGN_FACTS_H
#define PP_CLI_CAMPAIGN_FACTS_H

#include "campaign/verdict.h"

struct pp_facts {
	struct pp_time_use time;
	char *blocked_by; /* the critical sections waited for most, with shares; NULL: none */
	char *elsewhere;  /* that most waits are for no critical section, in words; NULL: they are
			     not */
	char *error;	  /* why the capture could not be read; NULL: it was read */
};

struct pp_facts *pp_facts_read(const char *dir);
void pp_facts_free(void *facts);

#endif
