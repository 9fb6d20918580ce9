/* SPDX-License-Identifier: MIT */
#include "pass/chain.h"

#include <string.h>

/* Among so many of the last ones an equal key is looked for; in longer ones by slots, too. */
#define RECENT 4

/* A power of two. */
#define SLOTS 256

struct stretch {
	GArray *entries; /* of struct pp_chain_entry; the first n_sorted sorted, each key once */
	guint n_sorted;
	int64_t from_ns; /* of a chain's first: when that begins */
	guint32 *slots;	 /* by hash of the key: where it may be, plus 1; NULL: none yet */
};

static GNode *stretch_new(int64_t from_ns)
{
	struct stretch *stretch = g_new(struct stretch, 1);

	*stretch = (struct stretch){
	    .entries = g_array_new(FALSE, FALSE, sizeof(struct pp_chain_entry)),
	    .from_ns = from_ns,
	};
	return g_node_new(stretch);
}

static void stretch_free(GNode *node)
{
	struct stretch *stretch = node->data;

	g_array_unref(stretch->entries);
	g_free(stretch->slots);
	g_free(stretch);
	node->data = NULL;
	g_node_destroy(node);
}

/* --- amounts -------------------------------------------------------------------------------- */

static gint compare(gconstpointer a, gconstpointer b)
{
	const struct pp_chain_entry *x = a, *y = b;

	return x->key < y->key ? -1 : x->key > y->key;
}

/* Each key once. */
static void combine(struct stretch *stretch)
{
	struct pp_chain_entry *entries = (struct pp_chain_entry *)stretch->entries->data;
	guint n = 0;

	g_array_sort(stretch->entries, compare);
	for (guint i = 0; i < stretch->entries->len; i++)
		if (n && entries[n - 1].key == entries[i].key)
			entries[n - 1].amount += entries[i].amount;
		else
			entries[n++] = entries[i];
	g_array_set_size(stretch->entries, n);
	stretch->n_sorted = n;
	if (stretch->slots)
		memset(stretch->slots, 0, SLOTS * sizeof(*stretch->slots));
}

/* Now and then, so that it costs little and holds at most twice of what it has to. */
static void combine_if_long(struct stretch *stretch)
{
	if (stretch->entries->len > 2 * stretch->n_sorted + 64)
		combine(stretch);
}

/* Where the key may be; a slot that is not used is 0. */
static guint32 *slot_of(struct stretch *stretch, uint64_t key)
{
	if (!stretch->slots)
		stretch->slots = g_new0(guint32, SLOTS);
	return &stretch->slots[(key * UINT64_C(0x9e3779b97f4a7c15)) >> 56];
}

static void append(struct stretch *stretch, uint64_t key, int64_t amount)
{
	const struct pp_chain_entry new = {key, amount};
	guint32 *slot = stretch->entries->len >= RECENT ? slot_of(stretch, key) : NULL;

	if (slot && *slot && *slot <= stretch->entries->len) {
		struct pp_chain_entry *entry =
		    &g_array_index(stretch->entries, struct pp_chain_entry, *slot - 1);

		if (entry->key == key) {
			entry->amount += amount;
			return;
		}
	}
	g_array_append_val(stretch->entries, new);
	if (slot)
		*slot = stretch->entries->len;
	combine_if_long(stretch);
}

void pp_chain_add(const struct pp_chain *chain, uint64_t key, int64_t amount)
{
	struct stretch *stretch = chain->leaf->data;
	struct pp_chain_entry *entries = (struct pp_chain_entry *)stretch->entries->data;
	guint n = stretch->entries->len, first = n > RECENT ? n - RECENT : 0;

	for (guint i = n; i-- > first;)
		if (entries[i].key == key) {
			entries[i].amount += amount;
			return;
		}
	append(stretch, key, amount);
}

/* --- the tree ------------------------------------------------------------------------------- */

GNode *pp_chains_new(void)
{
	return g_node_new(NULL);
}

static gboolean free_stretch(GNode *node, void *data)
{
	struct stretch *stretch = node->data;

	(void)data;
	if (stretch) {
		g_array_unref(stretch->entries);
		g_free(stretch->slots);
	}
	g_free(stretch);
	return FALSE;
}

void pp_chains_free(GNode *chains)
{
	g_node_traverse(chains, G_POST_ORDER, G_TRAVERSE_ALL, -1, free_stretch, NULL);
	g_node_destroy(chains);
}

struct pp_chain pp_chain_begin(GNode *chains, int64_t from_ns)
{
	return (struct pp_chain){g_node_append(chains, stretch_new(from_ns))};
}

struct pp_chain pp_chain_branch(struct pp_chain *chain)
{
	const struct stretch *stretch = chain->leaf->data;
	GNode *both = chain->leaf;

	chain->leaf = g_node_append(both, stretch_new(stretch->from_ns));
	return (struct pp_chain){g_node_append(both, stretch_new(stretch->from_ns))};
}

/* `node` and the only one that follows it become one. */
static void join(GNode *node)
{
	GNode *after = node->children;
	struct stretch *first = node->data, *last = after->data;
	struct stretch both = *first;

	g_array_append_vals(both.entries, last->entries->data, last->entries->len);
	*first = *last;
	*last = both;
	combine_if_long(last);
	g_node_unlink(after);
	g_node_append(node->parent, after);
	g_node_unlink(node);
	stretch_free(node);
}

void pp_chain_drop(struct pp_chain *chain)
{
	GNode *before = chain->leaf->parent;

	g_node_unlink(chain->leaf);
	stretch_free(chain->leaf);
	chain->leaf = NULL;
	if (before->data && before->children && !before->children->next)
		join(before);
}

GArray *pp_chain_sum(const struct pp_chain *chain, int64_t *ret_from_ns)
{
	struct stretch sum = {
	    .entries = g_array_new(FALSE, FALSE, sizeof(struct pp_chain_entry)),
	};

	for (const GNode *node = chain->leaf; node->data; node = node->parent) {
		const struct stretch *stretch = node->data;

		g_array_append_vals(sum.entries, stretch->entries->data, stretch->entries->len);
		*ret_from_ns = stretch->from_ns;
	}
	combine(&sum);
	return sum.entries;
}
