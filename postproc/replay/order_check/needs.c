/* SPDX-License-Identifier: MIT */
/*
 * The parts of a lock are taken in its order. Each line of memory knows, by thread and by the bytes
 * that it accessed and changed, the last part that did so. If these are too many, the line knows it
 * for each byte, so that there is a limit to them.
 *
 * Sections that are not known, and those of any kind, are kept by thread.
 */
#include <stdlib.h>

#include "replay/order_check/internal.h"

#define MOST_KINDS 256

struct kind {
	uint32_t thread;
	bool shared;
	uint64_t accessed, changed;
	uint32_t end; /* step after the end of the last part; 0: none */
};

struct line {
	GArray *kinds; /* of struct kind */
	bool by_byte;
};

/* The ends of the last parts of a thread: [0] exclusive, [1] shared. */
struct ends {
	uint32_t any[2], unknown[2];
};

struct collector {
	GArray *needs;
	GHashTable *lines; /* address -> struct line */
	struct ends *ends; /* by thread */
	GArray *threads;   /* of uint32_t: those that had the lock */
	uint32_t *needed;  /* by thread: for the present part */
};

static void line_free(void *data)
{
	struct line *line = data;

	g_array_unref(line->kinds);
	g_free(line);
}

static void need(struct collector *self, uint32_t thread, uint32_t end)
{
	self->needed[thread] = MAX(self->needed[thread], end);
}

/* --- lines ------------------------------------------------------------------------------------ */

static void note_kind(struct line *line, const struct kind *new)
{
	for (guint i = 0; i < line->kinds->len; i++) {
		struct kind *kind = &g_array_index(line->kinds, struct kind, i);

		if (kind->thread == new->thread && kind->shared == new->shared &&
		    kind->accessed == new->accessed && kind->changed == new->changed) {
			kind->end = MAX(kind->end, new->end);
			return;
		}
	}
	g_array_append_vals(line->kinds, new, 1);
}

static void note_bytes(struct line *line, const struct kind *new)
{
	for (unsigned i = 0; i < ST_LINE_BYTES; i++) {
		uint64_t bit = UINT64_C(1) << i;
		struct kind part = *new;

		part.accessed &= bit;
		part.changed &= bit;
		if (part.accessed)
			note_kind(line, &part);
	}
}

static void divide(struct line *line)
{
	g_autoptr(GArray) before = line->kinds;

	line->by_byte = true;
	line->kinds = g_array_new(FALSE, FALSE, sizeof(struct kind));
	for (guint i = 0; i < before->len; i++)
		note_bytes(line, &g_array_index(before, struct kind, i));
}

static struct line *line_of(struct collector *self, const uint64_t *address)
{
	struct line *line = g_hash_table_lookup(self->lines, address);

	if (line)
		return line;
	line = g_new0(struct line, 1);
	line->kinds = g_array_new(FALSE, FALSE, sizeof(struct kind));
	g_hash_table_insert(self->lines, g_memdup2(address, sizeof(*address)), line);
	return line;
}

static void look_up(struct collector *self, const struct pp_order_part *part, const struct kind *of,
		    const struct line *line)
{
	for (guint i = 0; i < line->kinds->len; i++) {
		const struct kind *kind = &g_array_index(line->kinds, struct kind, i);

		if (kind->thread != part->thread && !(kind->shared && part->shared) &&
		    ((kind->changed & of->accessed) || (kind->accessed & of->changed)))
			need(self, kind->thread, kind->end);
	}
}

static void take_line(struct collector *self, const struct pp_order_part *part,
		      const struct pp_access_line *accessed)
{
	struct line *line = line_of(self, &accessed->address);
	struct kind kind = {part->thread, part->shared, accessed->read | accessed->written,
			    accessed->written & accessed->changed, part->last + 1};

	look_up(self, part, &kind, line);
	if (!line->by_byte && line->kinds->len >= MOST_KINDS)
		divide(line);
	if (line->by_byte)
		note_bytes(line, &kind);
	else
		note_kind(line, &kind);
}

/* --- parts ------------------------------------------------------------------------------------ */

