/* SPDX-License-Identifier: MIT */
/*
 * Lines of 64 bytes by address.  Equal sets of one thread and site count once, so that a repeated
 * section costs a look-up.
 */
#include "suggest/memory.h"

#include "analysis/mix.h"
#include "analysis/ulcp/classify.h"

/* --- keys ----------------------------------------------------------------------------------- */

struct key {
	uint64_t set; /* serial */
	uint32_t thread, site;
};

static guint key_hash(const void *data)
{
	const struct key *key = data;

	return (guint)pp_mix(pp_mix(key->set, key->thread), key->site);
}

static gboolean key_equal(const void *a, const void *b)
{
	const struct key *x = a, *y = b;

	return x->set == y->set && x->thread == y->thread && x->site == y->site;
}

/* Adds the key to the set.  Returns false if it has it. */
static bool add_key(GHashTable *keys, struct key key)
{
	if (g_hash_table_contains(keys, &key))
		return false;
	g_hash_table_add(keys, g_memdup2(&key, sizeof(key)));
	return true;
}

static GHashTable *keys_new(void)
{
	return g_hash_table_new_full(key_hash, key_equal, g_free, NULL);
}

static GHashTable *lines_new(GDestroyNotify free_value)
{
	return g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, free_value);
}

static void *line_of(GHashTable *lines, uint64_t address, size_t size)
{
	void *line = g_hash_table_lookup(lines, &address);

	if (!line) {
		line = g_malloc0(size);
		g_hash_table_insert(lines, g_memdup2(&address, sizeof(address)), line);
	}
	return line;
}

/* --- shared bytes --------------------------------------------------------------------------- */

/* The bytes of a line that one thread accesses. */
struct part {
	uint32_t thread;
	uint64_t bytes;
};

struct shared_line {
	uint64_t once, shared; /* accessed by a thread, by several */
	GArray *parts;	       /* of struct part */
};

struct pp_suggest_shared {
	GHashTable *lines, *keys;
};

static void shared_line_free(void *data)
{
	struct shared_line *line = data;

	g_array_unref(line->parts);
	g_free(line);
}

struct pp_suggest_shared *pp_suggest_shared_new(void)
{
	struct pp_suggest_shared *shared = g_new0(struct pp_suggest_shared, 1);

	shared->lines = lines_new(shared_line_free);
	shared->keys = keys_new();
	return shared;
}

void pp_suggest_shared_free(struct pp_suggest_shared *shared)
{
	g_hash_table_unref(shared->lines);
	g_hash_table_unref(shared->keys);
	g_free(shared);
}

static struct part *part_of(struct shared_line *line, uint32_t thread)
{
	struct part new = {thread, 0};

	for (guint i = 0; i < line->parts->len; i++) {
		struct part *part = &g_array_index(line->parts, struct part, i);

		if (part->thread == thread)
			return part;
	}
	g_array_append_val(line->parts, new);
	return &g_array_index(line->parts, struct part, line->parts->len - 1);
}

void pp_suggest_shared_add(struct pp_suggest_shared *shared, uint32_t thread,
			   const struct pp_access_set *set)
{
	if (!add_key(shared->keys, (struct key){set->serial, thread, 0}))
		return;
	for (unsigned i = 0; i < set->n; i++) {
		const struct pp_access_line *line = &set->lines[i];
		uint64_t bytes = line->read | line->written;
		struct shared_line *known =
		    line_of(shared->lines, line->address, sizeof(struct shared_line));
		struct part *part;

		if (!known->parts)
			known->parts = g_array_new(FALSE, FALSE, sizeof(struct part));
		part = part_of(known, thread);
		known->shared |= known->once & bytes & ~part->bytes;
		part->bytes |= bytes;
		known->once |= bytes;
	}
}

void pp_suggest_shared_use(const struct pp_suggest_shared *shared, const struct pp_access_set *set,
			   bool *ret_reads, bool *ret_writes)
{
	for (unsigned i = 0; i < set->n; i++) {
		const struct pp_access_line *line = &set->lines[i];
		const struct shared_line *known =
		    g_hash_table_lookup(shared->lines, &line->address);

		if (!known)
			continue;
		*ret_reads |= (line->read & known->shared) != 0;
		*ret_writes |= (line->written & known->shared) != 0;
	}
}

/* --- conflicts of sites --------------------------------------------------------------------- */

/* Lines with more users are compared by site alone. */
#define MAX_USERS 64
#define MANY	  UINT32_MAX

