/* SPDX-License-Identifier: MIT */
/*
 * The files that the runtime libraries write into a capture directory, other than CTF streams.
 *
 * `<pid>/threads` and `<pid>/calls` are live memory: shared mappings that the running program
 * updates in place, so that a program killed at any instant leaves all its counts behind. A reader
 * must therefore treat every field as hostile: check magic, schema and sizes against the length of
 * the file before it follows any offset.
 *
 * All integers are little-endian. Times are CLOCK_MONOTONIC nanoseconds. Addresses are run-time
 * virtual addresses; `<pid>/maps` gives the object at each.
 *
 * Other files (text, one record per line):
 *
 *   session            "gprof-mt-capture 1" / "owner PID STARTTIME" (STARTTIME: field 22 of
 *                      /proc/PID/stat) / "clock_offset_ns N" (CLOCK_REALTIME - CLOCK_MONOTONIC,
 *                      the offset in the clock block of every CTF metadata file of the capture) /
 *                      "clock_uuid UUID" (the boot id) / "secret A B C D": 64 bits each.  A process
 *                      of the run proves by A and B that it belongs to the capture, and `record`
 *                      by C and D / "pid_namespace N" of the creator (as pid_namespace below) /
 *                      "lock 1", where the file system permits it: every process of the run holds
 *                      a read lock of the first byte of this file (F_OFD_SETLK) as long as it may
 *                      write to the capture, unless its header says that it does not.  The creator
 *                      of the capture writes the file whole, by rename.  `record` adds "ended 1"
 *                      when it has ended.
 *   .unwritten.PID     a symlink to "ERRNO": why the process PID has no folder.  A symlink can be
 *                      made where a file cannot: on a full disk and under RLIMIT_FSIZE.  A child
 *                      that may not make one either (other credentials, another root) is listed in
 *                      the header of its nearest ancestor that has a `threads`.
 *   files              by `record` at its end: their number, then "BYTES PATH" for each file that
 *                      holds data of ended processes.  A file that is shorter has been damaged.
 *   kernel/.complete   64 bits: all of the kernel's events up to this time are in kernel/.  Its
 *                      writer updates it every second, and removes it at the end.
 *   <pid>/maps         "TIME_NS load START END BIAS BUILDID PATH": hexadecimal without 0x except
 *                      for TIME_NS; BIAS = run-time address - link-time address; BUILDID is "-"
 *                      when the object has none; PATH extends to the end of the line, with '\n' and
 *                      '\\' escaped by a backslash.  The first line is the executable.  An object
 *                      may be listed more than once.  If several entries hold an address, the last
 *                      one is valid.  Addresses of 2^48 and more belong to objects unloaded at
 *                      TIME_NS: the lower 48 bits are their former addresses.
 */
#ifndef GMON_MT_FORMAT_H
#define GMON_MT_FORMAT_H

#include <stdint.h>

/* Version of everything in a capture directory; a reader refuses a greater one. */
#define GM_CAPTURE_SCHEMA 1

#define GM_SESSION_FILE	 "session"
#define GM_SESSION_MAGIC "gprof-mt-capture"
#define GM_UNWRITTEN	 ".unwritten."

#define GM_KERNEL_COMPLETE ".complete"
#define GM_MANIFEST_FILE   "files"
#define GM_MANIFEST_NEW	   "files.new" /* before it is complete */

/*
 * --- <pid>/helpers: records without a header ----------------------------------------------
 *
 * The tasks that opened files for the runtime libraries, under `record` only.  The kernel's events
 * show them as threads of the process, although the program did not make them.  A task appends its
 * record when its work is done.
 */
#define GM_HELPERS_FILE "helpers"
#define GM_HELPER_NAME	"gprof-mt:files" /* name of the task in the kernel's events */

struct gm_helper {
	uint32_t tid;
	uint32_t unused;   /* 0 */
	uint64_t begin_ns; /* CLOCK_MONOTONIC; before the task was made */
	uint64_t end_ns;   /* when the record was written */
};

/*
 * Reasons for missing data: one bit each; a field has the bits of all reasons that occurred. If a
 * count is not 0 and no bit is set, the reason is not known.
 */
enum gm_loss {
	GM_LOSS_DISK = 1,	/* no room on the disk */
	GM_LOSS_FILE_LIMIT = 2, /* RLIMIT_FSIZE */
	GM_LOSS_MEMORY = 4,	/* no memory, or no address space */
	GM_LOSS_FILE = 8,	/* a file could not be made, opened or written to */
	GM_LOSS_TOO_MANY = 16,	/* more than can be numbered */
	GM_LOSS_TOO_EARLY = 32, /* before the library was relocated (IFUNC resolvers) */
	/*
	 * ... or in a handler that interrupted the library, or where it must not make system calls
	 */
	GM_LOSS_COUNTING_ONLY = GM_LOSS_TOO_EARLY,
	GM_LOSS_NO_FUNCTION = 64, /* of calls: __cyg_profile_func_enter(NULL, ...) */
	GM_LOSS_LEFT = 64,	  /* of synch-events: a jump or context switch left the operation */
	GM_LOSS_LITTLE = 64,	  /* of samples' paths: a child of fork that did little */
	GM_LOSS_SECOND_COPY = 128, /* of calls: the program has two copies of the library */
	GM_LOSS_OUTPUT_MAX = 128,  /* of what is in streams: [output] max is reached */
	/*
	 * Another thread held a needed lock or step for seconds; a bit of `stalled` in the files.
	 */
	GM_LOSS_STALLED = 256,
};

