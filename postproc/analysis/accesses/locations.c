/* SPDX-License-Identifier: MIT */
/*
 * Two tables: instances that were only counted so far, by user, thread and set; and lines by
 * address, each with a list of its uses.  A use stands for all instances of a user in a thread; it
 * counts them by word.
 */
#include "analysis/accesses/locations.h"

#include <string.h>

#include "analysis/line_key.h"
#include "analysis/mix.h"
#include "sync-trace/accesses.h"

/* Counted instances, and lines of their sets, before they are added to the lines. */
#define COUNTED_MAX	  65536u
#define COUNTED_LINES_MAX (1u << 20)

/* Threads of a line among which pairs are compared. */
#define PAIRED_THREADS 64u

struct counted {
	struct pp_location_user *user; /* a reference */
	const struct pp_thread *thread;
	struct pp_access_set *set; /* a reference */
	uint64_t n;
};

#define WORDS (ST_LINE_BYTES / 8)

struct use {
	struct use *next;
	struct pp_location_user *user; /* a reference */
	const struct pp_thread *thread;
	uint64_t read, written, only_read; /* by any instance; only_read: and not written by it */
	uint64_t site;			   /* of the first access of an instance; 0: not known */
	uint64_t n;
	uint64_t n_lines[2];	    /* instances that do not write the line, and that do */
	uint64_t n_words[2][WORDS]; /* ... with bytes of the word that are only read, or written */
};

struct line {
	struct pp_line_key key;
	struct use *uses;
	bool is_reported; /* its false sharing */
};

struct pp_locations {
	const struct pp_locations_listener *listener;
	GHashTable *counted;	 /* a set of struct counted * */
	GPtrArray *counted_list; /* ... in order of their first instances; owns them */
	unsigned n_counted_lines;
	GHashTable *lines; /* a set of struct line * */
	struct pp_blocks *blocks;
};

/* --- users ------------------------------------------------------------------------------------ */

struct pp_location_user *pp_location_user_new(void *owner)
{
	struct pp_location_user *user = g_new0(struct pp_location_user, 1);

	user->owner = owner;
	user->n_refs = 1;
	return user;
}

void pp_location_user_unref(struct pp_location_user *user)
{
	while (user && --user->n_refs == 0) {
		struct pp_location_user *into = user->into;

		g_free(user);
		user = into;
	}
}

static struct pp_location_user *user_ref(struct pp_location_user *user)
{
	user->n_refs++;
	return user;
}

struct pp_location_user *pp_location_user_of(struct pp_location_user *user)
{
	while (user->into)
		user = user->into;
	return user;
}

void pp_location_sums_add(struct pp_location_sums *to, const struct pp_location_sums *sums)
{
	for (unsigned i = 0; i < 4; i++) {
		to->locations[i / 2][i % 2] += sums->locations[i / 2][i % 2];
		to->lines[i / 2][i % 2] += sums->lines[i / 2][i % 2];
	}
}

void pp_location_user_merge(struct pp_location_user *from, struct pp_location_user *to)
{
	pp_location_sums_add(&to->sums, &from->sums);
	from->owner = NULL;
	from->into = user_ref(to);
}

/* --- tables ----------------------------------------------------------------------------------- */

static guint counted_hash(const void *data)
{
	const struct counted *counted = data;

	return (guint)pp_mix(pp_mix((uintptr_t)counted->user, (uintptr_t)counted->thread),
			     counted->set->serial);
}

static gboolean counted_equal(const void *a, const void *b)
{
	const struct counted *x = a, *y = b;

	return x->user == y->user && x->thread == y->thread && x->set == y->set;
}

static void counted_free(void *data)
{
	struct counted *counted = data;

	pp_location_user_unref(counted->user);
	pp_access_set_unref(counted->set);
	g_free(counted);
}

static void use_free(struct use *use)
{
	pp_location_user_unref(use->user);
	g_free(use);
}

static void line_free(void *data)
{
	struct line *line = data;

	while (line->uses) {
		struct use *use = line->uses;

		line->uses = use->next;
		use_free(use);
	}
	g_free(line);
}

