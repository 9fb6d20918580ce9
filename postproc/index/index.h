/* SPDX-License-Identifier: MIT */
/*
 * The data that the browser shows, arranged for fast access to any part: every operation, with its
 * related ones (a lock and its unlock, a wait and the operation that ended it), and the state of
 * each thread and object over time, with intermediate sums so that any period is summed in a few
 * steps.
 *
 * One sweep makes it with the state machines of the passes, so its figures equal those of `report`
 * and `history`.  It consists of arrays of numbers that refer to each other by position, so it can
 * be a file.  A file is not trusted: references are checked when they are followed
 * (pp_index_operation() and similar functions).
 */
#ifndef PP_INDEX_INDEX_H
#define PP_INDEX_INDEX_H

#include "index/mapped_array.h"
#include "index/progress.h"
#include "analysis/state/object_state.h"
#include "analysis/state/wait_end.h"

#define PP_INDEX_NONE UINT32_MAX

/* States of an object; those of threads are enum pp_mode. */
enum pp_object_mode {
	PP_OBJECT_FREE,
	PP_OBJECT_HELD,	     /* without waiters */
	PP_OBJECT_CONTENDED, /* held, with waiters */
	PP_OBJECT_WAITED,    /* waited for, but not held */
};
#define PP_LANE_GONE   7 /* for both: not created yet, or destroyed */
#define PP_LANE_STATES 8

/* Flags of struct pp_index_operation. */
enum {
	PP_INDEX_FINISHED = 1,
	PP_INDEX_WAITED = 2,	/* it found the object held */
	PP_INDEX_BLOCKED = 4,	/* its thread was blocked */
	PP_INDEX_ACQUIRED = 8,	/* it obtained the object */
	PP_INDEX_REGAINED = 16, /* a condition wait reacquired its mutex */
	PP_INDEX_YIELDED = 32,	/* a condition wait released its mutex */
	PP_INDEX_RELEASED = 64, /* ended a hold */
	PP_INDEX_MORE = 128,	/* `more` is the number of a struct pp_index_more */
};

struct pp_index_operation {
	uint64_t time_ns; /* time of its return; if it never returned, the start of its wait */
	uint32_t thread, object, site;
	uint32_t mate; /* acquisition <-> release; wait <-> the operation that ended it */
	uint32_t more; /* without PP_INDEX_MORE: duration in ns of the hold that it ended */
	uint8_t op, result;
	uint16_t flags;
};
G_STATIC_ASSERT(sizeof(struct pp_index_operation) == 32);

struct pp_index_more {
	uint64_t ns; /* duration of the wait, or of the hold that it ended */
	uint64_t value;
	uint32_t operation;
	uint32_t other;	      /* the thread that was waited for */
	uint32_t acquisition; /* the acquisition that held the object when the wait began */
	uint32_t path;
	uint32_t how;  /* enum pp_wait_how */
	uint32_t call; /* the other thread's operation that acquired the object, or ended the
			* wait */
};
G_STATIC_ASSERT(sizeof(struct pp_index_more) == 40);

struct pp_index_site {
	uint64_t address;
	uint32_t process, pad;
};

/* A run of the items of another section. */
struct pp_index_run {
	uint64_t first, n;
};

struct pp_index_process {
	uint32_t pid, image;
};

/* Flags of struct pp_index_thread. */
enum {
	PP_INDEX_SEEN = 1,	/* some event of the thread is known */
	PP_INDEX_SCHEDULED = 2, /* it has scheduling events */
};

struct pp_index_thread {
	int64_t start_ns, end_ns;
	uint32_t process, tid, index;
	uint32_t name; /* in PP_SECTION_TEXT */
	uint32_t flags, pad;
};

struct pp_index_object {
	uint64_t address, load_id, init_site, first_site;
	uint64_t acquired, contended;
	int64_t wait_ns, hold_ns;
	uint32_t process, generation;
	uint32_t subject; /* for an object that is a thread: the thread */
	uint32_t type;	  /* enum gm_sync_type */
};

/* A hold without a release: it lasts to the end of its thread, or of the capture. */
struct pp_index_hold {
	int64_t since_ns, end_ns;
	uint32_t thread, object;
};

