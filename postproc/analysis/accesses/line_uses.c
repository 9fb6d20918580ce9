/* SPDX-License-Identifier: MIT */
/*
 * Lines are in an open-addressed table with linear probing, which is at most two thirds full; a
 * line that is removed is replaced by later ones of its run.  Uses are in chunks that do not move,
 * with a list of those that are free.
 */
#include "analysis/accesses/line_uses.h"

#include <string.h>
#include <sys/mman.h>

#include <glib.h>

#include "analysis/accesses/users.h"
#include "analysis/mix.h"

#define FIRST_PLACES 256u		 /* a power of two */
#define CHUNK_USES   16384u		 /* a power of two */
#define HUGE_BYTES   (UINT64_C(2) << 20) /* of a huge page: that of a chunk, too */

struct pp_line_uses {
	struct pp_used_line *places;
	uint64_t n_places, n_lines; /* the former is a power of two */
	GPtrArray *chunks;	    /* ... of CHUNK_USES uses each; use 0 is not used */
	uint32_t n_uses;	    /* numbers that have been given out */
	uint32_t free_use;	    /* a list by `next`; 0: none */
};

/*
 * Uninitialized memory.  Random accesses to more than some MiB take as long for the page tables as
 * for the data, unless it is in huge pages; the kernel may refuse them.
 */
static void *allocate(uint64_t n_bytes)
{
	void *at;

	if (n_bytes < HUGE_BYTES)
		return g_aligned_alloc(1, n_bytes, ST_LINE_BYTES);
	at = g_aligned_alloc(1, n_bytes, HUGE_BYTES);
	madvise(at, n_bytes, MADV_HUGEPAGE);
	return at;
}

static struct pp_used_line *new_places(uint64_t n)
{
	struct pp_used_line *places = allocate(n * sizeof(*places));

	memset(places, 0, n * sizeof(*places));
	return places;
}

/* --- lines ------------------------------------------------------------------------------------ */

static uint64_t place_of(const struct pp_line_uses *uses, const struct pp_process *process,
			 uint64_t address)
{
	return pp_mix((uintptr_t)process, address) & (uses->n_places - 1);
}

/* Returns the line, or the empty place where it belongs. */
static struct pp_used_line *find(const struct pp_line_uses *uses, const struct pp_process *process,
				 uint64_t address)
{
	uint64_t at = place_of(uses, process, address);

	while (uses->places[at].process &&
	       (uses->places[at].address != address || uses->places[at].process != process))
		at = (at + 1) & (uses->n_places - 1);
	return &uses->places[at];
}

static void grow(struct pp_line_uses *uses)
{
	struct pp_used_line *before = uses->places;
	uint64_t n_before = uses->n_places;

	uses->n_places *= 2;
	uses->places = new_places(uses->n_places);
	for (uint64_t i = 0; i < n_before; i++)
		if (before[i].process)
			*find(uses, before[i].process, before[i].address) = before[i];
	g_aligned_free(before);
}

struct pp_used_line *pp_line_uses_find(const struct pp_line_uses *uses,
				       const struct pp_process *process, uint64_t address)
{
	struct pp_used_line *line = find(uses, process, address);

	return line->process ? line : NULL;
}

struct pp_used_line *pp_line_uses_get(struct pp_line_uses *uses, const struct pp_process *process,
				      uint64_t address)
{
	struct pp_used_line *line = find(uses, process, address);

	if (line->process)
		return line;
	if ((uses->n_lines + 1) * 3 > uses->n_places * 2) {
		grow(uses);
		line = find(uses, process, address);
	}
	*line = (struct pp_used_line){.process = process, .address = address};
	uses->n_lines++;
	return line;
}

void pp_line_uses_remove(struct pp_line_uses *uses, struct pp_used_line *line)
{
	uint64_t mask = uses->n_places - 1, hole = (uint64_t)(line - uses->places);

	for (uint64_t at = (hole + 1) & mask; uses->places[at].process; at = (at + 1) & mask) {
		const struct pp_used_line *moved = &uses->places[at];
		uint64_t home = place_of(uses, moved->process, moved->address);

		/* It must not come to lie before its own place. */
		if (((at - home) & mask) < ((at - hole) & mask))
			continue;
		uses->places[hole] = *moved;
		hole = at;
	}
	uses->places[hole].process = NULL;
	uses->n_lines--;
}

