/* SPDX-License-Identifier: MIT */
/*
 * Writers without a thread.
 *
 * A writer outlives its thread: the next new thread takes it over, with its file, its call sites
 * and its clock, and begins a packet of its own where the last one ended. So a program that starts
 * a thread for each request has as many streams as simultaneous threads, and a new thread costs 72
 * bytes instead of a file. A thread that creates another gives it a writer, and makes one before if
 * there is none: so the delay between both threads is the same as without profiling.
 *
 * The pool is a lock-free stack, since the priority of threads is up to the program. Its head has a
 * counter in the 16 bits that an address does not use, against the ABA problem, and writers are
 * never unmapped. All functions run with signals blocked.
 */
#include <errno.h>
#include <sys/mman.h>

#include "record/internal.h"
#include "runtime/files/helper_task.h"
#include "runtime/sys/kernel.h"
#include "runtime/sys/seal.h"
#include "runtime/sys/sys.h"

#define ADDRESS_BITS   48
#define WRITER_BYTES   sizeof(struct st_writer)
#define FIRST_WRITERS  7u    /* few: a program that locks its memory locks all of them */
#define CHUNK_WRITERS  1023u /* each chunk is a mapping, of which a process has a limited number */
#define OPEN_FILES_MAX 1024  /* mappings that writers without a thread may keep */
#define PREPARED_MAX   4u
#define SHORT_BYTES    512u /* the size of a few events */

struct chunk {
	struct chunk *older;
	uint32_t n_used;
	uint32_t n_writers;
	struct st_writer writers[];
};

static uint64_t parked; /* struct st_thread *, with a counter above it */
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

/* Makes a chunk after `older`, twice as large. */
static bool chunk_new(struct chunk *older)
{
	uint32_t n = older != NULL ? 2 * older->n_writers + 1 : FIRST_WRITERS;
	size_t size_bytes =
	    sizeof(struct chunk) + (n < CHUNK_WRITERS ? n : CHUNK_WRITERS) * WRITER_BYTES;
	struct chunk *made = st_memory_new(size_bytes);

	if (made == NULL)
		return false;
	made->older = older;
	made->n_writers = n < CHUNK_WRITERS ? n : CHUNK_WRITERS;
	/* release: a reader of the pointer finds the memory initialized */
	if (!__atomic_compare_exchange_n(&chunk, &older, made, false, __ATOMIC_RELEASE,
					 __ATOMIC_RELAXED))
		gm_sys_munmap(made, size_bytes);
	return true;
}

static struct st_thread *writer_new(void)
{
	struct chunk *from;

	do {
		from = __atomic_load_n(&chunk, __ATOMIC_ACQUIRE);
		if (from != NULL) {
			uint32_t n = __atomic_fetch_add(&from->n_used, 1, __ATOMIC_RELAXED);

			if (n < from->n_writers)
				return &from->writers[n].thread;
		}
	} while (chunk_new(from));
	return NULL;
}

static struct st_thread *take_parked(void)
{
	struct st_thread *self = pop();

	if (self != NULL && self->stream.segment != NULL)
		__atomic_fetch_sub(&n_open, 1, __ATOMIC_RELAXED);
	return self;
}

struct st_thread *st_pool_take(void)
{
	struct st_thread *self = take_parked();

	return self != NULL ? self : writer_new();
}

void st_pool_put(struct st_thread *self)
{
	bool closes = false;

	gm_stream_rest(&self->stream);
	if (self->stream.segment != NULL &&
	    __atomic_fetch_add(&n_open, 1, __ATOMIC_RELAXED) >= OPEN_FILES_MAX) {
		__atomic_fetch_sub(&n_open, 1, __ATOMIC_RELAXED);
		gm_stream_close(&self->stream);
		closes = true;
	}
	if (self->accesses != NULL)
		st_accesses_rest(self, closes);
	push(self);
}

struct preparation {
	const struct st_thread *creator; /* owner of the first packets, which have no event */
	uint32_t n_writers;
	uint64_t now_ns;
};

