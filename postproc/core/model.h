/* SPDX-License-Identifier: MIT */
/*
 * The model of a capture: processes, their threads, and names for addresses.
 *
 * A thread is identified by (pid, image, index).  Thread ids are reused; indexes are not, except
 * after an exec.  Threads are read from the `threads` file of a process.  Threads that only the
 * kernel saw (of a process without the runtime libraries) get the indexes after the last one and
 * the flag `kernel_only`. The model owns all of this; pointers are valid as long as the model
 * exists.
 */
#ifndef PP_CORE_MODEL_H
#define PP_CORE_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "sync-trace/accesses.h"
#include "sync-trace/events.h"
#include "core/error.h"
#include "core/reversals.h"

#define PP_TIME_UNKNOWN INT64_MIN

/*
 * No time of a capture is farther from its start, so that no sum over its threads overflows.  Times
 * of damaged files may have any value.
 */
#define PP_LONGEST_NS (INT64_C(1) << 53) /* 104 days */

/* How accesses in critical sections are recorded. */
enum pp_accesses {
	PP_ACCESSES_NONE,
	PP_ACCESSES_COMPILED, /* all sections, accesses of code built for it */
	PP_ACCESSES_SAMPLED,  /* some sections, by single-stepping */
};

struct pp_process {
	uint32_t pid;
	/* 0, 1, ...: incremented by each exec; pid and image are the key */
	uint32_t image;
	uint32_t ppid;		  /* 0: not known */
	uint32_t maps_left_out;	  /* updates of the load map that a stopped thread prevented */
	char *folder;		  /* "1234", "1234.1": the folder of this image */
	char *dir;		  /* path of the folder; NULL: only the kernel saw the process */
	int64_t start_ns, end_ns; /* PP_TIME_UNKNOWN where not known */
	uint64_t proc_start;	  /* field 22 of /proc/PID/stat; 0: not known */
	uint64_t threads_lost, calls_lost, events_lost, paths_lost;
	uint64_t samples_missed;	      /* of threads that are not known */
	uint64_t path_ends[ST_N_PATH_ENDS];   /* operations whose path ends for each reason */
	uint64_t sample_ends[ST_N_PATH_ENDS]; /* the same of samples */
	uint64_t sample_paths_lost;	      /* samples whose path is not known */
	bool has_stacks;		      /* it has samples with call paths */
	uint64_t n_in_memory; /* threads whose last data existed in memory only, and is lost */
	uint16_t threads_why, calls_why, events_why; /* core/loss.h */
	uint8_t left_out;			     /* enum gm_stalled: steps that have no count */
	uint64_t task_waits_left_out;		     /* waits with tasks of unknown functions */
	enum pp_accesses accesses;
	bool knows_blocks;	     /* of the heap */
	uint64_t accesses_lost;	     /* accesses in critical sections that were not written */
	uint64_t segments_lost;	     /* ... segments, as far as the trace was read */
	uint32_t n_without_accesses; /* threads that have none, since only waits are recorded */
	uint32_t not_stepped;	     /* enum st_step_barred */
	uint64_t blocks_lost;	     /* events of heap blocks that were not written */
	uint64_t stepped_calls;	     /* blocking calls, not recorded, in stepped sections */
	/* by enum st_access_why: sections given up, as far as the trace was read */
	uint64_t abandoned[ST_ACCESS_N_WHYS];
	GPtrArray *threads; /* of struct pp_thread *, by index; borrowed from the model */
	GArray *helpers;    /* of struct pp_helper, by capture/helpers; NULL: none */
	GArray *maps;	    /* of struct pp_load, by capture/maps; NULL: no load map */
	/* load history by address, by capture/places; NULL: nothing was unloaded */
	struct pp_places *places;
	bool only_waits;       /* sync.mode=contended: other operations were only counted */
	bool sync_auto;	       /* ... in threads that exceeded sync.budget */
	bool holds_timed;      /* ... with the times of their holds, in counted_holds */
	uint64_t holds_lost;   /* ... holds that did not fit there */
	GArray *counted_holds; /* of struct pp_counted_holds; NULL: none */
	/* ... and no holds at all, not even contended ones (old captures) */
	bool no_holds;
	bool no_tries;		    /* ... and no failed tries */
	unsigned sync_types_off;    /* bits by enum gm_sync_type: not recorded */
	bool has_openmp;	    /* it loaded libgomp or libomp */
	bool io_recorded;	    /* its blocking calls are recorded */
	bool sync_objects_chosen;   /* only operations of selected modules are recorded */
	bool sync_objects_unsorted; /* ... and of objects that were new when the table was full */
	int64_t io_threshold_ns;   /* blocking calls: if they took at least so long; 0: not known */
	uint64_t sample_period_ns; /* CPU time between a thread's samples; 0: no samples */
	const char *why_no_samples; /* NULL: samples are taken */
	bool asked_for_samples;	    /* one of its threads started counting calls */
	bool has_ring;		    /* only the newest synch-events were kept: [output] ring */
	bool is_attached;	    /* the recording began while it ran: info.json's "attached" */
	bool has_streams;	    /* its synch-events are in its own folder */
	bool may_live;		    /* it may still run: a process holds the capture's lock */
	bool is_live;		    /* it still runs: its end_ns is the model's until_ns */
	bool has_counts;	    /* it has call counts: a thread without counts made no calls */
	bool counts_damaged;	    /* ... of which nothing could be read */
	/*
	 * A short child of fork: its data is in the pack "1234/packed.0" (capture/packs) together
	 * with that of others, under this number.  NULL: it has a folder of its own.
	 */
	char *pack;
	uint32_t pack_number;
};

