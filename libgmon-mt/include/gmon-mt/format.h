/* SPDX-License-Identifier: MIT */
/*
 * The files that the runtime libraries leave in a capture directory, other than CTF streams.
 *
 * Two binary files are live memory: `<pid>/threads` and `<pid>/calls` are shared
 * mappings that the running program updates in place, so that a program killed at any instant
 * leaves behind all it had counted.  A reader must therefore take every field as hostile: check
 * magic, schema and sizes against the length of the file before it follows anything.
 *
 * All integers are little-endian.  Times are CLOCK_MONOTONIC nanoseconds.  Addresses are run-time
 * virtual addresses; `<pid>/maps` tells which object was there.
 *
 * Other files (text, one record a line):
 *
 *   session            "gprof-mt-capture 1" / "owner PID STARTTIME" (STARTTIME: field 22 of
 *                      /proc/PID/stat) / "clock_offset_ns N" (CLOCK_REALTIME - CLOCK_MONOTONIC,
 *                      the offset in the clock block of every CTF metadata file of the capture) /
 *                      "clock_uuid UUID" (the boot id) / "secret A B C D": 64 bits each, by which
 *                      a process of the run (A B) and `record` (C D) know each other while it
 *                      runs.  Written whole, by rename, by whoever creates the capture.
 *   .unwritten.PID     a symbolic link to "ERRNO": why the process PID has no folder.  It has a
 *                      place where files have none: neither on a full disk nor under a limit.
 *                      A child that may not make one either (other credentials, another root) is
 *                      in the header of the last of its ancestors that has a `threads`.
 *   <pid>/maps         "TIME_NS load START END BIAS BUILDID PATH": hexadecimal without 0x but
 *                      for TIME_NS; BIAS = run-time address - link-time address; BUILDID is "-"
 *                      when the object has none; PATH runs to the end of the line, with '\n' and
 *                      '\\' escaped by a backslash.  The first line is the executable.  The same
 *                      object may be listed more than once.  Where several hold an address, the
 *                      last one counts.  Addresses of 2^48 and more are of objects that were
 *                      unloaded at TIME_NS: the lower 48 bits are where they had been.
 */
#ifndef GMON_MT_FORMAT_H
#define GMON_MT_FORMAT_H

#include <stdint.h>

/* Version of everything in a capture directory; a reader refuses a greater one. */
#define GM_CAPTURE_SCHEMA 1

#define GM_SESSION_MAGIC "gprof-mt-capture"
#define GM_UNWRITTEN	 ".unwritten."

/*
 * --- <pid>/helpers: records without a header ----------------------------------------------
 *
 * The tasks that opened files for the runtime libraries, under `record` only: the kernel's events
 * have them as threads of the process, but they are none of the program's.  A task appends its
 * record when its work is done.
 */
#define GM_HELPERS_FILE "helpers"
#define GM_HELPER_NAME	"gprof-mt:files" /* of the task, in the kernel's events */

struct gm_helper {
	uint32_t tid;
	uint32_t unused;   /* 0 */
	uint64_t begin_ns; /* CLOCK_MONOTONIC; before the task was made */
	uint64_t end_ns;   /* when the record was written */
};

/*
 * Why something is not there: a bit each, and a field has those of all the reasons there were.
 * Beside a count that is not 0, no bit means that the reason is not known.
 */
enum gm_loss {
	GM_LOSS_DISK = 1,	/* no room on the disk */
	GM_LOSS_FILE_LIMIT = 2, /* RLIMIT_FSIZE */
	GM_LOSS_MEMORY = 4,	/* no memory, or no address space */
	GM_LOSS_FILE = 8,	/* a file that could not be made, opened or written to */
	GM_LOSS_TOO_MANY = 16,	/* more than can be numbered */
	GM_LOSS_TOO_EARLY = 32, /* before the library was relocated (IFUNC resolvers) */
	/* ... or in a handler that interrupted the library, or where it may make no system call */
	GM_LOSS_COUNTING_ONLY = GM_LOSS_TOO_EARLY,
	GM_LOSS_NO_FUNCTION = 64, /* of calls: made by hand, of no function */
	GM_LOSS_LEFT = 64,	  /* of synch-events: a jump or context switch left the operation */
	GM_LOSS_SECOND_COPY = 128, /* of calls: the program has the library twice */
	GM_LOSS_OUTPUT_MAX = 128,  /* of synch-events and histories: [output] max is reached */
	/* Another thread did not get on for seconds with what this one needed: a bit of its own. */
	GM_LOSS_STALLED = 256,
};

/* GM_LOSS_STALLED was the reason for a loss of these: bits in `stalled`. */
enum gm_stalled {
	GM_STALLED_CALLS = 1,
	GM_STALLED_EVENTS = 2,
	GM_STALLED_RECORDS = 4,
	GM_STALLED_SAMPLES = 8,
	GM_STALLED_THREADS = 16,
};

