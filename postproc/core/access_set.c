/* SPDX-License-Identifier: MIT */
/*
 * A hash table of the sets by their contents, and a cache of the last results of unions and
 * differences, which has references.  The table exists until its last set is released.
 */
#include "core/access_set.h"

#include <stdlib.h>
#include <string.h>

#include <glib.h>

#include "sync-trace/accesses.h"

#define CACHE_ENTRIES 4096u /* a power of two */
#define FIRST_BUCKETS 1024u /* a power of two */
#define SPARE_LINES   16u   /* sets of fewer lines are kept when they are released */
#define SORTED_LINES  16u   /* more lines are sorted by qsort() */

/* Odd, and half of their bits set. */
#define FIRST_FACTOR  UINT64_C(0x9e3779b97f4a7c15)
#define SECOND_FACTOR UINT64_C(0xd6e8feb86659fd93)
#define THIRD_FACTOR  UINT64_C(0xa0761d6478bd642f)

enum operation { UNION, WITHOUT, WITHIN };

/* The result of an operation on `a`: with the set `b`, or the `bytes` at `b`. */
struct result {
	enum operation operation;
	uint64_t a, b, bytes;
	struct pp_access_set *set; /* NULL: the entry is empty */
};

struct pp_access_sets {
	struct pp_access_set **buckets; /* chains of the sets, by their hash */
	unsigned n_buckets, n;		/* of the buckets, a power of two; of the sets */
	uint64_t n_ever;
	struct pp_access_set *spare[SPARE_LINES]; /* chains of released sets, by their lines */
	unsigned n_refs;			  /* of the sets, and of the owner */
	struct pp_access_line *room;		  /* for the lines of a result */
	unsigned n_room;
	struct result *cache;
};

/* --- the table -------------------------------------------------------------------------------- */

static uint32_t hash_of(const struct pp_access_line *lines, unsigned n)
{
	uint64_t hash = n;

	for (unsigned i = 0; i < n; i++) {
		const struct pp_access_line *line = &lines[i];
		/* Three products that do not wait for each other. */
		uint64_t where = (line->address ^ line->changed << 7) * FIRST_FACTOR;
		uint64_t how =
		    (line->read ^ (line->written << 23 | line->written >> 41)) * SECOND_FACTOR;
		uint64_t sites =
		    (line->first_site ^ (line->last_site << 31 | line->last_site >> 33)) *
		    THIRD_FACTOR;

		hash =
		    (hash ^ where ^ where >> 29 ^ (how << 11 | how >> 53) ^ sites >> 17 ^ sites) *
		    FIRST_FACTOR;
	}
	return (uint32_t)(hash >> 32);
}

static struct pp_access_set **bucket_of(const struct pp_access_sets *sets, uint32_t hash)
{
	return &sets->buckets[hash & (sets->n_buckets - 1)];
}

static void grow(struct pp_access_sets *sets)
{
	struct pp_access_set **before = sets->buckets;
	unsigned n_before = sets->n_buckets;

	sets->n_buckets *= 2;
	sets->buckets = g_new0(struct pp_access_set *, sets->n_buckets);
	for (unsigned i = 0; i < n_before; i++)
		while (before[i]) {
			struct pp_access_set *set = before[i];
			struct pp_access_set **bucket = bucket_of(sets, set->hash);

			before[i] = set->next;
			set->next = *bucket;
			*bucket = set;
		}
	g_free(before);
}

static void add_set(struct pp_access_sets *sets, struct pp_access_set *set)
{
	struct pp_access_set **bucket;

	if (sets->n >= sets->n_buckets)
		grow(sets);
	bucket = bucket_of(sets, set->hash);
	set->next = *bucket;
	*bucket = set;
	sets->n++;
}

static void remove_set(struct pp_access_sets *sets, const struct pp_access_set *set)
{
	struct pp_access_set **at = bucket_of(sets, set->hash);

	while (*at != set)
		at = &(*at)->next;
	*at = set->next;
	sets->n--;
}

static struct pp_access_set *find_set(const struct pp_access_sets *sets, uint32_t hash,
				      const struct pp_access_line *lines, unsigned n)
{
	struct pp_access_set *set = *bucket_of(sets, hash);

	while (set && (set->hash != hash || set->n != n ||
		       memcmp(set->lines, lines, n * sizeof(lines[0])) != 0))
		set = set->next;
	return set;
}

/* --- memory ----------------------------------------------------------------------------------- */

/* Returns a set for n lines. */
static struct pp_access_set *allocate(struct pp_access_sets *sets, unsigned n)
{
	struct pp_access_set *set;

	if (n >= SPARE_LINES || !sets->spare[n])
		return g_malloc(sizeof(*set) + n * sizeof(set->lines[0]));
	set = sets->spare[n];
	sets->spare[n] = set->next;
	return set;
}