/*
 * GM_LOSS_STALLED was a reason for losses of these kinds, and for leaving out these steps, which
 * have no count: bits in `stalled`.
 */
enum gm_stalled {
	GM_STALLED_CALLS = 1,
	GM_STALLED_EVENTS = 2,
	GM_STALLED_RECORDS = 4,
	GM_STALLED_SAMPLES = 8,
	GM_STALLED_THREADS = 16,
	GM_STALLED_MONCONTROL = 32,   /* moncontrol(), called by this thread, for the others */
	GM_STALLED_LAST_SAMPLES = 64, /* counting the samples that this thread missed last */
	GM_STALLED_GMON = 128,	      /* of the process: writing its gmon files */
};

/* --- <pid>/maps ---------------------------------------------------------------------------- */

/* The bits above the addresses of loaded objects: 0, or the number of an unloaded object. */
#define GM_PLACE_BYTES	  ((uint64_t)1 << 48)
#define GM_PLACE(address) ((address) & ~(GM_PLACE_BYTES - 1))

/* The first numbers that each library gives; the last number is never given. */
#define GM_FIRST_PLACE_CALLS 1u
#define GM_FIRST_PLACE_SYNC  0x8000u
#define GM_PLACE_NONE	     0xffffu

/* --- <pid>/threads: header, then slots --------------------------------------------------- */

#define GM_THREADS_MAGIC  "GMTHREAD"
#define GM_THREAD_BUCKETS 1024

enum gm_thread_state {
	GM_THREAD_FREE = 0, /* allocated but not filled in: the writer died in between */
	GM_THREAD_LIVE = 1,
	GM_THREAD_ENDED = 2,
};

/* The library that a per-library field of a thread slot belongs to. */
enum gm_library {
	GM_LIB_CALLS = 0, /* libgmon-mt */
	GM_LIB_SYNC = 1,  /* libsync-trace */
	GM_N_LIBS = 2,
};

/*
 * The registry of the paper's Figure 4: `bucket` is its array A, indexed by a hash of the thread
 * id; the slots chained by `next` are its list B; the slot with each library's control block is its
 * node C. Links are slot index + 1; 0 ends a chain.
 */
/* A child that could not write into the capture and had no place (children.h) of its own. */
struct gm_unwritten {
	uint32_t pid; /* 0: being filled in */
	uint32_t error;
};
#define GM_UNWRITTEN_MAX 128

/*
 * Flag in n_in_memory: this file, `calls`, `sync-counts` and `sync-holds` are not live memory
 * either; they are written at the end, because the file system cannot reserve space for stores. If
 * end_ns == 0, everything that n_in_memory covers is lost.
 */
#define GM_FILES_IN_MEMORY 0x80000000u

/* In pid_namespace, where no namespace has these numbers. */
#define GM_NAMESPACE_UNKNOWN 1u
#define GM_NAMESPACE_PLACE   2u /* of a child of fork: it has ended if its place says so */

struct gm_threads_header {
	char magic[8];
	uint32_t schema;
	uint32_t header_bytes; /* offset of slot 0 */
	uint32_t slot_bytes;
	uint32_t n_slots; /* allocated so far: the next thread's index; atomic */
	uint32_t pid;
	uint32_t ppid;
	uint64_t start_ns;     /* time when this folder was opened */
	uint64_t end_ns;       /* orderly end of the process; 0: killed, or still running */
	uint64_t threads_lost; /* threads that found no slot (disk or address space) */
	uint64_t calls_lost;   /* calls not counted, of threads without a slot */
	uint64_t events_lost;  /* synch-events not written, of threads without a slot */
	uint64_t image; /* random, per run of a program image: differs after exec and pid reuse */
	uint64_t proc_start; /* field 22 of /proc/PID/stat: identifies the process across exec */
	uint64_t sample_period_ns; /* CPU time of a thread between samples; 0: none taken */
	uint64_t sampler;	   /* the copy of libgmon-mt that samples; no meaning to a reader */
	uint8_t sample_state;	   /* enum gm_sample_state */
	uint8_t stalled;	   /* bits, by enum gm_stalled */
	uint16_t sync_types_off;   /* bits, by enum gm_sync_type: not recorded */
	uint8_t threads_why, calls_why, events_why; /* enum gm_loss, of threads_lost and so on */
	uint8_t sync_objects;			    /* bits, by enum gm_sync_objects */
	uint64_t paths_lost; /* synch-events recorded without their call path */
	uint64_t image_at;   /* address of `image` in its process; no meaning to a reader */
	uint32_t bucket[GM_THREAD_BUCKETS];
	uint32_t n_unwritten; /* descendants that are not recorded; the first of them follow */
	uint32_t n_in_memory; /* streams whose last packet is in no file; GM_FILES_IN_MEMORY */
	struct gm_unwritten unwritten[GM_UNWRITTEN_MAX];
	/* Inode number of the process' PID namespace; 0: it holds the lock of `session`. */
	uint32_t pid_namespace;
	uint32_t
	    maps_left_out; /* attempts to update `maps`, prevented by a stopped thread; atomic */
	/* OpenMP's waits that were not recorded, since unknown tasks ran in them; atomic */
	uint64_t task_waits_left_out;
	/* With GM_SYNC_IO: [io] threshold. 0 also in a child of fork that began in a place. */
	uint64_t io_threshold_ns;
	uint64_t samples_missed; /* of threads without a slot; atomic; as io_threshold_ns */
	/*
	 * Accesses in critical sections that are in no stream of sync-trace/accesses.h; threads
	 * that have none there (any more), since only their waits are recorded. Atomic; as
	 * io_threshold_ns.
	 */
	uint64_t accesses_lost;
	uint32_t n_without_accesses;
	uint32_t not_stepped; /* reasons for which threads were not: enum st_step_barred, bits */
	/*
	 * Events `block` and `freed` that are in no stream; blocking calls that are not recorded,
	 * since they are in sections that were stepped. Atomic; as io_threshold_ns.
	 */
	uint64_t blocks_lost;
	uint64_t stepped_calls;
};
_Static_assert(sizeof(struct gm_threads_header) ==
		   200 + 4 * GM_THREAD_BUCKETS + GM_UNWRITTEN_MAX * sizeof(struct gm_unwritten),
	       "on-disk size");