static struct line *find_line(const struct pp_locations *locations,
			      const struct pp_process *process, uint64_t address)
{
	const struct pp_line_key key = {.process = process, .address = address};

	return g_hash_table_lookup(locations->lines, &key);
}

static struct line *line_at(struct pp_locations *locations, const struct pp_process *process,
			    uint64_t address)
{
	struct line *line = find_line(locations, process, address);

	if (!line) {
		line = g_new0(struct line, 1);
		line->key.process = process;
		line->key.address = address;
		g_hash_table_add(locations->lines, line);
	}
	return line;
}

/* --- threads of a line ------------------------------------------------------------------------ */

/* The bytes of a line that a thread accesses. */
struct thread_part {
	const struct pp_thread *thread;
	uint64_t read, written;
};

static gint compare_parts(gconstpointer a, gconstpointer b)
{
	const struct thread_part *x = a, *y = b;

	return (x->thread->serial > y->thread->serial) - (x->thread->serial < y->thread->serial);
}

/* Returns an array of struct thread_part, one for each thread. */
static GArray *parts_of(const struct line *line)
{
	GArray *parts = g_array_new(FALSE, FALSE, sizeof(struct thread_part));
	guint n = 0;

	for (const struct use *use = line->uses; use; use = use->next) {
		struct thread_part part = {use->thread, use->read, use->written};
		struct thread_part *last =
		    parts->len ? &g_array_index(parts, struct thread_part, parts->len - 1) : NULL;

		if (last && last->thread == use->thread) {
			last->read |= use->read;
			last->written |= use->written;
		} else {
			g_array_append_val(parts, part);
		}
	}
	g_array_sort(parts, compare_parts);
	for (guint i = 0; i < parts->len; i++) {
		struct thread_part *part = &g_array_index(parts, struct thread_part, i);
		struct thread_part *last =
		    n ? &g_array_index(parts, struct thread_part, n - 1) : NULL;

		if (last && last->thread == part->thread) {
			last->read |= part->read;
			last->written |= part->written;
		} else {
			g_array_index(parts, struct thread_part, n++) = *part;
		}
	}
	g_array_set_size(parts, n);
	return parts;
}

