/* SPDX-License-Identifier: MIT */
/*
 * Two tables: instances that were only counted so far (counted.h), and lines with their uses
 * (line_uses.h), to which the counted instances are added when a life ends or many were counted.
 */
#include "analysis/accesses/locations.h"

#include <string.h>

#include "analysis/accesses/counted.h"
#include "analysis/accesses/line_uses.h"
#include "sync-trace/accesses.h"

/* Threads of a line among which pairs are compared. */
#define PAIRED_THREADS 64u

/* Lines to which instances are added together: their places in memory are fetched before. */
#define TOGETHER 32u

/* The distance in a range of lines at which the next ones are fetched. */
#define FETCH_AHEAD (8 * ST_LINE_BYTES)

struct pp_locations {
	const struct pp_locations_listener *listener;
	struct pp_counted_table *counted;
	struct pp_line_uses *uses;
	struct pp_blocks *blocks;
	GArray *parts; /* of struct thread_part: those of the line that is looked at */
};

/* --- threads of a line ------------------------------------------------------------------------ */

/* The bytes of a line that a thread accesses. */
struct thread_part {
	const struct pp_thread *thread;
	uint64_t read, written;
};

static struct thread_part *part_at(const GArray *parts, guint i)
{
	return &g_array_index(parts, struct thread_part, i);
}

static gint compare_parts(gconstpointer a, gconstpointer b)
{
	const struct thread_part *x = a, *y = b;

	return (x->thread->serial > y->thread->serial) - (x->thread->serial < y->thread->serial);
}

static void swap_parts(struct thread_part *a, struct thread_part *b)
{
	struct thread_part kept = *a;

	*a = *b;
	*b = kept;
}

/* Adds a part to the last of n ones, if that is of the same thread, or behind it. */
static guint add_part(GArray *parts, guint n, struct thread_part part)
{
	struct thread_part *last = n ? part_at(parts, n - 1) : NULL;

	if (last && last->thread == part.thread) {
		last->read |= part.read;
		last->written |= part.written;
		return n;
	}
	g_array_set_size(parts, MAX(parts->len, n + 1));
	*part_at(parts, n) = part;
	return n + 1;
}

/* Returns an array of struct thread_part, one for each thread, until the next call. */
static const GArray *parts_of(const struct pp_locations *locations, const struct pp_used_line *line)
{
	GArray *parts = locations->parts;
	guint n = 0, n_unsorted;

	g_array_set_size(parts, 0);
	for (uint32_t at = line->uses; at;) {
		const struct pp_line_use *use = pp_line_use_at(locations->uses, at);

		n = add_part(parts, n, (struct thread_part){use->thread, use->read, use->written});
		at = use->next;
	}
	/* Two of one thread have become one already. */
	if (n == 2 && compare_parts(part_at(parts, 0), part_at(parts, 1)) > 0)
		swap_parts(part_at(parts, 0), part_at(parts, 1));
	if (n <= 2)
		return parts;
	g_array_sort(parts, compare_parts);
	n_unsorted = n;
	n = 0;
	for (guint i = 0; i < n_unsorted; i++)
		n = add_part(parts, n, *part_at(parts, i));
	g_array_set_size(parts, n);
	return parts;
}

/* The bytes that two threads access. */
static uint64_t shared_bytes(const GArray *parts)
{
	uint64_t once = 0, twice = 0;

	for (guint i = 0; i < parts->len; i++) {
		const struct thread_part *part = part_at(parts, i);
		uint64_t bytes = part->read | part->written;

		twice |= once & bytes;
		once |= bytes;
	}
	return twice;
}

/* --- false sharing ---------------------------------------------------------------------------- */

static bool share_truly(const struct thread_part *a, const struct thread_part *b)
{
	return (a->written & (b->read | b->written)) || (b->written & a->read);
}

static const struct pp_line_use *first_use(const struct pp_locations *locations,
					   const struct pp_used_line *line)
{
	return pp_line_use_at(locations->uses, line->uses);
}

static const struct pp_line_use *next_use(const struct pp_locations *locations,
					  const struct pp_line_use *use)
{
	return pp_line_use_at(locations->uses, use->next);
}

static const struct pp_line_use *busiest_use(const struct pp_locations *locations,
					     const struct pp_used_line *line,
					     const struct pp_thread *thread, bool writes)
{
	const struct pp_line_use *found = NULL;

	for (const struct pp_line_use *use = first_use(locations, line); use;
	     use = next_use(locations, use))
		if (use->thread == thread && (!writes || use->written) &&
		    (!found || use->n > found->n))
			found = use;
	return found;
}