/* The accesses of a line by a thread's sections of one site, all together. */
struct user {
	uint32_t thread; /* MANY: any */
	uint32_t site;
	struct pp_access_line line;
	uint64_t conflicting; /* bytes */
};

struct conflict_line {
	GArray *users; /* of struct user */
};

struct pp_suggest_conflicts {
	GHashTable *lines, *keys;
};

static void conflict_line_free(void *data)
{
	struct conflict_line *line = data;

	g_array_unref(line->users);
	g_free(line);
}

struct pp_suggest_conflicts *pp_suggest_conflicts_new(void)
{
	struct pp_suggest_conflicts *conflicts = g_new0(struct pp_suggest_conflicts, 1);

	conflicts->lines = lines_new(conflict_line_free);
	conflicts->keys = keys_new();
	return conflicts;
}

void pp_suggest_conflicts_free(struct pp_suggest_conflicts *conflicts)
{
	g_hash_table_unref(conflicts->lines);
	g_hash_table_unref(conflicts->keys);
	g_free(conflicts);
}

/* The sites of the first and last access are those of the first such set. */
static void add_user(GArray *users, uint32_t thread, uint32_t site,
		     const struct pp_access_line *line)
{
	struct user new = {thread, site, *line, 0};

	for (guint i = 0; i < users->len; i++) {
		struct user *user = &g_array_index(users, struct user, i);

		if (user->thread != thread || user->site != site)
			continue;
		user->line.read |= line->read;
		user->line.written |= line->written;
		user->line.changed |= line->changed;
		return;
	}
	g_array_append_val(users, new);
}

/* The same users, without their threads. */
static GArray *by_site(const GArray *users)
{
	GArray *all = g_array_new(FALSE, FALSE, sizeof(struct user));

	for (guint i = 0; i < users->len; i++) {
		const struct user *user = &g_array_index(users, struct user, i);

		add_user(all, MANY, user->site, &user->line);
	}
	return all;
}

void pp_suggest_conflicts_add(struct pp_suggest_conflicts *conflicts, uint32_t thread,
			      uint32_t site, struct pp_access_set *set)
{
	if (!add_key(conflicts->keys, (struct key){set->serial, thread, site}))
		return;
	for (unsigned i = 0; i < set->n; i++) {
		struct conflict_line *line =
		    line_of(conflicts->lines, set->lines[i].address, sizeof(struct conflict_line));

		if (!line->users)
			line->users = g_array_new(FALSE, FALSE, sizeof(struct user));
		if (line->users->len < MAX_USERS ||
		    g_array_index(line->users, struct user, 0).thread == MANY) {
			bool is_many = line->users->len &&
				       g_array_index(line->users, struct user, 0).thread == MANY;

			add_user(line->users, is_many ? MANY : thread, site, &set->lines[i]);
		} else {
			GArray *joined = by_site(line->users);

			g_array_unref(line->users);
			line->users = joined;
			add_user(joined, MANY, site, &set->lines[i]);
		}
	}
}

void pp_suggest_conflicts_each(const struct pp_suggest_conflicts *conflicts,
			       void (*take)(void *data, uint32_t a,
					    const struct pp_access_line *of_a, uint32_t b,
					    const struct pp_access_line *of_b),
			       void *data)
{
	GHashTableIter at;
	void *value;

	g_hash_table_iter_init(&at, conflicts->lines);
	while (g_hash_table_iter_next(&at, NULL, &value)) {
		const GArray *users = ((const struct conflict_line *)value)->users;

		for (guint i = 0; i < users->len; i++)
			for (guint k = i; k < users->len; k++) {
				struct user *a = &g_array_index(users, struct user, i);
				struct user *b = &g_array_index(users, struct user, k);
				uint64_t bytes = pp_access_conflicting(&a->line, &b->line);

				if ((a->thread == b->thread && a->thread != MANY) || !bytes)
					continue;
				a->conflicting |= bytes;
				b->conflicting |= bytes;
				take(data, a->site, &a->line, b->site, &b->line);
			}
	}
}

uint64_t pp_suggest_conflicts_bytes(const struct pp_suggest_conflicts *conflicts, uint32_t site,
				    uint64_t address)
{
	const struct conflict_line *line = g_hash_table_lookup(conflicts->lines, &address);
	uint64_t bytes = 0;

	for (guint i = 0; line && i < line->users->len; i++) {
		const struct user *user = &g_array_index(line->users, struct user, i);

		bytes |= user->site == site ? user->conflicting : 0;
	}
	return bytes;
}
