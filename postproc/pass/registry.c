/* SPDX-License-Identifier: MIT */
/* All passes, in the display order of their sections. */
#include "analysis/pass.h"

#include <glib.h>

#define PASSES(X)                                                                                  \
	X(summary)                                                                                 \
	X(finding)                                                                                 \
	X(flat)                                                                                    \
	X(callgraph)                                                                               \
	X(threads)                                                                                 \
	X(sync)                                                                                    \
	X(io)                                                                                      \
	X(paths)                                                                                   \
	X(calltree)                                                                                \
	X(blame)                                                                                   \
	X(blame_tree)                                                                              \
	X(bottlenecks)                                                                             \
	X(accesses)                                                                                \
	X(conflicts)                                                                               \
	X(ulcp)                                                                                    \
	X(occ_accesses)                                                                            \
	X(occ_timing)                                                                              \
	X(waiting)                                                                                 \
	X(long_operations)                                                                         \
	X(locks)                                                                                   \
	X(switches)                                                                                \
	X(critical_path)                                                                           \
	X(activity)                                                                                \
	X(quality)                                                                                 \
	X(consistency)                                                                             \
	X(calls)                                                                                   \
	X(waits)                                                                                   \
	X(precedence)                                                                              \
	X(lock_order)                                                                              \
	X(sydg)

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
