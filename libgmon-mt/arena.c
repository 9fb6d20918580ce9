/* SPDX-License-Identifier: MIT */
/*
 * <pid>/calls: one file for the tables of all threads, mapped shared in segments that are cut into
 * chunks.
 *
 * All threads share one file because making a file costs as much as thousands of calls (0.1 to 0.7
 * ms on ext4 where files were deleted within the last minutes), and threads may be short-lived. The
 * disk space of a segment is reserved before it is mapped, so a store never meets a full disk.
 * Without disk space, chunks come from private memory.
 *
 * The chain of chunks (format.h) can be walked at any instant, even if a thread or the process is
 * killed: the rest of a segment is always one free chunk. To cut off a piece, the header behind it
 * is written first, and then the length of the piece in one store.
 *
 * All functions run under gm_flush_lock. Segments stay mapped as long as the process lives.
 */
#include <errno.h>

#include "gmon-mt/children.h"
#include "internal.h"
#include "runtime/files/file.h"
#include "runtime/files/files_in_memory.h"
#include "runtime/process/process.h"
#include "runtime/process/threads.h"
#include "runtime/sys/kernel.h"
#include "runtime/sys/sys.h"

#define SEGMENT_BYTES_MIN 65536u
#define SEGMENT_BYTES_MAX 1048576u
#define SEGMENTS_MAX	  4096u
#define CHUNK_ALIGN	  64u
#define N_CLASSES	  32u
#define RETRY_NS	  100000000u

static GM_LARGE struct segment {
	char *start;
	uint64_t size_bytes;
} segments[SEGMENTS_MAX];
static struct segment
    segment_zero; /* on its own: the only entry that most children of fork write to */
static unsigned n_segments;

static uint64_t file_bytes;
static bool file_is_made;
static uint64_t retry_ns; /* the disk was full: do not try again before this time */
static uint16_t why;	  /* enum gm_loss: why the file could not grow */

/*
 * The next chunk is cut off here: the rest of the newest segment in the file, and of private
 * memory.
 */
static struct rest {
	char *start;
	uint64_t size_bytes;
} shared_rest, private_rest;

/* Freed chunks, by the power of two of their slots, linked through their first arc. */
static struct gm_table *free_tables[N_CLASSES];

static struct segment *segment_at(unsigned i)
{
	return i == 0 ? &segment_zero : &segments[i];
}

static unsigned class_of(uint32_t n_slots)
{
	return 31 - (unsigned)__builtin_clz(n_slots);
}

/* Makes an empty chunk of `size_bytes`. The memory is zeroed. */
static void chunk_init(char *start, uint64_t size_bytes, uint32_t flags)
{
	struct gm_calls_header *header = (struct gm_calls_header *)start;

	memcpy(header->magic, GM_CALLS_FREE, sizeof(header->magic));
	header->schema = GM_CAPTURE_SCHEMA;
	header->header_bytes = sizeof(*header);
	header->flags = flags;
	/* release: a reader that follows the length finds a complete chunk */
	__atomic_store_n(&header->chunk_bytes, size_bytes, __ATOMIC_RELEASE);
}

/*
 * The first bytes of a child of fork lie in its place (children.h); the same bytes of its file stay
 * unused.
 */
static char *map_place(void)
{
	struct gm_child *child = gm_process_child();

	if (child == NULL || file_bytes != 0 ||
	    (__atomic_fetch_or(&child->parts, GM_CHILD_CALLS, __ATOMIC_RELAXED) & GM_CHILD_CALLS) !=
		0)
		return NULL;
	return (char *)child + GM_CHILD_CALLS_AT;
}

static char *map_file(uint64_t size_bytes)
{
	const char *dir = gm_process_get()->dir;
	/* The part of the file that the place replaces stays unused. */
	uint64_t spare_bytes = file_is_made ? 0 : file_bytes;
	void *start;
	int code = gm_process_folder();

	if (code == 0)
		code = gm_file_map(dir, "calls", file_bytes - spare_bytes, size_bytes + spare_bytes,
				   &start);
	if (code == 0) {
		file_is_made = true;
		return (char *)start + spare_bytes;
	}
	why = gm_loss_of(code);
	if (file_is_made) /* part of the space may have been reserved */
		gm_file_cut(dir, "calls", file_bytes);
	return NULL;
}