/* Parts that are in conflict because one of both is not known. */
static void look_up_unknown(struct collector *self, const struct pp_order_part *part)
{
	for (guint i = 0; i < self->threads->len; i++) {
		uint32_t thread = g_array_index(self->threads, uint32_t, i);
		const struct ends *ends = &self->ends[thread];
		const uint32_t *of = part->set ? ends->unknown : ends->any;

		if (thread == part->thread)
			continue;
		need(self, thread, of[0]);
		if (!part->shared)
			need(self, thread, of[1]);
	}
}

static void note_part(struct collector *self, const struct pp_order_part *part)
{
	struct ends *ends = &self->ends[part->thread];

	if (!ends->any[0] && !ends->any[1])
		g_array_append_val(self->threads, part->thread);
	ends->any[part->shared] = part->last + 1;
	if (!part->set)
		ends->unknown[part->shared] = part->last + 1;
}

static void take_part(struct collector *self, const struct pp_order_part *part)
{
	look_up_unknown(self, part);
	for (unsigned i = 0; part->set && i < part->set->n; i++)
		take_line(self, part, &part->set->lines[i]);
	note_part(self, part);
	for (guint i = 0; i < self->threads->len; i++) {
		uint32_t thread = g_array_index(self->threads, uint32_t, i);
		struct pp_order_need new = {
		    part->thread, part->first, {thread, self->needed[thread] - 1}};

		if (self->needed[thread])
			g_array_append_val(self->needs, new);
		self->needed[thread] = 0;
	}
}

/* --- locks of which no part is known -----------------------------------------------------------
 */

static void add_direct(struct collector *self, const struct pp_order_part *of,
		       const struct pp_order_part *part)
{
	struct pp_order_need new = {part->thread, part->first, {of->thread, of->last}};

	if (of->thread != part->thread)
		g_array_append_val(self->needs, new);
}

/*
 * Each part needs those directly before it, so that all are in order: the last exclusive one, or
 * the readers since.
 */
static void take_ordered(struct collector *self, const struct pp_order_part *parts, guint n)
{
	const struct pp_order_part *exclusive = NULL;

	for (guint i = 0; i < n; i++) {
		bool has_readers = i > 0 && parts[i - 1].shared;

		for (guint k = i; has_readers && !parts[i].shared && k > 0 && parts[k - 1].shared;
		     k--)
			add_direct(self, &parts[k - 1], &parts[i]);
		if (exclusive && (parts[i].shared || !has_readers))
			add_direct(self, exclusive, &parts[i]);
		if (!parts[i].shared)
			exclusive = &parts[i];
	}
}

/* --- locks -------------------------------------------------------------------------------------
 */

/* Forgets the lock whose parts have been taken. */
static void begin_lock(struct collector *self)
{
	g_hash_table_remove_all(self->lines);
	for (guint i = 0; i < self->threads->len; i++)
		self->ends[g_array_index(self->threads, uint32_t, i)] = (struct ends){0};
	g_array_set_size(self->threads, 0);
}

static void take_lock(struct collector *self, const struct pp_order_part *parts, guint n)
{
	bool is_known = false;

	for (guint i = 0; i < n; i++)
		is_known |= parts[i].set != NULL;
	if (!is_known) {
		take_ordered(self, parts, n);
		return;
	}
	begin_lock(self);
	for (guint i = 0; i < n; i++)
		take_part(self, &parts[i]);
}

GArray *pp_order_needs(const GArray *parts, guint n_threads)
{
	struct collector self = {
	    .needs = g_array_new(FALSE, FALSE, sizeof(struct pp_order_need)),
	    .lines = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, line_free),
	    .ends = g_new0(struct ends, n_threads),
	    .threads = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
	    .needed = g_new0(uint32_t, n_threads),
	};

	for (guint first = 0, i = 1; i <= parts->len; i++) {
		if (i < parts->len && pp_order_part_at(parts, i)->at != 0)
			continue;
		take_lock(&self, pp_order_part_at(parts, first), i - first);
		first = i;
	}
	g_hash_table_unref(self.lines);
	g_array_unref(self.threads);
	g_free(self.ends);
	g_free(self.needed);
	return self.needs;
}