static struct pp_line_side side_of(const struct pp_locations *locations,
				   const struct pp_used_line *line, const struct thread_part *part,
				   bool writes)
{
	const struct pp_line_use *use = busiest_use(locations, line, part->thread, writes);
	uint64_t bytes = writes ? use->written : use->read | use->written;
	struct pp_line_side side = {
	    .user = pp_location_user_of(use->user),
	    .thread = part->thread,
	    .read = part->read,
	    .written = part->written,
	    .site = use->site,
	    .place = pp_blocks_place(locations->blocks, line->process,
				     line->address + (unsigned)__builtin_ctzll(bytes)),
	};

	for (const struct pp_line_use *other = first_use(locations, line); other;
	     other = next_use(locations, other))
		if (other->thread == part->thread && pp_location_user_of(other->user) == side.user)
			side.n += other->n;
	return side;
}

static void report(struct pp_locations *locations, struct pp_used_line *line, const GArray *parts,
		   const struct thread_part *a, const struct thread_part *b, bool is_contended)
{
	const struct thread_part *writer = a->written ? a : b, *other = a->written ? b : a;
	struct pp_memory_place place =
	    pp_blocks_place(locations->blocks, line->process, line->address);
	struct pp_line_side sides[2] = {side_of(locations, line, writer, true),
					side_of(locations, line, other, other->written != 0)};

	line->is_reported = true;
	locations->listener->false_sharing(locations->listener->data, &place, sides, parts->len,
					   is_contended);
}

static void find_false_sharing(struct pp_locations *locations, struct pp_used_line *line,
			       const GArray *parts)
{
	const struct thread_part *at = (const struct thread_part *)parts->data;
	const struct thread_part *false_a = NULL, *false_b = NULL;
	guint n = MIN(parts->len, PAIRED_THREADS);
	bool is_contended = false;

	for (guint a = 0; a < n; a++)
		for (guint b = 0; b < a; b++) {
			if (share_truly(&at[a], &at[b])) {
				is_contended = true;
			} else if (!false_a && (at[a].written || at[b].written)) {
				false_a = &at[b];
				false_b = &at[a];
			}
		}
	if (false_a && locations->listener->false_sharing && !line->is_reported)
		report(locations, line, parts, false_a, false_b, is_contended);
}

/* --- the end of lives ------------------------------------------------------------------------- */

/* One bit for each word of 8 bytes in which a bit is set. */
static uint64_t words_of(uint64_t bytes)
{
	bytes |= bytes >> 4;
	bytes |= bytes >> 2;
	bytes |= bytes >> 1;
	return bytes & UINT64_C(0x0101010101010101);
}

/* Adds the location in a word, written or only read, and ends it. */
static void end_location(struct pp_locations *locations, const struct pp_used_line *line,
			 struct pp_line_use *use, unsigned word, bool is_written, uint64_t shared)
{
	const struct pp_locations_listener *listener = locations->listener;
	struct pp_location_user *user = pp_location_user_of(use->user);
	uint64_t bytes = (is_written ? use->written : use->only_read) & UINT64_C(0xff) << 8 * word;
	uint64_t n = use->n_words[is_written][word];
	bool is_shared = (bytes & shared) != 0;
	struct pp_memory_place place;

	use->n_words[is_written][word] = 0;
	if (!n || !bytes)
		return;
	user->sums.locations[is_written][is_shared] += n;
	if (!listener->location)
		return;
	place = pp_blocks_place(locations->blocks, line->process,
				line->address + (unsigned)__builtin_ctzll(bytes));
	listener->location(listener->data, user, &place, is_written, is_shared, n);
}

/* The bytes of all words in which the use has one of these bytes. */
static uint64_t ended_words(const struct pp_line_use *use, uint64_t ended)
{
	return words_of((use->read | use->written) & ended) * 0xff;
}

/* Ends the life of these bytes of the use. */
static void end_use(struct pp_locations *locations, const struct pp_used_line *line,
		    struct pp_line_use *use, uint64_t ended, uint64_t shared, bool is_shared_line)
{
	struct pp_location_user *user = pp_location_user_of(use->user);
	uint64_t words = ended_words(use, ended);

