/* SPDX-License-Identifier: MIT */
/* See sets.h. */
#include "analysis/occ/sets.h"

#include <glib.h>

#define SLOTS 8192u

/* Bit 8 * i of the result: byte i of the mask has a bit, so word i of the line was accessed. */
static uint64_t words_of(uint64_t mask)
{
	mask |= mask >> 4;
	mask |= mask >> 2;
	mask |= mask >> 1;
	return mask & UINT64_C(0x0101010101010101);
}

static unsigned n_words(uint64_t mask)
{
	return (unsigned)__builtin_popcountll(words_of(mask));
}

struct pp_occ_size pp_occ_size(const struct pp_access_set *set)
{
	struct pp_occ_size size = {0};

	for (unsigned i = 0; i < set->n; i++) {
		const struct pp_access_line *line = &set->lines[i];

		size.written_lines += line->written != 0;
		size.read_lines += line->written == 0;
		size.written_locations += n_words(line->written);
		size.read_locations += n_words(line->read & ~line->written);
	}
	return size;
}

struct pp_occ_common pp_occ_common(const struct pp_access_set *reader,
				   const struct pp_access_set *writer)
{
	struct pp_occ_common common = {0, 0};
	unsigned i = 0, j = 0;

	while (i < reader->n && j < writer->n) {
		const struct pp_access_line *read = &reader->lines[i], *written = &writer->lines[j];

		if (read->address == written->address) {
			common.n_locations +=
			    n_words((read->read | read->written) & written->written);
			common.n_lines += written->written != 0;
		}
		i += read->address <= written->address;
		j += written->address <= read->address;
	}
	return common;
}

/* --- the last results ----------------------------------------------------------------------- */

struct size_slot {
	uint64_t serial; /* 0: none */
	struct pp_occ_size size;
};

struct pair_slot {
	uint64_t reader, writer; /* 0: none */
	struct pp_occ_common common;
};

struct pp_occ_memo {
	struct size_slot sizes[SLOTS];
	struct pair_slot pairs[SLOTS];
};

struct pp_occ_memo *pp_occ_memo_new(void)
{
	return g_new0(struct pp_occ_memo, 1);
}

void pp_occ_memo_free(struct pp_occ_memo *memo)
{
	g_free(memo);
}

struct pp_occ_size pp_occ_memo_size(struct pp_occ_memo *memo, const struct pp_access_set *set)
{
	struct size_slot *slot = &memo->sizes[set->serial % SLOTS];

	if (slot->serial != set->serial)
		*slot = (struct size_slot){set->serial, pp_occ_size(set)};
	return slot->size;
}

struct pp_occ_common pp_occ_memo_common(struct pp_occ_memo *memo,
					const struct pp_access_set *reader,
					const struct pp_access_set *writer)
{
	uint64_t hash = reader->serial * UINT64_C(0x9e3779b97f4a7c15) ^
			writer->serial * UINT64_C(0xc2b2ae3d27d4eb4f);
	struct pair_slot *slot = &memo->pairs[(hash >> 40) % SLOTS];

	if (slot->reader != reader->serial || slot->writer != writer->serial)
		*slot = (struct pair_slot){reader->serial, writer->serial,
					   pp_occ_common(reader, writer)};
	return slot->common;
}
