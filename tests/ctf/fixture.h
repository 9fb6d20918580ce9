/* SPDX-License-Identifier: MIT */
/*
 * Writes captures for tests: the files of libgmon-mt/gmon-mt/format.h and CTF streams as
 * sync-trace/events.h, gmon-mt/samples.h and LTTng define them. It uses only these definitions and
 * no code of the libraries, so that writer and reader cannot share a mistake.
 */
#ifndef TESTS_CTF_FIXTURE_H
#define TESTS_CTF_FIXTURE_H

#include <stdint.h>

#include <glib.h>

#include "gmon-mt/format.h"
#include "sync-trace/calls.h"
#include "sync-trace/events.h"

/* CLOCK_REALTIME - CLOCK_MONOTONIC, the same in every fixture. */
#define FIXTURE_OFFSET_NS INT64_C(1700000000000000000)

struct fixture_stream {
	char *path;
	GByteArray *bytes;
	guint packet;		  /* start of the current packet */
	uint32_t pid, tid, index; /* of a thread's stream */
	int cpu;		  /* of a kernel stream, else -1 */
	uint64_t last_ns, discarded;
};

/* Creates the directory and its `session`, with the given schema. */
void fixture_capture(const char *dir, unsigned schema);

/* Creates a process folder: thread table, empty load map, metadata of the streams. */
void fixture_process(const char *dir, uint32_t pid, const struct gm_thread_slot *slots,
		     unsigned n_slots);

/* Writes the call counts of a thread. */
void fixture_calls(const char *dir, uint32_t pid, uint32_t index, uint32_t tid,
		   const struct gm_calls_arc *arcs, unsigned n_arcs);

/* Creates the folder of a process' timed samples (gmon-mt/samples.h), with its metadata. */
void fixture_samples(const char *dir, uint32_t pid);

/* Creates the folder of a process' memory accesses (sync-trace/accesses.h), with its metadata. */
void fixture_accesses(const char *dir, uint32_t pid);

/* Creates kernel/ with its metadata; source: "perf" or "switches". */
void fixture_kernel(const char *dir, const char *source);

struct fixture_stream *fixture_thread_stream(const char *dir, uint32_t pid, uint32_t index,
					     uint32_t tid, uint64_t begin_ns);
struct fixture_stream *fixture_cpu_stream(const char *dir, int cpu, uint64_t begin_ns);

/* Ends the packet and starts another, with that many events discarded in between. */
void fixture_packet(struct fixture_stream *stream, uint64_t begin_ns, uint64_t discarded);

/* Writes the file and frees the stream. */
void fixture_close(struct fixture_stream *stream);

void fixture_path(struct fixture_stream *stream, uint64_t time_ns, uint32_t number, uint32_t parent,
		  uint64_t address);
void fixture_call_path(struct fixture_stream *stream, uint64_t time_ns, uint32_t number,
		       uint64_t object);
void fixture_tries(struct fixture_stream *stream, uint64_t time_ns, uint64_t object,
		   uint32_t holder, uint64_t more);
void fixture_site(struct fixture_stream *stream, uint64_t time_ns, uint16_t number,
		  uint64_t address);

/* The number of the next event's acquisition. */
void fixture_order(struct fixture_stream *stream, uint64_t time_ns, uint64_t number);

/* extra: the last field of operations that have one more field than OP. */
void fixture_sync(struct fixture_stream *stream, uint64_t time_ns, enum st_event op, uint8_t result,
		  uint16_t site, uint64_t object, uint64_t extra);

/* A blocking call that ends at that time. */
void fixture_io(struct fixture_stream *stream, uint64_t time_ns, enum st_io_call call,
		uint64_t object, uint64_t duration_ns);

/* An operation on the object of the previous event. */
void fixture_same(struct fixture_stream *stream, uint64_t time_ns, enum st_same_event id,
		  uint16_t site);

void fixture_switch(struct fixture_stream *stream, uint64_t time_ns, int32_t prev_tid,
		    int16_t prev_state, int32_t next_tid);
/* irq: 0, or 1 for a soft and 2 for a hard interrupt that arrived while `waker` ran. */
void fixture_waking(struct fixture_stream *stream, uint64_t time_ns, int32_t tid,
		    int32_t target_cpu, int32_t waker, uint8_t irq);
void fixture_fork(struct fixture_stream *stream, uint64_t time_ns, int32_t parent_tid,
		  int32_t parent_pid, int32_t child_tid, int32_t child_pid);
void fixture_exit(struct fixture_stream *stream, uint64_t time_ns, int32_t tid);
void fixture_exec(struct fixture_stream *stream, uint64_t time_ns, int32_t tid);

#endif
