/* SPDX-License-Identifier: MIT */
/*
 * Allocates arrays for data that several threads write at the same time.  Elements share no cache
 * line and no pair of lines that is fetched together.
 */
#ifndef PP_CORE_CACHE_LINES_H
#define PP_CORE_CACHE_LINES_H

#include <glib.h>

#define PP_APART_BYTES 128

/* n zeroed elements of at least `bytes` bytes each; the caller frees them with g_aligned_free(). */
static inline void *pp_apart_new0(gsize n, gsize bytes)
{
	gsize rounded = (bytes + PP_APART_BYTES - 1) / PP_APART_BYTES * PP_APART_BYTES;

	return g_aligned_alloc0(MAX(n, 1), rounded, PP_APART_BYTES);
}

#endif