/* The bytes that two threads access. */
static uint64_t shared_bytes(const GArray *parts)
{
	uint64_t once = 0, twice = 0;

	for (guint i = 0; i < parts->len; i++) {
		const struct thread_part *part = &g_array_index(parts, struct thread_part, i);
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

static const struct use *busiest_use(const struct line *line, const struct pp_thread *thread,
				     bool writes)
{
	const struct use *found = NULL;

	for (const struct use *use = line->uses; use; use = use->next)
		if (use->thread == thread && (!writes || use->written) &&
		    (!found || use->n > found->n))
			found = use;
	return found;
}

static struct pp_line_side side_of(const struct pp_locations *locations, const struct line *line,
				   const struct thread_part *part, bool writes)
{
	const struct use *use = busiest_use(line, part->thread, writes);
	uint64_t bytes = writes ? use->written : use->read | use->written;
	struct pp_line_side side = {
	    .user = pp_location_user_of(use->user),
	    .thread = part->thread,
	    .read = part->read,
	    .written = part->written,
	    .site = use->site,
	    .place = pp_blocks_place(locations->blocks, line->key.process,
				     line->key.address + (unsigned)__builtin_ctzll(bytes)),
	};

	for (const struct use *other = line->uses; other; other = other->next)
		if (other->thread == part->thread && pp_location_user_of(other->user) == side.user)
			side.n += other->n;
	return side;
}

static void report(struct pp_locations *locations, struct line *line, const GArray *parts,
		   const struct thread_part *a, const struct thread_part *b, bool is_contended)
{
	const struct thread_part *writer = a->written ? a : b, *other = a->written ? b : a;
	struct pp_memory_place place =
	    pp_blocks_place(locations->blocks, line->key.process, line->key.address);
	struct pp_line_side sides[2] = {side_of(locations, line, writer, true),
					side_of(locations, line, other, other->written != 0)};

	line->is_reported = true;
	locations->listener->false_sharing(locations->listener->data, &place, sides, parts->len,
					   is_contended);
}

static void find_false_sharing(struct pp_locations *locations, struct line *line,
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
static void end_location(struct pp_locations *locations, const struct line *line, struct use *use,
			 unsigned word, bool is_written, uint64_t shared)
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
	place = pp_blocks_place(locations->blocks, line->key.process,
				line->key.address + (unsigned)__builtin_ctzll(bytes));
	listener->location(listener->data, user, &place, is_written, is_shared, n);
}

/* The bytes of all words in which the use has one of these bytes. */
static uint64_t ended_words(const struct use *use, uint64_t ended)
{
	return words_of((use->read | use->written) & ended) * 0xff;
}

/* Ends the life of these bytes of the use. */
static void end_use(struct pp_locations *locations, const struct line *line, struct use *use,
		    uint64_t ended, uint64_t shared, bool is_shared_line)
{
	struct pp_location_user *user = pp_location_user_of(use->user);
	uint64_t words = ended_words(use, ended);

	if (!words)
		return;
	for (unsigned written = 0; written < 2; written++) {
		user->sums.lines[written][is_shared_line] += use->n_lines[written];
		use->n_lines[written] = 0;
		for (unsigned word = 0; word < WORDS; word++)
			if (words >> 8 * word & 1)
				end_location(locations, line, use, word, written, shared);
	}
	use->written &= ~words;
	use->read &= ~words;
	use->only_read &= ~words;
}

/* Ends the life of these bytes.  Returns false if none is left, and the line is to be removed. */
static bool end_bytes(struct pp_locations *locations, struct line *line, uint64_t ended)
{
	g_autoptr(GArray) parts = parts_of(line);
	uint64_t shared = shared_bytes(parts);
	struct use **at = &line->uses;

	find_false_sharing(locations, line, parts);
	while (*at) {
		struct use *use = *at;

		end_use(locations, line, use, ended, shared, parts->len > 1);
		if (use->read | use->written) {
			at = &use->next;
			continue;
		}
		*at = use->next;
		use_free(use);
	}
	return line->uses != NULL;
}

/* --- uses ------------------------------------------------------------------------------------- */

/* True if all threads that used the line ended before this one began. */
static bool are_all_before(const struct line *line, const struct pp_thread *thread)
{
	for (const struct use *use = line->uses; use; use = use->next)
		if (use->thread == thread || use->thread->end_ns == PP_TIME_UNKNOWN ||
		    use->thread->end_ns > thread->start_ns)
			return false;
	return line->uses != NULL;
}

static bool is_reused(const struct pp_locations *locations, const struct line *line,
		      const struct pp_thread *thread)
{
	const struct pp_locations_listener *listener = locations->listener;

	return listener->is_reused && thread->start_ns != PP_TIME_UNKNOWN &&
	       are_all_before(line, thread) &&
	       !pp_blocks_place(locations->blocks, line->key.process, line->key.address).is_heap &&
	       listener->is_reused(listener->data, line->key.process, line->key.address);
}

static struct use *use_of(struct line *line, const struct counted *counted)
{
	struct use *use;

	for (use = line->uses; use; use = use->next)
		if (use->user == counted->user && use->thread == counted->thread)
			return use;
	use = g_new0(struct use, 1);
	use->user = user_ref(counted->user);
	use->thread = counted->thread;
	use->next = line->uses;
	return line->uses = use;
}

static void add_use(struct pp_locations *locations, const struct counted *counted,
		    const struct pp_access_line *of)
{
	struct line *line = line_at(locations, counted->thread->process, of->address);
	uint64_t only_read = of->read & ~of->written;
	struct use *use;

	if (is_reused(locations, line, counted->thread))
		end_bytes(locations, line, UINT64_MAX);
	use = use_of(line, counted);
	use->read |= of->read;
	use->written |= of->written;
	use->only_read |= only_read;
	use->site = of->first_site;
	use->n += counted->n;
	use->n_lines[of->written != 0] += counted->n;
	for (unsigned word = 0; word < WORDS; word++) {
		use->n_words[0][word] += only_read >> 8 * word & 0xff ? counted->n : 0;
		use->n_words[1][word] += of->written >> 8 * word & 0xff ? counted->n : 0;
	}
}

/* Adds the counted instances to the lines. */
static void flush(struct pp_locations *locations)
{
	for (guint i = 0; i < locations->counted_list->len; i++) {
		const struct counted *counted = locations->counted_list->pdata[i];

		for (unsigned k = 0; k < counted->set->n; k++)
			add_use(locations, counted, &counted->set->lines[k]);
	}
	g_hash_table_remove_all(locations->counted);
	g_ptr_array_set_size(locations->counted_list, 0);
	locations->n_counted_lines = 0;
}

void pp_locations_add(struct pp_locations *locations, struct pp_location_user *user,
		      const struct pp_thread *thread, struct pp_access_set *set)
{
	const struct counted key = {.user = user, .thread = thread, .set = set};
	struct counted *counted;

	if (!set->n)
		return;
	counted = g_hash_table_lookup(locations->counted, &key);
	if (counted) {
		counted->n++;
		return;
	}
	if (g_hash_table_size(locations->counted) >= COUNTED_MAX ||
	    locations->n_counted_lines >= COUNTED_LINES_MAX)
		flush(locations);
	counted = g_new(struct counted, 1);
	*counted = (struct counted){user_ref(user), thread, pp_access_set_ref(set), 1};
	g_hash_table_add(locations->counted, counted);
	g_ptr_array_add(locations->counted_list, counted);
	locations->n_counted_lines += set->n;
}

/* --- blocks ----------------------------------------------------------------------------------- */

static void end_in_line(struct pp_locations *locations, struct line *line, uint64_t address,
			uint64_t end)
{
	uint64_t ended = pp_access_bytes_in(line->key.address, address, end);

	if (ended && !end_bytes(locations, line, ended))
		g_hash_table_remove(locations->lines, line);
}

/* Goes through the range, or all lines, whichever is less. */
static void end_range(struct pp_locations *locations, const struct pp_process *process,
		      uint64_t address, uint64_t end)
{
	uint64_t first = address & ~(uint64_t)(ST_LINE_BYTES - 1);
	g_autoptr(GPtrArray) found = NULL;
	GHashTableIter iter;
	void *key;

	if ((end - first) / ST_LINE_BYTES < g_hash_table_size(locations->lines)) {
		for (uint64_t at = first; at < end; at += ST_LINE_BYTES) {
			struct line *line = find_line(locations, process, at);

			if (line)
				end_in_line(locations, line, address, end);
		}
		return;
	}
	found = g_ptr_array_new();
	g_hash_table_iter_init(&iter, locations->lines);
	while (g_hash_table_iter_next(&iter, &key, NULL))
		if (((struct line *)key)->key.process == process)
			g_ptr_array_add(found, key);
	for (guint i = 0; i < found->len; i++)
		end_in_line(locations, found->pdata[i], address, end);
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
	locations->counted = g_hash_table_new(counted_hash, counted_equal);
	locations->counted_list = g_ptr_array_new_with_free_func(counted_free);
	locations->lines = g_hash_table_new_full(pp_line_hash, pp_line_equal, line_free, NULL);
	locations->blocks = pp_blocks_new();
	return locations;
}

void pp_locations_free(struct pp_locations *locations)
{
	g_hash_table_unref(locations->counted);
	g_ptr_array_unref(locations->counted_list);
	g_hash_table_unref(locations->lines);
	pp_blocks_free(locations->blocks);
	g_free(locations);
}

void pp_locations_finish(struct pp_locations *locations)
{
	GHashTableIter iter;
	void *key;

	flush(locations);
	g_hash_table_iter_init(&iter, locations->lines);
	while (g_hash_table_iter_next(&iter, &key, NULL)) {
		end_bytes(locations, key, UINT64_MAX);
		g_hash_table_iter_remove(&iter);
	}
}

const struct pp_blocks *pp_locations_blocks(const struct pp_locations *locations)
{
	return locations->blocks;
}
