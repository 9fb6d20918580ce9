/* SPDX-License-Identifier: MIT */
/*
 * What the browser shows, kept so that any part of it is found at once: every operation, with what
 * belongs together (a lock and its unlock, a wait and who ended it); what each thread and object
 * was in at each instant, with sums on the way, so that any stretch of time is added up in a few
 * steps.
 *
 * It is made in one sweep by the state machines of the passes, so its figures are theirs: those of
 * `report` and `history`.  It is arrays of plain numbers, which refer to each other by position, so
 * that it can be a file.  A file may hold anything: what is read from here is checked when it is
 * followed (pp_index_operation() and its kin).
 */
#ifndef PP_INDEX_INDEX_H
#define PP_INDEX_INDEX_H

#include "index/mapped_array.h"
#include "index/progress.h"
#include "analysis/state/object_state.h"
#include "analysis/state/wait_end.h"

#define PP_INDEX_NONE UINT32_MAX

/* What an object is in; threads are in an enum pp_mode. */
enum pp_object_mode {
	PP_OBJECT_FREE,
	PP_OBJECT_HELD,	     /* without waiters */
	PP_OBJECT_CONTENDED, /* held, with waiters */
	PP_OBJECT_WAITED,    /* waited for, and not held */
};
#define PP_LANE_GONE   7 /* of both: not yet there, or no more */
#define PP_LANE_STATES 8

/* Of struct pp_index_operation. */
enum {
	PP_INDEX_FINISHED = 1,
	PP_INDEX_WAITED = 2,	/* it found the object taken */
	PP_INDEX_BLOCKED = 4,	/* its thread was blocked */
	PP_INDEX_ACQUIRED = 8,	/* it obtained the object */
	PP_INDEX_REGAINED = 16, /* a condition wait has its mutex again */
	PP_INDEX_YIELDED = 32,	/* ... and gave it up */
	PP_INDEX_RELEASED = 64, /* ended a hold */
	PP_INDEX_MORE = 128,	/* `more` is the number of a struct pp_index_more */
};

struct pp_index_operation {
	uint64_t time_ns; /* when it returned; if it never did, when it began to wait */
	uint32_t thread, object, site;
	uint32_t mate; /* acquisition and release; wait, and what ended it */
	uint32_t more; /* without PP_INDEX_MORE: how long the hold was that it ended, in ns */
	uint8_t op, result;
	uint16_t flags;
};
G_STATIC_ASSERT(sizeof(struct pp_index_operation) == 32);

struct pp_index_more {
	uint64_t ns; /* of the wait, or the hold that was ended */
	uint64_t value;
	uint32_t operation;
	uint32_t other; /* thread that was waited for */
	uint32_t met;	/* the acquisition that the wait met */
	uint32_t path;
	uint32_t how;  /* enum pp_wait_how */
	uint32_t call; /* with which the other took the object, or ended the wait */
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

/* Of struct pp_index_thread. */
enum {
	PP_INDEX_SEEN = 1,	/* something is known of its life */
	PP_INDEX_SCHEDULED = 2, /* the scheduler's events tell of it */
};

struct pp_index_thread {
	int64_t start_ns, end_ns;
	uint32_t process, tid, index;
	uint32_t name; /* in PP_SECTION_TEXT */
	uint32_t flags, pad;
};

struct pp_index_object {
	uint64_t address, era, init_site, first_site;
	uint64_t acquired, contended;
	int64_t wait_ns, hold_ns;
	uint32_t process, generation;
	uint32_t subject; /* the thread that it is */
	uint32_t type;	  /* enum gm_sync_type */
};

/* A hold that no release ended: it went on to the end of its thread, or of the capture. */
struct pp_index_hold {
	int64_t since_ns, end_ns;
	uint32_t thread, object;
};

/* The waits of one thread for another. */
struct pp_index_edge {
	uint32_t from, to; /* threads; to: PP_INDEX_NONE: it is not known for whom */
	uint64_t count;
	int64_t wait_ns, wait_max_ns;
	uint32_t object; /* that most of the time was for; */
	uint32_t
	    n_objects; /* 0: these are the waits that were not told apart, there were too many */
};

/* A lane: what something was in, from each step to the next. */
struct pp_index_lane {
	struct pp_index_run steps; /* of uint64_t: time_ns << 3 | state */
	uint64_t first_stride;
};

struct pp_index_sum {
	uint64_t ns[PP_LANE_STATES];
};

/* Of a lane the steps that are in one page of PP_SECTION_STEPS. */
struct pp_index_stride {
	uint64_t time_ns;	    /* of the first */
	struct pp_index_sum before; /* up to there */
};
#define PP_LANE_STRIDE 512 /* steps of a page */

/* Four of operations: all and those that waited, by thread and by object. */
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
	PP_SECTION_PATHS, /* runs of: */
	PP_SECTION_ADDRESSES,
	PP_SECTION_PROCESSES,
	PP_SECTION_THREADS,
	PP_SECTION_OBJECTS,
	PP_SECTION_ENDLESS, /* holds */
	PP_SECTION_EDGES,   /* longest first */
	PP_SECTION_TEXT,    /* names, each ended by a zero */
	PP_SECTION_DAMAGE,  /* what the sweep found: lines, each ended by a zero */
	PP_SECTION_LANES,   /* of threads, then of objects */
	PP_SECTION_STEPS,
	PP_SECTION_STRIDES,
	PP_SECTION_RUNS, /* of each list one for each thread or object */
	PP_SECTION_ITEMS = PP_SECTION_RUNS + PP_N_LISTS,
	PP_N_SECTIONS = PP_SECTION_ITEMS + PP_N_LISTS
};

