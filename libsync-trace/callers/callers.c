/* SPDX-License-Identifier: MIT */
/*
 * Keeps the rules of return addresses in a table of one word each: threads and handlers add words
 * at any time by compare-and-swap, and two that add the same address add the same word. If the
 * table has no room near an address, its wrapper remains the call site.
 */
#include "callers/callers.h"

#include "callers/named.h"
#include "callers/only_call.h"
#include "runtime/process/loadmap.h"
#include "runtime/sys/auxv.h"
#include "runtime/sys/sys.h"
#include "runtime/unwind/rule.h"

#define PROBES	     16u
#define WORD_BYTES   8u
#define ADDRESS_MAX  ((uintptr_t)1 << 47)
#define OFFSET_WORDS 512u /* of 8 bytes, as in a rule */
#define FRAME_WORDS  64u
#define RULE_MASK    ((UINT64_C(1) << ST_CALLER_RULE_BITS) - 1)

/*
 * A rule: two bits of its kind; nine bits with the distance of the CFA, and six bits with that of
 * the stored %rbp below the CFA, in words.
 */
enum kind { KIND_SITE = 0, KIND_CALLBACK, KIND_BY_STACK, KIND_BY_FRAME };

GM_LARGE uint64_t st_caller_slots[ST_CALLER_SLOTS];

static bool is_off;

void st_callers_name(const char *list)
{
	if (st_named_open(list) && *list != '\0')
		st_callers_forget();
}

void st_callers_close(void)
{
	__atomic_store_n(&is_off, true, __ATOMIC_RELAXED);
}

void st_callers_forget(void)
{
	st_named_forget();
	for (unsigned i = 0; i < ST_CALLER_SLOTS; i++)
		__atomic_store_n(&st_caller_slots[i], 0, __ATOMIC_RELAXED);
}

static uint64_t rule_of(enum kind kind, uint64_t offset_words, uint64_t frame_words)
{
	return (uint64_t)kind | offset_words << 2 | frame_words << 11;
}

static enum kind kind_of(uint64_t rule)
{
	return (enum kind)(rule & 3);
}

static uint64_t offset_of(uint64_t rule)
{
	return (rule >> 2) % OFFSET_WORDS * WORD_BYTES;
}

static uint64_t frame_of(uint64_t rule)
{
	return (rule >> 11) % FRAME_WORDS * WORD_BYTES;
}

/* The rule of a wrapper; KIND_SITE if its caller cannot be found. */
static uint64_t wrapper_rule(const struct gm_running *module, uintptr_t site)
{
	struct gm_rule found = gm_rule_read(&module->tables, gm_rule_at(site, false));
	int32_t stored = found.rbp == GM_RBP_AT_CFA ? -found.rbp_at : 0;

	if (found.kind != GM_RULE_CFA || found.offset <= 0 ||
	    found.offset >= (int32_t)(OFFSET_WORDS * WORD_BYTES) ||
	    found.offset % (int32_t)WORD_BYTES != 0 || stored < 0 ||
	    stored >= (int32_t)FRAME_WORDS ||
	    (found.rbp != GM_RBP_SAME && found.rbp != GM_RBP_AT_CFA))
		return KIND_SITE;
#ifndef ST_HAS_FRAMES
	if (found.base_is_rbp || stored != 0)
		return KIND_SITE;
#endif
	return rule_of(found.base_is_rbp ? KIND_BY_FRAME : KIND_BY_STACK,
		       (uint64_t)found.offset / WORD_BYTES, (uint64_t)stored);
}

/* True for the functions of libstdc++ and libc that allocate for their caller. */
static bool is_allocator(const struct gm_running *module, uintptr_t start)
{
	static const char *const names[] = {
	    "_Znwm",
	    "_Znam",
	    "_ZnwmRKSt9nothrow_t",
	    "_ZnamRKSt9nothrow_t",
	    "_ZnwmSt11align_val_t",
	    "_ZnamSt11align_val_t",
	    "_ZnwmSt11align_val_tRKSt9nothrow_t",
	    "_ZnamSt11align_val_tRKSt9nothrow_t",
	    "strdup",
	    "__strdup",
	    "strndup",
	    "__strndup",
	    "reallocarray",
	};
	const char *name = gm_object_name(module->header, (const void *)start);

	for (unsigned i = 0; name != NULL && i < sizeof(names) / sizeof(*names); i++)
		if (gm_strcmp(name, names[i]) == 0)
			return true;
	return false;
}

