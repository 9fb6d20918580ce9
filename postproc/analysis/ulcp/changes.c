/* SPDX-License-Identifier: MIT */
/* A hash table of the lines, with a number for each of their words of 8 bytes. */
#include "analysis/ulcp/changes.h"

#include <glib.h>

#include "analysis/line_key.h"
#include "sync-trace/accesses.h"

#define WORDS (ST_LINE_BYTES / 8)

struct line {
	struct pp_line_key key;
	uint64_t changed[WORDS]; /* number of the last section; 0: none */
};

struct pp_ulcp_changes {
	GHashTable *lines; /* a set of struct line * */
};

struct pp_ulcp_changes *pp_ulcp_changes_new(void)
{
	struct pp_ulcp_changes *changes = g_new0(struct pp_ulcp_changes, 1);

	changes->lines = g_hash_table_new_full(pp_line_hash, pp_line_equal, g_free, NULL);
	return changes;
}

void pp_ulcp_changes_free(struct pp_ulcp_changes *changes)
{
	g_hash_table_unref(changes->lines);
	g_free(changes);
}

static struct line *find_line(const struct pp_ulcp_changes *changes,
			      const struct pp_process *process, uint64_t address)
{
	const struct pp_line_key key = {.process = process, .address = address};

	return g_hash_table_lookup(changes->lines, &key);
}

static bool has_word(uint64_t bytes, unsigned word)
{
	return bytes >> 8 * word & 0xff;
}

void pp_ulcp_changes_add(struct pp_ulcp_changes *changes, const struct pp_process *process,
			 const struct pp_access_set *set, uint64_t number)
{
	for (unsigned i = 0; i < set->n; i++) {
		const struct pp_access_line *of = &set->lines[i];
		uint64_t bytes = of->changed & of->written;
		struct line *line;

		if (!bytes)
			continue;
		line = find_line(changes, process, of->address);
		if (!line) {
			line = g_new0(struct line, 1);
			line->key.process = process;
			line->key.address = of->address;
			g_hash_table_add(changes->lines, line);
		}
		for (unsigned word = 0; word < WORDS; word++)
			if (has_word(bytes, word))
				line->changed[word] = number;
	}
}

bool pp_ulcp_changes_since(const struct pp_ulcp_changes *changes, const struct pp_process *process,
			   const struct pp_access_set *set, uint64_t number)
{
	for (unsigned i = 0; i < set->n; i++) {
		const struct pp_access_line *of = &set->lines[i];
		const struct line *line = find_line(changes, process, of->address);

		for (unsigned word = 0; line && word < WORDS; word++)
			if (has_word(of->read | of->written, word) && line->changed[word] > number)
				return true;
	}
	return false;
}
