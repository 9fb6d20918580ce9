/* SPDX-License-Identifier: MIT */
/*
 * The logical clock of paper 000 (SyncProf): the number of conditionals that a thread has executed.
 *
 * Code built with -fsanitize-coverage=trace-pc calls the hook at each edge of its control flow. It
 * is one addition to a thread-local counter, and so may run at any time, in signal handlers, too. A
 * child of fork goes on with the count of its parent's thread; a new thread begins with 0.
 *
 * The fast paths write no counts. So threads of a program in which the hook has run take the slow
 * path, from their first event after that on, or at most 20 ms later (st_stamp_slowly()). In other
 * programs nothing is tested on the fast paths.
 */
#include <dlfcn.h>

#include "record/internal.h"

__thread uint64_t st_conditionals __attribute__((tls_model("initial-exec"), visibility("hidden")));

static bool is_counted; /* the hook has run in some thread; a hint for the others */

ST_EXPORT void __sanitizer_cov_trace_pc(void);

/* The hook of another shared library, a fuzzer's perhaps, whose place ours takes. NULL: none. */
static void (*next)(void);

/*
 * The place of the counter, the addition, and a comparison. The jump leaves the other hook the
 * return address, by which it knows the edge.
 */
ST_EXPORT void __sanitizer_cov_trace_pc(void)
{
	__asm__ volatile("incq %0" : "+m"(st_conditionals));
	if (__builtin_expect(next != NULL, 0))
		next();
}

void st_conditionals_prepare(void)
{
	void *other = dlsym(RTLD_NEXT, "__sanitizer_cov_trace_pc");

	if (other != NULL)
		__atomic_store_n((void **)&next, other, __ATOMIC_RELAXED);
	else
		dlerror(); /* clears an error that the program would otherwise see */
}

void st_conditionals_look(struct st_thread *self)
{
	if (st_conditionals != 0 && !__atomic_load_n(&is_counted, __ATOMIC_RELAXED))
		__atomic_store_n(&is_counted, true, __ATOMIC_RELAXED);
	if (__atomic_load_n(&is_counted, __ATOMIC_RELAXED) && self->counts == NULL)
		__atomic_fetch_or(&self->detours, ST_DETOUR_ALWAYS, __ATOMIC_RELAXED);
}
