/* SPDX-License-Identifier: MIT */
/*
 * A source is in one group for each line of its set, as a *node*; in several groups of single bytes
 * if the line has too many kinds of accesses.  A group lists its nodes in order of their last
 * instance, the newest first, with the number of that instance (`stamp`).  Thread u has seen all
 * nodes up to the number `seen[u]`, so it walks from the newest node to the first that it has seen.
 * A source may be met on several of its lines: `matched[u]` counts its instances that u has met.
 *
 * If memory ends its life, a source that accesses it is *retired*: its later instances are another
 * source's, while its nodes on other lines still stand for its earlier ones.
 */
#include "analysis/ulcp/search.h"

#include <glib.h>

#include "analysis/mix.h"
#include "analysis/ulcp/classify.h"
#include "analysis/ulcp/threads.h"
#include "sync-trace/accesses.h"

/* Kinds of accesses of a line, beyond which new ones are divided into bytes. */
#define GROUPS_MAX 384u

struct node {
	struct source *source;
	struct group *group;
	struct node *newer, *older;
	uint64_t stamp;
};

struct source {
	struct pp_ulcp_lock *lock;
	uint32_t thread; /* dense number in the lock */
	bool is_reader;
	uint64_t tag;
	struct pp_access_set *set; /* a reference */
	bool is_retired;
	unsigned n_nodes;  /* of those below, that are in a group */
	uint64_t n;	   /* instances */
	GArray *ids;	   /* of uint64_t, theirs; NULL: not kept */
	uint64_t *matched; /* by thread, of n_matched */
	unsigned n_matched;
	struct node nodes[];
};

struct group {
	struct line *line;
	struct group *next;
	struct pp_access_line masks;
	struct node *newest;
	uint64_t *seen; /* by thread, as a writer and as a reader, of n_seen */
	unsigned n_seen;
};

/* A line of memory, as the sections of a lock access it. */
struct line {
	struct pp_ulcp_lock *lock;
	uint64_t address;
	struct group *groups;
	unsigned n_groups;
	struct line *next, *before;	  /* of the lock */
	struct line *next_at, *before_at; /* of the same address */
};

struct pp_ulcp_lock {
	struct pp_ulcp_search *search;
	struct pp_ulcp_threads threads;
	struct line *lines;
};

struct pp_ulcp_search {
	const struct pp_ulcp_search_listener *listener;
	GHashTable *sources; /* a set of struct source *: those that are not retired */
	GHashTable *lines;   /* a set of struct line * */
	GHashTable *at;	     /* a set of struct line *, the first of each address */
	uint64_t clock;	     /* instances so far */
};

/* The section that is added. */
struct target {
	struct pp_ulcp_lock *lock;
	uint32_t thread; /* dense number */
	bool is_reader;
	uint64_t id;
};

/* --- tables ----------------------------------------------------------------------------------- */

static guint source_hash(const void *data)
{
	const struct source *source = data;

	return (guint)pp_mix(
	    pp_mix(pp_mix((uintptr_t)source->lock, source->thread), source->set->serial),
	    source->tag);
}

static gboolean source_equal(const void *a, const void *b)
{
	const struct source *x = a, *y = b;

	return x->lock == y->lock && x->thread == y->thread && x->set == y->set &&
	       x->tag == y->tag && x->is_reader == y->is_reader;
}

static guint line_hash(const void *data)
{
	const struct line *line = data;

	return (guint)pp_mix((uintptr_t)line->lock, line->address);
}

static gboolean line_equal(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	return x->lock == y->lock && x->address == y->address;
}

static guint address_hash(const void *data)
{
	return (guint)pp_mix(0, ((const struct line *)data)->address);
}

static gboolean address_equal(const void *a, const void *b)
{
	return ((const struct line *)a)->address == ((const struct line *)b)->address;
}

/* Returns the number at that place; 0: it was not set yet. */
static uint64_t number_at(const uint64_t *numbers, unsigned n, uint32_t at)
{
	return at < n ? numbers[at] : 0;
}

static void set_number(uint64_t **numbers, unsigned *n, uint32_t at, uint64_t number)
{
	if (at >= *n) {
		*numbers = g_renew(uint64_t, *numbers, at + 1);
		for (unsigned i = *n; i <= at; i++)
			(*numbers)[i] = 0;
		*n = at + 1;
	}
	(*numbers)[at] = number;
}

/* --- lines ------------------------------------------------------------------------------------ */

