/* SPDX-License-Identifier: MIT */
/*
 * The threads of the profiled program and of all it started, as the kernel's records tell: which
 * records are kept, and the names that some sources leave out.
 *
 * Fed in order of time.  A thread stays until it is switched out for the last time, which comes
 * after its exit record.
 */
#ifndef PP_COLLECT_TREE_H
#define PP_COLLECT_TREE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <glib.h>

#include "collect/kevent.h"

struct pp_tree {
	GHashTable *tasks;  /* tid -> struct task */
	GHashTable *timers; /* addresses of those that threads of ours started last */
	GHashTable *blocks; /* requests of ours under way: struct block -> itself */
	unsigned processes; /* ever seen */
	unsigned threads;   /* ever seen */
	bool open;	    /* every record is of the program: unknown tids belong to it */
};

/* `root` is the process about to become the program; `open` as above. */
void pp_tree_init(struct pp_tree *tree, pid_t root, bool open);
void pp_tree_done(struct pp_tree *tree);

/* Takes a record in and completes its names; true if it is to be kept. */
bool pp_tree_take(struct pp_tree *tree, struct pp_kevent *event);

/* Processes, other than `root`, that had not ended at the last record. */
unsigned pp_tree_running(const struct pp_tree *tree, pid_t root);

#endif
