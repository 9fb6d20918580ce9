/* SPDX-License-Identifier: MIT */
/*
 * Each line lists the accesses of it by number, and the threads with the bytes that only they have
 * accessed.  When another one accesses such bytes, they become shared, once in their life, and all
 * accesses in the list that contain them are told.
 */
#include "analysis/ulcp/uses.h"

#include <glib.h>

#include "analysis/line_key.h"
#include "analysis/mix.h"
#include "sync-trace/accesses.h"

struct accesses {
	const struct pp_thread *thread;
	struct pp_access_set *set; /* a reference; NULL: memory ended its life, none are added */
	unsigned n_lines;	   /* that list it */
	uint32_t number;
};

struct entry {
	struct accesses *accesses;
	uint64_t read, written;
};

struct owner {
	const struct pp_thread *thread;
	uint64_t bytes; /* that only it has accessed */
};

struct line {
	struct pp_line_key key;
	uint64_t shared;
	GArray *entries; /* of struct entry */
	GArray *owners;	 /* of struct owner */
};

struct pp_ulcp_uses {
	const struct pp_ulcp_uses_listener *listener;
	GHashTable *accesses; /* a set of struct accesses *, by thread and set */
	GHashTable *lines;    /* a set of struct line * */
	GByteArray *known;    /* enum pp_ulcp_use, by number */
};

/* --- tables ----------------------------------------------------------------------------------- */

static guint accesses_hash(const void *data)
{
	const struct accesses *accesses = data;

	return (guint)pp_mix((uintptr_t)accesses->thread, accesses->set->serial);
}

static gboolean accesses_equal(const void *a, const void *b)
{
	const struct accesses *x = a, *y = b;

	return x->thread == y->thread && x->set == y->set;
}

/* No more sections are added to it. */
static void retire(struct pp_ulcp_uses *uses, struct accesses *accesses)
{
	if (!accesses->set)
		return;
	g_hash_table_remove(uses->accesses, accesses);
	pp_access_set_unref(g_steal_pointer(&accesses->set));
}

static void unlist(struct pp_ulcp_uses *uses, struct accesses *accesses)
{
	retire(uses, accesses);
	if (--accesses->n_lines == 0)
		g_free(accesses);
}

static struct line *line_at(struct pp_ulcp_uses *uses, const struct pp_process *process,
			    uint64_t address)
{
	const struct pp_line_key key = {.process = process, .address = address};
	struct line *line = g_hash_table_lookup(uses->lines, &key);

	if (!line) {
		line = g_new0(struct line, 1);
		line->key = key;
		line->entries = g_array_new(FALSE, FALSE, sizeof(struct entry));
		line->owners = g_array_new(FALSE, FALSE, sizeof(struct owner));
		g_hash_table_add(uses->lines, line);
	}
	return line;
}

static void line_remove(struct pp_ulcp_uses *uses, struct line *line)
{
	for (guint i = 0; i < line->entries->len; i++)
		unlist(uses, g_array_index(line->entries, struct entry, i).accesses);
	g_array_unref(line->entries);
	g_array_unref(line->owners);
	g_hash_table_remove(uses->lines, line);
	g_free(line);
}

/* --- sharing ---------------------------------------------------------------------------------- */

static void tell(struct pp_ulcp_uses *uses, const struct entry *entry, uint64_t shared)
{
	guint8 *known = &uses->known->data[entry->accesses->number];

	if (entry->written & shared)
		*known = PP_ULCP_WRITES;
	else if (entry->read & shared)
		*known = MAX(*known, PP_ULCP_READS);
}

static struct owner *owner_of(struct line *line, const struct pp_thread *thread)
{
	const struct owner new = {.thread = thread};

	for (guint i = 0; i < line->owners->len; i++)
		if (g_array_index(line->owners, struct owner, i).thread == thread)
			return &g_array_index(line->owners, struct owner, i);
	g_array_append_val(line->owners, new);
	return &g_array_index(line->owners, struct owner, line->owners->len - 1);
}

/* The thread accesses these bytes.  Returns those that become shared. */
static uint64_t share(struct line *line, const struct pp_thread *thread, uint64_t bytes)
{
	uint64_t hit = 0;

	for (guint i = 0; i < line->owners->len; i++) {
		struct owner *owner = &g_array_index(line->owners, struct owner, i);

		if (owner->thread == thread)
			continue;
		hit |= owner->bytes & bytes;
		owner->bytes &= ~bytes;
	}
	line->shared |= hit;
	owner_of(line, thread)->bytes |= bytes & ~line->shared;
	return hit;
}

static void add_entry(struct pp_ulcp_uses *uses, struct line *line, const struct entry *entry)
{
	uint64_t hit = share(line, entry->accesses->thread, entry->read | entry->written);

	for (guint i = 0; hit && i < line->entries->len; i++)
		tell(uses, &g_array_index(line->entries, struct entry, i), hit);
	tell(uses, entry, line->shared);
	g_array_append_vals(line->entries, entry, 1);
	entry->accesses->n_lines++;
}

/* True if all threads that accessed the line ended before this one began. */
static bool are_all_before(const struct line *line, const struct pp_thread *thread)
{
	for (guint i = 0; i < line->owners->len; i++) {
		const struct pp_thread *other = g_array_index(line->owners, struct owner, i).thread;

		if (other == thread || other->end_ns == PP_TIME_UNKNOWN ||
		    other->end_ns > thread->start_ns)
			return false;
	}
	return line->owners->len != 0;
}