static uint64_t make_allocation_rule(uintptr_t site)
{
	struct gm_running module;
	struct st_function function;

	if (!gm_running_find(site - 1, &module) || !st_function_find(&module, site - 1, &function))
		return KIND_SITE;
	return is_allocator(&module, function.start) ||
		       (st_named_exist() && st_named_is(&module, function.start))
		   ? wrapper_rule(&module, site)
		   : KIND_SITE;
}

static uint64_t make_rule(uintptr_t site, bool allocates)
{
	struct gm_running module;
	struct st_function function;

	if (allocates)
		return make_allocation_rule(site);
	if (!gm_running_find(site - 1, &module))
		return KIND_CALLBACK;
	if (st_named_exist() && st_function_find(&module, site - 1, &function) &&
	    st_named_is(&module, function.start))
		return wrapper_rule(&module, site);
	if (!st_call_is_direct(&module, site))
		return KIND_CALLBACK;
	if (!st_function_find(&module, site - 1, &function) ||
	    !st_call_is_only(&module, &function, site))
		return KIND_SITE;
	return wrapper_rule(&module, site);
}

/* Finds a rule outside its home slot, or makes it at the first use of the address. */
static __attribute__((noinline)) uint64_t get_rule_slowly(uintptr_t site, bool allocates)
{
	if (site < WORD_BYTES || site >= ADDRESS_MAX ||
	    !__atomic_load_n(&gm_find_object_is_safe, __ATOMIC_RELAXED))
		return KIND_CALLBACK;
	for (unsigned i = 0; i < PROBES; i++) {
		uint64_t *slot = &st_caller_slots[(site + i) & (ST_CALLER_SLOTS - 1)];
		uint64_t made, word = __atomic_load_n(slot, __ATOMIC_RELAXED);

		if (word >> ST_CALLER_RULE_BITS == site)
			return word & RULE_MASK;
		if (word != 0)
			continue;
		made = make_rule(site, allocates);
		/* If another address was added there, this one is made again next time. */
		__atomic_compare_exchange_n(slot, &word,
					    (uint64_t)site << ST_CALLER_RULE_BITS | made, false,
					    __ATOMIC_RELAXED, __ATOMIC_RELAXED);
		return made;
	}
	return KIND_SITE;
}

static inline uint64_t get_rule(uintptr_t site, bool allocates)
{
	uint64_t word =
	    __atomic_load_n(&st_caller_slots[site & (ST_CALLER_SLOTS - 1)], __ATOMIC_RELAXED);

	return __builtin_expect(word >> ST_CALLER_RULE_BITS == site, 1)
		   ? word & RULE_MASK
		   : get_rule_slowly(site, allocates);
}

/* The program's %rbp; 0 if this library was not compiled to leave it unused. */
static inline uintptr_t program_frame(void)
{
	uintptr_t frame = 0;

#ifdef ST_HAS_FRAMES
	__asm__ volatile("mov %%rbp, %0" : "=r"(frame));
#endif
	return frame;
}

static inline __attribute__((always_inline)) uintptr_t find(const volatile uintptr_t *place,
							    bool allocates)
{
	uintptr_t site = *place, stack = (uintptr_t)place + WORD_BYTES, frame = program_frame();
	uint64_t rule = get_rule(site, allocates), next;

	for (unsigned depth = 0; kind_of(rule) >= KIND_BY_STACK && depth < ST_CALLERS_MAX;
	     depth++) {
		uintptr_t cfa = (kind_of(rule) == KIND_BY_FRAME ? frame : stack) + offset_of(rule);
		uintptr_t caller;

		if (cfa - stack - 1 >= OFFSET_WORDS * WORD_BYTES || cfa % WORD_BYTES != 0 ||
		    __atomic_load_n(&is_off, __ATOMIC_RELAXED))
			break;
		caller = *(const uintptr_t *)(cfa - WORD_BYTES);
		next = get_rule(caller, allocates);
		if (kind_of(next) == KIND_CALLBACK)
			break;
		if (frame_of(rule) != 0)
			frame = *(const uintptr_t *)(cfa - frame_of(rule));
		site = caller;
		stack = cfa;
		rule = next;
	}
	return site;
}

uintptr_t st_caller_find(const volatile uintptr_t *place)
{
	return find(place, false);
}

uintptr_t st_caller_find_allocation(const volatile uintptr_t *place)
{
	return find(place, true);
}
