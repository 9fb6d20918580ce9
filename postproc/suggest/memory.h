/* SPDX-License-Identifier: MIT */
/*
 * The memory that the sections of a run access: which bytes several threads access, and, of one
 * lock, which sites conflict.
 */
#ifndef PP_SUGGEST_MEMORY_H
#define PP_SUGGEST_MEMORY_H

#include <stdbool.h>

#include <glib.h>

#include "core/access_set.h"

/* --- shared bytes --------------------------------------------------------------------------- */

struct pp_suggest_shared;

struct pp_suggest_shared *pp_suggest_shared_new(void);
void pp_suggest_shared_free(struct pp_suggest_shared *shared);

/* A section of the thread accessed the set. */
void pp_suggest_shared_add(struct pp_suggest_shared *shared, uint32_t thread,
			   const struct pp_access_set *set);

/* After all sections were added: what a section with the set does with shared bytes. */
void pp_suggest_shared_use(const struct pp_suggest_shared *shared, const struct pp_access_set *set,
			   bool *ret_reads, bool *ret_writes);

/* --- conflicts of sites --------------------------------------------------------------------- */

struct pp_suggest_conflicts;

struct pp_suggest_conflicts *pp_suggest_conflicts_new(void);
void pp_suggest_conflicts_free(struct pp_suggest_conflicts *conflicts);

/* A section of the thread, entered at the site, accessed the set.  Keeps a reference to it. */
void pp_suggest_conflicts_add(struct pp_suggest_conflicts *conflicts, uint32_t thread,
			      uint32_t site, struct pp_access_set *set);

/*
 * After pp_suggest_conflicts_each(): the bytes of the line in which sections of the site conflict
 * with others.
 */
uint64_t pp_suggest_conflicts_bytes(const struct pp_suggest_conflicts *conflicts, uint32_t site,
				    uint64_t address);

/*
 * Calls take() for each line with bytes that one site's sections write and sections of the other
 * one, in another thread, access; both sites may be the same.  `of_a` and `of_b` are accesses of
 * sections of each.  With very many combinations of a line, it calls take() also if only one thread
 * accesses it.
 */
void pp_suggest_conflicts_each(const struct pp_suggest_conflicts *conflicts,
			       void (*take)(void *data, uint32_t a,
					    const struct pp_access_line *of_a, uint32_t b,
					    const struct pp_access_line *of_b),
			       void *data);

#endif