static struct line *find_line(const struct pp_ulcp_lock *lock, uint64_t address)
{
	const struct line key = {.lock = (struct pp_ulcp_lock *)lock, .address = address};

	return g_hash_table_lookup(lock->search->lines, &key);
}

/* The head of those of an address is the key in the table. */
static void link_line(struct pp_ulcp_search *search, struct line *line)
{
	struct line *first = g_hash_table_lookup(search->at, line);

	line->next = line->lock->lines;
	if (line->next)
		line->next->before = line;
	line->lock->lines = line;
	if (!first) {
		g_hash_table_add(search->at, line);
		return;
	}
	line->before_at = first;
	line->next_at = first->next_at;
	if (line->next_at)
		line->next_at->before_at = line;
	first->next_at = line;
}

static void unlink_line(struct pp_ulcp_search *search, struct line *line)
{
	if (line->next)
		line->next->before = line->before;
	if (line->before)
		line->before->next = line->next;
	else
		line->lock->lines = line->next;
	if (line->next_at)
		line->next_at->before_at = line->before_at;
	if (line->before_at)
		line->before_at->next_at = line->next_at;
	else if (line->next_at)
		g_hash_table_replace(search->at, line->next_at, line->next_at);
	else
		g_hash_table_remove(search->at, line);
}

static struct line *line_at(struct pp_ulcp_lock *lock, uint64_t address)
{
	struct line *line = find_line(lock, address);

	if (line)
		return line;
	line = g_new0(struct line, 1);
	line->lock = lock;
	line->address = address;
	g_hash_table_add(lock->search->lines, line);
	link_line(lock->search, line);
	return line;
}

/* --- sources ---------------------------------------------------------------------------------- */

static void source_free(struct source *source)
{
	pp_access_set_unref(source->set);
	if (source->ids)
		g_array_unref(source->ids);
	g_free(source->matched);
	g_free(source);
}

static void retire(struct source *source)
{
	if (source->is_retired)
		return;
	source->is_retired = true;
	g_hash_table_remove(source->lock->search->sources, source);
}

static void node_link(struct node *node)
{
	struct group *group = node->group;

	node->newer = NULL;
	node->older = group->newest;
	if (node->older)
		node->older->newer = node;
	group->newest = node;
}

static void node_unlink(struct node *node)
{
	if (node->newer)
		node->newer->older = node->older;
	else
		node->group->newest = node->older;
	if (node->older)
		node->older->newer = node->newer;
}

/* The source is retired. */
static void node_leave(struct node *node)
{
	struct source *source = node->source;

	node_unlink(node);
	if (--source->n_nodes == 0)
		source_free(source);
}

static struct group *find_group(const struct line *line, const struct pp_access_line *masks)
{
	for (struct group *group = line->groups; group; group = group->next)
		if (group->masks.read == masks->read && group->masks.written == masks->written &&
		    group->masks.changed == masks->changed)
			return group;
	return NULL;
}

static struct group *group_new(struct line *line, const struct pp_access_line *masks)
{
	struct group *group = g_new0(struct group, 1);

	group->line = line;
	group->masks = *masks;
	group->next = line->groups;
	line->groups = group;
	line->n_groups++;
	return group;
}

static void join_group(struct source *source, struct group *group)
{
	struct node *node = &source->nodes[source->n_nodes++];

	node->source = source;
	node->group = group;
	node->stamp = source->lock->search->clock;
	node_link(node);
}

static void join_bytes(struct source *source, struct line *line, const struct pp_access_line *of)
{
	for (uint64_t left = of->read | of->written; left; left &= left - 1) {
		uint64_t bit = left & -left;
		const struct pp_access_line masks = {.read = of->read & bit,
						     .written = of->written & bit,
						     .changed = of->changed & bit};
		struct group *group = find_group(line, &masks);

		join_group(source, group ? group : group_new(line, &masks));
	}
}

static struct pp_access_line masks_of(const struct pp_access_line *of)
{
	return (struct pp_access_line){
	    .read = of->read, .written = of->written, .changed = of->changed & of->written};
}

/* The group of the line's accesses; NULL: each of its bytes has one. */
static struct group *whole_group(struct pp_ulcp_lock *lock, const struct pp_access_line *of)
{
	const struct pp_access_line masks = masks_of(of);
	struct line *line = line_at(lock, of->address);
	struct group *group = find_group(line, &masks);

	return group || line->n_groups >= GROUPS_MAX ? group : group_new(line, &masks);
}

