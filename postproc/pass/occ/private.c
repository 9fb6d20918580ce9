/* SPDX-License-Identifier: MIT */
/*
 * See private.h.  The last results are kept by set and thread, and hold as long as no line becomes
 * another's and no block begins or ends: repeated sets cost a look-up.
 */
#include "pass/occ/private.h"

#include "analysis/accesses/blocks.h"
#include "sync-trace/accesses.h"

#define SLOTS 4096u

enum owner { OWNED, SHARED, VARIABLE };

struct line {
	const struct pp_process *process;
	uint64_t address;
	enum owner owner;
	const struct pp_thread *thread; /* OWNED: the only one so far */
};

struct slot {
	uint64_t serial, version;
	const struct pp_thread *thread;
	struct pp_access_set *result; /* NULL: the set itself */
};

struct pp_occ_private {
	const struct pp_pass_context *context;
	struct pp_blocks *blocks;
	GHashTable *lines; /* set of struct line * */
	uint64_t version;  /* of all that the results depend on */
	struct slot slots[SLOTS];
};

static guint line_hash(gconstpointer data)
{
	const struct line *line = data;

	return (
	    guint)(((line->address ^ (uintptr_t)line->process) * UINT64_C(0x9e3779b97f4a7c15)) >>
		   32);
}

static gboolean line_equal(gconstpointer a, gconstpointer b)
{
	const struct line *x = a, *y = b;

	return x->address == y->address && x->process == y->process;
}

struct pp_occ_private *pp_occ_private_new(const struct pp_pass_context *context)
{
	struct pp_occ_private *self = g_new0(struct pp_occ_private, 1);

	self->context = context;
	self->blocks = pp_blocks_new();
	self->lines = g_hash_table_new_full(line_hash, line_equal, g_free, NULL);
	self->version = 1;
	return self;
}

void pp_occ_private_free(struct pp_occ_private *self)
{
	for (unsigned i = 0; i < SLOTS; i++)
		pp_access_set_unref(self->slots[i].result);
	pp_blocks_free(self->blocks);
	g_hash_table_unref(self->lines);
	g_free(self);
}

void pp_occ_private_block(struct pp_occ_private *self, const struct pp_process *process,
			  uint64_t address, uint64_t size, uint64_t site)
{
	pp_blocks_add(self->blocks, process, address, size, site);
	self->version++;
}

void pp_occ_private_freed(struct pp_occ_private *self, const struct pp_process *process,
			  uint64_t address, uint64_t size)
{
	pp_blocks_remove(self->blocks, process, address, size);
	self->version++;
}

/* --- lines ---------------------------------------------------------------------------------- */

static bool is_variable(const struct pp_occ_private *self, const struct pp_process *process,
			uint64_t address)
{
	const struct pp_namer *namer = self->context->namer;
	g_autofree char *build_id = NULL, *place = NULL;

	if (namer && namer->place)
		place = namer->place(namer->data, process, address, &build_id);
	return place != NULL;
}

static const struct line *new_line(struct pp_occ_private *self, const struct line *key)
{
	struct line *line = g_memdup2(key, sizeof(*key));

	line->owner = is_variable(self, key->process, key->address) ? VARIABLE : OWNED;
	g_hash_table_add(self->lines, line);
	return line;
}

/* The stack of an ended thread may become that of a later one. */
static bool is_after(const struct pp_thread *thread, const struct pp_thread *before)
{
	return before->end_ns != PP_TIME_UNKNOWN && thread->start_ns != PP_TIME_UNKNOWN &&
	       before->end_ns <= thread->start_ns;
}

static bool is_heap(const struct pp_occ_private *self, const struct pp_process *process,
		    const struct pp_access_line *accessed)
{
	unsigned first = (unsigned)__builtin_ctzll(accessed->read | accessed->written);

	return pp_blocks_place(self->blocks, process, accessed->address + first).is_heap;
}

static bool is_private(struct pp_occ_private *self, const struct pp_thread *thread,
		       const struct pp_access_line *accessed)
{
	const struct line key = {thread->process, accessed->address, OWNED, thread};
	struct line *line;

	if (is_heap(self, thread->process, accessed))
		return false;
	line = g_hash_table_lookup(self->lines, &key);
	if (!line)
		return new_line(self, &key)->owner == OWNED;
	if (line->owner != OWNED)
		return false;
	if (line->thread == thread)
		return true;
	self->version++;
	if (!is_after(thread, line->thread))
		line->owner = SHARED;
	line->thread = thread;
	return line->owner == OWNED;
}

static struct pp_access_set *leave_out(struct pp_occ_private *self, const struct pp_thread *thread,
				       struct pp_access_set *set)
{
	struct pp_access_set *rest = pp_access_set_ref(set);

	for (unsigned i = 0; i < set->n; i++) {
		struct pp_access_set *with = rest;

		if (!is_private(self, thread, &set->lines[i]))
			continue;
		rest = pp_access_set_without(with, set->lines[i].address, ST_LINE_BYTES);
		pp_access_set_unref(with);
	}
	return rest;
}

struct pp_access_set *pp_occ_private_leave_out(struct pp_occ_private *self,
					       const struct pp_thread *thread,
					       struct pp_access_set *set)
{
	struct slot *slot = &self->slots[(set->serial * 31 + thread->serial) % SLOTS];
	struct pp_access_set *rest;

	if (slot->serial == set->serial && slot->thread == thread && slot->version == self->version)
		return pp_access_set_ref(slot->result ? slot->result : set);
	rest = leave_out(self, thread, set);
	pp_access_set_unref(slot->result);
	*slot = (struct slot){set->serial, self->version, thread,
			      rest == set ? NULL : pp_access_set_ref(rest)};
	return rest;
}
