/* SPDX-License-Identifier: MIT */
/*
 * The thread table: the registry of the paper's Figure 4, in a file.
 *
 * A thread id is hashed to a bucket (array A); the slots of a bucket are chained (list B); a slot
 * holds the thread's control fields and each library's pointer to its own block (node C). The file
 * is mapped shared in segments of GM_SEGMENT_SLOTS, so both runtime libraries of a process, each
 * with its own copy of this code, and every reader after a crash see the same table.
 *
 * Slots are allocated by one atomic counter and pushed on their chain by compare-and-swap; none is
 * ever removed, so a walk needs no lock. A thread looks up its slot once per library; libraries
 * keep the result in thread-local storage.
 */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>

#include "gmon-mt/children.h"
#include "runtime/files/file.h"
#include "runtime/files/files_in_memory.h"
#include "runtime/process/process.h"
#include "runtime/process/table.h"
#include "runtime/process/threads.h"
#include "runtime/sys/kernel.h"
#include "runtime/sys/seal.h"
#include "runtime/sys/sys.h"

_Static_assert(sizeof(struct gm_threads_header) <= GM_THREADS_HEADER_BYTES, "header fits");
_Static_assert(GM_SEGMENT_BYTES % 4096 == 0, "segments are mapped on their own");

static struct gm_threads_header *table;
/* on its own: the only entry that most children write to */
static _Atomic(struct gm_thread_slot *) segment_zero;
static GM_LARGE _Atomic(struct gm_thread_slot *) segments[GM_SEGMENTS_MAX];
static struct gm_threads_header *ancestor; /* the ancestor's table, while this process has none */
static unsigned n_segments;		   /* no segment from this number on is mapped */
static const char *table_dir;

/*
 * A child of fork that begins in a place has slot 0 and the header there; the buckets and all other
 * slots are in its folder.
 */
static struct gm_thread_slot *first;
static uint32_t *child_buckets;

/*
 * One key for both libraries of a process. The structure is exported, and both use the one that is
 * first in the loader's search order (gm_thread_watch_find()). A program linked with libgmon_mt.a
 * has its own, and a preloaded library another.
 */
enum { WATCH_NONE, WATCH_BEGINS, WATCH_READY, WATCH_GIVEN_UP };

struct gm_thread_watch {
	uint32_t state;
	pthread_key_t key;
	void (*destructor)(void *);
	void (*ended[GM_N_LIBS])(void);
	void (*begun[GM_N_LIBS])(void);
};
extern struct gm_thread_watch gm_thread_watch_shared __attribute__((visibility("default")));
struct gm_thread_watch gm_thread_watch_shared;
static struct gm_thread_watch *watch = &gm_thread_watch_shared;

const struct gm_pthread_key *gm_pthread_keys;
static __thread unsigned watch_rounds;
static __thread bool is_counted_lost; /* in threads_lost: it may find a slot later */
static uint64_t samples_missed;	      /* before there was a table to count them in */

void gm_threads_attach(struct gm_threads_header *header, const char *dir)
{
	if (ancestor != NULL)
		gm_table_unmap(ancestor, GM_THREADS_FIRST_BYTES);
	ancestor = NULL;
	table = header;
	table_dir = dir;
	atomic_store_explicit(&segment_zero,
			      (struct gm_thread_slot *)((char *)header + GM_THREADS_HEADER_BYTES),
			      memory_order_release); /* pairs with the acquire in segment_at() */
	gm_threads_count_missed(__atomic_exchange_n(&samples_missed, 0, __ATOMIC_RELAXED));
}

void gm_threads_attach_child(struct gm_child *child, const char *dir)
{
	table = (struct gm_threads_header *)child->threads;
	table_dir = dir;
	first = &child->first;
}

/* Returns NULL if there are none yet. */
static uint32_t *buckets(void)
{
	return first == NULL ? table->bucket : __atomic_load_n(&child_buckets, __ATOMIC_ACQUIRE);
}

/* The place of a child belongs to its parent; buckets and segment 0 belong to its folder. */
static void child_detach(void)
{
	const size_t offset = offsetof(struct gm_threads_header, bucket);

	if (child_buckets != NULL)
		gm_sys_munmap((char *)child_buckets - offset, GM_THREADS_HEADER_BYTES);
	if (segment_zero != NULL)
		gm_sys_munmap(segment_zero, GM_SEGMENT_BYTES);
	child_buckets = NULL;
	first = NULL;
	table = NULL;
}

void gm_threads_detach(void)
{
	/* Writes only if necessary: each page that a child writes to is copied. */
	for (unsigned i = 1; i < n_segments; i++) {
		struct gm_thread_slot *segment = segments[i];

		if (segment != NULL) {
			gm_table_unmap(segment, GM_SEGMENT_BYTES);
			segments[i] = NULL;
		}
	}
	n_segments = 0;
	if (first != NULL)
		child_detach();
	else if (table != NULL)
		ancestor = table;
	if (segment_zero != NULL)
		segment_zero = NULL;
	table = NULL;
	if (is_counted_lost)
		is_counted_lost = false;
	if (samples_missed != 0)
		samples_missed = 0;
}

