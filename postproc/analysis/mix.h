/* SPDX-License-Identifier: MIT */
/* A hash of several numbers, for GHashTable: one call for each of them. */
#ifndef PP_ANALYSIS_MIX_H
#define PP_ANALYSIS_MIX_H

#include <stdint.h>

static inline uint64_t pp_mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 32;
}

#endif
