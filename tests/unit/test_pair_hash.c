/* SPDX-License-Identifier: MIT */
/* Hashes of pairs of small numbers: they spread over a table of a million entries. */
#include "check.h"
#include "analysis/graph/links.h"

#define N	 1000u
#define N_VALUES (1u << 20)

int main(void)
{
	g_autofree uint8_t *seen = g_new0(uint8_t, N_VALUES);
	unsigned n_distinct = 0;

	for (uint64_t from = 0; from < N; from++)
		for (uint64_t to = 0; to < N; to++) {
			gint64 pair = (gint64)(from << 32 | to);
			guint value = pp_pair_hash(&pair) % N_VALUES;

			n_distinct += !seen[value];
			seen[value] = 1;
		}
	/* Random values would give 614,000 distinct ones. */
	CHECK(n_distinct > 500000);
	return 0;
}