/* To make one in files it takes two more, for what is given up at the end. */
#define PP_INDEX_FILES (PP_N_SECTIONS + 2)

struct pp_index {
	struct pp_model *model; /* borrowed */
	struct pp_mapped_array sections[PP_N_SECTIONS];
	int64_t start_ns, end_ns;
	uint64_t n_events;
	uint64_t n_left_out; /* operations beyond what numbers can tell apart */
	bool has_kernel;
};

/* An empty one.  fds: of empty files for the sections, which it takes; NULL: all in memory. */
struct pp_index *pp_index_new(struct pp_model *model, const int *fds);
void pp_index_free(struct pp_index *index);

const char *pp_index_section_name(enum pp_section section);

/* It is in files, which from now on are looked at here and there. */
void pp_index_scatter(struct pp_index *index);

static inline uint64_t pp_index_n(const struct pp_index *index, enum pp_section section)
{
	return index->sections[section].n;
}

/* NULL: there is no such. */
const struct pp_index_operation *pp_index_operation(const struct pp_index *index, uint64_t number);
const struct pp_index_more *pp_index_more(const struct pp_index *index,
					  const struct pp_index_operation *operation);
const struct pp_index_thread *pp_index_thread(const struct pp_index *index, uint64_t number);
const struct pp_index_object *pp_index_object(const struct pp_index *index, uint64_t number);
const struct pp_index_hold *pp_index_hold(const struct pp_index *index, uint64_t number);
const struct pp_index_edge *pp_index_edge(const struct pp_index *index, uint64_t number);
const struct pp_index_site *pp_index_site(const struct pp_index *index, uint64_t number);

/* A line of PP_SECTION_DAMAGE, and then the next; *at is 0 at first.  NULL: no more. */
const char *pp_index_damage(const struct pp_index *index, uint64_t *at);

/* The model's; NULL: there is no such. */
const struct pp_process *pp_index_process(const struct pp_index *index, uint64_t number);

/* "mutex".  Of one that is none of ours "?". */
const char *pp_index_type(const struct pp_index_object *object);

/* Never NULL; of any bytes. */
const char *pp_index_thread_name(const struct pp_index *index, uint64_t number);

/* As pp_object_name() has it; the caller frees it. */
char *pp_index_object_name(const struct pp_index *index, uint64_t number,
			   const struct pp_namer *namer);

/* Return addresses, that of the call first; the number of them, 0: not known. */
unsigned pp_index_path(const struct pp_index *index, uint32_t path, const uint64_t **ret);

/* How long it waited; of a release, how long the hold was that it ended. */
int64_t pp_index_ns(const struct pp_index *index, const struct pp_index_operation *operation);

/* What ended the wait, or let go of what it waited for; PP_INDEX_NONE: not known. */
uint32_t pp_index_ender(const struct pp_index *index, const struct pp_index_operation *operation);

/* --- lanes: of threads by number, of objects by number + that of all threads ------------------ */

/* Its steps, as in PP_SECTION_STEPS; the number of them. */
uint64_t pp_index_steps(const struct pp_index *index, uint64_t lane, const uint64_t **ret);

/* How long it was in each state, from one instant to another. */
void pp_index_shares(const struct pp_index *index, uint64_t lane, int64_t from_ns, int64_t to_ns,
		     struct pp_index_sum *ret);

/* The same for n equal parts of that time, each on its own. */
void pp_index_cells(const struct pp_index *index, uint64_t lane, int64_t from_ns, int64_t to_ns,
		    unsigned n, struct pp_index_sum *ret);

/* --- lists ------------------------------------------------------------------------------------ */

uint64_t pp_index_list_n(const struct pp_index *index, enum pp_index_list list, uint32_t of);

/* The number of an operation; PP_INDEX_NONE: there is none. */
uint32_t pp_index_list_at(const struct pp_index *index, enum pp_index_list list, uint32_t of,
			  uint64_t at);

/* These n are going to be looked at; more: with what belongs to them in PP_SECTION_MORE. */
void pp_index_list_want(const struct pp_index *index, enum pp_index_list list, uint32_t of,
			uint64_t at, uint64_t n, bool more);

/* Position of the first whose time is time_ns or later. */
uint64_t pp_index_list_find(const struct pp_index *index, enum pp_index_list list, uint32_t of,
			    uint64_t time_ns);

/* Position of that operation, or of the first that is later; *ret_found: which of the two. */
uint64_t pp_index_list_find_operation(const struct pp_index *index, enum pp_index_list list,
				      uint32_t of, uint32_t operation, bool *ret_found);

#endif