/* A blocking call beyond synchronization. */
struct pp_index_call {
	uint64_t begin_ns, end_ns;
	uint32_t thread, site;
	uint32_t path; /* as in struct pp_index_more */
	uint32_t call; /* enum st_io_call */
};

/* A sample: CPU time of a thread, with the call path where it was found. */
struct pp_index_sample {
	uint64_t time_ns, weight_ns;
	uint32_t thread;
	uint32_t path; /* as in struct pp_index_more */
};

/* The waits of one thread for another. */
struct pp_index_edge {
	uint32_t from, to; /* threads; to: PP_INDEX_NONE if unknown */
	uint64_t count;
	int64_t wait_ns, wait_max_ns;
	uint32_t object;    /* the object with the most time */
	uint32_t n_objects; /* 0: the sum of all waits beyond the limit of edges */
};

/* A lane: the states of a thread or object over time. */
struct pp_index_lane {
	struct pp_index_run steps; /* of uint64_t: time_ns << 3 | state */
	uint64_t first_stride;
};

struct pp_index_sum {
	uint64_t ns[PP_LANE_STATES];
};

/* The steps of a lane in one page of PP_SECTION_STEPS. */
struct pp_index_stride {
	uint64_t time_ns;	    /* of the first step */
	struct pp_index_sum before; /* sums up to this stride */
};
#define PP_LANE_STRIDE 512 /* steps of a page */

/* Four lists of operations: all operations and those that waited, each by thread and by object. */
enum pp_index_list {
	PP_LIST_THREAD,
	PP_LIST_THREAD_WAITS,
	PP_LIST_OBJECT,
	PP_LIST_OBJECT_WAITS,
	PP_N_LISTS
};

enum pp_section {
	PP_SECTION_OPERATIONS,
	PP_SECTION_MORE,
	PP_SECTION_SITES,
	PP_SECTION_PATHS, /* one per call path, as runs of: */
	PP_SECTION_ADDRESSES,
	PP_SECTION_PROCESSES,
	PP_SECTION_THREADS,
	PP_SECTION_OBJECTS,
	PP_SECTION_ENDLESS, /* holds without a release */
	PP_SECTION_SAMPLES, /* in order of time */
	PP_SECTION_CALLS,   /* in order of their ends */
	PP_SECTION_EDGES,   /* longest first */
	PP_SECTION_TEXT,    /* names, NUL-terminated */
	PP_SECTION_DAMAGE,  /* lines about damage found by the sweep, NUL-terminated */
	PP_SECTION_LANES,   /* those of threads, then those of objects */
	PP_SECTION_STEPS,
	PP_SECTION_STRIDES,
	PP_SECTION_RUNS, /* for each list, one per thread or object */
	PP_SECTION_ITEMS = PP_SECTION_RUNS + PP_N_LISTS,
	PP_N_SECTIONS = PP_SECTION_ITEMS + PP_N_LISTS
};

/* Building an index in files needs two more, for the logs that are discarded at the end. */
#define PP_INDEX_FILES (PP_N_SECTIONS + 2)

struct pp_index {
	struct pp_model *model; /* borrowed */
	struct pp_mapped_array sections[PP_N_SECTIONS];
	int64_t start_ns, end_ns;
	uint64_t n_events;
	uint64_t n_left_out; /* operations for which no 32-bit number was left */
	bool has_kernel;
};

/*
 * Creates an empty index.  `fds`: empty files for the sections, whose ownership passes to it; NULL:
 * memory only.
 */
struct pp_index *pp_index_new(struct pp_model *model, const int *fds);
void pp_index_free(struct pp_index *index);

const char *pp_index_section_name(enum pp_section section);

/*
 * Unmaps the pages of the index's files until they are accessed again.  Whoever accesses a whole
 * index calls this now and then, so that it takes little memory.
 */
void pp_index_release(const struct pp_index *index);
#define PP_INDEX_RELEASE 0x40000 /* accesses, or events added, until then: 20 MB */

/* Tells the kernel that the index's files will be accessed randomly. */
void pp_index_scatter(struct pp_index *index);

static inline uint64_t pp_index_n(const struct pp_index *index, enum pp_section section)
{
	return index->sections[section].n;
}

