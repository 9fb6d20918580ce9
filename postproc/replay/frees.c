/* SPDX-License-Identifier: MIT */
/*
 * Each line of memory has the times at which each thread freed the same bytes of it.  A block with
 * very many lines is kept as a range instead.
 */
#include "replay/frees.h"

#include "analysis/line_key.h"
#include "sync-trace/accesses.h"

#define MANY_LINES 4096u

struct freed {
	const struct pp_thread *thread;
	uint64_t bytes;
	GArray *times; /* of int64_t, in order */
};

struct line {
	struct pp_line_key key;
	GArray *freed; /* of struct freed */
};

struct range {
	const struct pp_thread *thread;
	uint64_t address, end;
	int64_t time_ns;
};

struct pp_replay_frees {
	GHashTable *lines; /* a set of struct line * */
	GArray *ranges;	   /* of struct range */
};

static void line_free(void *data)
{
	struct line *line = data;

	for (guint i = 0; i < line->freed->len; i++)
		g_array_unref(g_array_index(line->freed, struct freed, i).times);
	g_array_unref(line->freed);
	g_free(line);
}

struct pp_replay_frees *pp_replay_frees_new(void)
{
	struct pp_replay_frees *frees = g_new0(struct pp_replay_frees, 1);

	frees->lines = g_hash_table_new_full(pp_line_hash, pp_line_equal, line_free, NULL);
	frees->ranges = g_array_new(FALSE, FALSE, sizeof(struct range));
	return frees;
}

void pp_replay_frees_free(struct pp_replay_frees *frees)
{
	if (!frees)
		return;
	g_hash_table_unref(frees->lines);
	g_array_unref(frees->ranges);
	g_free(frees);
}

/* --- frees ------------------------------------------------------------------------------------ */

static struct line *line_at(struct pp_replay_frees *frees, const struct pp_line_key *key)
{
	struct line *line = g_hash_table_lookup(frees->lines, key);

	if (line)
		return line;
	line = g_new0(struct line, 1);
	line->key = *key;
	line->freed = g_array_new(FALSE, FALSE, sizeof(struct freed));
	g_hash_table_add(frees->lines, line);
	return line;
}

static GArray *times_of(struct line *line, const struct pp_thread *thread, uint64_t bytes)
{
	struct freed new = {.thread = thread, .bytes = bytes};

	for (guint i = 0; i < line->freed->len; i++) {
		const struct freed *freed = &g_array_index(line->freed, struct freed, i);

		if (freed->thread == thread && freed->bytes == bytes)
			return freed->times;
	}
	new.times = g_array_new(FALSE, FALSE, sizeof(int64_t));
	g_array_append_val(line->freed, new);
	return new.times;
}

void pp_replay_frees_add(struct pp_replay_frees *frees, const struct pp_thread *thread,
			 uint64_t address, uint64_t size, int64_t time_ns)
{
	uint64_t end = size > UINT64_MAX - ST_LINE_BYTES - address ? UINT64_MAX - ST_LINE_BYTES
								   : address + size;
	struct pp_line_key key = {.process = thread->process,
				  .address = address & ~(uint64_t)(ST_LINE_BYTES - 1)};

	if (address < end && (end - address) / ST_LINE_BYTES >= MANY_LINES) {
		struct range range = {thread, address, end, time_ns};

		g_array_append_val(frees->ranges, range);
		return;
	}
	for (; key.address < end; key.address += ST_LINE_BYTES)
		g_array_append_val(times_of(line_at(frees, &key), thread,
					    pp_access_bytes_in(key.address, address, end)),
				   time_ns);
}

/* --- what was freed later --------------------------------------------------------------------- */

static bool was_alive(const struct pp_thread *thread, int64_t time_ns)
{
	return thread->end_ns == PP_TIME_UNKNOWN || thread->end_ns > time_ns;
}

/* The first of the times that is later; PP_TIME_UNKNOWN: none. */
static int64_t first_later(const GArray *times, int64_t than_ns)
{
	guint from = 0, to = times->len;

	while (from < to) {
		guint middle = from + (to - from) / 2;

		if (g_array_index(times, int64_t, middle) <= than_ns)
			from = middle + 1;
		else
			to = middle;
	}
	return from < times->len ? g_array_index(times, int64_t, from) : PP_TIME_UNKNOWN;
}

static uint64_t in_ranges(const struct pp_replay_frees *frees, const struct pp_thread *thread,
			  int64_t since_ns, uint64_t address)
{
	uint64_t bytes = 0;

	for (guint i = 0; i < frees->ranges->len; i++) {
		const struct range *range = &g_array_index(frees->ranges, struct range, i);

		if (range->thread != thread && range->thread->process == thread->process &&
		    range->time_ns > since_ns && was_alive(thread, range->time_ns))
			bytes |= pp_access_bytes_in(address, range->address, range->end);
	}
	return bytes;
}

static uint64_t freed_bytes(const struct pp_replay_frees *frees, const struct pp_thread *thread,
			    int64_t since_ns, uint64_t address)
{
	const struct pp_line_key key = {.process = thread->process, .address = address};
	const struct line *line = g_hash_table_lookup(frees->lines, &key);
	uint64_t bytes = in_ranges(frees, thread, since_ns, address);

	for (guint i = 0; line && i < line->freed->len; i++) {
		const struct freed *freed = &g_array_index(line->freed, struct freed, i);
		int64_t time_ns = PP_TIME_UNKNOWN;

		if (freed->thread != thread)
			time_ns = first_later(freed->times, since_ns);
		if (time_ns != PP_TIME_UNKNOWN && was_alive(thread, time_ns))
			bytes |= freed->bytes;
	}
	return bytes;
}

struct pp_access_set *pp_replay_frees_part(const struct pp_replay_frees *frees,
					   const struct pp_thread *thread, int64_t since_ns,
					   const struct pp_access_set *set)
{
	g_autofree struct pp_access_line *lines = NULL;
	unsigned n = 0;

	if (!g_hash_table_size(frees->lines) && !frees->ranges->len)
		return NULL;
	for (unsigned i = 0; i < set->n; i++) {
		uint64_t bytes = freed_bytes(frees, thread, since_ns, set->lines[i].address) &
				 (set->lines[i].read | set->lines[i].written);

		if (!bytes)
			continue;
		if (!lines)
			lines = g_new(struct pp_access_line, set->n);
		lines[n] = set->lines[i];
		lines[n].read &= bytes;
		lines[n].written &= bytes;
		lines[n++].changed &= bytes;
	}
	return n ? pp_access_set_get(set->owner, lines, n) : NULL;
}
