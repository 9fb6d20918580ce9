/* SPDX-License-Identifier: MIT */
/*
 * Blocks of the heap in the trace of accesses: their names and the ends of their lives
 * (sync-trace/accesses.h, events `block` and `freed`). libaccess_trace, or libaccess_step_blocks,
 * knows which blocks exist.
 *
 * A block that a segment accesses is written before the segment, once, until it is freed. The
 * number of the frees of written blocks tells that all blocks of a set that was looked at before
 * are still in the trace. The writer's gate is closed, except in the functions for libaccess_trace,
 * which close it.
 */
#include <link.h>

#include "callers/callers.h"
#include "record/internal.h"
#include "runtime/process/loadmap.h"
#include "runtime/process/process.h"
#include "runtime/sys/auxv.h"
#include "runtime/sys/seal.h"
#include "runtime/sys/sys.h"

#define EPOCHS	  ((1u << ST_EPOCH_BITS) - 1)
#define FEW_LINES 8u

static uint32_t epoch = 1; /* other than 0; the next one in a forked child */
static uint64_t n_freed;   /* blocks that were in the trace; from 1 in a set's `checked` */

void st_blocks_forget(void)
{
	epoch = epoch % EPOCHS + 1;
}

uint64_t st_blocks_freed(void)
{
	return __atomic_load_n(&n_freed, __ATOMIC_RELAXED) + 1;
}

/* --- blocks that a segment accesses ----------------------------------------------------------- */

