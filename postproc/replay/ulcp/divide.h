/* SPDX-License-Identifier: MIT */
/*
 * Makes a model in which locks are divided: sections that contend still exclude each other, but in
 * any order. It is what a program can do whose locks are mended, while the other transformation
 * (transform.h) keeps the recorded order, in which one thread often had the lock many times in a
 * row.
 *
 * Bytes that one section changes and one of another thread accesses need a lock. All sections that
 * access such bytes in common, directly or through others, have one lock, which sections share that
 * do not change such a byte. Sections without such bytes have no lock. If the accesses of a section
 * are not known, all sections of its lock keep one lock, and those that are not known have it
 * exclusively; if it is a reader's, the lock stays as it is.
 */
#ifndef PP_REPLAY_ULCP_DIVIDE_H
#define PP_REPLAY_ULCP_DIVIDE_H

#include "replay/ulcp/edges.h"
#include "replay/ulcp/transform.h"

/*
 * keeps_order: by object: locks that stay as they are (struct pp_ulcp_edges). Arguments and result
 * are those of pp_ulcp_transform() otherwise; steps keep their numbers.
 */
void pp_ulcp_divide(const struct pp_replay_model *model, const GArray *sections, const GArray *sets,
		    const bool *keeps_order, struct pp_ulcp_result *ret);

/* The model itself, with the numbers of its steps. */
void pp_ulcp_same(const struct pp_replay_model *model, struct pp_ulcp_result *ret);

#endif
