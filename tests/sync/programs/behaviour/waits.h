/* SPDX-License-Identifier: MIT */
/*
 * Every call that can wait, in one table: what to do so that it waits, what ends the wait, and what
 * the waiting thread has to undo.
 */
#ifndef WAITS_H
#define WAITS_H

#include "behaviour.h"

/* The object that is waited for.  NULL: there is nothing to do. */
struct object {
	void (*hold)(int variant);    /* makes it, such that the next thread waits */
	void (*provide)(int variant); /* makes it, such that no thread waits; NULL: not possible */
	void (*enter)(void);	      /* by the waiting thread, before its call */
	void (*let_go)(void);	      /* ends the wait */
	int (*leave)(void); /* by the waiting thread when it has the object or is cancelled */
	void (*let_go_anyway)(void); /* by the other one, if the waiting thread was cancelled */
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