/* Returns false if there is no room. */
static bool write_block(struct st_thread *self, const struct st_block *block, uint64_t *now_ns)
{
	uint64_t fields[3] = {block->address, block->n_bytes, block->site};
	uint32_t value = block->value;

	if (st_block_epoch(value) == epoch)
		return true;
	if (!st_accesses_put(self, ST_ACCESSES_BLOCK, fields, sizeof(fields), now_ns)) {
		gm_process_count_blocks_lost(1);
		return false;
	}
	/* Fails if another thread has written the block just now, too. */
	__atomic_compare_exchange_n(block->word, &value,
				    (value & ~ST_EPOCH_MASK) | epoch << ST_EPOCH_SHIFT, false,
				    __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	return true;
}

/* The blocks with accessed bytes of the line. */
static bool write_blocks_of(struct st_thread *self, const struct st_access_line *line,
			    uint64_t *now_ns)
{
	uint64_t left = line->read | line->written;

	while (left != 0) {
		unsigned at = (unsigned)__builtin_ctzll(left);
		uint64_t n = at / 16 * 16 + 16; /* no block begins before */
		struct st_block block;

		if (st_access->block_find(line->address + at, &block)) {
			if (!write_block(self, &block, now_ns))
				return false;
			n = block.address + block.n_bytes - line->address;
		}
		left = n >= ST_LINE_BYTES ? 0 : left & ~(((uint64_t)1 << n) - 1);
	}
	return true;
}

bool st_blocks_write(struct st_thread *self, const struct st_collector *collector, uint64_t *now_ns)
{
	bool is_complete = true;

	if (st_access->block_find == NULL) /* the sampled mode, without access.blocks */
		return true;
	for (uint32_t i = 0; i < collector->n_lines; i++) {
		const struct st_access_line *line = &collector->lines[i];

		if (line->address < st_access->data_start || line->address >= st_access->data_end)
			is_complete &= write_blocks_of(self, line, now_ns);
	}
	return is_complete;
}

/* --- for libaccess_trace ---------------------------------------------------------------------- */

static bool has_line(const struct st_collector *collector, uint64_t address)
{
	return collector->n_lines < ST_FEW_LINES
		   ? collector->few[st_few_place(collector, address)] != 0
		   : collector->many[st_many_place(collector, address)] != 0;
}

/* True if the segment has accesses to lines of the block. */
static bool has_accesses(const struct st_collector *collector, const struct st_block *block)
{
	uint64_t first = block->address / ST_LINE_BYTES * ST_LINE_BYTES;
	uint64_t end = block->address + block->n_bytes;

	if (collector == NULL || collector->n_lines == 0)
		return false;
	if (end - first <= FEW_LINES * ST_LINE_BYTES) {
		for (uint64_t at = first; at < end; at += ST_LINE_BYTES)
			if (has_line(collector, at))
				return true;
		return false;
	}
	for (uint32_t i = 0; i < collector->n_lines; i++)
		if (collector->lines[i].address - first < end - first)
			return true;
	return false;
}

static bool can_write(const struct st_thread *self)
{
	return st_access != NULL && self->live && st_self != &st_busy;
}

static bool is_written(const struct st_block *block)
{
	return st_block_epoch(__atomic_load_n(block->word, __ATOMIC_RELAXED)) == epoch;
}

/* With the gate closed. */
static uint64_t ends(struct st_thread *self, const struct st_block *block)
{
	const struct st_collector *collector = st_access->thread()->collector;
	uint64_t now_ns = st_stamp(self);

	/* Closed: this code has interrupted an access. */
	if (collector != NULL && collector->gate == 0 && has_accesses(collector, block))
		st_access_cut(self, now_ns);
	if (!is_written(block))
		return 0;
	__atomic_fetch_add(&n_freed, 1, __ATOMIC_RELAXED);
	return now_ns;
}

/* The place of the return address. */
#define ENTRY() ((uintptr_t)__builtin_dwarf_cfa() - sizeof(uintptr_t))

/* Returns true if the thread is not stepped until steps->release(). */
static inline bool hold(uintptr_t entry)
{
	return st_access != NULL && st_access->steps != NULL && st_access->steps->hold(entry);
}

ST_EXPORT uint64_t st_access_block_ends(const struct st_block *block)
{
	bool is_held = hold(ENTRY());
	struct st_thread *self = st_enter();
	uint64_t now_ns = 0;

	if (self != NULL && can_write(self))
		now_ns = ends(self, block);
	else if (is_written(block))
		gm_process_count_blocks_lost(1);
	if (self != NULL)
		st_leave(self);
	if (is_held)
		st_access->steps->release();
	return now_ns;
}

ST_EXPORT void st_access_block_freed(const struct st_block *block, uint64_t now_ns)
{
	bool is_held = hold(ENTRY());
	struct st_thread *self = st_enter();
	uint64_t fields[2] = {block->address, block->n_bytes};

	if (self == NULL || !can_write(self) ||
	    !st_accesses_put(self, ST_ACCESSES_FREED, fields, sizeof(fields), &now_ns))
		gm_process_count_blocks_lost(1);
	if (self != NULL)
		st_leave(self);
	if (is_held)
		st_access->steps->release();
}

ST_EXPORT uintptr_t st_access_site(const volatile uintptr_t *place)
{
	bool is_held = hold(ENTRY());
	uintptr_t site = st_caller_is_site(*place) ? *place : st_caller_find_allocation(place);

	if (is_held)
		st_access->steps->release();
	return site;
}

ST_EXPORT void *st_access_memory(size_t n_bytes)
{
	void *made;

	if (gm_seal_is_set())
		return NULL;
	made = gm_sys_mmap(n_bytes, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	/* Most of its pages are never used. */
	if (made != NULL)
		gm_syscall3(SYS_madvise, (long)made, (long)n_bytes, MADV_NOHUGEPAGE);
	return made;
}

ST_EXPORT void *st_access_next(const void *own, const char *name)
{
	const struct link_map *module, *last = gm_module_last_permanent();
	struct dl_find_object found;
	void *other = NULL;

	if (gm_find_object == NULL || gm_find_object((void *)(uintptr_t)own, &found) != 0)
		return NULL;
	module = found.dlfo_link_map;
	while (other == NULL && module != last && (module = module->l_next) != NULL)
		if (gm_find_object(module->l_ld, &found) == 0)
			other = gm_object_function(found.dlfo_map_start, name);
	return other;
}