struct pp_thread {
	struct pp_process *process;
	uint32_t tid;
	uint32_t index;
	unsigned serial; /* 0, 1, ...: position in model->threads; passes key their state by it */
	char *name;	 /* as the kernel has it; see pp_thread_name() */
	char *routine; /* name of the start routine (analysis/thread_routines.h); NULL: not known */
	/*
	 * First and last known time; PP_TIME_UNKNOWN if not known.  Kernel events extend them to
	 * the fork and the exit.
	 */
	int64_t start_ns, end_ns;
	uint64_t start_routine; /* run-time address; 0: not known */
	int64_t parent_index;	/* -1: not known */
	bool ended;		/* it ended normally */
	bool begins_late;	/* its first events are not in the ring any more */
	bool kernel_only;
	bool in_ust; /* it has LTTng-UST events */
	uint64_t calls_lost, events_lost;
	uint64_t records_lost; /* calls and returns that are missing in the history */
	uint16_t calls_why, samples_why, events_why, records_why; /* core/loss.h */
	uint8_t left_out; /* enum gm_stalled: steps that have no count */
	GArray *arcs;	  /* of struct pp_arc; NULL: the thread's calls were not recorded */
	GArray *samples;  /* of struct pp_sample; NULL: none */
	/* uncontended operations are only counted since then; 0: from the start */
	int64_t sync_since_ns;
	bool sync_near_limit;	 /* ... because the capture was near output.max */
	uint64_t *sync_counts;	 /* by enum st_counted: operations without events; NULL: none */
	uint64_t samples_missed; /* periods of CPU time without a sample */
	uint64_t stack_samples;	 /* samples in its stream, as far as that was read */
	uint16_t stacks_why;	 /* core/loss.h: why samples are missing there */
	uint64_t samples_late;	 /* samples found late, and counted with the next one */
	/* maximum observed difference between its clock and CLOCK_MONOTONIC */
	uint32_t clock_error_ns;
	int sample_error; /* errno: why it has no samples of its own; 0: no failure */
};

/* The reordering of a TSC read by an out-of-order processor: up to 12 ns were observed. */
#define PP_REORDER_NS 50

/* The maximum time by which an effect in one thread may be stamped before its cause in the other.
 */
static inline int64_t pp_order_ns(const struct pp_thread *one, const struct pp_thread *other)
{
	return (int64_t)one->clock_error_ns + other->clock_error_ns + PP_REORDER_NS;
}

/* Makes an array of pointers by serial number long enough for this one; new elements are NULL. */
static inline void pp_by_serial_reach(GPtrArray *array, unsigned serial)
{
	if (serial >= array->len)
		g_ptr_array_set_size(array, (gint)serial + 1);
}

/* An arc: call site, called function, and the count of calls. */
struct pp_arc {
	uint64_t from; /* return address in the caller */
	uint64_t self; /* address in the called function, just after its call of mcount */
	uint64_t count;
};

/* A sampled program counter and its count. */
struct pp_sample {
	uint64_t address;
	uint64_t count;
};

/* Uncontended holds that are counted, without events (sync.holds). */
struct pp_counted_holds {
	struct pp_thread *thread;
	uint64_t object,
	    site;	  /* run-time return address, as pp_places_code() has it; 0: not known */
	uint64_t load_id; /* of the object: core/event.h */
	unsigned op;	  /* enum st_event: the operation that acquired the object */
	int64_t first_ns; /* the first acquisition */
	uint64_t n;
	int64_t total_ns, longest_ns;
};

/* A call path: return addresses, the operation's call site first. */
struct pp_path {
	unsigned n;
	uint64_t addresses[];
};

/* A loss or a contradiction in the capture. */
struct pp_problem {
	char *what;	/* "events lost", "stream cut short" */
	char *where;	/* file or thread */
	uint64_t count; /* how often, or how many; 0: not known */
};

