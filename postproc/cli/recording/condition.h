/* SPDX-License-Identifier: MIT */
/*
 * The conditions of record --when:
 *
 *   wait > 50ms, wait of NAME > 50ms   a wait for a lock, or for the object NAME of any kind
 *   hold > 10ms, hold of NAME > 10ms   a lock was held
 *   call > 1s, call of NAME > 1s       a blocking call, or one of the function NAME
 *   stall > 1s, stall of NAME > 1s     a thread did not run, or one with that name
 */
#ifndef PP_CLI_RECORDING_CONDITION_H
#define PP_CLI_RECORDING_CONDITION_H

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

enum pp_when_kind { PP_WHEN_WAIT, PP_WHEN_HOLD, PP_WHEN_CALL, PP_WHEN_STALL, PP_N_WHENS };

struct pp_when {
	enum pp_when_kind kind;
	char *name; /* NULL: any */
	int64_t longer_ns;
	const char *text; /* as given; borrowed */
	bool was_seen;	  /* there was an object, function or thread of that name */
	unsigned n_true;  /* so often */
	/* In the look that is going on: */
	unsigned n_hits;
	int64_t longest_ns;
};

/* Returns false if the text is no condition.  The caller frees ->name. */
bool pp_when_parse(const char *text, struct pp_when *ret);

/* "wait", ... */
const char *pp_when_kind_name(enum pp_when_kind kind);

#endif