static unsigned count_nodes(struct pp_ulcp_lock *lock, const struct pp_access_set *set)
{
	unsigned n = 0;

	for (unsigned i = 0; i < set->n; i++) {
		const struct pp_access_line *of = &set->lines[i];

		n += whole_group(lock, of) ? 1
					   : (unsigned)__builtin_popcountll(of->read | of->written);
	}
	return n;
}

static struct source *source_new(const struct source *key)
{
	struct pp_ulcp_lock *lock = key->lock;
	unsigned n = count_nodes(lock, key->set);
	struct source *source = g_malloc(sizeof(*source) + n * sizeof(source->nodes[0]));

	*source = *key;
	pp_access_set_ref(source->set);
	if (lock->search->listener->edges)
		source->ids = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	for (unsigned i = 0; i < source->set->n; i++) {
		const struct pp_access_line *of = &source->set->lines[i];
		const struct pp_access_line masks = masks_of(of);
		struct group *group = whole_group(lock, of);

		if (group)
			join_group(source, group);
		else
			join_bytes(source, find_line(lock, of->address), &masks);
	}
	g_hash_table_add(lock->search->sources, source);
	return source;
}

static struct source *source_of(const struct target *target, uint64_t tag,
				struct pp_access_set *set)
{
	const struct source key = {.lock = target->lock,
				   .thread = target->thread,
				   .is_reader = target->is_reader,
				   .tag = tag,
				   .set = set};
	struct source *source = g_hash_table_lookup(target->lock->search->sources, &key);

	return source ? source : source_new(&key);
}

/* --- the search ------------------------------------------------------------------------------- */

static void meet(const struct target *target, struct source *source)
{
	const struct pp_ulcp_search_listener *listener = target->lock->search->listener;
	uint64_t before = number_at(source->matched, source->n_matched, target->thread);

	if (source->thread == target->thread || before == source->n ||
	    (source->is_reader && target->is_reader))
		return;
	set_number(&source->matched, &source->n_matched, target->thread, source->n);
	if (listener->edges)
		listener->edges(listener->data, &g_array_index(source->ids, uint64_t, before),
				source->n - before, target->id);
	if (listener->contended)
		listener->contended(listener->data, source->tag, source->n - before, target->id);
}

static void meet_group(const struct target *target, struct group *group)
{
	uint32_t at = 2 * target->thread + target->is_reader;
	uint64_t seen = number_at(group->seen, group->n_seen, at);

	if (!group->newest || group->newest->stamp <= seen)
		return;
	set_number(&group->seen, &group->n_seen, at, group->newest->stamp);
	for (struct node *node = group->newest; node && node->stamp > seen; node = node->older)
		meet(target, node->source);
}

static void meet_line(const struct target *target, const struct line *line,
		      const struct pp_access_line *of)
{
	for (struct group *group = line->groups; group; group = group->next)
		if (pp_ulcp_contending(of, &group->masks))
			meet_group(target, group);
}

static struct target target_of(struct pp_ulcp_lock *lock, uint32_t thread, uint64_t id,
			       bool is_reader)
{
	return (struct target){
	    .lock = lock,
	    .thread = pp_ulcp_threads_number(&lock->threads, thread),
	    .is_reader = is_reader,
	    .id = id,
	};
}

void pp_ulcp_search_add_ending(struct pp_ulcp_lock *lock, uint32_t thread, uint64_t id,
			       bool is_reader, const struct pp_access_set *part)
{
	const struct target target = target_of(lock, thread, id, is_reader);

	for (unsigned i = 0; i < part->n; i++) {
		const struct line *line = find_line(lock, part->lines[i].address);

		if (line)
			meet_line(&target, line, &part->lines[i]);
	}
}

static void add(const struct target *target, uint64_t tag, struct pp_access_set *set)
{
	struct pp_ulcp_search *search = target->lock->search;
	struct source *source;

	if (!set->n)
		return;
	search->clock++;
	source = source_of(target, tag, set);
	for (unsigned i = 0; i < source->n_nodes; i++) {
		const struct group *group = source->nodes[i].group;

		meet_line(target, group->line, &group->masks);
	}
	source->n++;
	if (source->ids)
		g_array_append_val(source->ids, target->id);
	for (unsigned i = 0; i < source->n_nodes; i++) {
		struct node *node = &source->nodes[i];

		node->stamp = search->clock;
		if (node->newer) {
			node_unlink(node);
			node_link(node);
		}
	}
}

