/* SPDX-License-Identifier: MIT */
/*
 * What one thread writes while another writes its like: no cache line holds parts of both, nor do
 * two that are fetched together.
 */
#ifndef PP_CORE_APART_H
#define PP_CORE_APART_H

#include <glib.h>

#define PP_APART_BYTES 128

/* Zeros, to be freed by g_aligned_free(). */
static inline void *pp_apart_new0(gsize n, gsize bytes)
{
	gsize rounded = (bytes + PP_APART_BYTES - 1) / PP_APART_BYTES * PP_APART_BYTES;

	return g_aligned_alloc0(MAX(n, 1), rounded, PP_APART_BYTES);
}

#endif