/*
 * Packets that begin here belong to the creator. The thread that parked the writer may have written
 * its last event after the creator's time stamp.
 */
static bool make_room(struct st_thread *self, const struct preparation *preparation)
{
	uint64_t now_ns = preparation->now_ns;

	if (now_ns < self->stream.last_ns)
		now_ns = self->stream.last_ns;
	self->stream.index = preparation->creator->stream.index;
	self->stream.tid = preparation->creator->stream.tid;
	return gm_stream_room(&self->stream, SHORT_BYTES, now_ns);
}

static long prepare_step(void *arg)
{
	const struct preparation *preparation = arg;

	for (uint32_t i = 0; i < preparation->n_writers; i++) {
		struct st_thread *self = writer_new();
		bool has_room;

		if (self == NULL)
			return -ENOMEM;
		st_sites_init(self);
		self->stream.trace = st_process_trace();
		has_room = make_room(self, preparation);
		st_pool_put(self);
		if (!has_room)
			break;
	}
	return 0;
}

struct st_thread *st_pool_take_ahead(const struct st_thread *creator, uint64_t now_ns)
{
	static uint32_t n_prepared;
	struct preparation preparation = {creator, 1, now_ns};
	struct st_thread *self = NULL;
	uint64_t mask;

	if (!creator->live || creator->only_ust || gm_seal_is_set())
		return NULL;
	gm_signals_block(&mask);
	if (address_of(__atomic_load_n(&parked, __ATOMIC_RELAXED)) == NULL) {
		preparation.n_writers += __atomic_load_n(&n_prepared, __ATOMIC_RELAXED) / 2;
		if (preparation.n_writers > PREPARED_MAX)
			preparation.n_writers = PREPARED_MAX;
		__atomic_fetch_add(&n_prepared, preparation.n_writers, __ATOMIC_RELAXED);
		gm_files_run(prepare_step, &preparation);
	}
	self = take_parked();
	/* Otherwise a short thread would have to make room, most likely at its end. */
	if (self != NULL && self->stream.packet != NULL &&
	    self->stream.pos + SHORT_BYTES > self->stream.end)
		make_room(self, &preparation);
	gm_signals_restore(mask);
	return self;
}

static void trim(struct st_thread *self)
{
	gm_stream_trim(&self->stream);
	if (self->accesses != NULL)
		gm_stream_trim(st_accesses_stream(self));
}

void st_thread_trim(struct st_thread *self)
{
	for (; self != NULL; self = self->former)
		trim(self);
}

void st_pool_trim(void)
{
	struct st_thread *trimmed = NULL, *self;

	while ((self = pop()) != NULL) {
		trim(self);
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

		for (uint32_t i = 0; i < n && i < from->n_writers; i++) {
			struct st_thread *writer = &from->writers[i].thread;

			__atomic_fetch_or(&writer->detours, why, __ATOMIC_RELEASE);
		}
	}
}

/* The position in the chunks of the next writer to check. */
static struct chunk *check_chunk;
static uint32_t check_at;

void st_pool_check(unsigned n)
{
	/* Two threads may check the same writer: one of them parks it. */
	while (n-- > 0) {
		struct chunk *from = __atomic_load_n(&check_chunk, __ATOMIC_RELAXED);
		uint32_t at = __atomic_fetch_add(&check_at, 1, __ATOMIC_RELAXED);

		if (from == NULL)
			from = __atomic_load_n(&chunk, __ATOMIC_ACQUIRE);
		if (from == NULL)
			return;
		if (at >= from->n_writers ||
		    at >= __atomic_load_n(&from->n_used, __ATOMIC_RELAXED)) {
			__atomic_store_n(&check_chunk, from->older, __ATOMIC_RELAXED);
			__atomic_store_n(&check_at, 0, __ATOMIC_RELAXED);
			continue;
		}
		st_writer_check(&from->writers[at].thread);
	}
}

void st_pool_forget(void)
{
	check_chunk = NULL;
	check_at = 0;
	parked = 0;
	n_open = 0;
	chunk = NULL;
}
