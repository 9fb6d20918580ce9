/* SPDX-License-Identifier: MIT */
/* Every pass, in the order in which they run and end: one after those whose tables it needs. */
#include "pass/pass.h"

#include <glib.h>

#define PASSES(X)                                                                                  \
	X(flat)                                                                                    \
	X(callgraph)                                                                               \
	X(threads)                                                                                 \
	X(sync)                                                                                    \
	X(locks)                                                                                   \
	X(paths)                                                                                   \
	X(activity)                                                                                \
	X(switches)                                                                                \
	X(calls)                                                                                   \
	X(waits)                                                                                   \
	X(precedence)                                                                              \
	X(lock_order)                                                                              \
	X(critical_path)                                                                           \
	X(summary)                                                                                 \
	X(consistency)                                                                             \
	X(quality)

#define DECLARE(name) extern const struct pp_pass pp_pass_##name;
PASSES(DECLARE)
#undef DECLARE

const struct pp_pass *const pp_passes[] = {
#define ENTRY(name) &pp_pass_##name,
    PASSES(ENTRY)
#undef ENTRY
	NULL,
};

const struct pp_pass *pp_pass_find(const char *name)
{
	for (unsigned i = 0; pp_passes[i]; i++)
		if (g_str_equal(pp_passes[i]->name, name))
			return pp_passes[i];
	return NULL;
}
