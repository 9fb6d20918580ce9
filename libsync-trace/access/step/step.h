/* SPDX-License-Identifier: MIT */
/*
 * libaccess_step: the accesses of critical sections of any program, by single steps.
 *
 * The trap flag makes the CPU raise SIGTRAP after each instruction. The handler (trap.c) computes
 * what the next instruction will touch (effects.c), adds it to the thread's collector and returns.
 * A section that might not survive that is abandoned: the flag is cleared, the program goes on.
 *
 * Everything here runs in the program's thread, in its handler or within an operation of
 * libsync_trace. It takes no lock, allocates nothing and keeps errno.
 */
#ifndef ST_STEP_H
#define ST_STEP_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#include "access/access.h"

#define STEP_TLS    __attribute__((tls_model("initial-exec"), visibility("hidden")))
#define STEP_HIDDEN __attribute__((visibility("hidden")))

enum step_state {
	STEP_OFF,
	STEP_PROGRAM, /* the flag is set, in the program's code */
	STEP_SILENT,  /* ... in a library of ours, or in what that calls: nothing is recorded */
	STEP_PAUSED,  /* the flag was cleared when the thread entered an operation */
	STEP_WAITING, /* ... and stays so until the end of its wait */
};

struct step_site {
	uintptr_t site;
	uint32_t until, every; /* sections until the next one that is stepped; 1 in so many */
	uint32_t round;	       /* the last one in which a section was looked at */
};

#define STEP_SITES	 256u /* a power of two; a site that finds its place taken replaces it */
#define STEP_PAGES_KNOWN 64u  /* a power of two */

/* In memory of its own, which is zeroed in a forked child. */
struct step_memory {
	uint64_t random;
	struct step_site sites[STEP_SITES];
	uint64_t pages[STEP_PAGES_KNOWN]; /* known to be readable: number of the page, plus 1 */
};

struct step_self {
	uint8_t state;
	bool fix_flags;	  /* the last instruction pushed the flags, ours among them */
	uint16_t waits;	  /* STEP_WAITING: for the end of this event */
	uint32_t n_steps; /* of the section */
	uint32_t round;	  /* step_arm() begins another one */
	uintptr_t last;	  /* STEP_SILENT: the last instruction */
	uintptr_t beyond; /* STEP_SILENT: called code, until the stack pointer is above; 0: none */
	uintptr_t unseen; /* an instruction behind a system call, which may or may not trap */
	/* STEP_PAUSED: the stack pointer at the entry, and the return address there */
	uintptr_t entry, entry_site;
	/* the budget, sample.c */
	int64_t balance_ns;
	uint64_t cpu_ns, begin_ns;
	bool is_chosen; /* between step_signals_begin() and _end() */
	struct step_memory *memory;
};

extern __thread struct step_self step_self STEP_TLS;

/* --- trap.c ----------------------------------------------------------------------------------- */

extern unsigned step_steps_max STEP_HIDDEN;

/* A section begins that will be stepped, from the next step_go_on() on. */
void step_start(void) STEP_HIDDEN;

/* The calling thread's section is abandoned; the flag is clear, or the handler clears it. */
void step_abandon(enum st_access_why why) STEP_HIDDEN;

void step_pause(void) STEP_HIDDEN;
void step_go_on(unsigned event, bool waits) STEP_HIDDEN;
bool step_hold(uintptr_t entry) STEP_HIDDEN;
void step_release(void) STEP_HIDDEN;

/* The kernel's handler of SIGTRAP. */
void step_handle(int signal, siginfo_t *info, void *context) STEP_HIDDEN;

/* Returns true if the page of the address is readable; keeps the answer for this section. */
bool step_is_readable(uintptr_t address) STEP_HIDDEN;

/* --- sample.c --------------------------------------------------------------------------------- */

void step_configure(unsigned budget_percent, unsigned steps_max) STEP_HIDDEN;

/* Returns NULL if there is no memory. */
struct step_memory *step_memory_new(void) STEP_HIDDEN;

void step_arm(void) STEP_HIDDEN;

/* A section begins at this call site. Returns true if it is to be stepped. */
bool step_is_turn(uintptr_t site) STEP_HIDDEN;

/* The thread has used CPU time, without steps. */
void step_earn(void) STEP_HIDDEN;

/* The thread is stepped from now on; it pays for that with the second one, unless it has done so.
 */
void step_spend(void) STEP_HIDDEN;
void step_pay(void) STEP_HIDDEN;

/* --- section.c: see sync-trace/collector.h ---------------------------------------------------- */

bool step_choose(uintptr_t site, unsigned *ret_barred) STEP_HIDDEN;
void step_end(void) STEP_HIDDEN;
void step_thread_end(void) STEP_HIDDEN;

/* --- signals.c -------------------------------------------------------------------------------- */

/* Installs the handler unless the program has one. */
typedef void step_handler(int signal, siginfo_t *info, void *context);
void step_signals_prepare(step_handler *handler) STEP_HIDDEN;

/*
 * The calling thread will be stepped: returns 0, or why it must not be (enum st_step_barred). With
 * 0 it calls the second function when it does not trap any more.
 */
unsigned step_signals_begin(void) STEP_HIDDEN;
void step_signals_end(void) STEP_HIDDEN;

/* A signal that is not a step: as if there were no handler of ours. */
void step_signal_pass(int signal, siginfo_t *info, void *context) STEP_HIDDEN;

/* --- code.c ----------------------------------------------------------------------------------- */

void step_code_prepare(void) STEP_HIDDEN;

/* Returns true if the address is in code of our libraries. */
bool step_is_own(uintptr_t address) STEP_HIDDEN;

/*
 * Returns true if it is the entry of a function of libsync_trace that is not stepped. *ret_real:
 * the function of libc to be executed in its place; 0: it is an operation that writes an event.
 */
bool step_is_entry(uintptr_t address, uintptr_t *ret_real) STEP_HIDDEN;

/* Data that the kernel gives to the code of the vdso. */
bool step_is_kernels(uintptr_t address) STEP_HIDDEN;

/* Returns true if a thread may be stepped through this system call. */
bool step_call_is_safe(long number) STEP_HIDDEN;

/* --- system calls ----------------------------------------------------------------------------- */

/* Direct, since libc's functions set errno, and may be the program's. Returns -errno. */
static inline long step_syscall(long number, long a, long b, long c, long d)
{
	register long r10 __asm__("r10") = d;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10)
			 : "rcx", "r11", "memory");
	return result;
}

#endif
