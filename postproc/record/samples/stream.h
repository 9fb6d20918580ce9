/* SPDX-License-Identifier: MIT */
/*
 * The samples of one thread in files of the process' folder: its stream of call paths
 * (gmon-mt/samples.h), and the count of each address for <pid>/calls (gmon-mt/format.h).
 */
#ifndef PP_RECORD_SAMPLES_STREAM_H
#define PP_RECORD_SAMPLES_STREAM_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <glib.h>

#include "sync-trace/events.h"

struct pp_sample_stream {
	uint32_t number, tid, index;
	GByteArray *events; /* the packet that is not written yet */
	GHashTable *nodes;  /* of call paths: struct node, a set */
	GHashTable *counts; /* of the addresses: uint64_t -> uint64_t */
	uint32_t next_node;
	uint64_t begin_ns, last_ns; /* of the packet */
	uint64_t n_samples,
	    n_unwritten;	      /* of the packet; of packets for which there was no space */
	uint64_t last_at, file_bytes; /* of the last packet in the file; its size */
};

/* From the inside, as pp_unwind() returns it. */
struct pp_sample_path {
	uint64_t time_ns;
	const uint64_t *frames;
	unsigned n; /* 0: the path is lost */
	enum st_path_end end;
	uint64_t address; /* of the interrupted instruction */
};

struct pp_sample_stream *pp_sample_stream_new(uint32_t tid, uint32_t index);
void pp_sample_stream_free(struct pp_sample_stream *stream);

void pp_sample_stream_add(struct pp_sample_stream *stream, const struct pp_sample_path *path);

/* Other objects may have the addresses of the known paths now. */
void pp_sample_stream_forget(struct pp_sample_stream *stream);

/*
 * Appends the packet to the stream's file, which gets the next number if it is new.  If that fails,
 * the packet is dropped.  Returns 0 or -errno.
 */
int pp_sample_stream_write(struct pp_sample_stream *stream, int dir_fd, const uint8_t uuid[16],
			   uint32_t *n_files);

/* Counts the packet's samples in n_unwritten; they stay in the counts. */
void pp_sample_stream_drop(struct pp_sample_stream *stream);

/* Appends the thread's table of samples. */
void pp_sample_stream_add_counts(const struct pp_sample_stream *stream, GByteArray *calls);

#endif