void pp_ulcp_search_add(struct pp_ulcp_lock *lock, uint32_t thread, uint64_t id, uint64_t tag,
			struct pp_access_set *set)
{
	const struct target target = target_of(lock, thread, id, false);

	add(&target, tag, set);
}

void pp_ulcp_search_add_reader(struct pp_ulcp_lock *lock, uint32_t thread, uint64_t id,
			       uint64_t tag, struct pp_access_set *set)
{
	const struct target target = target_of(lock, thread, id, true);

	add(&target, tag, set);
}

/* --- the end of lives ------------------------------------------------------------------------- */

/* Ends the life of these bytes in the group.  Returns false if none is left, and it is empty. */
static bool end_in_group(struct group *group, uint64_t ended)
{
	if (!((group->masks.read | group->masks.written) & ended))
		return true;
	for (struct node *node = group->newest; node; node = node->older)
		retire(node->source);
	group->masks.read &= ~ended;
	group->masks.written &= ~ended;
	group->masks.changed &= ~ended;
	if (group->masks.read | group->masks.written)
		return true;
	while (group->newest)
		node_leave(group->newest);
	return false;
}

static void end_in_line(struct pp_ulcp_search *search, struct line *line, uint64_t ended)
{
	struct group **at = &line->groups;

	while (*at) {
		struct group *group = *at;

		if (end_in_group(group, ended)) {
			at = &group->next;
			continue;
		}
		*at = group->next;
		line->n_groups--;
		g_free(group->seen);
		g_free(group);
	}
	if (line->groups)
		return;
	unlink_line(search, line);
	g_hash_table_remove(search->lines, line);
}

static void end_at(struct pp_ulcp_search *search, struct line *first, uint64_t address,
		   uint64_t end)
{
	for (struct line *line = first, *next; line; line = next) {
		next = line->next_at;
		end_in_line(search, line, pp_access_bytes_in(line->address, address, end));
	}
}

void pp_ulcp_search_end_life(struct pp_ulcp_search *search, uint64_t address, uint64_t size)
{
	uint64_t end = size > UINT64_MAX - ST_LINE_BYTES - address ? UINT64_MAX - ST_LINE_BYTES
								   : address + size;
	struct line key = {.address = address & ~(uint64_t)(ST_LINE_BYTES - 1)};
	g_autoptr(GPtrArray) found = NULL;
	GHashTableIter iter;
	void *first;

	/* Goes through the range, or all lines, whichever is less. */
	if (address >= end)
		return;
	if ((end - key.address) / ST_LINE_BYTES < g_hash_table_size(search->at)) {
		for (; key.address < end; key.address += ST_LINE_BYTES)
			end_at(search, g_hash_table_lookup(search->at, &key), address, end);
		return;
	}
	found = g_ptr_array_new();
	g_hash_table_iter_init(&iter, search->at);
	while (g_hash_table_iter_next(&iter, &first, NULL))
		if (pp_access_bytes_in(((struct line *)first)->address, address, end))
			g_ptr_array_add(found, first);
	for (guint i = 0; i < found->len; i++)
		end_at(search, found->pdata[i], address, end);
}

/* --- creation and end ------------------------------------------------------------------------- */

struct pp_ulcp_search *pp_ulcp_search_new(const struct pp_ulcp_search_listener *listener)
{
	struct pp_ulcp_search *search = g_new0(struct pp_ulcp_search, 1);

	search->listener = listener;
	search->sources = g_hash_table_new(source_hash, source_equal);
	search->lines = g_hash_table_new_full(line_hash, line_equal, g_free, NULL);
	search->at = g_hash_table_new(address_hash, address_equal);
	return search;
}

void pp_ulcp_search_free(struct pp_ulcp_search *search)
{
	g_hash_table_unref(search->sources);
	g_hash_table_unref(search->at);
	g_hash_table_unref(search->lines);
	g_free(search);
}

struct pp_ulcp_lock *pp_ulcp_lock_new(struct pp_ulcp_search *search)
{
	struct pp_ulcp_lock *lock = g_new0(struct pp_ulcp_lock, 1);

	lock->search = search;
	return lock;
}

void pp_ulcp_lock_free(struct pp_ulcp_lock *lock)
{
	if (!lock)
		return;
	while (lock->lines)
		end_in_line(lock->search, lock->lines, UINT64_MAX);
	pp_ulcp_threads_done(&lock->threads);
	g_free(lock);
}
