/* SPDX-License-Identifier: MIT */
/*
 * The section `ulcp` of the report: unnecessary lock contention (paper 003, section 2.1).
 * Consecutive critical sections of a lock, in different threads, are classified by the memory that
 * they access (analysis/ulcp), and counted by process, by lock and by pair of sections.
 */
#ifndef PP_PASS_ULCP_ULCP_H
#define PP_PASS_ULCP_ULCP_H

#include "analysis/accesses/lives.h"
#include "analysis/ulcp/changes.h"
#include "analysis/ulcp/counts.h"
#include "analysis/ulcp/search.h"
#include "analysis/ulcp/threads.h"
#include "analysis/ulcp/uses.h"
#include "pass/accesses/accesses.h"

/* A call that enters a section. */
struct pp_ulcp_code {
	const struct pp_process *process;
	enum st_event op;
	uint64_t site;
	uint32_t number;
};

/* The last section of a thread on a lock. */
struct pp_ulcp_latest {
	uint64_t set;	 /* serial; 0: none that is known */
	uint64_t number; /* of the section */
	uint32_t code;
	bool polls; /* it is the same as the one before it, and has found the same values */
};

/* The `data` of a lock. */
struct pp_ulcp_lock_data {
	uint32_t number;	     /* in the counts */
	struct pp_ulcp_lock *search; /* NULL: no section with accesses so far */
	struct pp_ulcp_threads threads;
	struct pp_ulcp_latest *latest; /* by dense number of the thread */
	uint64_t n_sections;
	uint64_t order; /* the greatest number of an acquisition so far */
	/* The last section: */
	const struct pp_thread *thread; /* NULL: none yet */
	struct pp_access_set *set;	/* a reference; NULL: its accesses are not known */
	uint64_t since;			/* pp_lives_now() then */
	bool polls;			/* as above */
	/* The one after it conflicts with it, in memory that it has freed. */
	struct pp_ulcp_conflict early;
};

/* A section that has not ended has used memory, and freed it. */
struct pp_ulcp_early {
	const struct pp_thread *thread;
	const struct pp_object *lock;
	uint32_t use;
};

/* Consecutive sections of a lock, in different threads, that conflict. */
struct pp_ulcp_conflicting {
	const struct pp_access_instance *second;
	const struct pp_access_set *first_set; /* the part whose life has not ended; lent */
	uint64_t first_site;
	struct pp_ulcp_conflict conflict;
	bool first_polls, second_polls; /* classify.h */
	bool is_partly_freed;		/* the second one frees memory in which they conflict */
};

/* Receives each section, in the order of its lock; conflicting: with the one before it, or NULL. */
struct pp_ulcp_listener {
	void *data;
	void (*section)(void *data, const struct pp_access_instance *instance,
			const struct pp_ulcp_conflicting *conflicting);
};

struct pp_ulcp_pass {
	const struct pp_pass_context *context;
	const struct pp_ulcp_listener *section_listener; /* NULL: none */
	struct pp_access_listener listener;
	struct pp_ulcp_uses_listener uses_listener;
	struct pp_ulcp_search_listener search_listener;
	struct pp_access_sections *sections;
	struct pp_access_figures all;
	uint64_t n_numbered, n_contradicting; /* exclusive sections, by the lock's numbers */
	GHashTable *code_of;		      /* a set of struct pp_ulcp_code * */
	GPtrArray *codes;		      /* the same, by number */
	GHashTable *searches;		      /* process -> struct pp_ulcp_search * */
	struct pp_ulcp_uses *uses;
	struct pp_ulcp_counts *counts;
	struct pp_ulcp_changes *changes;
	struct pp_lives *lives;
	struct pp_blocks *blocks;
	GArray *early; /* of struct pp_ulcp_early */
	GArray *spare; /* of uint32_t: numbers of locks that have ended */
	uint32_t n_locks;
	/* The section that is added. */
	const struct pp_ulcp_lock_data *lock;
	uint32_t thread;
	char *failure; /* why there are no counts; NULL */
};

/* A row: the figures of all pairs with the same names, or of a lock or process. */
struct pp_ulcp_row {
	const struct pp_process *process;
	const struct pp_object *object;	     /* the lock, or that with most of the pairs */
	const struct pp_object *last_object; /* that was added */
	uint64_t n_of_object, n_objects;
	char *lock, *first, *second; /* of a pair; else NULL */
	struct pp_ulcp_sums sums;    /* of a pair: its figures only; `pairs` is NULL */
};

/* `pass`: of pp_pass_ulcp, before its first event. The listener is borrowed. */
void pp_ulcp_listen(void *pass, const struct pp_ulcp_listener *listener);

/* rows.c: arrays of struct pp_ulcp_row *, those with most unnecessary contention first. */
struct pp_ulcp_rows {
	GPtrArray *processes, *locks, *pairs;
	uint64_t n_decided; /* pairs, by replays in the other order */
};

struct pp_ulcp_rows pp_ulcp_rows_make(const struct pp_ulcp_pass *self);
void pp_ulcp_rows_done(struct pp_ulcp_rows *rows);

/* tables.c: the tables after the end. */
void pp_ulcp_tables(const struct pp_ulcp_pass *self, GPtrArray *tables);

/* words.c; NULL: there are no pairs. */
struct pp_table *pp_ulcp_words_table(const struct pp_ulcp_rows *rows);

#endif