bool gm_threads_note_unwritten(uint32_t pid, long code)
{
	uint32_t n, at;

	if (ancestor == NULL)
		return false;
	/* The other library of this process may have noted it. */
	n = __atomic_load_n(&ancestor->n_unwritten, __ATOMIC_RELAXED);
	for (uint32_t i = 0; i < n && i < GM_UNWRITTEN_MAX; i++)
		if (ancestor->unwritten[i].pid == pid)
			return true;
	at = __atomic_fetch_add(&ancestor->n_unwritten, 1, __ATOMIC_RELAXED);
	if (at >= GM_UNWRITTEN_MAX)
		return true;
	ancestor->unwritten[at].error = (uint32_t)-code;
	/* release: a reader of the live file skips entries without a pid */
	__atomic_store_n(&ancestor->unwritten[at].pid, pid, __ATOMIC_RELEASE);
	return true;
}

struct gm_threads_header *gm_threads_table(void)
{
	return table;
}

static _Atomic(struct gm_thread_slot *) *segment_of(unsigned number)
{
	return number == 0 ? &segment_zero : &segments[number];
}

static void lose_thread(uint16_t why)
{
	gm_loss_add(&table->threads_why, &table->stalled, GM_STALLED_THREADS, why);
}

static struct gm_thread_slot *segment_map(unsigned number)
{
	uint64_t offset = GM_THREADS_HEADER_BYTES + (uint64_t)number * GM_SEGMENT_BYTES;
	struct gm_thread_slot *segment = NULL, *others = NULL;
	void *mapping;
	int code = gm_process_folder();

	if (code == 0 && gm_kept_is_on())
		code = gm_table_segment(number, &segment);
	else if (code == 0 && (code = gm_file_map(table_dir, "threads", offset, GM_SEGMENT_BYTES,
						  &mapping)) == 0)
		segment = mapping;
	if (code < 0) {
		lose_thread(gm_loss_of(code));
		return NULL;
	}
	for (unsigned n = __atomic_load_n(&n_segments, __ATOMIC_RELAXED); n <= number;)
		if (__atomic_compare_exchange_n(&n_segments, &n, number + 1, true, __ATOMIC_RELAXED,
						__ATOMIC_RELAXED))
			break;
	/* acq_rel: pairs with the acquire in segment_at() */
	if (!atomic_compare_exchange_strong_explicit(segment_of(number), &others, segment,
						     memory_order_acq_rel, memory_order_acquire)) {
		gm_table_unmap(segment, GM_SEGMENT_BYTES);
		segment = others;
	}
	return segment;
}

