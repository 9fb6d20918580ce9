/* SPDX-License-Identifier: MIT */
/*
 * The thread table: the registry of the paper's Figure 4, in a file.
 *
 * A thread id is hashed to a bucket (array A); the slots of that bucket are chained (list B); a
 * slot holds the thread's control fields and each library's pointer to its own (node C).  The file
 * is mapped shared in segments of GM_SEGMENT_SLOTS, so both runtime libraries of a process, each
 * with its own copy of this code, and every reader after a crash see the same table.
 *
 * Slots are handed out by one atomic counter and pushed on their chain by compare-and-swap; none
 * is ever removed, so a walk needs no lock.  A thread looks itself up once per library; libraries
 * keep what they find in thread-local storage.
 */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>

#include "runtime/runtime.h"
#include "runtime/sys.h"
#include "runtime/threads.h"

_Static_assert(sizeof(struct gm_threads_header) <= GM_THREADS_HEADER_BYTES, "header fits");
_Static_assert(GM_SEGMENT_BYTES % 4096 == 0, "segments are mapped on their own");

static struct gm_threads_header *table;
static _Atomic(struct gm_thread_slot *) segments[GM_SEGMENTS_MAX];
static const char *table_path;

static pthread_key_t watch_key;
static bool watch_ready;
static void (*watch_ended)(void *);
static __thread unsigned watch_rounds;

void gm_threads_attach(struct gm_threads_header *header, const char *path)
{
	table = header;
	table_path = path;
	atomic_store_explicit(&segments[0],
			      (struct gm_thread_slot *)((char *)header + GM_THREADS_HEADER_BYTES),
			      memory_order_release); /* pairs with the acquire in segment_at() */
}

void gm_threads_detach(void)
{
	for (unsigned i = 1; i < GM_SEGMENTS_MAX; i++) {
		struct gm_thread_slot *segment = segments[i];

		if (segment != NULL)
			gm_sys_munmap(segment, GM_SEGMENT_BYTES);
		segments[i] = NULL;
	}
	segments[0] = NULL;
	if (table != NULL)
		gm_sys_munmap(table, GM_THREADS_FIRST_BYTES);
	table = NULL;
}

struct gm_threads_header *gm_threads_table(void)
{
	return table;
}

static struct gm_thread_slot *segment_map(unsigned number)
{
	uint64_t offset = GM_THREADS_HEADER_BYTES + (uint64_t)number * GM_SEGMENT_BYTES;
	struct gm_thread_slot *segment = NULL, *others = NULL;
	int fd = gm_sys_open(table_path, O_RDWR | O_NOFOLLOW, 0), code = fd;

	if (fd >= 0) {
		code = gm_file_reserve(fd, offset, GM_SEGMENT_BYTES);
		if (code == 0) {
			segment = gm_sys_mmap(GM_SEGMENT_BYTES, MAP_SHARED, fd, offset);
			code = -ENOMEM;
		}
		gm_sys_close(fd);
	}
	if (segment == NULL) {
		gm_loss_add(&table->threads_why, gm_loss_of(code));
		return NULL;
	}
	/* release: pairs with the acquire in segment_at() */
	if (!atomic_compare_exchange_strong_explicit(&segments[number], &others, segment,
						     memory_order_acq_rel, memory_order_acquire)) {
		gm_sys_munmap(segment, GM_SEGMENT_BYTES);
		segment = others;
	}
	return segment;
}

/* The slot of an index, mapped if it was not; NULL: no room. */
static struct gm_thread_slot *slot_at(uint32_t index)
{
	unsigned number = index / GM_SEGMENT_SLOTS;
	struct gm_thread_slot *segment;

	if (number >= GM_SEGMENTS_MAX) {
		gm_loss_add(&table->threads_why, GM_LOSS_TOO_MANY);
		return NULL;
	}
	segment = atomic_load_explicit(&segments[number], memory_order_acquire);
	if (segment == NULL)
		segment = segment_map(number);
	return segment != NULL ? &segment[index % GM_SEGMENT_SLOTS] : NULL;
}

uint32_t gm_threads_count(void)
{
	return table == NULL ? 0 : __atomic_load_n(&table->n_slots, __ATOMIC_ACQUIRE);
}

struct gm_thread_slot *gm_thread_at(uint32_t index)
{
	return index < gm_threads_count() ? slot_at(index) : NULL;
}

