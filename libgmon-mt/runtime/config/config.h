/* SPDX-License-Identifier: MIT */
/*
 * The profile configuration: GKeyFile syntax, parsed strictly, without allocation.
 *
 * The runtime libraries (which cannot use glib in the profiled program) and `gprof-mt record` use
 * the same reader, so both accept exactly the same files. One table in config.c has the keys and
 * their values.
 */
#ifndef GM_RUNTIME_CONFIG_H
#define GM_RUNTIME_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/files/file.h"

enum gm_level { GM_LEVEL_APPLIC_ONLY, GM_LEVEL_FULL_SCHED, GM_LEVEL_FULL };
enum gm_calls_mode { GM_CALLS_COUNT, GM_CALLS_HISTORY, GM_CALLS_OFF };
enum gm_gmon_writer { GM_GMON_PROGRAM, GM_GMON_RECORD };
enum gm_sync_mode { GM_SYNC_ALL, GM_SYNC_CONTENDED, GM_SYNC_OFF, GM_SYNC_AUTO };
enum gm_sync_holds { GM_HOLDS_COUNTED, GM_HOLDS_TIMED };
enum gm_sync_order { GM_ORDER_OFF, GM_ORDER_ON };
enum gm_sync_sink { GM_SINK_NATIVE, GM_SINK_LTTNG, GM_SINK_BOTH };
enum gm_sample_stacks { GM_STACKS_OFF, GM_STACKS_ON };
enum gm_access_mode { GM_ACCESS_COMPILED, GM_ACCESS_SAMPLED, GM_ACCESS_OFF };
enum gm_access_blocks { GM_BLOCKS_OFF, GM_BLOCKS_ON };
enum gm_kernel_source {
	GM_KERNEL_AUTO,
	GM_KERNEL_LTTNG,
	GM_KERNEL_BPF,
	GM_KERNEL_PERF,
	GM_KERNEL_SWITCHES,
	GM_KERNEL_NONE
};
/* Only the newest synch-events are kept: of that size together, of that time. Both 0: all are. */
struct gm_ring {
	uint64_t bytes, ns;
};

/* NEW: of `record`, which joins no capture, not even one that it seems to belong to. */
enum gm_existing { GM_EXISTING_RENAME, GM_EXISTING_JOIN, GM_EXISTING_NEW };

#define GM_CONFIG_LOCAL	  "gprof-mt.conf"
#define GM_CONFIG_CAPTURE "config" /* in a capture: written by record for its processes */

#define GM_GLOBS_MAX 1024

#define GM_OUTPUT_MAX (UINT64_C(16) << 30)

struct gm_config {
	enum gm_level level;	       /* [profile] level = applic-only | full-sched | full */
	enum gm_calls_mode calls_mode; /* [calls]   mode = count | history | off */
	uint64_t calls_buffer_bytes;   /* [calls]   buffer = 4M: largest packet of a thread */
	enum gm_gmon_writer
	    gmon_writer;       /* [calls]  gmon = program | record: who writes the gmon files */
	uint64_t gmon_threads; /* [calls]   gmon_threads = 200: threads with own gmon files */
	enum gm_sync_mode sync_mode;	   /* [sync]    mode = all | contended | off | auto */
	uint64_t sync_budget_percent;	   /* [sync]    budget = 5: with auto, of CPU time */
	enum gm_sync_holds sync_holds;	   /* [sync]    holds = no | yes: time the counted holds */
	enum gm_sync_order sync_order;	   /* [sync]    order = off | on: number acquisitions */
	uint64_t sync_buffer_bytes;	   /* [sync]    buffer = 1M: largest packet of a thread */
	enum gm_sync_sink sync_sink;	   /* [sync]    sink = native | lttng | both */
	uint64_t sync_types;		   /* [sync]    types = all: bits by enum gm_sync_type */
	char sync_include[GM_GLOBS_MAX],   /* [sync] include = *: "a,b*", modules */
	    sync_exclude[GM_GLOBS_MAX];	   /* [sync] exclude = none: "" */
	uint64_t sync_path_ns;		   /* [sync]    paths = 10us: minimum wait; ~0: off */
	uint64_t sync_path_depth;	   /* [sync]    path_depth = 128: frames of a path */
	uint64_t sync_path_sample;	   /* [sync]    path_sample = 1000: 1 in so many; 0: off */
	char names_wrappers[GM_GLOBS_MAX]; /* [names] wrappers = none: "a,b", functions */
	enum gm_access_mode access_mode;   /* [access]  mode = compiled | sampled | off */
	uint64_t access_budget_percent; /* [access]  budget = 5: of CPU time; 100: all sections */
	uint64_t access_steps;		/* [access]  steps = 10000: of a section */
	enum gm_access_blocks access_blocks; /* [access]  blocks = off | on: sampled: of the heap */
	uint64_t io_threshold_ns;	  /* [io]      threshold = 10us: shortest call; ~0: off */
	enum gm_kernel_source kernel;	  /* [kernel]  source = auto | lttng | bpf | perf | ... */
	bool kernel_asked;		  /* ... was set explicitly */
	uint64_t kernel_buffer_bytes;	  /* [kernel]  buffer = 2M: initial ring of a CPU */
	uint64_t kernel_buffer_max_bytes; /* [kernel]  buffer_max = 16M: maximum */
	uint64_t sample_hz; /* [sample]  hz = 100: samples per second of CPU time; 0: none */
	enum gm_sample_stacks sample_stacks; /* [sample]  stacks = off | on: with call paths */
	uint64_t output_max_bytes;	     /* [output]  max = 16G: of the streams of a capture */
	struct gm_ring ring;		     /* [output]  ring = off */
	enum gm_existing existing;	     /* [output]  existing = rename | join */
	char dir[GM_PATH_MAX];		     /* [output]  dir = gprof-mt.data */
};

