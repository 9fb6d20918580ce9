/* SPDX-License-Identifier: MIT */
/*
 * Samples of a process that already runs: where its threads spend CPU time, with call paths.  The
 * kernel takes them, so the process does not notice them either.
 */
#ifndef PP_RECORD_ATTACH_SAMPLING_H
#define PP_RECORD_ATTACH_SAMPLING_H

#include <poll.h>

#include "record/attach/folder.h"
#include "record/samples/stream.h"
#include "record/samples/unwind.h"
#include "record/perf/stacks.h"
#include "runtime/capture/capture.h"
#include "runtime/config/config.h"

struct pp_target_samples {
	const struct pp_target *target;
	struct pp_stack_sampling how;
	unsigned depth;	       /* frames of a path at most */
	struct pp_ring *rings; /* one per CPU; NULL: no samples are taken */
	unsigned n_rings;
	GHashTable *errors; /* tid -> errno: why it has no samples */
	/* From the begin on: */
	struct pp_target_folder *folder;
	const struct gm_capture *capture;
	uint64_t begin_ns; /* earlier samples are left out */
	struct pp_unwinder *unwinder;
	bool has_looked;		  /* for new objects, in this round */
	GArray *pending;		  /* of struct event, not in order yet */
	GHashTable *current;		  /* tid -> its stream */
	GPtrArray *streams;		  /* of struct pp_sample_stream *, all */
	int dir_fd;			  /* of the streams; -1: not made yet */
	uint8_t uuid[16];		  /* of their trace */
	uint64_t round_ns;		  /* begin of the previous round */
	uint32_t n_files;		  /* of streams */
	bool has_execed, has_passed_exec; /* ... among the records, and among the events written */
	uint64_t n_after_exec;		  /* samples */
	uint64_t n_lost;		  /* samples that found no place in a ring, or no stream */
};

/*
 * Opens the rings, if samples are configured.  Returns 0 or -errno, and then the text why there are
 * none.
 */
int pp_target_samples_open(struct pp_target_samples *samples, const struct gm_config *config,
			   const struct pp_target *target, struct pp_error *err);

/* Takes samples of the thread, and of those that it starts. */
void pp_target_samples_follow(struct pp_target_samples *samples, pid_t tid);

/* Returns -errno of the call before, or 0. */
int pp_target_samples_error(const struct pp_target_samples *samples, pid_t tid);

/* CPU time between samples; 0: none are taken. */
uint64_t pp_target_samples_period_ns(const struct pp_target_samples *samples);

/* The folder, with these threads, is complete. */
void pp_target_samples_begin(struct pp_target_samples *samples, struct pp_target_folder *folder,
			     const struct pp_target_threads *threads,
			     const struct gm_capture *capture, int64_t begin_ns);

/* Fills a descriptor for each ring.  Returns their number. */
unsigned pp_target_samples_pollfds(const struct pp_target_samples *samples, struct pollfd *fds);

/* Reads the rings, and writes the samples whose order is known. */
void pp_target_samples_round(struct pp_target_samples *samples);

/* Writes the rest.  The folder is still open. */
void pp_target_samples_end(struct pp_target_samples *samples);
void pp_target_samples_done(struct pp_target_samples *samples);

#endif