static unsigned bucket_of(uint32_t tid)
{
	return (tid * 2654435761u) >> 22; /* Knuth's multiplicative hash, upper 10 bits */
}
_Static_assert(GM_THREAD_BUCKETS == 1 << 10, "bucket_of() gives 10 bits");

static uint64_t thread_pointer(void)
{
	uint64_t self;

	__asm__("mov %%fs:16, %0" : "=r"(self)); /* what pthread_self() returns */
	return self;
}

static struct gm_thread_slot *slot_find(uint32_t tid, uint32_t *ret_index)
{
	uint32_t link = __atomic_load_n(&table->bucket[bucket_of(tid)], __ATOMIC_ACQUIRE);

	for (uint32_t hops = 0; link != 0 && hops <= table->n_slots; hops++) {
		struct gm_thread_slot *slot = slot_at(link - 1);

		if (slot == NULL)
			return NULL;
		if (slot->tid == tid &&
		    __atomic_load_n(&slot->state, __ATOMIC_ACQUIRE) == GM_THREAD_LIVE) {
			if (slot->pthread == thread_pointer()) {
				*ret_index = link - 1;
				return slot;
			}
			/* An earlier thread of this id, gone without a word. */
			__atomic_store_n(&slot->state, GM_THREAD_ENDED, __ATOMIC_RELEASE);
		}
		link = slot->next;
	}
	return NULL;
}

static void slot_fill(struct gm_thread_slot *slot, uint32_t index, uint32_t tid)
{
	uint32_t *bucket = &table->bucket[bucket_of(tid)];
	uint32_t head = __atomic_load_n(bucket, __ATOMIC_RELAXED);

	slot->tid = tid;
	slot->parent_index = -1;
	slot->pthread = thread_pointer();
	slot->start_ns = gm_clock_ns();
	gm_syscall3(SYS_prctl, 16 /* PR_GET_NAME */, (long)slot->name, 0);
	__atomic_store_n(&slot->state, GM_THREAD_LIVE, __ATOMIC_RELEASE);
	do
		slot->next = head;
	while (!__atomic_compare_exchange_n(bucket, &head, index + 1, true, __ATOMIC_RELEASE,
					    __ATOMIC_RELAXED)); /* pairs with slot_find() */
}

struct gm_thread_slot *gm_thread_self(uint32_t *ret_index)
{
	uint32_t index, tid = (uint32_t)gm_sys_gettid();
	struct gm_thread_slot *slot;

	if (table == NULL)
		return NULL;
	slot = slot_find(tid, ret_index);
	if (slot != NULL)
		return slot;

	index = __atomic_load_n(&table->n_slots, __ATOMIC_RELAXED);
	do {
		slot = slot_at(index);
		if (slot == NULL) {
			__atomic_fetch_add(&table->threads_lost, 1, __ATOMIC_RELAXED);
			return NULL;
		}
	} while (!__atomic_compare_exchange_n(&table->n_slots, &index, index + 1, false,
					      __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
	slot_fill(slot, index, tid);
	*ret_index = index;
	return slot;
}

uint8_t gm_threads_why(void)
{
	return table != NULL ? table->threads_why : 0;
}

void gm_thread_note_error(struct gm_thread_slot *slot, uint64_t error_ns)
{
	if (error_ns > slot->clock_error_ns)
		slot->clock_error_ns = error_ns < UINT32_MAX ? (uint32_t)error_ns : UINT32_MAX;
}

void gm_thread_end(struct gm_thread_slot *slot)
{
	gm_syscall3(SYS_prctl, 16 /* PR_GET_NAME */, (long)slot->name, 0);
	slot->end_ns = gm_clock_ns();
	__atomic_store_n(&slot->state, GM_THREAD_ENDED, __ATOMIC_RELEASE);
}

/* Re-arms until the last round, so that the destructors of the program's own keys come before. */
static void watch_destructor(void *arg)
{
	if (++watch_rounds < PTHREAD_DESTRUCTOR_ITERATIONS) {
		pthread_setspecific(watch_key, arg);
		return;
	}
	watch_rounds = 0;
	watch_ended(arg);
}

int gm_thread_watch_init(void (*ended)(void *))
{
	int code = pthread_key_create(&watch_key, watch_destructor);

	watch_ended = ended;
	watch_ready = code == 0;
	return -code;
}

void gm_thread_watch(void *arg)
{
	/* Below PTHREAD_KEY_2NDLEVEL_SIZE (32) this stores a pointer and no more. */
	if (watch_ready && watch_key < 32)
		pthread_setspecific(watch_key, arg);
}