uint16_t gm_arena_why(void)
{
	return why;
}

static bool segment_new(struct rest *rest, uint64_t need_bytes)
{
	uint64_t size_bytes = file_bytes;
	char *start;

	if (n_segments == SEGMENTS_MAX) {
		why = GM_LOSS_TOO_MANY;
		return false;
	}
	if (size_bytes < SEGMENT_BYTES_MIN)
		size_bytes = SEGMENT_BYTES_MIN;
	if (size_bytes > SEGMENT_BYTES_MAX)
		size_bytes = SEGMENT_BYTES_MAX;
	if (size_bytes < need_bytes)
		size_bytes = (need_bytes + 4095) / 4096 * 4096;
	if (rest == &private_rest) {
		start = gm_sys_mmap(size_bytes, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	} else if ((start = map_place()) != NULL) {
		size_bytes = GM_CHILD_CALLS_BYTES;
	} else {
		if (retry_ns != 0 && gm_clock_ns() < retry_ns)
			return false;
		start = map_file(size_bytes);
		if (start == NULL) { /* the remaining space may still hold this chunk */
			size_bytes = (need_bytes + 4095) / 4096 * 4096;
			start = map_file(size_bytes);
		}
		retry_ns = start == NULL ? gm_clock_ns() + RETRY_NS : 0;
	}
	if (start == NULL)
		return false;
	if (rest == &shared_rest) {
		file_bytes += size_bytes;
		chunk_init(start, size_bytes, 0);
	}
	*rest = (struct rest){start, size_bytes};
	*segment_at(n_segments) = (struct segment){start, size_bytes};
	n_segments++;
	return true;
}

/* Cuts a chunk off the rest: of segments in the file, or of private memory. */
static struct gm_table *cut(struct rest *rest, uint64_t need_bytes)
{
	uint32_t flags = rest == &private_rest ? GM_CALLS_PRIVATE : 0;
	char *start;

	if (rest->size_bytes < need_bytes && !segment_new(rest, need_bytes))
		return NULL;
	start = rest->start;
	rest->start += need_bytes;
	rest->size_bytes -= need_bytes;
	if (rest->size_bytes > 0)
		chunk_init(rest->start, rest->size_bytes, flags);
	chunk_init(start, need_bytes, flags);
	return (struct gm_table *)start;
}

static struct gm_table **link_of(struct gm_table *table)
{
	return (struct gm_table **)table->arcs;
}

static struct gm_table *reuse(uint32_t n_slots)
{
	struct gm_table *table = free_tables[class_of(n_slots)];

	if (table == NULL)
		return NULL;
	free_tables[class_of(n_slots)] = *link_of(table);
	memset(table->arcs, 0, n_slots * sizeof(struct gm_arc));
	table->header.flags &= GM_CALLS_PRIVATE;
	return table;
}

struct gm_table *gm_arena_new(uint32_t n_slots, uint32_t slot_bytes, bool may_be_private)
{
	uint64_t need_bytes = sizeof(struct gm_calls_header) + (uint64_t)n_slots * slot_bytes;
	struct gm_table *table = NULL;

	if (gm_process_get() == NULL)
		return NULL;
	need_bytes = (need_bytes + CHUNK_ALIGN - 1) / CHUNK_ALIGN * CHUNK_ALIGN;
	if (slot_bytes == sizeof(struct gm_arc) && (n_slots & (n_slots - 1)) == 0)
		table = reuse(n_slots);
	if (table == NULL)
		table = cut(&shared_rest, need_bytes);
	if (table == NULL && may_be_private)
		table = cut(&private_rest, need_bytes);
	if (table == NULL)
		return NULL;
	table->header.slot_bytes = slot_bytes;
	table->header.n_slots = n_slots;
	return table;
}

void gm_arena_publish(struct gm_table *table)
{
	uint64_t magic;

	memcpy(&magic, GM_CALLS_MAGIC, sizeof(magic));
	/* release: a reader that finds the magic finds a complete table */
	__atomic_store_n((uint64_t *)(void *)table->header.magic, magic, __ATOMIC_RELEASE);
}

void gm_arena_free(struct gm_table *table)
{
	unsigned class = class_of(table->header.n_slots);
	uint64_t magic;

	memcpy(&magic, GM_CALLS_FREE, sizeof(magic));
	__atomic_store_n((uint64_t *)(void *)table->header.magic, magic, __ATOMIC_RELEASE);
	*link_of(table) = free_tables[class];
	free_tables[class] = table;
}

struct gm_table *gm_arena_next(struct gm_table *table)
{
	unsigned i = 0;
	char *at;

	if (table == NULL) {
		at = n_segments > 0 ? segment_zero.start : NULL;
	} else {
		at = (char *)table;
		while (at < segment_at(i)->start ||
		       at >= segment_at(i)->start + segment_at(i)->size_bytes)
			i++;
		at += table->header.chunk_bytes;
	}
	while (i < n_segments) {
		const char *end = segment_at(i)->start + segment_at(i)->size_bytes;

		for (; at < end; at += ((struct gm_table *)at)->header.chunk_bytes)
			if (memcmp(((struct gm_table *)at)->header.magic, GM_CALLS_MAGIC, 8) == 0)
				return (struct gm_table *)at;
		if (++i < n_segments)
			at = segment_at(i)->start;
	}
	return NULL;
}

/* Counts the part of a table beyond `saved` as lost: only memory has it. */
static void table_count_lost(struct gm_table *table, const char *saved)
{
	bool are_samples = (table->header.flags & GM_CALLS_SAMPLES) != 0;
	struct gm_thread_slot *slot = gm_thread_at(table->header.index);
	const char *at = (const char *)table->arcs;
	uint64_t n = 0;

	for (uint32_t i = 0; i < table->header.n_slots; i++, at += table->header.slot_bytes) {
		const struct gm_calls_arc *arc = (const struct gm_calls_arc *)at;

		if (arc->self != 0 && at + sizeof(*arc) > saved)
			n += arc->count;
	}
	if (slot == NULL || n == 0)
		return;
	__atomic_fetch_add(are_samples ? &slot->samples_missed : &slot->calls_lost, n,
			   __ATOMIC_RELAXED);
	gm_loss_add(are_samples ? &slot->samples_why : &slot->calls_why, &slot->stalled,
		    are_samples ? GM_STALLED_SAMPLES : GM_STALLED_CALLS, GM_LOSS_DISK);
}

/* Called after the file was written from memory, as far as the disk had room. */
static void arena_saved(void)
{
	struct gm_table *table = NULL;

	if (!gm_kept_is_on())
		return;
	while ((table = gm_arena_next(table)) != NULL) {
		const char *at = (const char *)table;
		unsigned i = 0;

		while (at < segment_at(i)->start ||
		       at >= segment_at(i)->start + segment_at(i)->size_bytes)
			i++;
		if ((table->header.flags & GM_CALLS_PRIVATE) == 0)
			table_count_lost(table, segment_at(i)->start +
						    gm_kept_saved(segment_at(i)->start));
	}
}

void gm_arena_init(void)
{
	gm_process_on_save(arena_saved);
}

void gm_arena_forget(void)
{
	for (unsigned i = 0; i < n_segments; i++)
		gm_syscall6(SYS_mmap, (long)segment_at(i)->start, (long)segment_at(i)->size_bytes,
			    PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	n_segments = 0;
	file_bytes = 0;
	file_is_made = false;
	retry_ns = 0;
	why = 0;
	shared_rest = private_rest = (struct rest){NULL, 0};
	memset(free_tables, 0, sizeof(free_tables));
}
