/* SPDX-License-Identifier: MIT */
/*
 * When critical sections last changed each word of memory, by the number of the section: whether a
 * thread that executes the same section again may have found another value.  Memory is bounded by
 * the lines that sections change.
 */
#ifndef PP_ANALYSIS_ULCP_CHANGES_H
#define PP_ANALYSIS_ULCP_CHANGES_H

#include <stdbool.h>
#include <stdint.h>

#include "core/access_set.h"
#include "core/model.h"

struct pp_ulcp_changes;

struct pp_ulcp_changes *pp_ulcp_changes_new(void);
void pp_ulcp_changes_free(struct pp_ulcp_changes *changes);

/* The section with that number, which is not less than any before, has these accesses. */
void pp_ulcp_changes_add(struct pp_ulcp_changes *changes, const struct pp_process *process,
			 const struct pp_access_set *set, uint64_t number);

/* Did a section with a greater number change a word that the set reads or writes? */
bool pp_ulcp_changes_since(const struct pp_ulcp_changes *changes, const struct pp_process *process,
			   const struct pp_access_set *set, uint64_t number);

#endif
