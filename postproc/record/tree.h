/* SPDX-License-Identifier: MIT */
/*
 * The threads of the profiled program and of all it started, as the kernel's records tell: which
 * records are kept, and the names that some sources leave out.
 *
 * Fed in order of time.  A thread stays until it is switched out for the last time, which comes
 * after its exit record.
 */
#ifndef PP_RECORD_TREE_H
#define PP_RECORD_TREE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <glib.h>

#include "record/ctf/kevent.h"

/* A program that a process executed. */
struct pp_image {
	int32_t pid;
	uint64_t start_ns; /* until the next of the same process */
	const char *path;  /* as the kernel was given it, or the thread's name; owned by the tree */
};

struct pp_tree {
	GHashTable *tasks;  /* tid -> struct task */
	GHashTable *timers; /* addresses of those that threads of ours started last */
	GHashTable *blocks; /* requests of ours under way: struct block -> itself */
	GArray *images;	    /* of struct pp_image, in order of time */
	GHashTable *paths;  /* theirs */
	GHashTable *pids;   /* of processes that were seen to begin or to execute something */
	unsigned processes; /* ever seen */
	unsigned threads;   /* ever seen, but for those that open files for the runtime */
	bool open;	    /* every record is of the program: unknown tids belong to it */
};

/* `root` is the process about to become the program; `open` as above. */
void pp_tree_init(struct pp_tree *tree, pid_t root, bool open);
void pp_tree_done(struct pp_tree *tree);

/* Takes a record in and completes its names; true if it is to be kept. */
bool pp_tree_take(struct pp_tree *tree, struct pp_kevent *event);

/*
 * At the end: an exit record may have been lost, so a process ends here if it does not run.
 * `runs`: is there a process of that number that was there at that time (0: at any)?
 */
void pp_tree_settle(struct pp_tree *tree, bool (*runs)(pid_t pid, uint64_t time_ns));

/* Processes, other than `root`, that had not ended at the last record. */
unsigned pp_tree_running(const struct pp_tree *tree, pid_t root);

#endif