static void end_if_reused(struct pp_ulcp_uses *uses, const struct pp_thread *thread,
			  const struct pp_access_line *of)
{
	const struct pp_ulcp_uses_listener *listener = uses->listener;
	const struct pp_line_key key = {.process = thread->process, .address = of->address};
	struct line *line = g_hash_table_lookup(uses->lines, &key);

	if (!line || thread->start_ns == PP_TIME_UNKNOWN || !are_all_before(line, thread) ||
	    !listener->is_reused(listener->data, thread->process, pp_access_line_first(of)))
		return;
	line_remove(uses, line);
	listener->reused(listener->data, thread->process, of->address);
}

uint32_t pp_ulcp_uses_add(struct pp_ulcp_uses *uses, const struct pp_thread *thread,
			  struct pp_access_set *set)
{
	const struct accesses key = {.thread = thread, .set = set, .number = uses->known->len};
	struct accesses *accesses = set->n ? g_hash_table_lookup(uses->accesses, &key) : NULL;
	const guint8 none = PP_ULCP_USES_NONE;

	if (accesses || !set->n)
		return accesses ? accesses->number : 0;
	for (unsigned i = 0; i < set->n; i++)
		end_if_reused(uses, thread, &set->lines[i]);
	accesses = g_memdup2(&key, sizeof(key));
	pp_access_set_ref(set);
	g_byte_array_append(uses->known, &none, 1);
	g_hash_table_add(uses->accesses, accesses);
	for (unsigned i = 0; i < set->n; i++) {
		const struct entry entry = {accesses, set->lines[i].read, set->lines[i].written};

		add_entry(uses, line_at(uses, thread->process, set->lines[i].address), &entry);
	}
	return key.number;
}

enum pp_ulcp_use pp_ulcp_uses_get(const struct pp_ulcp_uses *uses, uint32_t number)
{
	return uses->known->data[number];
}

/* --- the end of lives ------------------------------------------------------------------------- */

static void end_in_line(struct pp_ulcp_uses *uses, struct line *line, uint64_t ended)
{
	guint n = 0;

	for (guint i = 0; i < line->entries->len; i++) {
		struct entry entry = g_array_index(line->entries, struct entry, i);

		if ((entry.read | entry.written) & ended) {
			retire(uses, entry.accesses);
			entry.read &= ~ended;
			entry.written &= ~ended;
		}
		if (entry.read | entry.written)
			g_array_index(line->entries, struct entry, n++) = entry;
		else
			unlist(uses, entry.accesses);
	}
	g_array_set_size(line->entries, n);
	line->shared &= ~ended;
	for (guint i = 0; i < line->owners->len; i++)
		g_array_index(line->owners, struct owner, i).bytes &= ~ended;
	if (!n)
		line_remove(uses, line);
}

void pp_ulcp_uses_end_life(struct pp_ulcp_uses *uses, const struct pp_process *process,
			   uint64_t address, uint64_t size)
{
	uint64_t end = size > UINT64_MAX - ST_LINE_BYTES - address ? UINT64_MAX - ST_LINE_BYTES
								   : address + size;
	struct pp_line_key key = {.process = process,
				  .address = address & ~(uint64_t)(ST_LINE_BYTES - 1)};
	g_autoptr(GPtrArray) found = g_ptr_array_new();
	GHashTableIter iter;
	void *at;

	/* Goes through the range, or all lines, whichever is less. */
	if (address >= end)
		return;
	if ((end - key.address) / ST_LINE_BYTES < g_hash_table_size(uses->lines)) {
		for (; key.address < end; key.address += ST_LINE_BYTES)
			if ((at = g_hash_table_lookup(uses->lines, &key)))
				g_ptr_array_add(found, at);
	} else {
		g_hash_table_iter_init(&iter, uses->lines);
		while (g_hash_table_iter_next(&iter, &at, NULL))
			if (((struct line *)at)->key.process == process)
				g_ptr_array_add(found, at);
	}
	for (guint i = 0; i < found->len; i++) {
		struct line *line = found->pdata[i];
		uint64_t ended = pp_access_bytes_in(line->key.address, address, end);

		if (ended)
			end_in_line(uses, line, ended);
	}
}

/* --- creation and end ------------------------------------------------------------------------- */

struct pp_ulcp_uses *pp_ulcp_uses_new(const struct pp_ulcp_uses_listener *listener)
{
	struct pp_ulcp_uses *uses = g_new0(struct pp_ulcp_uses, 1);
	const guint8 none = PP_ULCP_USES_NONE;

	uses->listener = listener;
	uses->accesses = g_hash_table_new(accesses_hash, accesses_equal);
	uses->lines = g_hash_table_new(pp_line_hash, pp_line_equal);
	uses->known = g_byte_array_new();
	g_byte_array_append(uses->known, &none, 1); /* number 0: no accesses */
	return uses;
}

void pp_ulcp_uses_free(struct pp_ulcp_uses *uses)
{
	g_autoptr(GPtrArray) lines = g_ptr_array_new();
	GHashTableIter iter;
	void *line;

	g_hash_table_iter_init(&iter, uses->lines);
	while (g_hash_table_iter_next(&iter, &line, NULL))
		g_ptr_array_add(lines, line);
	for (guint i = 0; i < lines->len; i++)
		line_remove(uses, lines->pdata[i]);
	g_hash_table_unref(uses->lines);
	g_hash_table_unref(uses->accesses);
	g_byte_array_unref(uses->known);
	g_free(uses);
}
