/* SPDX-License-Identifier: MIT */
/*
 * Every call that can wait, in one table: what to do so that it waits, what ends the wait, and what
 * the waiting thread has to undo.
 */
#ifndef WAITS_H
#define WAITS_H

#include "behaviour.h"

/* What is waited for.  NULL: nothing to be done. */
struct object {
	void (*hold)(int variant);    /* makes it, and so that who comes waits */
	void (*provide)(int variant); /* makes it, and so that nobody waits; NULL: no such thing */
	void (*enter)(void);	      /* by the waiting thread, before its call */
	void (*let_go)(void);	      /* ends the wait */
	int (*leave)(void);	      /* by the waiting thread once it has it, or was cancelled */
	void (*let_go_anyway)(void);  /* by the other one, if the waiting thread was cancelled */
};

struct wait {
	const char *text;
	const struct object *object;
	int variant;
	bool is_cancellation_point;
};

void wait_call(unsigned which, struct answer *answer);

extern const struct wait waits[];
extern const unsigned n_waits;

#endif