/* Small sets come and go with each section, so they are kept for the next ones of their size. */
static void release(struct pp_access_sets *sets, struct pp_access_set *set)
{
	if (set->n >= SPARE_LINES) {
		g_free(set);
		return;
	}
	set->next = sets->spare[set->n];
	sets->spare[set->n] = set;
}

static void owner_unref(struct pp_access_sets *sets)
{
	if (--sets->n_refs)
		return;
	for (unsigned i = 0; i < SPARE_LINES; i++)
		while (sets->spare[i]) {
			struct pp_access_set *spare = sets->spare[i];

			sets->spare[i] = spare->next;
			g_free(spare);
		}
	g_free(sets->buckets);
	g_free(sets->room);
	g_free(sets);
}

struct pp_access_sets *pp_access_sets_new(void)
{
	struct pp_access_sets *sets = g_new0(struct pp_access_sets, 1);

	sets->n_buckets = FIRST_BUCKETS;
	sets->buckets = g_new0(struct pp_access_set *, FIRST_BUCKETS);
	sets->n_refs = 1;
	return sets;
}

void pp_access_sets_free(struct pp_access_sets *sets)
{
	struct result *cache;

	if (!sets)
		return;
	cache = g_steal_pointer(&sets->cache);
	for (unsigned i = 0; cache && i < CACHE_ENTRIES; i++)
		pp_access_set_unref(cache[i].set);
	g_free(cache);
	owner_unref(sets);
}

unsigned pp_access_sets_count(const struct pp_access_sets *sets)
{
	return sets->n;
}

struct pp_access_set *pp_access_set_ref(struct pp_access_set *set)
{
	set->n_refs++;
	return set;
}

void pp_access_set_unref(struct pp_access_set *set)
{
	struct pp_access_sets *sets;

	if (!set || --set->n_refs)
		return;
	sets = set->owner;
	remove_set(sets, set);
	release(sets, set);
	owner_unref(sets);
}

/* Returns room for n lines, until the next call. */
static struct pp_access_line *make_room(struct pp_access_sets *sets, unsigned n)
{
	if (n > sets->n_room) {
		sets->n_room = n;
		sets->room = g_renew(struct pp_access_line, sets->room, n);
	}
	return sets->room;
}

/* The lines are in order and have bytes. */
static struct pp_access_set *intern(struct pp_access_sets *sets, const struct pp_access_line *lines,
				    unsigned n)
{
	uint32_t hash = hash_of(lines, n);
	struct pp_access_set *set = find_set(sets, hash, lines, n);

	if (set)
		return pp_access_set_ref(set);
	set = allocate(sets, n);
	set->serial = ++sets->n_ever;
	set->owner = sets;
	set->hash = hash;
	set->n_refs = 1;
	set->n = n;
	if (n)
		memcpy(set->lines, lines, n * sizeof(lines[0]));
	add_set(sets, set);
	sets->n_refs++;
	return set;
}

/* --- making sets ------------------------------------------------------------------------------ */

/* Adds a line, whose accesses are later. */
static void add_line(struct pp_access_line *to, const struct pp_access_line *line)
{
	to->read |= line->read;
	to->written |= line->written;
	to->changed |= line->changed;
	if (!to->first_site)
		to->first_site = line->first_site;
	if (line->last_site)
		to->last_site = line->last_site;
}

