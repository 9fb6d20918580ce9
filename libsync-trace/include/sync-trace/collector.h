/* SPDX-License-Identifier: MIT */
/*
 * The interface between libaccess_trace, which collects the accesses of a thread, and
 * libsync_trace, which knows when the thread holds a lock, and writes them.
 *
 * libsync_trace sets `depth` at synchronization events, gives the thread a collector, and takes the
 * lines out of it at the end of each segment. The functions of libaccess_trace test `depth` and add
 * accesses. Both close the collector's gate meanwhile: code that interrupts them and finds it
 * closed leaves the collector alone and counts its accesses as lost.
 *
 * A collector is in memory that is zeroed in a forked child. Zeroed, it is empty.
 */
#ifndef ST_COLLECTOR_H
#define ST_COLLECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sync-trace/accesses.h"
#include "sync-trace/gate.h"

#define ST_FEW_LINES  64u
#define ST_FEW_HOMES  128u   /* a power of two */
#define ST_MANY_HOMES 16384u /* a power of two, twice ST_ACCESS_LINES_MAX */

struct st_collector {
	uintptr_t gate; /* gate.h */
	uint32_t n_lines;
	uint32_t latest; /* index of the line of the last access */
	/* accesses of the segment so far */
	uint64_t n, n_reads, n_writes;
	uint64_t n_left_out;
	uint64_t begin_ns; /* 0: not known, after a fork */
	/* Hash tables of the lines: index + 1; 0: free. `many` is used beyond ST_FEW_LINES. */
	uint8_t few[ST_FEW_HOMES];
	uint16_t many[ST_MANY_HOMES];
	struct st_access_line lines[ST_ACCESS_LINES_MAX];
	/* The lines' contents before their first write. */
	uint8_t before[ST_ACCESS_LINES_MAX][ST_LINE_BYTES];
};

#define ST_LINE_HASH  0x9e3779b97f4a7c15u
#define ST_FEW_SHIFT  57 /* 64 - log2 of ST_FEW_HOMES */
#define ST_MANY_SHIFT 50
_Static_assert(1u << (64 - ST_FEW_SHIFT) == ST_FEW_HOMES &&
		   1u << (64 - ST_MANY_SHIFT) == ST_MANY_HOMES,
	       "the hash has as many bits");

/* Returns the place of a line in the table: its own, or the free one for it. */
static inline uint32_t st_few_place(const struct st_collector *self, uint64_t address)
{
	uint32_t at = (uint32_t)((address / ST_LINE_BYTES * ST_LINE_HASH) >> ST_FEW_SHIFT);

	while (self->few[at] != 0 && self->lines[self->few[at] - 1].address != address)
		at = (at + 1) & (ST_FEW_HOMES - 1);
	return at;
}

static inline uint32_t st_many_home(uint64_t address)
{
	return (uint32_t)((address / ST_LINE_BYTES * ST_LINE_HASH) >> ST_MANY_SHIFT);
}

static inline uint32_t st_many_place(const struct st_collector *self, uint64_t address)
{
	uint32_t at = st_many_home(address);

	while (self->many[at] != 0 && self->lines[self->many[at] - 1].address != address)
		at = (at + 1) & (ST_MANY_HOMES - 1);
	return at;
}

/* Each thread has one, in thread-local storage of libaccess_trace. */
struct st_access_thread {
	uint32_t depth;			/* 0: accesses are not recorded */
	uint32_t n_held;		/* locks */
	struct st_collector *collector; /* NULL: there is no memory, or not yet */
	uint64_t n_lost;		/* accesses while the gate was closed, or without memory */
	bool is_off;			/* only its waits are recorded (any more) */
	/* Sampled mode. */
	uint8_t stepped;       /* flags of the open segment; 0: it is not stepped */
	bool has_abandoned;    /* a section that is still open */
	bool may_skip;	       /* not all operations of locks are recorded */
	uint32_t n_calls;      /* blocking calls that were stepped, and so not recorded */
	uintptr_t stack_low;   /* of the thread's own stack, as far as it is needed */
	uintptr_t stack_above; /* the address above that stack */
};

/*
 * A block of the heap. Its word has the epoch in which a `block` event was written: forked children
 * count epochs, since what is in the parent's trace is not in theirs. 0: none.
 */
