/* SPDX-License-Identifier: MIT */
/* There are few pairs, which are searched one by one. */
#include "core/reversals.h"

#include <string.h>

static void reversal_free(void *data)
{
	struct pp_reversal *reversal = data;

	g_free(reversal->first);
	g_free(reversal->second);
	g_free(reversal);
}

struct pp_reversals *pp_reversals_new(void)
{
	struct pp_reversals *reversals = g_new0(struct pp_reversals, 1);

	reversals->all = g_ptr_array_new_with_free_func(reversal_free);
	return reversals;
}

void pp_reversals_free(struct pp_reversals *reversals)
{
	if (!reversals)
		return;
	g_ptr_array_unref(reversals->all);
	g_free(reversals->refused);
	g_free(reversals);
}

void pp_reversals_add(struct pp_reversals *reversals, const char *first, const char *second,
		      const struct pp_reversal *result)
{
	struct pp_reversal *added = g_memdup2(result, sizeof(*result));
	bool is_in_order = strcmp(first, second) <= 0;

	added->first = g_strdup(is_in_order ? first : second);
	added->second = g_strdup(is_in_order ? second : first);
	g_ptr_array_add(reversals->all, added);
}

const struct pp_reversal *pp_reversals_find(const struct pp_reversals *reversals, const char *first,
					    const char *second)
{
	bool is_in_order = strcmp(first, second) <= 0;

	for (guint i = 0; reversals && i < reversals->all->len; i++) {
		const struct pp_reversal *at = reversals->all->pdata[i];

		if (strcmp(at->first, is_in_order ? first : second) == 0 &&
		    strcmp(at->second, is_in_order ? second : first) == 0)
			return at;
	}
	return NULL;
}
