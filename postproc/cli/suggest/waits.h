/* SPDX-License-Identifier: MIT */
/* The time that threads of a run waited for locks, and the cycles in which they take locks. */
#ifndef PP_CLI_SUGGEST_WAITS_H
#define PP_CLI_SUGGEST_WAITS_H

#include "cli/view.h"

struct pp_suggest_cycle {
	char *locks;   /* "a, b": their names, sorted */
	char *verdict; /* of `graph --kind lock-order` */
	char *steps;   /* "a is held since f (x.c:3), b wanted at g (x.c:5); ..." */
};

struct pp_suggest_waits {
	GHashTable *by_lock; /* name -> int64_t *, ns */
	int64_t all_ns;	     /* of all locks */
	GPtrArray *cycles;   /* of struct pp_suggest_cycle * */
};

/* Reads the events of the view.  Returns 0 or -errno; the caller calls pp_suggest_waits_done(). */
int pp_suggest_waits_read(struct pp_suggest_waits *waits, struct pp_view *view,
			  struct pp_error *err);
void pp_suggest_waits_done(struct pp_suggest_waits *waits);

/* For locks of that name, together. */
int64_t pp_suggest_waits_for(const struct pp_suggest_waits *waits, const char *lock);

#endif
