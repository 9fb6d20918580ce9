/* SPDX-License-Identifier: MIT */
/*
 * Numbers the threads of a lock densely, in order of appearance: arrays by thread then have the
 * length that the lock needs.  Most locks have few threads, which are found one by one.
 */
#ifndef PP_ANALYSIS_ULCP_THREADS_H
#define PP_ANALYSIS_ULCP_THREADS_H

#include <glib.h>
#include <stdint.h>

#define PP_ULCP_FEW_THREADS 16u

struct pp_ulcp_threads {
	uint32_t n;
	uint32_t *few;	  /* the first ones, by dense number */
	GHashTable *many; /* number -> dense number + 1, if there are more; else NULL */
};

static inline void pp_ulcp_threads_done(struct pp_ulcp_threads *threads)
{
	g_free(threads->few);
	if (threads->many)
		g_hash_table_unref(threads->many);
}

static inline uint32_t pp_ulcp_threads_number(struct pp_ulcp_threads *threads, uint32_t thread)
{
	uint32_t n_few = MIN(threads->n, PP_ULCP_FEW_THREADS);
	guint known;

	for (uint32_t i = 0; i < n_few; i++)
		if (threads->few[i] == thread)
			return i;
	if (n_few < PP_ULCP_FEW_THREADS) {
		threads->few = g_renew(uint32_t, threads->few, n_few + 1);
		threads->few[n_few] = thread;
		return threads->n++;
	}
	if (!threads->many)
		threads->many = g_hash_table_new(NULL, NULL);
	known = GPOINTER_TO_UINT(g_hash_table_lookup(threads->many, GUINT_TO_POINTER(thread)));
	if (known)
		return known - 1;
	g_hash_table_insert(threads->many, GUINT_TO_POINTER(thread),
			    GUINT_TO_POINTER(++threads->n));
	return threads->n - 1;
}

#endif