/* --- <pid>/maps ---------------------------------------------------------------------------- */

/* Above the addresses of what is loaded: 0, or the number of an object that was unloaded. */
#define GM_PLACE_BYTES	  ((uint64_t)1 << 48)
#define GM_PLACE(address) ((address) & ~(GM_PLACE_BYTES - 1))

/* The numbers that each library gives begin with these; the last is never given. */
#define GM_FIRST_PLACE_CALLS 1u
#define GM_FIRST_PLACE_SYNC  0x8000u
#define GM_PLACE_NONE	     0xffffu

/* --- <pid>/threads: header, then slots --------------------------------------------------- */

#define GM_THREADS_MAGIC  "GMTHREAD"
#define GM_THREAD_BUCKETS 1024

enum gm_thread_state {
	GM_THREAD_FREE = 0, /* handed out, not yet filled in: the writer died in between */
	GM_THREAD_LIVE = 1,
	GM_THREAD_ENDED = 2,
};

/* Which library a per-library field of a thread slot belongs to. */
enum gm_library {
	GM_LIB_CALLS = 0, /* libgmon-mt */
	GM_LIB_SYNC = 1,  /* libsync-trace */
	GM_N_LIBS = 2,
};

/*
 * The registry of the paper's Figure 4: `bucket` is its array A, indexed by a hash of the thread
 * id; the slots chained by `next` are its list B; the slot, with each library's own control block
 * behind it, is its node C.  Links are slot index + 1; 0 ends a chain.
 */
/* A child that could not write into the capture, and had no place of its own to say so. */
struct gm_unwritten {
	uint32_t pid; /* 0: being filled in */
	uint32_t error;
};
#define GM_UNWRITTEN_MAX 128

/*
 * In n_in_memory: this file, `calls`, `sync-counts` and `sync-holds` are not live memory either,
 * but written at the end (the file system cannot promise room for stores).  With end_ns == 0, what
 * n_in_memory tells of is lost.
 */
#define GM_FILES_IN_MEMORY 0x80000000u

struct gm_threads_header {
	char magic[8];
	uint32_t schema;
	uint32_t header_bytes; /* offset of slot 0 */
	uint32_t slot_bytes;
	uint32_t n_slots; /* handed out so far: the next thread's index; atomic */
	uint32_t pid;
	uint32_t ppid;
	uint64_t start_ns;     /* when this folder was opened */
	uint64_t end_ns;       /* orderly end of the process; 0: killed, or still running */
	uint64_t threads_lost; /* threads that found no slot (disk or address space) */
	uint64_t calls_lost;   /* calls counted nowhere, by threads without a slot */
	uint64_t events_lost;  /* synch-events written nowhere, by threads without a slot */
	uint64_t image;	       /* one run of one program image: differs after exec and pid reuse */
	uint64_t proc_start;   /* field 22 of /proc/PID/stat: the process, whatever it executes */
	uint64_t sample_period_ns; /* CPU time of a thread from sample to sample; 0: none taken */
	uint64_t sampler;	   /* which copy of libgmon-mt samples; means nothing to a reader */
	uint8_t sample_state;	   /* enum gm_sample_state */
	uint8_t stalled;	   /* bits, by enum gm_stalled: a reason of what is lost */
	uint16_t sync_types_off;   /* bits, by enum gm_sync_type: not recorded */
	uint8_t threads_why, calls_why, events_why; /* enum gm_loss, of threads_lost and so on */
	uint8_t sync_objects; /* bits, by enum gm_sync_objects: how much is recorded, whose */
	uint64_t paths_lost;  /* synch-events that lack the call path they were to have */
	uint64_t image_at;    /* where its process has `image`; means nothing to a reader */
	uint32_t bucket[GM_THREAD_BUCKETS];
	uint32_t n_unwritten; /* children, and theirs, that are not recorded; the first of them: */
	uint32_t n_in_memory; /* streams whose last packet is not in a file, and a flag (below) */
	struct gm_unwritten unwritten[GM_UNWRITTEN_MAX];
};
_Static_assert(sizeof(struct gm_threads_header) ==
		   136 + 4 * GM_THREAD_BUCKETS + GM_UNWRITTEN_MAX * sizeof(struct gm_unwritten),
	       "on-disk size");

/* Kinds of synchronization, as [sync] types and the events' names call them. */
#define GM_SYNC_TYPES(X)                                                                           \
	X(mutex)                                                                                   \
	X(cond)                                                                                    \
	X(rwlock)                                                                                  \
	X(sem)                                                                                     \
	X(barrier)                                                                                 \
	X(spin)                                                                                    \
	X(thread)                                                                                  \
	X(signal)                                                                                  \
	X(once)

