/* SPDX-License-Identifier: MIT */
/* The key of data about a cache line of a process, as the first member, for hash tables. */
#ifndef PP_ANALYSIS_LINE_KEY_H
#define PP_ANALYSIS_LINE_KEY_H

#include <glib.h>

#include "analysis/mix.h"
#include "core/model.h"

struct pp_line_key {
	const struct pp_process *process;
	uint64_t address;
};

static inline guint pp_line_hash(const void *data)
{
	const struct pp_line_key *key = data;

	return (guint)pp_mix((uintptr_t)key->process, key->address);
}

static inline gboolean pp_line_equal(const void *a, const void *b)
{
	const struct pp_line_key *x = a, *y = b;

	return x->process == y->process && x->address == y->address;
}

#endif
