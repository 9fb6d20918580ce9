/* SPDX-License-Identifier: MIT */
/*
 * What a capture is about: processes, their threads, and the names for addresses.
 *
 * A thread is (pid, image, index): tids are reused, indexes are not, but for an exec.  Threads come
 * from the `threads` file of a process; those that only the kernel saw (a process without our
 * libraries) are added with indexes after the last, flagged `kernel_only`.  The model owns all of
 * it; pointers stay valid as long as the model does.
 */
#ifndef PP_CORE_MODEL_H
#define PP_CORE_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "core/error.h"

#define PP_TIME_UNKNOWN INT64_MIN

struct pp_process {
	uint32_t pid;
	uint32_t image;		  /* 0, 1, ...: after each exec another; the rest of the key */
	uint32_t ppid;		  /* 0: not known */
	char *folder;		  /* "1234", "1234.1": one image of the process */
	char *dir;		  /* path of the folder; NULL: only the kernel saw the process */
	int64_t start_ns, end_ns; /* PP_TIME_UNKNOWN where not known */
	uint64_t proc_start;	  /* field 22 of /proc/PID/stat; 0: not known */
	uint64_t threads_lost, calls_lost, events_lost, paths_lost;
	uint64_t n_in_memory; /* threads whose last data was in memory alone, and is lost */
	uint16_t threads_why, calls_why, events_why; /* core/loss.h */
	GPtrArray *threads;	  /* of struct pp_thread *, by index; borrowed from the model */
	GArray *helpers;	  /* of struct pp_helper, by capture/helpers; NULL: none */
	GArray *maps;		  /* of struct pp_load, by capture/maps; NULL: no load map */
	struct pp_places *places; /* what was where, by capture/places; NULL: that never changed */
	bool only_waits;	  /* of its synchronization: the rest was counted */
	bool sync_auto;		  /* ... of threads that took more than sync.budget for it */
	bool holds_timed;	  /* ... how long it was held, in counted_holds */
	uint64_t holds_lost;	  /* ... that found no room there */
	GArray *counted_holds;	  /* of struct pp_counted_holds; NULL: none */
	bool no_holds;		  /* ... and the holds that waits met, too (old captures) */
	unsigned sync_types_off;  /* bits by enum gm_sync_type: not recorded */
	bool sync_objects_chosen; /* only those of some modules are recorded */
	bool sync_objects_unsorted; /* ... and those that were new when there were too many */
	uint64_t sample_period_ns;  /* CPU time of a thread from sample to sample; 0: none taken */
	const char *why_no_samples; /* NULL: they are taken */
	bool asked_for_samples;	    /* one of its threads began to count calls */
	bool has_streams;	    /* its synch-events are in a folder of its own */
	bool has_counts; /* of calls: what one of its threads has none of, it did not make */
};

struct pp_thread {
	struct pp_process *process;
	uint32_t tid;
	uint32_t index;
	unsigned serial; /* 0, 1, ...: position in model->threads; passes key their state by it */
	char *name;
	/*
	 * First and last known instant; PP_TIME_UNKNOWN where not known.  Reading the kernel's
	 * events widens them to the fork and the exit.
	 */
	int64_t start_ns, end_ns;
	uint64_t start_routine; /* run-time address; 0: not known */
	int64_t parent_index;	/* -1: not known */
	bool ended;		/* in order */
	bool kernel_only;
	bool in_ust; /* LTTng-UST has events of it */
	uint64_t calls_lost, events_lost;
	uint64_t records_lost; /* calls and returns that are not in the history */
	uint16_t calls_why, samples_why, events_why, records_why; /* core/loss.h */
	GArray *arcs;		 /* of struct pp_arc; NULL: the thread's calls were not recorded */
	GArray *samples;	 /* of struct pp_sample; NULL: none */
	int64_t sync_since_ns;	 /* since when they are counted; 0: from the start */
	bool sync_near_limit;	 /* ... since the capture came near output.max then */
	uint64_t *sync_counts;	 /* by enum st_counted: operations that are no events; NULL: none */
	uint64_t samples_missed; /* periods of its CPU time that no sample stands for */
	uint64_t samples_late;	 /* of its samples: found with the next, and counted there */
	uint32_t clock_error_ns; /* largest distance seen of its clock from CLOCK_MONOTONIC */
	int sample_error;	 /* errno: why it has no samples of its own; 0: nothing failed */
};

/* A way a call was made, and how often. */
struct pp_arc {
	uint64_t from; /* return address in the caller */
	uint64_t self; /* address in the called function, just behind its call of mcount */
	uint64_t count;
};

/* Where the thread was when its CPU clock said so, and how often. */
struct pp_sample {
	uint64_t address;
	uint64_t count;
};

/* Holds that nobody waited for, and that are no events: sync.holds. */
struct pp_counted_holds {
	struct pp_thread *thread;
	uint64_t object,
	    site;	  /* run-time return address, as pp_places_code() has it; 0: not known */
	uint64_t era;	  /* of the object: core/event.h */
	unsigned op;	  /* enum st_event: what acquired it */
	int64_t first_ns; /* the first acquisition */
	uint64_t n;
	int64_t total_ns, longest_ns;
};

/* How a program came to a call: return addresses, that of the call first. */
struct pp_path {
	unsigned n;
	uint64_t addresses[];
};

/* Something the capture lacks or contradicts itself in. */
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
	void *info;	     /* JsonObject * of info.json; NULL: none; a reference of the model's */
	GPtrArray *problems; /* of struct pp_problem * */
	uint64_t n_unwritten; /* processes that could not write into the capture */
	GMutex *lock; /* of load maps and names, where several threads read histories of calls */
	void *priv;
};

struct pp_model *pp_model_new(const char *dir);
void pp_model_free(struct pp_model *model);

struct pp_process *pp_model_add_process(struct pp_model *model, uint32_t pid, const char *folder);

struct pp_thread *pp_model_add_thread(struct pp_model *model, struct pp_process *process,
				      uint32_t tid, uint32_t index);

/*
 * How many processes, and threads of all of them: one that goes on in another image, by exec, is
 * the same.
 */
void pp_model_count(const struct pp_model *model, unsigned *ret_processes, unsigned *ret_threads);

/* Something was seen then. */
static inline void pp_model_widen(struct pp_model *model, int64_t time_ns)
{
	if (G_UNLIKELY(model->start_ns == PP_TIME_UNKNOWN || time_ns < model->start_ns))
		model->start_ns = time_ns;
	if (time_ns > model->end_ns)
		model->end_ns = time_ns;
}

/* The process's thread with that index; NULL: none. */
struct pp_thread *pp_process_thread(const struct pp_process *process, uint32_t index);

/* The path of these addresses; equal ones are the same.  The model's. */
const struct pp_path *pp_model_path(struct pp_model *model, const uint64_t *addresses, unsigned n);

/* A row for the quality section.  The same what and where again adds to its count. */
void pp_model_add_problem(struct pp_model *model, const char *what, const char *where,
			  uint64_t count);

/*
 * The thread that had `tid` at that time: the live one whose life holds time_ns, else the one that
 * started last before it.  NULL when none of the capture's threads ever had it.
 */
struct pp_thread *pp_model_thread_at(const struct pp_model *model, uint32_t tid, int64_t time_ns);

/* The thread with `tid` that was first seen at time_ns or next after it; NULL: none. */
struct pp_thread *pp_model_thread_from(const struct pp_model *model, uint32_t tid, int64_t time_ns);

#endif
