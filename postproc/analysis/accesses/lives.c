/* SPDX-License-Identifier: MIT */
/* Freed memory is a set of blocks, whose `site` is the number of the free. */
#include "analysis/accesses/lives.h"

#include "analysis/accesses/blocks.h"

struct pp_lives {
	struct pp_blocks *freed;
	uint64_t n_freed;
};

struct pp_lives *pp_lives_new(void)
{
	struct pp_lives *lives = g_new0(struct pp_lives, 1);

	lives->freed = pp_blocks_new();
	return lives;
}

void pp_lives_free(struct pp_lives *lives)
{
	pp_blocks_free(lives->freed);
	g_free(lives);
}

void pp_lives_end(struct pp_lives *lives, const struct pp_process *process, uint64_t address,
		  uint64_t size)
{
	pp_blocks_add(lives->freed, process, address, size, ++lives->n_freed);
}

uint64_t pp_lives_now(const struct pp_lives *lives)
{
	return lives->n_freed;
}

uint64_t pp_lives_bytes(const struct pp_lives *lives, const struct pp_process *process,
			uint64_t line, uint64_t bytes, uint64_t since)
{
	uint64_t live = 0;

	for (uint64_t left = bytes; left; left &= left - 1) {
		unsigned at = (unsigned)__builtin_ctzll(left);
		struct pp_memory_place freed = pp_blocks_place(lives->freed, process, line + at);

		if (!freed.is_heap || freed.site <= since)
			live |= UINT64_C(1) << at;
	}
	return live;
}

struct pp_access_set *pp_lives_part(const struct pp_lives *lives, const struct pp_process *process,
				    struct pp_access_set *set, uint64_t since)
{
	g_autofree struct pp_access_line *lines =
	    g_memdup2(set->lines, set->n * sizeof(set->lines[0]));

	for (unsigned i = 0; i < set->n; i++) {
		struct pp_access_line *line = &lines[i];
		uint64_t live = pp_lives_bytes(lives, process, line->address,
					       line->read | line->written, since);

		line->read &= live;
		line->written &= live;
		line->changed &= live;
	}
	return pp_access_set_get(set->owner, lines, set->n);
}