struct pp_model {
	char *dir;
	GPtrArray *processes;	  /* of struct pp_process * */
	GPtrArray *threads;	  /* of struct pp_thread *, all processes, by serial */
	int64_t start_ns, end_ns; /* of the capture: first and last event or thread time */
	int64_t base_ns; /* start of its first process, or its first event; PP_TIME_UNKNOWN */
	/* the program still runs, and the capture is read up to this time; INT64_MAX: to its end */
	int64_t until_ns;
	/*
	 * All events of all threads are there from this time on; INT64_MIN: from the start.  Else
	 * it is the capture of a ring, and of some threads earlier events are there, too.
	 */
	int64_t since_ns;
	void *info;	     /* JsonObject * of info.json, which the model references; NULL: none */
	GPtrArray *problems; /* of struct pp_problem * */
	struct pp_reversals *reversals;	    /* NULL: none are stored */
	uint64_t n_unwritten;		    /* processes that could not write into the capture */
	struct pp_access_sets *access_sets; /* core/access_set.h */
	GMutex *lock; /* protects load maps and names while several threads read call histories */
	void *priv;
};

struct pp_model *pp_model_new(const char *dir);
void pp_model_free(struct pp_model *model);

struct pp_process *pp_model_add_process(struct pp_model *model, uint32_t pid, const char *folder);

struct pp_thread *pp_model_add_thread(struct pp_model *model, struct pp_process *process,
				      uint32_t tid, uint32_t index);

/*
 * Counts the processes and their threads.  The images of a process that called exec count as one
 * process.
 */
void pp_model_count(const struct pp_model *model, unsigned *ret_processes, unsigned *ret_threads);

static inline bool pp_model_is_live(const struct pp_model *model)
{
	return model->until_ns != INT64_MAX;
}

/* Did the recording begin while the program ran? */
bool pp_model_is_attached(const struct pp_model *model);

static inline bool pp_model_begins_late(const struct pp_model *model)
{
	return model->since_ns != INT64_MIN;
}

/*
 * For the capture of a ring of which older events were removed "the ring has the last 4.213 s of
 * 12.345 s; ..."; else NULL.  The caller frees it.
 */
char *pp_model_ring_text(const struct pp_model *model);

/*
 * For a live capture "still running; this report covers the first 4.213 s"; else NULL.  The caller
 * frees it.
 */
char *pp_model_live_text(const struct pp_model *model);

/* Is the time near the capture's start?  The first one is if no process tells the start. */
static inline bool pp_model_is_near(struct pp_model *model, int64_t time_ns)
{
	if (G_UNLIKELY(model->base_ns == PP_TIME_UNKNOWN) && time_ns >= 0)
		model->base_ns = time_ns;
	return G_LIKELY(time_ns >= 0 && ABS(time_ns - model->base_ns) <= PP_LONGEST_NS);
}

/* Extends the capture's time range to time_ns. */
static inline void pp_model_widen(struct pp_model *model, int64_t time_ns)
{
	if (G_UNLIKELY(model->start_ns == PP_TIME_UNKNOWN || time_ns < model->start_ns))
		model->start_ns = time_ns;
	if (time_ns > model->end_ns)
		model->end_ns = time_ns;
}

/* The time from which users count: the capture's start; 0 if it is unknown. */
static inline int64_t pp_model_origin(const struct pp_model *model)
{
	return model->start_ns == PP_TIME_UNKNOWN ? 0 : model->start_ns;
}

/* The process's thread with that index; NULL if there is none. */
struct pp_thread *pp_process_thread(const struct pp_process *process, uint32_t index);

/*
 * The name by which users know the thread: its own, or, if it has that of its parent or of the main
 * thread, which threads inherit, that of its start routine.  NULL if neither is known.
 */
const char *pp_thread_name(const struct pp_thread *thread);

/* The number of samples in the thread's histogram. */
uint64_t pp_thread_n_samples(const struct pp_thread *thread);

/* The path with these addresses, owned by the model.  Equal paths have the same pointer. */
const struct pp_path *pp_model_path(struct pp_model *model, const uint64_t *addresses, unsigned n);

/* Adds a row to the quality section, or `count` to the row that has the same `what` and `where`. */
void pp_model_add_problem(struct pp_model *model, const char *what, const char *where,
			  uint64_t count);

/*
 * The thread that had `tid` at time_ns: the one that was alive then, else the one that started last
 * before.  NULL if the capture has no thread with that tid.
 */
struct pp_thread *pp_model_thread_at(const struct pp_model *model, uint32_t tid, int64_t time_ns);

/* The thread with `tid` that was first seen at or next after time_ns; NULL if there is none. */
struct pp_thread *pp_model_thread_from(const struct pp_model *model, uint32_t tid, int64_t time_ns);

#endif
