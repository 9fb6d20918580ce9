/* SPDX-License-Identifier: MIT */
/* A share that is rounded to all or nothing would say that nothing is left. */
#include "core/text/share.h"

#include <glib.h>

char *pp_share_text(uint64_t part, uint64_t all)
{
	double pct = all ? 100.0 * (double)part / (double)all : 0;

	if (part == 0 || part >= all || (pct >= 1 && pct <= 99))
		return g_strdup_printf("%.0f %%", pct);
	if (pct < 0.1)
		return g_strdup("less than 0.1 %");
	return pct > 99.9 ? g_strdup("more than 99.9 %") : g_strdup_printf("%.1f %%", pct);
}