/* Maps the buckets of a child of fork, which are needed from its second thread on. */
static bool buckets_map(void)
{
	struct gm_threads_header *header;
	uint32_t *others = NULL;
	void *mapping;
	int code;

	if (buckets() != NULL)
		return true;
	code = gm_process_folder();
	if (code == 0)
		code = gm_file_map_again(table_dir, "threads", GM_THREADS_HEADER_BYTES, &mapping);
	if (code < 0) {
		lose_thread(gm_loss_of(code));
		return false;
	}
	header = mapping;
	/* acq_rel: pairs with the acquire in buckets() */
	if (!__atomic_compare_exchange_n(&child_buckets, &others, header->bucket, false,
					 __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		gm_sys_munmap(header, GM_THREADS_HEADER_BYTES);
	return true;
}

/* Returns the slot of an index, and maps it if necessary; NULL: no room. */
static struct gm_thread_slot *slot_at(uint32_t index)
{
	unsigned number = index / GM_SEGMENT_SLOTS;
	struct gm_thread_slot *segment;

	if (index == 0 && first != NULL)
		return first;
	if (number >= GM_SEGMENTS_MAX) {
		lose_thread(GM_LOSS_TOO_MANY);
		return NULL;
	}
	segment = atomic_load_explicit(segment_of(number), memory_order_acquire);
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

	__asm__("mov %%fs:16, %0" : "=r"(self)); /* the value that pthread_self() returns */
	return self;
}

/* Returns true if the slot belongs to the calling thread. */
static bool slot_is_own(struct gm_thread_slot *slot, uint32_t tid)
{
	if (slot->tid != tid || __atomic_load_n(&slot->state, __ATOMIC_ACQUIRE) != GM_THREAD_LIVE)
		return false;
	if (slot->pthread == thread_pointer())
		return true;
	/* An earlier thread with this id, whose end went unnoticed. */
	__atomic_store_n(&slot->state, GM_THREAD_ENDED, __ATOMIC_RELEASE);
	return false;
}

static struct gm_thread_slot *slot_find(uint32_t tid, uint32_t *ret_index)
{
	uint32_t link;

	if (first != NULL && table->n_slots > 0 && slot_is_own(first, tid)) {
		*ret_index = 0;
		return first;
	}
	/* Slots of a child's later threads may have been made by the other library. */
	if (first != NULL && (table->n_slots <= 1 || !buckets_map()))
		return NULL;
	link = __atomic_load_n(&buckets()[bucket_of(tid)], __ATOMIC_ACQUIRE);
	for (uint32_t hops = 0; link != 0 && hops <= table->n_slots; hops++) {
		struct gm_thread_slot *slot = slot_at(link - 1);

		if (slot == NULL)
			return NULL;
		if (slot_is_own(slot, tid)) {
			*ret_index = link - 1;
			return slot;
		}
		link = slot->next;
	}
	return NULL;
}

static void slot_fill(struct gm_thread_slot *slot, uint32_t index, uint32_t tid)
{
	uint32_t *bucket, head;

	slot->tid = tid;
	slot->parent_index = -1;
	slot->pthread = thread_pointer();
	slot->start_ns = gm_clock_ns();
	gm_syscall3(SYS_prctl, 16 /* PR_GET_NAME */, (long)slot->name, 0);
	__atomic_store_n(&slot->state, GM_THREAD_LIVE, __ATOMIC_RELEASE);
	if (slot == first)
		return;
	bucket = &buckets()[bucket_of(tid)];
	head = __atomic_load_n(bucket, __ATOMIC_RELAXED);
	do
		slot->next = head;
	while (!__atomic_compare_exchange_n(bucket, &head, index + 1, true, __ATOMIC_RELEASE,
					    __ATOMIC_RELAXED)); /* pairs with slot_find() */
}

static void found_at_last(void)
{
	if (is_counted_lost)
		__atomic_fetch_sub(&table->threads_lost, 1, __ATOMIC_RELAXED);
	is_counted_lost = false;
}

/*
 * The child of vfork() has another number than the thread in whose memory it runs. That thread is
 * the initial one as long as the process has no other.
 */
static uint32_t own_tid(void)
{
	uint32_t tid = (uint32_t)gm_sys_gettid();

	if (tid == table->pid || tid != (uint32_t)gm_sys_getpid() ||
	    __atomic_load_n(&table->n_slots, __ATOMIC_RELAXED) > 1)
		return tid;
	return table->pid;
}

struct gm_thread_slot *gm_thread_self(uint32_t *ret_index)
{
	struct gm_thread_slot *slot;
	uint32_t index, tid;

	if (table == NULL)
		return NULL;
	tid = own_tid();
	slot = slot_find(tid, ret_index);
	if (slot != NULL) {
		found_at_last();
		return slot;
	}

	index = __atomic_load_n(&table->n_slots, __ATOMIC_RELAXED);
	do {
		slot = first != NULL && index > 0 && !buckets_map() ? NULL : slot_at(index);
		if (slot == NULL) {
			if (!is_counted_lost)
				__atomic_fetch_add(&table->threads_lost, 1, __ATOMIC_RELAXED);
			is_counted_lost = true;
			return NULL;
		}
	} while (!__atomic_compare_exchange_n(&table->n_slots, &index, index + 1, false,
					      __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
	found_at_last();
	slot_fill(slot, index, tid);
	gm_table_save_slot(table_dir, index, slot);
	*ret_index = index;
	return slot;
}

uint16_t gm_threads_why(void)
{
	if (table == NULL)
		return 0;
	return (uint16_t)(table->threads_why |
			  (table->stalled & GM_STALLED_THREADS ? GM_LOSS_STALLED : 0));
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
	for (unsigned i = 0; gm_kept_is_on() && i < GM_SEGMENTS_MAX; i++) {
		struct gm_thread_slot *segment = *segment_of(i);

		if (segment == NULL)
			break;
		if (slot >= segment && slot < segment + GM_SEGMENT_SLOTS)
			gm_table_save_slot(table_dir,
					   i * GM_SEGMENT_SLOTS + (uint32_t)(slot - segment), slot);
	}
}

/* Returns the header of the folder's table, or NULL if only the part in a place exists. */
static struct gm_threads_header *whole_header(void)
{
	uint32_t *child = first != NULL ? buckets() : NULL;

	if (first == NULL)
		return table;
	return child == NULL
		   ? NULL
		   : (struct gm_threads_header *)((char *)child -
						  offsetof(struct gm_threads_header, bucket));
}

bool gm_threads_count_in_memory(int n)
{
	struct gm_threads_header *header = whole_header();

	if (header == NULL)
		return false;
	__atomic_fetch_add(&header->n_in_memory, (uint32_t)n, __ATOMIC_RELAXED);
	return true;
}

void gm_threads_count_missed(uint64_t n)
{
	struct gm_threads_header *header = table != NULL ? whole_header() : NULL;

	if (n != 0)
		__atomic_fetch_add(header != NULL ? &header->samples_missed : &samples_missed, n,
				   __ATOMIC_RELAXED);
}

long gm_threads_save(void)
{
	return table == NULL ? 0 : gm_table_save(table_dir, table);
}

/*
 * Sets the value again until the last round, so that the destructors of the program's own keys run
 * before.
 */
static void watch_destructor(void *arg)
{
	if (++watch_rounds < PTHREAD_DESTRUCTOR_ITERATIONS) {
		pthread_setspecific(watch->key, arg);
		return;
	}
	watch_rounds = 0;
	for (unsigned i = 0; i < GM_N_LIBS; i++)
		if (watch->ended[i] != NULL)
			watch->ended[i]();
}

/*
 * The last key whose values glibc keeps in the thread descriptor (PTHREAD_KEY_2NDLEVEL_SIZE less
 * 1): setting one is a single store. The program's keys begin at 0, as without profiling.
 */
#define KEY_WANTED 31u

/* Takes the highest free key up to that one. Returns false if there is none. */
static bool key_take(pthread_key_t *ret_key)
{
	pthread_key_t keys[KEY_WANTED + 2];
	unsigned n = 0, taken = 0;

	while (n < KEY_WANTED + 2 && pthread_key_create(&keys[n], watch_destructor) == 0)
		if (keys[n++] >= KEY_WANTED)
			break;
	for (unsigned i = 0; i < n; i++)
		if (keys[i] <= KEY_WANTED)
			taken = i + 1;
	for (unsigned i = 0; i < n; i++)
		if (i + 1 != taken)
			pthread_key_delete(keys[i]);
	if (taken > 0)
		*ret_key = keys[taken - 1];
	return taken > 0;
}

void gm_thread_watch_init(enum gm_library library, void (*ended)(void))
{
	uint32_t state = WATCH_NONE;
	void *found = gm_thread_watch_find != NULL ? gm_thread_watch_find() : NULL;

	if (found != NULL)
		watch = found;
	watch->ended[library] = ended;
	if (!__atomic_compare_exchange_n(&watch->state, &state, WATCH_BEGINS, false,
					 __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return;
	watch->destructor = watch_destructor;
	/* release: pairs with the acquire in gm_thread_watch() */
	if (key_take(&watch->key))
		__atomic_store_n(&watch->state, WATCH_READY, __ATOMIC_RELEASE);
}

void gm_thread_watch_begin(enum gm_library library, void (*begun)(void))
{
	/* release: pairs with the acquire below; what `begun` uses is initialized */
	__atomic_store_n(&watch->begun[library], begun, __ATOMIC_RELEASE);
}

void (*gm_thread_begun_by(enum gm_library library))(void)
{
	return __atomic_load_n(&watch->begun[library], __ATOMIC_ACQUIRE);
}

/* The program may delete any key, and be given its number. */
static bool key_is_ours(void)
{
	const struct gm_pthread_key *key;

	if (gm_pthread_keys == NULL)
		return true;
	key = &gm_pthread_keys[watch->key];
	return (key->sequence & 1) != 0 && key->destructor == watch->destructor;
}

bool gm_thread_watch_give_up(void)
{
	uint32_t state = WATCH_READY;

	return gm_pthread_keys != NULL &&
	       __atomic_load_n(&watch->state, __ATOMIC_ACQUIRE) == WATCH_READY && key_is_ours() &&
	       __atomic_compare_exchange_n(&watch->state, &state, WATCH_GIVEN_UP, false,
					   __ATOMIC_RELAXED, __ATOMIC_RELAXED) &&
	       pthread_key_delete(watch->key) == 0;
}

int (*gm_set_specific)(unsigned key, const void *value) = pthread_setspecific;

void gm_thread_watch(void)
{
	if (__atomic_load_n(&watch->state, __ATOMIC_ACQUIRE) == WATCH_READY && key_is_ours())
		gm_set_specific(watch->key, watch);
}

bool gm_thread_is_gone(uint32_t tid)
{
	const struct gm_process *process = gm_process_get();

	return process != NULL && !gm_sealed && gm_sys_getpid() == process->pid &&
	       gm_syscall3(SYS_tgkill, process->pid, (long)tid, 0) == -ESRCH;
}

void gm_thread_abandon(struct gm_thread_slot *slot)
{
	uint32_t live = GM_THREAD_LIVE;

	__atomic_compare_exchange_n(&slot->state, &live, GM_THREAD_ENDED, false, __ATOMIC_RELEASE,
				    __ATOMIC_RELAXED);
}