/* A printable diagnosis: "FILE:LINE: ...". */
struct gm_config_error {
	char text[640];
};

void gm_config_defaults(struct gm_config *config);

/*
 * Reads one file over the present contents of *config. Returns 0, or -errno: -EINVAL for a bad line
 * (unknown group or key, invalid value, no '='), any other from opening or reading. On failure
 * *config is unchanged and error->text names file, line, key and the accepted values.
 */
int gm_config_read(const char *path, struct gm_config *config, struct gm_config_error *error);

/* The same for the contents of a file; `path` is for the diagnosis. */
int gm_config_parse(const char *path, const char *text, size_t length, struct gm_config *config,
		    struct gm_config_error *error);

/*
 * The same for $GPROF_MT_CONFIG. The user may name any file. If record named it, only root and the
 * effective user may be able to write to it, since its directory may have been replaced.
 */
int gm_config_read_environment(const char *path, struct gm_config *config,
			       struct gm_config_error *error);

/*
 * The same for ./gprof-mt.conf, which is read only if nobody except root and the effective user may
 * write to it and to the working directory. -ENOENT without a diagnosis: no such file.
 */
int gm_config_read_local(struct gm_config *config, struct gm_config_error *error);

/* Applies one "group.key=value" (the --set option), with the same checks and messages. */
int gm_config_set(const char *assignment, struct gm_config *config, struct gm_config_error *error);

/*
 * Called when all values are set: the order of locks needs all operations, so with it sync.mode is
 * `all`, unless it is off. With a ring, samples have no call paths and accesses are not recorded.
 */
void gm_config_settle(struct gm_config *config);

static inline bool gm_config_has_ring(const struct gm_config *config)
{
	return config->ring.bytes != 0 || config->ring.ns != 0;
}

/* The largest sizes of the streams of a ring, and of its kernel events. */
uint64_t gm_config_ring_of_streams(const struct gm_config *config);
uint64_t gm_config_ring_of_kernel(const struct gm_config *config);

/*
 * Returns 0, or -EINVAL and the diagnosis for values that exclude each other: a ring keeps only
 * synch-events that libsync-trace writes.
 */
int gm_config_check(const struct gm_config *config, struct gm_config_error *error);

/*
 * Writes *config as a file that gm_config_read() accepts. Returns the full length, like snprintf().
 */
size_t gm_config_format(const struct gm_config *config, char *buffer, size_t size_bytes);

/*
 * Lists what gm_config_set() accepts, one in a line: "group.key=", and "group.key=word" for keys
 * with words.  Returns the full length, like snprintf().
 */
size_t gm_config_list(char *buffer, size_t size_bytes);

/* The word for an enum value in a file ("full-sched"). */
const char *gm_level_name(enum gm_level level);
const char *gm_kernel_source_name(enum gm_kernel_source source);

#endif