enum gm_sync_type {
#define GM_SYNC_TYPE(name) GM_SYNC_TYPE_##name,
	GM_SYNC_TYPES(GM_SYNC_TYPE)
#undef GM_SYNC_TYPE
	    GM_N_SYNC_TYPES
};

enum gm_sync_objects {
	GM_SYNC_OBJECTS_SOME = 1,     /* only those that sync.include and sync.exclude leave */
	GM_SYNC_OBJECTS_UNSORTED = 2, /* ... and all that were new when there were too many */
	GM_SYNC_IN_AUTO_MODE = 4,     /* a thread may be switched to waits only: sync-counts */
};

/* Why a process has samples, or none. */
enum gm_sample_state {
	GM_SAMPLE_UNASKED = 0, /* no thread has counted a call */
	GM_SAMPLE_ON = 1,
	GM_SAMPLE_OFF = 2,	  /* [sample] hz = 0 */
	GM_SAMPLE_OLD_KERNEL = 3, /* before Linux 5.10: system calls could be interrupted */
};

struct gm_thread_slot {
	uint32_t state; /* enum gm_thread_state; written last (release) */
	uint32_t tid;
	uint32_t next;		       /* chain of equal hash */
	int32_t parent_index;	       /* -1: not known */
	uint64_t start_ns;	       /* first seen */
	uint64_t end_ns;	       /* 0: did not end in order */
	uint64_t start_routine;	       /* run-time address; 0: not known */
	uint64_t pthread;	       /* pthread_self(); 0: not known */
	uint64_t calls_lost;	       /* calls of this thread that were counted nowhere */
	uint64_t events_lost;	       /* synch-events of this thread that were written nowhere */
	char name[16];		       /* last known, NUL-terminated */
	uint64_t local[GM_N_LIBS];     /* each library's control block; means nothing to a reader */
	uint32_t clock_error_ns;       /* largest error seen in its time stamps; 2^32-1 and more */
	uint8_t calls_why, events_why; /* enum gm_loss, of calls_lost and so on */
	uint8_t records_why;	       /* with records_lost == 0: it has no history at all */
	uint8_t samples_why;	       /* none for CPU time that no timer told of */
	uint64_t records_lost;	 /* calls and returns that are not in the history, but counted */
	uint64_t samples_missed; /* periods of CPU time that no sample stands for */
	uint16_t sample_error;	 /* errno: why it has no timer; 0: it has one, or see the header */
	uint8_t stalled;	 /* bits, by enum gm_stalled: a reason of what is lost */
	uint8_t unused;
	uint32_t samples_late; /* of its samples: found with the next, and counted there */
};
_Static_assert(sizeof(struct gm_thread_slot) == 128, "on-disk size");

/* --- <pid>/calls: the arcs and the samples of all threads --------------------------------- */

#define GM_CALLS_MAGIC "GMTCALLS"
#define GM_CALLS_FREE  "GMTFREE!"

enum gm_calls_flags {
	GM_CALLS_DENSE = 1,   /* all arcs of an ended thread: its other tables no longer count */
	GM_CALLS_PRIVATE = 2, /* not in the file (only ever seen in the program's memory) */
	GM_CALLS_SAMPLES = 4, /* no calls, but where the thread was: self = address, from = 0 */
};

/*
 * The file is a row of chunks, each a header, n_slots arcs, and padding up to chunk_bytes, which
 * leads to the next; a chunk_bytes of 0 ends the row before the file does.  A chunk whose magic is
 * GM_CALLS_FREE holds nothing.  An arc with self == 0 is empty.
 *
 * A thread has one table or more, each twice as large as the one before; the calls of an arc are
 * the sum over all of them.  If one has GM_CALLS_DENSE, it alone counts.  The same holds, apart, of
 * its tables of samples (GM_CALLS_SAMPLES).
 */
struct gm_calls_header {
	char magic[8]; /* written last (release) */
	uint32_t schema;
	uint32_t header_bytes;
	uint32_t slot_bytes;
	uint32_t n_slots;
	uint32_t index;
	uint32_t tid;
	uint64_t chunk_bytes; /* a multiple of 64 */
	uint64_t slot_mask;   /* (n_slots - 1) * slot_bytes while the table is live; the writer's */
	uint32_t flags;	      /* enum gm_calls_flags */
	uint32_t reserved[3];
};
_Static_assert(sizeof(struct gm_calls_header) == 64, "on-disk size");

/* The first fields of a slot; slot_bytes may be greater. */
struct gm_calls_arc {
	uint64_t from;	/* return address in the caller */
	uint64_t self;	/* return address of mcount: in the called function */
	uint64_t count; /* calls */
};
_Static_assert(sizeof(struct gm_calls_arc) == 24, "on-disk size");

#endif
