/* SPDX-License-Identifier: MIT */
/* The sums of the pass `paths`: paths.c adds them up, paths_rows.c shows them. */
#ifndef PP_PASS_PATHS_SUMS_H
#define PP_PASS_PATHS_SUMS_H

#include "analysis/state/idle.h"
#include "analysis/state/object_state.h"
#include "table/table.h"

/* struct pp_object.data */
struct pp_paths_place {
	struct pp_object *object; /* after its end, a copy */
	bool is_copy;
	bool is_used;	 /* by a struct pp_paths_use */
	bool is_awaited; /* a thread: a join has waited for its end */
	struct pp_idle_object *idle;
};

/* The object that blocking calls waited for. */
struct pp_paths_io {
	int fd;
	uint64_t object;
	bool is_mixed; /* they differ */
};

struct pp_paths_use {
	struct pp_paths_place *place; /* NULL: of blocking calls */
	const struct pp_process *process;
	const struct pp_path *path;
	enum st_event op; /* of blocking calls: pp_io_op() */
	bool is_sample;	  /* acquisitions that did not wait */
	struct pp_paths_io io;
	uint64_t calls;
	int64_t wait_ns, wait_max_ns, hold_ns;
	int64_t idle_ns;	  /* of operations, known at the end */
	struct pp_idle_sums idle; /* all its operations are at one call site */
	uint64_t site;
	unsigned serial;
};

struct pp_paths {
	const struct pp_pass_context *context;
	struct pp_thread_listener thread_listener;
	struct pp_object_listener object_listener;
	struct pp_thread_states *states;
	struct pp_objects objects;
	GPtrArray *ended; /* of struct pp_paths_place *: of objects that no longer exist */
	struct pp_idle idle;
	GHashTable *uses; /* a set of struct pp_paths_use * */
};

/* The tables, when all events have been processed. */
struct pp_table *pp_paths_waits_table(const struct pp_paths *self);
struct pp_table *pp_paths_samples_table(const struct pp_paths *self);

#endif
