/* SPDX-License-Identifier: MIT */
/*
 * Call paths: the callers of the call site.
 *
 * They are found by frame pointers, which code built with -pg and -fno-omit-frame-pointer has. This
 * library is compiled not to use %rbp, so that it still has the program's value here. Code without
 * frame pointers may use %rbp for anything, so memory is read only after the kernel has reported it
 * readable, and a path ends before the first address that is not behind a call instruction.
 * Unwinding by tables is not possible here: it takes the loader's lock, which another thread may
 * hold while it waits for the resource that this thread is about to release.
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
#include "runtime/sys/kernel.h"
#include "runtime/sys/seal.h"
#include "runtime/sys/sys.h"

#define PAGE_BYTES  4096u
#define FRAME_MAX   ((uintptr_t)1 << 20) /* in bytes; a larger distance is not a frame */
#define EXTEND_MAX  ((uintptr_t)64 * PAGE_BYTES)
#define SLOTS_MAX   4096u /* half of them are used */
#define NUMBER_BITS 16
#define NUMBER_MASK ((1u << NUMBER_BITS) - 1)
#define NUMBER_NONE NUMBER_MASK /* there is no path beyond the site */

uint64_t st_path_wait_ns = UINT64_MAX;

/*
 * --- readable memory ---------------------------------------------------------------------------
 */

static bool pages_are_readable(uintptr_t start, uintptr_t end)
{
	for (; start < end; start += PAGE_BYTES)
		if (!gm_memory_is_readable(start))
			return false;
	return true;
}

static uintptr_t page_of(uintptr_t address)
{
	return address & -(uintptr_t)PAGE_BYTES;
}

static struct st_stack page_around(uintptr_t address)
{
	return (struct st_stack){page_of(address), page_of(address) + PAGE_BYTES};
}

/*
 * Returns the part of the stack around `stack` that is known to be readable. A thread's own stack,
 * where it had its first event, exists as long as the thread, so the result is remembered. Of
 * another stack, which a program may free, only the present page is assumed.
 */
static struct st_stack known_stack(struct st_thread *self, uintptr_t stack)
{
	struct st_stack *own = &self->stack;
	struct st_stack here = page_around(stack);

	if (stack < own->start && own->start - here.start <= EXTEND_MAX &&
	    pages_are_readable(here.end, own->start))
		own->start = here.start;
	return stack >= own->start && stack < own->end ? *own : here;
}

static bool frame_is_readable(struct st_stack *known, uintptr_t frame)
{
	uintptr_t end = page_of(frame + 2 * sizeof(uintptr_t) - 1) + PAGE_BYTES;

	if (end <= known->end)
		return true;
	if (!pages_are_readable(known->end, end))
		return false;
	known->end = end;
	return true;
}

/* --- frames ----------------------------------------------------------------------------------- */

/* Returns 0 if this library was not compiled to leave %rbp unused. */
static inline uintptr_t program_frame(void)
{
	uintptr_t frame = 0;

#ifdef ST_HAS_FRAMES
	__asm__ volatile("mov %%rbp, %0" : "=r"(frame));
#endif
	return frame;
}

static inline uintptr_t stack_pointer(void)
{
	uintptr_t stack;

	__asm__ volatile("mov %%rsp, %0" : "=r"(stack));
	return stack;
}

void st_path_stack_init(struct st_thread *self)
{
	self->stack = page_around(stack_pointer());
}

static unsigned walk(struct st_thread *self, uintptr_t site, uint64_t *addresses)
{
	uintptr_t below = stack_pointer(), frame = program_frame();
	struct st_stack known = known_stack(self, below);
	bool own = known.start == self->stack.start;
	unsigned n = 0;

	addresses[n++] = site;
	while (n < ST_PATH_MAX && frame > below && frame - below < FRAME_MAX &&
	       frame % sizeof(uintptr_t) == 0 && frame_is_readable(&known, frame)) {
		const uintptr_t *saved = (const uintptr_t *)frame;

		if (saved[1] < PAGE_BYTES)
			break;
		addresses[n++] = saved[1];
		below = frame;
		frame = saved[0];
	}
	if (own)
		self->stack = known;
	return n;
}

/*
 * Returns true if a call instruction ends there: direct, or indirect in one of its lengths. See
 * Intel's manual, CALL.
 */
static bool follows_call(const struct gm_object *object, uint64_t address)
{
	static const uint8_t indirect[] = {2, 3, 4, 6, 7};
	uint8_t before[7];

	/* The address may be stale: its object may be unloaded at this instant. */
	if (address < object->text_start + sizeof(before) || address > object->text_end ||
	    !gm_memory_read(before, address - sizeof(before), sizeof(before)))
		return false;
	if (before[sizeof(before) - 5] == 0xe8)
		return true;
	for (unsigned i = 0; i < sizeof(indirect); i++) {
		const uint8_t *call = before + sizeof(before) - indirect[i];

		if (call[0] == 0xff && (call[1] >> 3 & 7) == 2)
			return true;
	}
	return false;
}

/* Returns the number of leading addresses that can be return addresses. */
static unsigned trusted(const uint64_t *addresses, unsigned n)
{
	struct gm_object object;
	unsigned i = 1; /* the site is a real return address */

	while (i < n && gm_maps_note(addresses[i], &object) && follows_call(&object, addresses[i]))
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
		number = define(self, addresses, trusted(addresses, n), now_ns);
	if (number != 0)
		remember(&self->paths, hash_of(addresses, n), number);
	else if (self->live)
		gm_process_count_path_lost();
	return number;
}

void st_path_note(struct st_thread *self, uintptr_t site, const void *object, uint64_t wait_ns,
		  uint64_t now_ns)
{
	uint64_t addresses[ST_PATH_MAX];
	unsigned n;
	uint16_t number = 0;

	/*
	 * LTTng's events have no paths; LTTng's own and merely counted operations are not events.
	 */
	if (wait_ns < st_path_wait_ns || !self->live || self->only_ust || gm_seal_is_set() ||
	    now_ns == ST_JUST_COUNTED || (self->ust && st_ust_is_own(site)))
		return;
	st_sites_check(self);
	n = walk(self, site, addresses);
	if (self->paths.slots != NULL)
		number = (uint16_t)*slot_of(&self->paths, hash_of(addresses, n));
	if (number == 0)
		number = learn(self, addresses, n, now_ns);
	if (number != 0 && number != NUMBER_NONE)
		st_emit_parts(self, ST_EVENT_call_path, 0, 0, object, number, now_ns);
}
