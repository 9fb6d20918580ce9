/* SPDX-License-Identifier: MIT */
/*
 * Tells which bytes of a set of the past still live: it keeps the last free of each address, with
 * its number, and looks it up for the bytes that matter.
 */
#ifndef PP_ANALYSIS_ACCESSES_LIVES_H
#define PP_ANALYSIS_ACCESSES_LIVES_H

#include "core/access_set.h"
#include "core/model.h"

struct pp_lives;

struct pp_lives *pp_lives_new(void);
void pp_lives_free(struct pp_lives *lives);

/* All locations in these bytes end their life. */
void pp_lives_end(struct pp_lives *lives, const struct pp_process *process, uint64_t address,
		  uint64_t size);

/* The number of the last end; it never falls. */
uint64_t pp_lives_now(const struct pp_lives *lives);

/* Those of the line's bytes whose life has not ended since then. */
uint64_t pp_lives_bytes(const struct pp_lives *lives, const struct pp_process *process,
			uint64_t line, uint64_t bytes, uint64_t since);

/* A new reference to the part of the set whose life has not ended since then. */
struct pp_access_set *pp_lives_part(const struct pp_lives *lives, const struct pp_process *process,
				    struct pp_access_set *set, uint64_t since);

#endif