	if (!words)
		return;
	for (unsigned written = 0; written < 2; written++) {
		user->sums.lines[written][is_shared_line] += use->n_lines[written];
		use->n_lines[written] = 0;
		for (unsigned word = 0; word < PP_LINE_WORDS; word++)
			if (words >> 8 * word & 1)
				end_location(locations, line, use, word, written, shared);
	}
	use->written &= ~words;
	use->read &= ~words;
	use->only_read &= ~words;
}

/* Ends the life of these bytes.  Returns false if none is left, and the line is to be removed. */
static bool end_bytes(struct pp_locations *locations, struct pp_used_line *line, uint64_t ended)
{
	const GArray *parts = parts_of(locations, line);
	uint64_t shared = shared_bytes(parts);
	uint32_t *link = &line->uses;

	find_false_sharing(locations, line, parts);
	while (*link) {
		struct pp_line_use *use = pp_line_use_at(locations->uses, *link);

		end_use(locations, line, use, ended, shared, parts->len > 1);
		if (use->read | use->written)
			link = &use->next;
		else
			pp_line_use_remove(locations->uses, link);
	}
	return line->uses != 0;
}

/* --- uses ------------------------------------------------------------------------------------- */

/* True if all threads that used the line ended before this one began. */
static bool are_all_before(const struct pp_locations *locations, const struct pp_used_line *line,
			   const struct pp_thread *thread)
{
	for (const struct pp_line_use *use = first_use(locations, line); use;
	     use = next_use(locations, use))
		if (use->thread == thread || use->thread->end_ns == PP_TIME_UNKNOWN ||
		    use->thread->end_ns > thread->start_ns)
			return false;
	return line->uses != 0;
}

/* The line may begin before the block, or the variable, that is accessed. */
static bool is_reused(const struct pp_locations *locations, const struct pp_used_line *line,
		      const struct pp_thread *thread, const struct pp_access_line *of)
{
	const struct pp_locations_listener *listener = locations->listener;
	uint64_t address = pp_access_line_first(of);

	return listener->is_reused && thread->start_ns != PP_TIME_UNKNOWN &&
	       are_all_before(locations, line, thread) &&
	       !pp_blocks_place(locations->blocks, line->process, address).is_heap &&
	       listener->is_reused(listener->data, line->process, address);
}

static void add_use(struct pp_locations *locations, const struct pp_counted *counted,
		    const struct pp_access_line *of)
{
	struct pp_used_line *line =
	    pp_line_uses_get(locations->uses, counted->thread->process, of->address);
	uint64_t only_read = of->read & ~of->written;
	struct pp_line_use *use;

	if (is_reused(locations, line, counted->thread, of))
		end_bytes(locations, line, UINT64_MAX);
	use = pp_line_use_of(locations->uses, line, counted->user, counted->thread, counted->n);
	use->read |= of->read;
	use->written |= of->written;
	use->only_read |= only_read;
	use->site = of->first_site;
	use->n += counted->n;
	use->n_lines[of->written != 0] += counted->n;
	for (unsigned word = 0; word < PP_LINE_WORDS; word++) {
		use->n_words[0][word] += only_read >> 8 * word & 0xff ? counted->n : 0;
		use->n_words[1][word] += of->written >> 8 * word & 0xff ? counted->n : 0;
	}
}

struct added {
	const struct pp_counted *counted;
	const struct pp_access_line *line;
};

static void add_uses(struct pp_locations *locations, const struct added *added, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		pp_line_uses_prefetch_line(locations->uses, added[i].counted->thread->process,
					   added[i].line->address);
	for (unsigned i = 0; i < n; i++)
		pp_line_uses_prefetch_use(locations->uses, added[i].counted->thread->process,
					  added[i].line->address);
	for (unsigned i = 0; i < n; i++)
		pp_line_uses_prefetch_next(locations->uses, added[i].counted->thread->process,
					   added[i].line->address);
	for (unsigned i = 0; i < n; i++)
		add_use(locations, added[i].counted, added[i].line);
}

/* Adds the counted instances to the lines. */
static void flush(struct pp_locations *locations)
{
	struct added added[TOGETHER];
	unsigned n, n_added = 0;
	const struct pp_counted *counted = pp_counted_entries(locations->counted, &n);

	for (unsigned i = 0; i < n; i++)
		for (unsigned k = 0; k < counted[i].set->n; k++) {
			added[n_added++] = (struct added){&counted[i], &counted[i].set->lines[k]};
			if (n_added < TOGETHER)
				continue;
			add_uses(locations, added, n_added);
			n_added = 0;
		}
	add_uses(locations, added, n_added);
	pp_counted_clear(locations->counted);
}