/* Kinds of synchronization, with the names used in [sync] types and in event names. */
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
	GM_SYNC_OBJECTS_SOME = 1,     /* only objects that sync.include and sync.exclude select */
	GM_SYNC_OBJECTS_UNSORTED = 2, /* ... and all objects first seen after the table was full */
	GM_SYNC_IN_AUTO_MODE = 4,     /* threads may be switched to waits only: see sync-counts */
	GM_SYNC_IO = 8,		      /* blocking calls are recorded, from [io] threshold on */
	GM_SYNC_RING = 16,	      /* only the newest files of streams are kept: [output] ring */
};

/* Why a process has samples, or has none. */
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
	uint64_t end_ns;	       /* 0: no orderly end */
	uint64_t start_routine;	       /* run-time address; 0: not known */
	uint64_t pthread;	       /* pthread_self(); 0: not known */
	uint64_t calls_lost;	       /* calls of this thread that were not counted */
	uint64_t events_lost;	       /* synch-events of this thread that were not written */
	char name[16];		       /* last known, NUL-terminated */
	uint64_t local[GM_N_LIBS];     /* control block of each library; no meaning to a reader */
	uint32_t clock_error_ns;       /* largest error seen in its time stamps; at most 2^32-1 */
	uint8_t calls_why, events_why; /* enum gm_loss, of calls_lost and so on */
	uint8_t records_why;	       /* with records_lost == 0: it has no history at all */
	uint8_t samples_why;	       /* no bit for CPU time in which no timer ran */
	uint64_t records_lost;	       /* calls and returns missing in the history, but counted */
	uint64_t samples_missed;       /* periods of CPU time without a sample */
	uint16_t sample_error; /* errno: why it has no timer; 0: it has one, or see the header */
	uint8_t stalled;       /* bits, by enum gm_stalled */
	uint8_t stacks_why;    /* enum gm_loss: why samples are missing in its stream (samples.h) */
	uint32_t samples_late; /* samples found late, counted with the next one */
};
_Static_assert(sizeof(struct gm_thread_slot) == 128, "on-disk size");

/* --- <pid>/calls: the arcs and the samples of all threads --------------------------------- */

#define GM_CALLS_MAGIC "GMTCALLS"
#define GM_CALLS_FREE  "GMTFREE!"

enum gm_calls_flags {
	GM_CALLS_DENSE = 1,   /* all arcs of an ended thread: its other tables are invalid */
	GM_CALLS_PRIVATE = 2, /* not in the file; set only in the program's memory */
	GM_CALLS_SAMPLES = 4, /* samples instead of calls: self = address, from = 0 */
	GM_CALLS_NONE = 8,    /* of a thread that was sampled, and has made no call (yet) */
};

/*
 * The file is a chain of chunks: a header, n_slots arcs, and padding up to chunk_bytes, where the
 * next chunk starts. A chunk_bytes of 0 ends the chain before the end of the file. A chunk whose
 * magic is GM_CALLS_FREE is empty. An arc with self == 0 is empty.
 *
 * A thread has one table or more, each twice as large as the one before; the calls of an arc are
 * the sum over all of them. If one table has GM_CALLS_DENSE, only that one is valid. The same
 * applies separately to the tables of samples (GM_CALLS_SAMPLES).
 *
 * A process whose tables of calls all have GM_CALLS_NONE does not count calls: it was not built
 * with -pg.
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
	uint64_t slot_mask; /* (n_slots - 1) * slot_bytes while the table is live; for the writer */
	uint32_t flags;	    /* enum gm_calls_flags */
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
