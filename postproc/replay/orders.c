/* SPDX-License-Identifier: MIT */
/* Open sections are found by thread and lock; there are few at a time. */
#include "replay/orders.h"

struct pp_replay_orders {
	GHashTable *open; /* struct key * -> struct pp_replay_order * */
};

struct key {
	const struct pp_thread *thread;
	const struct pp_object *object;
};

static guint hash_key(const void *data)
{
	const struct key *key = data;

	return g_direct_hash(key->thread) * 31 + g_direct_hash(key->object);
}

static gboolean equal_keys(const void *a, const void *b)
{
	const struct key *x = a, *y = b;

	return x->thread == y->thread && x->object == y->object;
}

static void order_free(void *data)
{
	pp_replay_order_free(data);
}

struct pp_replay_orders *pp_replay_orders_new(void)
{
	struct pp_replay_orders *self = g_new(struct pp_replay_orders, 1);

	self->open = g_hash_table_new_full(hash_key, equal_keys, g_free, order_free);
	return self;
}

void pp_replay_orders_free(struct pp_replay_orders *self)
{
	if (!self)
		return;
	g_hash_table_unref(self->open);
	g_free(self);
}

void pp_replay_order_free(struct pp_replay_order *order)
{
	if (!order)
		return;
	g_array_unref(order->lines);
	g_free(order);
}

static struct pp_replay_order *order_of(struct pp_replay_orders *self,
					const struct pp_access_instance *instance)
{
	const struct key key = {instance->thread, instance->object};
	struct pp_replay_order *order = g_hash_table_lookup(self->open, &key);

	if (order)
		return order;
	order = g_new0(struct pp_replay_order, 1);
	order->lines = g_array_new(FALSE, FALSE, sizeof(struct pp_replay_order_line));
	g_hash_table_insert(self->open, g_memdup2(&key, sizeof(key)), order);
	return order;
}

void pp_replay_orders_segment(struct pp_replay_orders *self,
			      const struct pp_access_instance *instance,
			      const struct pp_event *event)
{
	struct pp_replay_order *order = order_of(self, instance);
	uint32_t n = 0; /* each access is one of a line of the segment */

	order->is_unknown |= !event->segment.n_order && event->segment.set->n;
	for (unsigned i = 0; i < event->segment.n_order; i++) {
		const struct pp_access_order *from = &event->segment.order[i];
		struct pp_replay_order_line line = {from->address, order->n_accesses + from->first,
						    order->n_accesses + from->last};

		n = MAX(n, from->last);
		g_array_append_val(order->lines, line);
	}
	order->n_accesses += n;
}

struct pp_replay_order *pp_replay_orders_take(struct pp_replay_orders *self,
					      const struct pp_access_instance *instance)
{
	const struct key key = {instance->thread, instance->object};
	void *known_key, *order;

	if (!g_hash_table_steal_extended(self->open, &key, &known_key, &order))
		return NULL;
	g_free(known_key);
	return order;
}