void pp_locations_add(struct pp_locations *locations, struct pp_location_user *user,
		      const struct pp_thread *thread, struct pp_access_set *set)
{
	if (!set->n || pp_counted_add(locations->counted, user, thread, set))
		return;
	flush(locations);
	pp_counted_add(locations->counted, user, thread, set);
}

/* --- blocks ----------------------------------------------------------------------------------- */

static void end_in_line(struct pp_locations *locations, const struct pp_process *process,
			uint64_t line_address, uint64_t address, uint64_t end)
{
	struct pp_used_line *line = pp_line_uses_find(locations->uses, process, line_address);
	uint64_t ended = pp_access_bytes_in(line_address, address, end);

	if (line && ended && !end_bytes(locations, line, ended))
		pp_line_uses_remove(locations->uses, line);
}

/* Ends the bytes in the lines that are known, of which there are fewer than in the range. */
static void end_in_known(struct pp_locations *locations, const struct pp_process *process,
			 uint64_t address, uint64_t end)
{
	g_autoptr(GArray) found = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	const struct pp_used_line *line;
	uint64_t place = 0;

	while ((line = pp_line_uses_each(locations->uses, &place)))
		if (line->process == process)
			g_array_append_val(found, line->address);
	for (guint i = 0; i < found->len; i++)
		end_in_line(locations, process, g_array_index(found, uint64_t, i), address, end);
}

static void end_range(struct pp_locations *locations, const struct pp_process *process,
		      uint64_t address, uint64_t end)
{
	uint64_t first = address & ~(uint64_t)(ST_LINE_BYTES - 1);

	if ((end - first) / ST_LINE_BYTES >= pp_line_uses_count(locations->uses)) {
		end_in_known(locations, process, address, end);
		return;
	}
	for (uint64_t at = first; at < end; at += ST_LINE_BYTES) {
		pp_line_uses_prefetch_line(locations->uses, process, at + 2 * FETCH_AHEAD);
		pp_line_uses_prefetch_use(locations->uses, process, at + FETCH_AHEAD);
		end_in_line(locations, process, at, address, end);
	}
}

void pp_locations_freed(struct pp_locations *locations, const struct pp_process *process,
			uint64_t address, uint64_t size)
{
	uint64_t end = size > UINT64_MAX - ST_LINE_BYTES - address ? UINT64_MAX - ST_LINE_BYTES
								   : address + size;

	flush(locations);
	if (address < end)
		end_range(locations, process, address, end);
	pp_blocks_remove(locations->blocks, process, address, size);
}

void pp_locations_block(struct pp_locations *locations, const struct pp_process *process,
			uint64_t address, uint64_t size, uint64_t site)
{
	struct pp_memory_place before = pp_blocks_place(locations->blocks, process, address);
	bool goes_on = before.is_heap && before.address == 0 && before.site == site;

	/* The block that was there before has ended, which was not recorded. */
	if (!goes_on)
		pp_locations_freed(locations, process, address, size);
	pp_blocks_add(locations->blocks, process, address, size, site);
}

/* --- creation and end ------------------------------------------------------------------------- */

struct pp_locations *pp_locations_new(const struct pp_locations_listener *listener)
{
	struct pp_locations *locations = g_new0(struct pp_locations, 1);

	locations->listener = listener;
	locations->counted = pp_counted_new();
	locations->uses = pp_line_uses_new();
	locations->parts = g_array_new(FALSE, FALSE, sizeof(struct thread_part));
	locations->blocks = pp_blocks_new();
	return locations;
}

void pp_locations_free(struct pp_locations *locations)
{
	pp_counted_free(locations->counted);
	pp_line_uses_free(locations->uses);
	g_array_unref(locations->parts);
	pp_blocks_free(locations->blocks);
	g_free(locations);
}

void pp_locations_finish(struct pp_locations *locations)
{
	struct pp_used_line *line;
	uint64_t place = 0;

	flush(locations);
	while ((line = pp_line_uses_each(locations->uses, &place)))
		end_bytes(locations, line, UINT64_MAX);
}

const struct pp_blocks *pp_locations_blocks(const struct pp_locations *locations)
{
	return locations->blocks;
}