static int compare_lines(const void *a, const void *b)
{
	const struct pp_access_line *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

static bool are_in_order(const struct pp_access_line *lines, unsigned n)
{
	for (unsigned i = 1; i < n; i++)
		if (lines[i - 1].address >= lines[i].address)
			return false;
	return true;
}

/* Lines of one address keep their order, as with glibc's qsort(), which takes memory for it. */
static void sort_few(struct pp_access_line *lines, unsigned n)
{
	for (unsigned i = 1; i < n; i++) {
		struct pp_access_line line = lines[i];
		unsigned to = i;

		for (; to && lines[to - 1].address > line.address; to--)
			lines[to] = lines[to - 1];
		lines[to] = line;
	}
}

static void sort(struct pp_access_line *lines, unsigned n)
{
	if (are_in_order(lines, n))
		return;
	if (n <= SORTED_LINES)
		sort_few(lines, n);
	else
		qsort(lines, n, sizeof(lines[0]), compare_lines);
}

struct pp_access_set *pp_access_set_get(struct pp_access_sets *sets, struct pp_access_line *lines,
					unsigned n)
{
	unsigned n_kept = 0;

	sort(lines, n);
	for (unsigned i = 0; i < n; i++) {
		if (!(lines[i].read | lines[i].written))
			continue;
		if (n_kept && lines[n_kept - 1].address == lines[i].address)
			add_line(&lines[n_kept - 1], &lines[i]);
		else
			lines[n_kept++] = lines[i];
	}
	return intern(sets, lines, n_kept);
}

static struct result *cached(struct pp_access_sets *sets, const struct result *key)
{
	uint64_t hash =
	    (key->a * UINT64_C(0x9e3779b97f4a7c15) ^ key->b) + key->bytes * 4 + key->operation;

	if (!sets->cache)
		sets->cache = g_new0(struct result, CACHE_ENTRIES);
	hash *= UINT64_C(0xd6e8feb86659fd93);
	return &sets->cache[hash >> 32 & (CACHE_ENTRIES - 1)];
}

static bool is_of(const struct result *result, const struct result *key)
{
	return result->set && result->a == key->a && result->b == key->b &&
	       result->bytes == key->bytes && result->operation == key->operation;
}

/* Takes the reference, and returns another one. */
static struct pp_access_set *keep(struct result *result, const struct result *key,
				  struct pp_access_set *set)
{
	pp_access_set_unref(result->set);
	*result = *key;
	result->set = set;
	return pp_access_set_ref(set);
}

static struct pp_access_set *unite(const struct pp_access_set *a, const struct pp_access_set *b)
{
	struct pp_access_line *to = make_room(a->owner, a->n + b->n);
	unsigned n = 0, i = 0, k = 0;

	while (i < a->n || k < b->n) {
		bool both = i < a->n && k < b->n && a->lines[i].address == b->lines[k].address;

		if (k == b->n || (i < a->n && a->lines[i].address <= b->lines[k].address)) {
			to[n] = a->lines[i++];
			if (both)
				add_line(&to[n], &b->lines[k++]);
			n++;
		} else {
			to[n++] = b->lines[k++];
		}
	}
	return intern(a->owner, to, n);
}

struct pp_access_set *pp_access_set_union(struct pp_access_set *a, struct pp_access_set *b)
{
	struct result key = {.a = a->serial, .b = b->serial};
	struct result *result;

	if (a == b || !b->n)
		return pp_access_set_ref(a);
	if (!a->n)
		return pp_access_set_ref(b);
	result = cached(a->owner, &key);
	return is_of(result, &key) ? pp_access_set_ref(result->set)
				   : keep(result, &key, unite(a, b));
}

uint64_t pp_access_bytes_in(uint64_t line, uint64_t address, uint64_t end)
{
	uint64_t from = address > line ? address - line : 0, to = end - line;

	if (from >= ST_LINE_BYTES || end <= line)
		return 0;
	return UINT64_MAX << from & (to >= ST_LINE_BYTES ? UINT64_MAX : (UINT64_C(1) << to) - 1);
}

/* The parts of the lines inside or outside of [address, end). */
static struct pp_access_set *part_of(const struct pp_access_set *set, uint64_t address,
				     uint64_t end, bool inside)
{
	struct pp_access_line *to = make_room(set->owner, set->n);
	unsigned n = 0;

	for (unsigned i = 0; i < set->n; i++) {
		uint64_t mask = pp_access_bytes_in(set->lines[i].address, address, end);
		uint64_t kept = inside ? mask : ~mask;

		to[n] = set->lines[i];
		to[n].read &= kept;
		to[n].written &= kept;
		to[n].changed &= kept;
		n += (to[n].read | to[n].written) != 0;
	}
	return intern(set->owner, to, n);
}

/* The position of the first line at or after the address. */
static unsigned find_line(const struct pp_access_set *set, uint64_t address)
{
	unsigned from = 0, to = set->n;

	while (from < to) {
		unsigned middle = from + (to - from) / 2;

		if (set->lines[middle].address < address)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

static uint64_t end_of(uint64_t address, uint64_t size)
{
	return size > UINT64_MAX - address ? UINT64_MAX : address + size;
}

bool pp_access_set_overlaps(const struct pp_access_set *set, uint64_t address, uint64_t size)
{
	unsigned at = find_line(set, address - address % ST_LINE_BYTES);

	return size && at < set->n && set->lines[at].address < end_of(address, size);
}

static struct pp_access_set *cached_part(struct pp_access_set *set, enum operation operation,
					 uint64_t address, uint64_t size)
{
	struct result key = {.operation = operation, .a = set->serial, .b = address, .bytes = size};
	struct result *result = cached(set->owner, &key);

	if (is_of(result, &key))
		return pp_access_set_ref(result->set);
	return keep(result, &key,
		    part_of(set, address, end_of(address, size), operation == WITHIN));
}

struct pp_access_set *pp_access_set_without(struct pp_access_set *set, uint64_t address,
					    uint64_t size)
{
	return pp_access_set_overlaps(set, address, size) ? cached_part(set, WITHOUT, address, size)
							  : pp_access_set_ref(set);
}

struct pp_access_set *pp_access_set_within(struct pp_access_set *set, uint64_t address,
					   uint64_t size)
{
	return cached_part(set, WITHIN, address, size);
}

const struct pp_access_line *pp_access_set_line(const struct pp_access_set *set, uint64_t address)
{
	unsigned at = find_line(set, address);

	return at < set->n && set->lines[at].address == address ? &set->lines[at] : NULL;
}
