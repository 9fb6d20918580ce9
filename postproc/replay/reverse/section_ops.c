/* SPDX-License-Identifier: MIT */
/* A hash table of open sections, by thread and address of the lock. */
#include "replay/reverse/section_ops.h"

#include "analysis/mix.h"

struct open_section {
	const struct pp_thread *thread;
	uint64_t lock; /* address */
	uint64_t op;
};

struct pp_section_ops {
	GHashTable *open; /* a set of struct open_section * */
};

static guint section_hash(const void *data)
{
	const struct open_section *section = data;

	return (guint)pp_mix(pp_mix(0, (uintptr_t)section->thread), section->lock);
}

static gboolean section_equal(const void *a, const void *b)
{
	const struct open_section *x = a, *y = b;

	return x->thread == y->thread && x->lock == y->lock;
}

struct pp_section_ops *pp_section_ops_new(void)
{
	struct pp_section_ops *ops = g_new0(struct pp_section_ops, 1);

	ops->open = g_hash_table_new_full(section_hash, section_equal, g_free, NULL);
	return ops;
}

void pp_section_ops_free(struct pp_section_ops *ops)
{
	g_hash_table_unref(ops->open);
	g_free(ops);
}

void pp_section_ops_event(struct pp_section_ops *ops, const struct pp_event *event, uint64_t op)
{
	bool is_wait = pp_sync_has(event->sync.op, PP_SYNC_YIELDS);
	const struct open_section section = {event->thread,
					     is_wait ? event->sync.value : event->sync.object, op};

	if (op == PP_SECTION_OP_NONE ||
	    (!is_wait && !pp_sync_acquired(event->sync.op, event->sync.result)) ||
	    g_hash_table_contains(ops->open, &section))
		return;
	g_hash_table_add(ops->open, g_memdup2(&section, sizeof(section)));
}

uint64_t pp_section_ops_end(struct pp_section_ops *ops, const struct pp_thread *thread,
			    uint64_t lock)
{
	const struct open_section key = {thread, lock, 0};
	const struct open_section *section = g_hash_table_lookup(ops->open, &key);
	uint64_t op = section ? section->op : PP_SECTION_OP_NONE;

	g_hash_table_remove(ops->open, &key);
	return op;
}
