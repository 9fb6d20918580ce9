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
 * programs nothing is tested on the fast paths. Accesses need it, too.
 */
#include <dlfcn.h>
#include <link.h>

#include "record/internal.h"
#include "runtime/process/loadmap.h"
#include "runtime/sys/auxv.h"

__thread uint64_t st_conditionals __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Set by accesses.c and process.c; here, since the same threads take the slow path for them. */
const struct st_access_functions *st_access;
bool st_orders;

static bool is_counted; /* the hook has run in some thread; a hint for the others */

ST_EXPORT void __sanitizer_cov_trace_pc(void);

static void find_next(void);

/* The hook of another shared library, a fuzzer's perhaps, whose place ours takes. NULL: none. */
static void (*next)(void) = find_next;

/*
 * The place of the counter, the addition, and a comparison. The jump leaves the other hook the
 * return address, by which it knows the edge.
 */
ST_EXPORT void __sanitizer_cov_trace_pc(void)
{
	void (*other)(void);

	__asm__ volatile("incq %0" : "+m"(st_conditionals));
	other = __atomic_load_n(&next, __ATOMIC_RELAXED);
	if (__builtin_expect(other != NULL, 0))
		other();
}

/*
 * Searches the libraries behind ours that are never unloaded. Takes no lock and allocates nothing,
 * as dlsym() would: the first call of the hook may be anywhere.
 */
static ST_COLD __attribute__((noinline)) void *search(void)
{
	const struct link_map *module, *last = gm_module_last_permanent();
	struct dl_find_object found;
	void *other = NULL;

	if (gm_find_object == NULL || gm_find_object((void *)find_next, &found) != 0)
		return NULL;
	module = found.dlfo_link_map;
	while (other == NULL && module != last && (module = module->l_next) != NULL)
		if (gm_find_object(module->l_ld, &found) == 0)
			other =
			    gm_object_function(found.dlfo_map_start, "__sanitizer_cov_trace_pc");
	return other;
}

/* The first call. Ends with a jump, as the hook does. */
static ST_COLD void find_next(void)
{
	void (*other)(void);

	/* A function of libc that is used here may be the program's, with conditionals of its own.
	 */
	__atomic_store_n(&next, NULL, __ATOMIC_RELAXED);
	*(void **)&other = search();
	__atomic_store_n(&next, other, __ATOMIC_RELAXED);
	if (other != NULL)
		other();
}

void st_conditionals_look(struct st_thread *self)
{
	if (st_conditionals != 0 && !__atomic_load_n(&is_counted, __ATOMIC_RELAXED))
		__atomic_store_n(&is_counted, true, __ATOMIC_RELAXED);
	st_detours_choose(self);
	if (st_access != NULL && self->counts == NULL)
		st_steps_arm(self);
}

void st_detours_choose(struct st_thread *self)
{
	if (self->counts != NULL)
		return;
	if (self->ust || __atomic_load_n(&is_counted, __ATOMIC_RELAXED) || st_orders ||
	    (st_access != NULL && st_steps_need_all()))
		__atomic_fetch_or(&self->detours, ST_DETOUR_ALWAYS, __ATOMIC_RELAXED);
	else
		__atomic_fetch_and(&self->detours, (uint8_t)~ST_DETOUR_ALWAYS, __ATOMIC_RELAXED);
}
