/* SPDX-License-Identifier: MIT */
/*
 * Call paths: the callers of the call site, by unwind tables (runtime/unwind/unwind.h).
 *
 * The walk begins in this library, whose frames are left out. If the call site is that of a wrapper
 * (callers/callers.h), the path has the wrapper, too. Where the loader has no _dl_find_object()
 * (before glibc 2.35), there are no tables, and frame pointers are followed, which code built with
 * -pg and -fno-omit-frame-pointer has. This library is compiled not to use %rbp, so that it still
 * has the program's value here.
 *
 * A path is defined once in a stream and then referred to by its number. The table has hashes of
 * the addresses as read and as checked; signals are blocked while it changes. Its first size is
 * part of the writer, whose page exists anyway: of a thousand threads most have few paths.
 */
#include <errno.h>
#include <sys/mman.h>

#include "record/internal.h"
#include "runtime/process/loadmap.h"
#include "runtime/process/process.h"
#include "runtime/sys/seal.h"
#include "runtime/sys/sys.h"
#include "runtime/unwind/unwind.h"

#define OWN_FRAMES_MAX 8u    /* of this library */
#define SLOTS_MAX      4096u /* half of them are used */
#define NUMBER_BITS    16
#define NUMBER_MASK    ((1u << NUMBER_BITS) - 1)
#define NUMBER_NONE    NUMBER_MASK /* there is no path beyond the site */

uint64_t st_path_wait_ns = UINT64_MAX;

/* --- frames ----------------------------------------------------------------------------------- */

void st_path_stack_init(struct st_thread *self)
{
	self->stack = gm_stack_around((uint64_t)__builtin_frame_address(0));
}

/* The registers of the program's code after the call at `site`, as far as they are known here. */
static struct gm_registers registers_at(uintptr_t site, const struct gm_registers *here)
{
	struct gm_registers at = {.known = 1u << GM_RIP | 1u << GM_RSP};

	at.value[GM_RIP] = site;
	at.value[GM_RSP] = here->value[GM_RSP];
#ifdef ST_HAS_FRAMES
	at.value[GM_RBP] = here->value[GM_RBP];
	at.known |= 1u << GM_RBP;
#endif
	return at;
}

/* The library's first byte, and the end of its code. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char etext[] __attribute__((visibility("hidden")));

static bool is_own(uint64_t address)
{
	return address > (uint64_t)__ehdr_start && address <= (uint64_t)etext;
}

/* Leaves out this library's frames between others (wrap/openmp_team.c). Returns how many remain. */
static unsigned drop_own(uint64_t *addresses, unsigned n)
{
	unsigned kept = 1;

	for (unsigned i = 1; i < n; i++)
		if (!is_own(addresses[i]))
			addresses[kept++] = addresses[i];
	return kept;
}

/* The call site is the first address, or behind those of wrappers. */
static bool has_site(const uint64_t *addresses, unsigned n, uintptr_t site)
{
	for (unsigned i = 0; i < n && i <= ST_CALLERS_MAX; i++)
		if (addresses[i] == site)
			return true;
	return false;
}

/*
 * Stores the path; up to OWN_FRAMES_MAX places before *ret are used, too. Returns its length, at
 * least 1.
 */
static unsigned walk(struct st_thread *self, uintptr_t site, uint64_t *room, uint64_t **ret)
{
	struct gm_registers here;
	enum gm_unwind_end end;
	unsigned n, own = 0;

	gm_registers_here(&here);
	if (gm_find_object != NULL) {
		n = gm_unwind(&here, &self->stack, room, OWN_FRAMES_MAX + ST_PATH_MAX, &end);
		while (own < n && own < OWN_FRAMES_MAX && room[own] != site && is_own(room[own]))
			own++;
		*ret = room + own;
		if (has_site(*ret, n - own, site))
			return drop_own(*ret, n - own < ST_PATH_MAX ? n - own : ST_PATH_MAX);
	}
	here = registers_at(site, &here);
	*ret = room;
	return gm_unwind(&here, &self->stack, room, ST_PATH_MAX, &end);
}

/* Returns the number of leading addresses that are in an object of the load map. */
static unsigned noted(const uint64_t *addresses, unsigned n)
{
	unsigned i = 1;

	while (i < n && gm_maps_note(addresses[i] - 1, NULL))
		i++;
	return i;
}

/* --- numbers ---------------------------------------------------------------------------------- */