struct st_block {
	uintptr_t address;
	size_t n_bytes;
	uintptr_t site; /* return address of the call that allocated it; 0: not known */
	uint32_t *word;
	uint32_t value; /* of the word, as it was read */
};

#define ST_EPOCH_BITS  10
#define ST_EPOCH_SHIFT 5
#define ST_EPOCH_MASK  (((1u << ST_EPOCH_BITS) - 1) << ST_EPOCH_SHIFT)

static inline uint32_t st_block_epoch(uint32_t word)
{
	return (word & ST_EPOCH_MASK) >> ST_EPOCH_SHIFT;
}

#define ST_ACCESS_ABI 6u

/* Reasons for which a thread is not stepped at all; bits. */
enum st_step_barred {
	ST_STEP_HANDLED = 1, /* the program has a handler for SIGTRAP, or ignores it */
	ST_STEP_BLOCKED = 2, /* ... or blocks it */
	ST_STEP_TRACED = 4,  /* a debugger would see each step */
	ST_STEP_SEALED = 8,  /* a filter of system calls */
	ST_STEP_STACK = 16,  /* there is no room for the handler on the stack */
};

/*
 * The sampled mode: libaccess_step executes sections in single steps. All of these are called by
 * the thread itself, within an operation.
 */
struct st_step_functions {
	/* budget: percent of CPU time; 100: all sections are stepped */
	void (*configure)(unsigned budget_percent, unsigned steps_max);
	/* From now on each call site may be chosen again, once, if not all sections are stepped. */
	void (*arm)(void);
	/*
	 * A section begins that could be stepped. Returns true if it is its turn, and the budget
	 * and the program's signals allow it. *ret_barred: the reason if the latter do not.
	 */
	bool (*choose)(uintptr_t site, unsigned *ret_barred);
	/* An operation takes its time stamp. Sets ST_ACCESS_ABANDONED if steps are missing. */
	void (*pause)(void);
	/* Its event is written: steps go on with the program's next instruction, or after a wait.
	 */
	void (*go_on)(unsigned event, bool waits);
	/*
	 * A function begins whose return address is at `entry`. Returns true if the thread was
	 * stepped in it silently, and is not until release().
	 */
	bool (*hold)(uintptr_t entry);
	void (*release)(void);
	void (*end)(void); /* no section is stepped any more */
	void (*thread_end)(void);
};

struct st_access_functions {
	uint32_t abi;	   /* ST_ACCESS_ABI */
	uint32_t has_tsan; /* libtsan is loaded, too: nothing is recorded */
	uint32_t is_last;  /* behind libc, whose functions are then called instead of ours */
	/* The pages of the program's own writable data, which are never unmapped. */
	uintptr_t data_start, data_end;
	struct st_access_thread *(*thread)(void); /* of the calling thread */
	/* Finds the block that contains the address. Returns false if none is known. */
	bool (*block_find)(uintptr_t address, struct st_block *ret);
	const struct st_step_functions *steps; /* NULL: the compiled mode */
};

/*
 * Called once, by the constructor of libaccess_trace; `functions` must stay valid. Returns 0, or
 * -errno after a line on stderr: -EINVAL: another ST_ACCESS_ABI; -EBUSY: there are two copies of
 * libaccess_trace; -ENOTSUP: libtsan is loaded. Without a line: -ECANCELED: access.mode=off.
 */
int st_access_register(const struct st_access_functions *functions);

/*
 * The functions below may be called at any time, by constructors before the call above, too.
 *
 * The call site of an allocation that returns to the address at `place`: of a wrapper like
 * operator new its caller (callers/callers.h).
 */
uintptr_t st_access_site(const volatile uintptr_t *place);

/* The definition of a function behind that of the object with `own`; NULL: not found. */
void *st_access_next(const void *own, const char *name);

/* Zeroed memory, which is never returned; NULL: there is none, or no system call may be made. */
void *st_access_memory(size_t n_bytes);

/*
 * The program is about to free the block. Ends the segment if it has accesses to the block. Returns
 * the time for st_access_block_freed(); 0: no `block` was written.
 */
uint64_t st_access_block_ends(const struct st_block *block);

/* Writes `freed`. After the call that freed the block if that could also keep it (realloc). */
void st_access_block_freed(const struct st_block *block, uint64_t now_ns);

#endif
