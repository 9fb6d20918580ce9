/* SPDX-License-Identifier: MIT */
/*
 * The threads of a running process: found in /proc, and added to the collector.
 *
 * A state is read after the thread's events are recorded.  So a thread that has no event between
 * the begin of the recording and the time when its state was read was in this state since the
 * begin.
 */
#ifndef PP_RECORD_ATTACH_THREADS_H
#define PP_RECORD_ATTACH_THREADS_H

#include "record/collector.h"
#include "record/ctf/kevent.h"

struct pp_target_thread {
	int32_t tid;
	char name[PP_COMM_BYTES];
	int64_t start_ns; /* the begin of the recording, if it ran before; else when it was found */
	int sample_error; /* -errno: why it has no samples; 0: no failure */
};

struct pp_target_threads {
	GArray *found;	      /* of struct pp_target_thread, by tid */
	GHashTable *followed; /* tids whose events are recorded, and of their children */
	GHashTable *unseen;   /* tids of those whose events are not recorded, because of: */
	int error;	      /* -errno */
};

void pp_target_threads_init(struct pp_target_threads *threads);
void pp_target_threads_done(struct pp_target_threads *threads);

/* Reads the name of a thread, "" if it has ended; `name` has PP_COMM_BYTES. */
void pp_target_thread_name(pid_t pid, int32_t tid, char *name);

/*
 * First step: calls `follow` for each thread of the process, so that its events are recorded.  It
 * returns 0 or -errno.
 */
void pp_target_threads_follow(struct pp_target_threads *threads, pid_t pid,
			      int (*follow)(void *data, pid_t tid), void *data);

/*
 * Second step, at begin_ns, when the recording begins: reads the names of all threads, and passes
 * their states to the collector.
 */
void pp_target_threads_read(struct pp_target_threads *threads, pid_t pid,
			    struct pp_collector *collector, int64_t begin_ns);

#endif
