/* SPDX-License-Identifier: MIT */
/* Suggestions in words.  All texts are the caller's to free. */
#ifndef PP_SUGGEST_WORDS_H
#define PP_SUGGEST_WORDS_H

#include "suggest/patterns.h"

/* "remove the lock", "split the lock: one for add (a.c:3); one for get (a.c:9)". */
char *pp_suggest_action(const struct pp_suggestion *suggestion);

/* The change of the site: "lock 1", "read lock", "no lock", "write lock", "lock". */
char *pp_suggest_role(const struct pp_suggestion *suggestion, uint32_t site);

/* "9,998 of 9,998 consecutive sections of different threads need not exclude each other". */
char *pp_suggest_evidence(const struct pp_suggestion *suggestion);

/* The prediction's assumption about the change; NULL: it follows from the action. */
char *pp_suggest_basis(const struct pp_suggestion *suggestion);

/*
 * "q: 5 of 9 pairs of consecutive sections ..., but ...": why the lock is left out; NULL: it is
 * not.
 */
char *pp_suggest_why_left_out(const struct pp_suggest_lock *lock);

/* Tells which cases the runs did not exercise, in sentences separated by "; ". */
char *pp_suggest_not_exercised(const struct pp_suggestion *suggestion,
			       const struct pp_suggest_facts *facts);

/* "lines 12-14, 17": the lines of the site's sections that may be moved; NULL: none are known. */
char *pp_suggest_moved_lines(const struct pp_suggest_site *site);

/*
 * Names the code without hooks that the sections call; only_moved: in lines that may be moved.
 * NULL: there is none, or it is not known.
 */
char *pp_suggest_unrecorded(const struct pp_suggest_extent *extent, bool only_moved);

/* Says that the lines may be parts of statements; NULL: they are whole ones. */
char *pp_suggest_no_source(const struct pp_suggest_extent *extent);

/*
 * The names of the memory in which sections conflict, separated by ", ", of very many the first
 * ones; NULL: there is none.
 */
char *pp_suggest_data(const struct pp_suggest_lock *lock);

#endif
