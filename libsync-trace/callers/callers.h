/* SPDX-License-Identifier: MIT */
/*
 * The call sites of wrappers: the place where the program calls mutex_enter() or Mutex::lock(),
 * instead of the one call of pthread_mutex_lock() within it.
 *
 * A function is a wrapper if it is short and makes only one call, beside harmless ones
 * (only_call.h), or if the user names it (named.h). Its caller's return address is found by the
 * unwind table's rule for the call (runtime/unwind/rule.h), which is looked up once for each return
 * address of the process. Wrappers may be nested. Async-signal-safe; no locks, no memory
 * allocation.
 */
#ifndef ST_CALLERS_H
#define ST_CALLERS_H

#include <stdbool.h>
#include <stdint.h>

#define ST_CALLER_SLOTS	    8192u /* a power of two */
#define ST_CALLER_RULE_BITS 17
#define ST_CALLERS_MAX	    8u /* of wrappers that call each other */

/*
 * The rules of return addresses, by the low bits of the address. A slot holds
 * address << ST_CALLER_RULE_BITS | rule; rule 0 says that the address is a call site itself. A slot
 * of 0 is free.
 */
extern uint64_t st_caller_slots[ST_CALLER_SLOTS] __attribute__((visibility("hidden")));

/* Functions that are wrappers, too, whatever they call: "a,b". It stays valid. */
void st_callers_name(const char *list);

/*
 * From now on wrappers are call sites themselves: objects are selected by the module that uses them
 * first, which is not that of a wrapper's caller (sync.include, sync.exclude).
 */
void st_callers_close(void);

/* An object was unloaded: what is known about addresses may be wrong. */
void st_callers_forget(void);

/* `place` is where the return address is on the stack. */
uintptr_t st_caller_find(const volatile uintptr_t *place) __attribute__((noinline));

/*
 * The same for the call of an allocator, whose wrappers are operator new, strdup() and those that
 * the user names: a function that makes an object with malloc() is the call site of that.
 */
uintptr_t st_caller_find_allocation(const volatile uintptr_t *place) __attribute__((noinline));

/* True if the return address is known to be a call site itself. */
static inline bool st_caller_is_site(uintptr_t site)
{
	uint64_t slot =
	    __atomic_load_n(&st_caller_slots[site & (ST_CALLER_SLOTS - 1)], __ATOMIC_RELAXED);

	return __builtin_expect(slot == (uint64_t)site << ST_CALLER_RULE_BITS, 1);
}

/* The call site of the call that returns to the address at `place`. */
static inline uintptr_t st_caller(const volatile uintptr_t *place)
{
	uintptr_t site = *place;

	return st_caller_is_site(site) ? site : st_caller_find(place);
}

#endif
