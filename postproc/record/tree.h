/* SPDX-License-Identifier: MIT */
/*
 * The threads of the profiled program and of all programs that it started, from the kernel's
 * records. It decides which records are kept, and adds names that some sources omit.
 *
 * Records must be passed in time order.  A thread is kept until it is switched out for the last
 * time, which comes after its exit record.
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
	uint64_t start_ns; /* valid until the next of the same process */
	const char *path;  /* the path of the exec, or the thread's name; owned by the tree */
};

struct pp_tree {
	GHashTable *tasks;  /* tid -> struct task */
	GHashTable *timers; /* addresses of timers last started by the program's threads */
	GHashTable *blocks; /* the program's block requests in progress: struct block -> itself */
	GArray *images;	    /* of struct pp_image, in time order */
	GHashTable *paths;  /* storage of the images' paths */
	GHashTable *pids;   /* pids of processes with a recorded start or exec */
	unsigned processes; /* total number seen */
	unsigned threads;   /* total number seen, without helpers of the runtime libraries */
	uint64_t begin_ns;  /* threads that ended before are not counted */
	bool open;	    /* all records belong to the program, also those of unknown tids */
};

/* `root` is the process that will execute the program; `open` as above. */
void pp_tree_init(struct pp_tree *tree, pid_t root, bool open);
void pp_tree_done(struct pp_tree *tree);

/*
 * Adds a thread that ran before the recording.  Its fork may follow if it began while threads were
 * added; that adds no other one.
 */
void pp_tree_add(struct pp_tree *tree, int32_t tid, int32_t pid, const char *comm);

/* Applies a record and completes its names; returns true if the record is to be kept. */
bool pp_tree_take(struct pp_tree *tree, struct pp_kevent *event);

/*
 * Call at the end: exit records may have been lost, so a process that does not run any more ends
 * here. `runs`: does a process with that pid exist that already existed at that time (0: at any
 * time)?
 */
void pp_tree_settle(struct pp_tree *tree, bool (*runs)(pid_t pid, uint64_t time_ns));

/* Returns the number of processes other than `root` that had not ended at the last record. */
unsigned pp_tree_running(const struct pp_tree *tree, pid_t root);

#endif