struct pp_used_line *pp_line_uses_each(const struct pp_line_uses *uses, uint64_t *place)
{
	while (*place < uses->n_places) {
		struct pp_used_line *line = &uses->places[(*place)++];

		if (line->process)
			return line;
	}
	return NULL;
}

uint64_t pp_line_uses_count(const struct pp_line_uses *uses)
{
	return uses->n_lines;
}

/* --- uses ------------------------------------------------------------------------------------- */

struct pp_line_use *pp_line_use_at(const struct pp_line_uses *uses, uint32_t number)
{
	struct pp_line_use *chunk;

	if (!number)
		return NULL;
	chunk = uses->chunks->pdata[number / CHUNK_USES];
	return &chunk[number % CHUNK_USES];
}

static void add_chunk(struct pp_line_uses *uses)
{
	g_ptr_array_add(uses->chunks, allocate(CHUNK_USES * sizeof(struct pp_line_use)));
}

/* Returns the number of a use that is not initialized. */
static uint32_t new_use(struct pp_line_uses *uses)
{
	uint32_t number = uses->free_use;

	if (number) {
		uses->free_use = pp_line_use_at(uses, number)->next;
		return number;
	}
	number = ++uses->n_uses;
	if (number / CHUNK_USES == uses->chunks->len)
		add_chunk(uses);
	return number;
}

struct pp_line_use *pp_line_use_of(struct pp_line_uses *uses, struct pp_used_line *line,
				   struct pp_location_user *user, const struct pp_thread *thread,
				   uint32_t n)
{
	struct pp_line_use *use;
	uint32_t number;

	for (number = line->uses; number; number = use->next) {
		use = pp_line_use_at(uses, number);
		if (use->user == user && use->thread == thread && use->n <= UINT32_MAX - n)
			return use;
	}
	number = new_use(uses);
	use = pp_line_use_at(uses, number);
	*use = (struct pp_line_use){
	    .user = pp_location_user_ref(user),
	    .thread = thread,
	    .next = line->uses,
	};
	line->uses = number;
	return use;
}

void pp_line_use_remove(struct pp_line_uses *uses, uint32_t *link)
{
	uint32_t number = *link;
	struct pp_line_use *use = pp_line_use_at(uses, number);

	*link = use->next;
	pp_location_user_unref(use->user);
	use->next = uses->free_use;
	uses->free_use = number;
}

/* --- prefetching ------------------------------------------------------------------------------ */

void pp_line_uses_prefetch_line(const struct pp_line_uses *uses, const struct pp_process *process,
				uint64_t address)
{
	__builtin_prefetch(&uses->places[place_of(uses, process, address)], 1);
}

static void prefetch(const struct pp_line_use *use)
{
	if (!use)
		return;
	__builtin_prefetch(use, 1);
	__builtin_prefetch(use->n_words, 1);
}

static const struct pp_line_use *latest_use(const struct pp_line_uses *uses,
					    const struct pp_process *process, uint64_t address)
{
	const struct pp_used_line *line = find(uses, process, address);

	return line->process ? pp_line_use_at(uses, line->uses) : NULL;
}

void pp_line_uses_prefetch_use(const struct pp_line_uses *uses, const struct pp_process *process,
			       uint64_t address)
{
	prefetch(latest_use(uses, process, address));
}

void pp_line_uses_prefetch_next(const struct pp_line_uses *uses, const struct pp_process *process,
				uint64_t address)
{
	const struct pp_line_use *use = latest_use(uses, process, address);

	if (use)
		prefetch(pp_line_use_at(uses, use->next));
}

/* --- creation and end ------------------------------------------------------------------------- */

struct pp_line_uses *pp_line_uses_new(void)
{
	struct pp_line_uses *uses = g_new0(struct pp_line_uses, 1);

	uses->n_places = FIRST_PLACES;
	uses->places = new_places(FIRST_PLACES);
	uses->chunks = g_ptr_array_new_with_free_func(g_aligned_free);
	add_chunk(uses);
	return uses;
}

void pp_line_uses_free(struct pp_line_uses *uses)
{
	struct pp_used_line *line;
	uint64_t place = 0;

	while ((line = pp_line_uses_each(uses, &place)))
		while (line->uses)
			pp_line_use_remove(uses, &line->uses);
	g_ptr_array_unref(uses->chunks);
	g_aligned_free(uses->places);
	g_free(uses);
}
