/* SPDX-License-Identifier: MIT */
/* clang-format off */
/*
 * Changes of a program as changes of its model, which then keeps all rules of a model. In text:
 *
 *   drop LOCK                         never take the lock
 *   spin LOCK                         wait for it on the CPU
 *   split LOCK by site                a lock for each call site that takes it
 *   split LOCK by object              a lock for all sections that share data; without known
 *                                     accesses: for each call site
 *   split LOCK by thread              a lock for each thread that takes it
 *   split LOCK into N                 N locks, of which each section takes one at random, like a
 *                                     table of locks that a hash selects
 *   split LOCK by SITES[/SITES]...    a lock for each group of sites; the other sites keep it
 *   rwlock LOCK [readers=SITES]       these sites share it; default: those whose sections do not
 *                                     write shared data, by known accesses
 *   shrink SITE to F %                less CPU time in the sections that are entered there; the
 *                                     rest is done half before and half behind them
 *   shrink SITE to conflicts          ... to those from the first to the last access, by number,
 *                                     that conflicts with another section; the rest stays before
 *                                     and behind that
 *   faster FUNCTION by F %            the function takes F percent less time, and those that it
 *                                     calls
 *   threads N [of NAME]               N threads of one kind (created at the same call site) share
 *                                     their work; default: the kind with the most threads
 *   cpus P                            run on P CPUs
 *
 * LOCK is the name of a lock. SITES are separated by commas. A SITE is the whole name of a call
 * site, its function, or its place (FILE:LINE). Each may have the wildcards * and ?.
 */
/* clang-format on */
#ifndef PP_REPLAY_CHANGE_H
#define PP_REPLAY_CHANGE_H

#include "core/error.h"
#include "replay/model.h"

#define PP_CHANGE_MAX_THREADS 1024
#define PP_CHANGE_MAX_LOCKS   65536

enum pp_change_kind {
	PP_CHANGE_DROP,
	PP_CHANGE_SPIN,
	PP_CHANGE_SPLIT,
	PP_CHANGE_RWLOCK,
	PP_CHANGE_SHRINK,
	PP_CHANGE_FASTER,
	PP_CHANGE_THREADS,
	PP_CHANGE_CPUS,
	PP_N_CHANGES
};

enum pp_change_split_by {
	PP_CHANGE_BY_SITE,
	PP_CHANGE_BY_GROUP,
	PP_CHANGE_BY_THREAD,
	PP_CHANGE_BY_OBJECT,
	PP_CHANGE_AT_RANDOM
};

struct pp_change {
	enum pp_change_kind kind;
	char *text;    /* as it was given */
	char *subject; /* pattern of a lock, site, function or thread; NULL: none was given */
	enum pp_change_split_by by;
	GPtrArray *groups; /* of GPtrArray * of patterns (char *); NULL: none were given */
	bool to_conflicts; /* shrink: without a share */
	double share;	   /* shrink: what remains; faster: what is saved; 0 to 1 */
	uint32_t n;	   /* threads, CPUs, locks */
};

/* Returns NULL after an error; the caller frees the change. */
struct pp_change *pp_change_parse(const char *text, struct pp_error *err);
/* True if it is about the data that sections work on. */
bool pp_change_needs_accesses(const struct pp_change *change);
/* ... and also about the order of their accesses. */
bool pp_change_needs_spans(const struct pp_change *change);
void pp_change_free(struct pp_change *change);

/*
 * Changes the model, which is valid (pp_replay_check()), and is so afterwards. Adds lines (char *)
 * to `notes` that say what was done, and what that leaves out. Returns 0; -ENOENT: the model has no
 * such lock or site; -EINVAL: the change would change nothing. The model is undefined after an
 * error.
 */
int pp_change_apply(const struct pp_change *change, struct pp_replay_model *model, GPtrArray *notes,
		    struct pp_error *err);

#endif
