/* SPDX-License-Identifier: MIT */
/*
 * Writers without a thread.
 *
 * A writer outlives its thread: the next new thread takes it over, with its file, its call sites
 * and its clock, and begins a packet of its own where the last one ended.  So a program that starts
 * a thread for each request has as many streams as it has threads at a time, and pays for a new
 * thread what 72 bytes cost, not what a file costs.
 *
 * A stack, lock-free, for the priority of a thread is the program's business: its head carries a
 * count in the 16 bits that an address does not use, against the ABA problem, and writers are never
 * unmapped.  Signals are blocked in all of these.
 */
#include <sys/mman.h>

#include "internal.h"
#include "runtime/runtime.h"
#include "runtime/sys.h"

#define ADDRESS_BITS   48
#define WRITER_BYTES   4096u
#define CHUNK_WRITERS  63u
#define OPEN_FILES_MAX 1024 /* mappings that writers without a thread may keep */

struct chunk {
	struct chunk *older;
	uint32_t n_used;
	_Alignas(WRITER_BYTES) uint8_t writers[CHUNK_WRITERS][WRITER_BYTES];
};
_Static_assert(sizeof(struct st_thread) <= WRITER_BYTES, "a writer has a page to itself");

static uint64_t parked; /* struct st_thread *, with a count above it */
static int n_open;
static struct chunk *chunk;

static struct st_thread *address_of(uint64_t link)
{
	return (struct st_thread *)(link & ((1ull << ADDRESS_BITS) - 1));
}

static void push(struct st_thread *self)
{
	uint64_t head = __atomic_load_n(&parked, __ATOMIC_RELAXED), link;

	do {
		self->next_parked = address_of(head);
		link = (uintptr_t)self | ((head >> ADDRESS_BITS) + 1) << ADDRESS_BITS;
		/* release: pairs with the acquire in pop(); hands the writer over */
	} while (!__atomic_compare_exchange_n(&parked, &head, link, true, __ATOMIC_RELEASE,
					      __ATOMIC_RELAXED));
}

static struct st_thread *pop(void)
{
	uint64_t head = __atomic_load_n(&parked, __ATOMIC_ACQUIRE), link;
	struct st_thread *self;

	do {
		self = address_of(head);
		if (self == NULL)
			return NULL;
		link = (uintptr_t)__atomic_load_n(&self->next_parked, __ATOMIC_RELAXED) |
		       ((head >> ADDRESS_BITS) + 1) << ADDRESS_BITS;
	} while (!__atomic_compare_exchange_n(&parked, &head, link, true, __ATOMIC_ACQUIRE,
					      __ATOMIC_ACQUIRE));
	return self;
}

static struct st_thread *writer_new(void)
{
	for (;;) {
		struct chunk *from = __atomic_load_n(&chunk, __ATOMIC_ACQUIRE), *next;
		uint32_t n = CHUNK_WRITERS;

		if (from != NULL)
			n = __atomic_fetch_add(&from->n_used, 1, __ATOMIC_RELAXED);
		if (n < CHUNK_WRITERS)
			return (struct st_thread *)from->writers[n];
		next = st_memory_new(sizeof(struct chunk));
		if (next == NULL)
			return NULL;
		next->older = from;
		/* release: the memory is there for who loads the pointer */
		if (!__atomic_compare_exchange_n(&chunk, &from, next, false, __ATOMIC_RELEASE,
						 __ATOMIC_RELAXED))
			gm_sys_munmap(next, sizeof(struct chunk));
	}
}

struct st_thread *st_pool_take(void)
{
	struct st_thread *self = pop();

	if (self == NULL)
		return writer_new();
	if (self->stream.segment != NULL)
		__atomic_fetch_sub(&n_open, 1, __ATOMIC_RELAXED);
	return self;
}

void st_pool_put(struct st_thread *self)
{
	if (self->stream.segment != NULL &&
	    __atomic_fetch_add(&n_open, 1, __ATOMIC_RELAXED) >= OPEN_FILES_MAX) {
		__atomic_fetch_sub(&n_open, 1, __ATOMIC_RELAXED);
		gm_stream_close(&self->stream);
	}
	push(self);
}

void st_pool_trim(void)
{
	struct st_thread *trimmed = NULL, *self;

	while ((self = pop()) != NULL) {
		gm_stream_trim(&self->stream);
		self->next_parked = trimmed;
		trimmed = self;
	}
	while (trimmed != NULL) {
		self = trimmed;
		trimmed = self->next_parked;
		push(self);
	}
}

void st_pool_detour(uint8_t why)
{
	struct chunk *from = __atomic_load_n(&chunk, __ATOMIC_ACQUIRE);

	for (; from != NULL; from = from->older) {
		uint32_t n = __atomic_load_n(&from->n_used, __ATOMIC_RELAXED);

		for (uint32_t i = 0; i < n && i < CHUNK_WRITERS; i++) {
			struct st_thread *writer = (struct st_thread *)from->writers[i];

			__atomic_fetch_or(&writer->detours, why, __ATOMIC_RELEASE);
		}
	}
}

void st_pool_forget(void)
{
	parked = 0;
	n_open = 0;
	chunk = NULL;
}