static uint64_t hash_of(const uint64_t *addresses, unsigned n)
{
	uint64_t hash = n;

	for (unsigned i = 0; i < n; i++) {
		hash = (hash ^ addresses[i]) * 0x9e3779b97f4a7c15u;
		hash ^= hash >> 32;
	}
	return hash | (uint64_t)1 << 63; /* never 0 */
}

/*
 * Returns the slot of the hash, or the free slot for it. A slot holds the hash with its low bits
 * replaced by the number; 0: free.
 */
static uint64_t *slot_of(const struct st_paths *paths, uint64_t hash)
{
	for (uint64_t i = hash >> 32;; i++) {
		uint64_t *slot = &paths->slots[i & (paths->n_slots - 1)];

		if (*slot == 0 || (*slot ^ hash) >> NUMBER_BITS == 0)
			return slot;
	}
}

static void remember(struct st_paths *paths, uint64_t hash, uint16_t number)
{
	uint64_t *slot = slot_of(paths, hash);

	paths->n_used += *slot == 0;
	*slot = (hash & ~(uint64_t)NUMBER_MASK) | number;
}

static bool grow(struct st_thread *self)
{
	struct st_paths *paths = &self->paths;
	struct st_paths bigger = {.n = paths->n, .n_slots = SLOTS_MAX};

	if (paths->n_slots == SLOTS_MAX)
		return false;
	bigger.slots = st_memory_new(SLOTS_MAX * sizeof(*bigger.slots));
	if (bigger.slots == NULL)
		return false;
	for (uint32_t i = 0; i < paths->n_slots; i++)
		if (paths->slots[i] != 0)
			remember(&bigger, paths->slots[i], (uint16_t)paths->slots[i]);
	*paths = bigger;
	return true;
}

void st_paths_forget(struct st_thread *self)
{
	struct st_paths *paths = &self->paths;

	if (paths->slots != NULL)
		memset(paths->slots, 0, paths->n_slots * sizeof(paths->slots[0]));
	paths->n_used = paths->n = 0;
}

/* Makes room for two more paths: one as read, and one as checked. */
static bool table_has_room(struct st_thread *self)
{
	struct st_paths *paths = &self->paths;

	if (paths->slots == NULL) {
		paths->slots = self->first_paths;
		paths->n_slots = ST_PATHS_FIRST;
	}
	return paths->n_used + 2 <= paths->n_slots / 2 || st_grow(self, grow);
}

/* Returns the number of a checked path, and defines it if it is new. 0: there is no room. */
static uint16_t define(struct st_thread *self, const uint64_t *addresses, unsigned n,
		       uint64_t now_ns)
{
	struct st_paths *paths = &self->paths;
	uint64_t hash = hash_of(addresses, n), known = *slot_of(paths, hash);

	if (n == 1)
		return NUMBER_NONE;
	if (known != 0)
		return (uint16_t)known;
	if (!st_emit_path(self, (uint16_t)(paths->n + 1), addresses, n, now_ns))
		return 0;
	remember(paths, hash, (uint16_t)++paths->n);
	return (uint16_t)paths->n;
}

static ST_COLD uint16_t learn(struct st_thread *self, const uint64_t *addresses, unsigned n,
			      uint64_t now_ns)
{
	uint16_t number = 0;

	if (table_has_room(self))
		number = define(self, addresses, noted(addresses, n), now_ns);
	if (number != 0)
		remember(&self->paths, hash_of(addresses, n), number);
	else if (self->live)
		gm_process_count_path_lost();
	return number;
}

void st_path_note(struct st_thread *self, uintptr_t site, const void *object, uint64_t wait_ns,
		  uint64_t now_ns)
{
	uint64_t room[OWN_FRAMES_MAX + ST_PATH_MAX], *addresses;
	unsigned n;
	uint16_t number = 0;

	/*
	 * LTTng's events have no paths; LTTng's own and merely counted operations are not events.
	 */
	if (wait_ns < st_path_wait_ns || !self->live || self->only_ust || gm_seal_is_set() ||
	    now_ns == ST_JUST_COUNTED || (self->ust && st_ust_is_own(site)))
		return;
	st_sites_check(self);
	n = walk(self, site, room, &addresses);
	if (self->paths.slots != NULL)
		number = (uint16_t)*slot_of(&self->paths, hash_of(addresses, n));
	if (number == 0)
		number = learn(self, addresses, n, now_ns);
	if (number != 0 && number != NUMBER_NONE)
		st_emit_parts(self, ST_EVENT_call_path, 0, 0, object, number, now_ns);
}