/* These return NULL for an invalid number. */
const struct pp_index_operation *pp_index_operation(const struct pp_index *index, uint64_t number);
const struct pp_index_more *pp_index_more(const struct pp_index *index,
					  const struct pp_index_operation *operation);
const struct pp_index_thread *pp_index_thread(const struct pp_index *index, uint64_t number);
const struct pp_index_object *pp_index_object(const struct pp_index *index, uint64_t number);
const struct pp_index_hold *pp_index_hold(const struct pp_index *index, uint64_t number);
const struct pp_index_sample *pp_index_sample(const struct pp_index *index, uint64_t number);
const struct pp_index_call *pp_index_call(const struct pp_index *index, uint64_t number);
const struct pp_index_edge *pp_index_edge(const struct pp_index *index, uint64_t number);
const struct pp_index_site *pp_index_site(const struct pp_index *index, uint64_t number);

/* Returns the next line of PP_SECTION_DAMAGE; *at is 0 initially.  NULL: no more. */
const char *pp_index_damage(const struct pp_index *index, uint64_t *at);

/* Returns a process of the model; NULL: invalid number. */
const struct pp_process *pp_index_process(const struct pp_index *index, uint64_t number);

/* Returns "mutex" etc.; "?" for an unknown type. */
const char *pp_index_type(const struct pp_index_object *object);

/* Never NULL; may contain any bytes. */
const char *pp_index_thread_name(const struct pp_index *index, uint64_t number);

/* Same name as pp_object_name(); the caller frees it. */
char *pp_index_object_name(const struct pp_index *index, uint64_t number,
			   const struct pp_namer *namer);

/* Sets *ret to the return addresses, the innermost first.  Returns their number; 0: unknown. */
unsigned pp_index_path(const struct pp_index *index, uint32_t path, const uint64_t **ret);

/* Returns the duration of its wait; for a release, of the hold that it ended. */
int64_t pp_index_ns(const struct pp_index *index, const struct pp_index_operation *operation);

/* Returns the time at which a waiting operation began to wait. */
int64_t pp_index_begin_ns(const struct pp_index *index, const struct pp_index_operation *operation);

/* Returns the operation that ended the wait, or released the object; PP_INDEX_NONE: unknown. */
uint32_t pp_index_ender(const struct pp_index *index, const struct pp_index_operation *operation);

/* --- lanes: of threads by number, of objects by number + that of all threads ------------------ */

/* Sets *ret to its steps, as in PP_SECTION_STEPS.  Returns their number. */
uint64_t pp_index_steps(const struct pp_index *index, uint64_t lane, const uint64_t **ret);

/* Sums the time in each state from from_ns to to_ns. */
void pp_index_shares(const struct pp_index *index, uint64_t lane, int64_t from_ns, int64_t to_ns,
		     struct pp_index_sum *ret);

/* Does the same for n equal parts of that period, each separately. */
void pp_index_cells(const struct pp_index *index, uint64_t lane, int64_t from_ns, int64_t to_ns,
		    unsigned n, struct pp_index_sum *ret);

/* --- lists ------------------------------------------------------------------------------------ */

uint64_t pp_index_list_n(const struct pp_index *index, enum pp_index_list list, uint32_t of);

/* Returns the number of an operation; PP_INDEX_NONE: position beyond the end. */
uint32_t pp_index_list_at(const struct pp_index *index, enum pp_index_list list, uint32_t of,
			  uint64_t at);

/*
 * Announces that n items will be accessed, so that they are read ahead; `more`: including their
 * data in PP_SECTION_MORE.
 */
void pp_index_list_want(const struct pp_index *index, enum pp_index_list list, uint32_t of,
			uint64_t at, uint64_t n, bool more);

/* Returns the position of the first operation at time_ns or later. */
uint64_t pp_index_list_find(const struct pp_index *index, enum pp_index_list list, uint32_t of,
			    uint64_t time_ns);

/* Returns the position of that operation, or of the first later one; *ret_found tells which. */
uint64_t pp_index_list_find_operation(const struct pp_index *index, enum pp_index_list list,
				      uint32_t of, uint32_t operation, bool *ret_found);

#endif
