/* SPDX-License-Identifier: MIT */
/* A balanced tree of blocks that do not overlap, by process and address. */
#include "analysis/accesses/blocks.h"

struct block {
	const struct pp_process *process;
	uint64_t address, end, site;
};

struct pp_blocks {
	GTree *tree; /* struct block *, its own key */
};

static gint compare_blocks(gconstpointer a, gconstpointer b, gpointer data)
{
	const struct block *x = a, *y = b;

	(void)data;
	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	return (x->address > y->address) - (x->address < y->address);
}

struct pp_blocks *pp_blocks_new(void)
{
	struct pp_blocks *blocks = g_new0(struct pp_blocks, 1);

	blocks->tree = g_tree_new_full(compare_blocks, NULL, g_free, NULL);
	return blocks;
}

void pp_blocks_free(struct pp_blocks *blocks)
{
	g_tree_unref(blocks->tree);
	g_free(blocks);
}

static struct block *block_of(GTreeNode *node)
{
	return node ? g_tree_node_key(node) : NULL;
}

/* The last block that begins before `end`, and ends after `address`; NULL: none. */
static struct block *find_block(const struct pp_blocks *blocks, const struct pp_process *process,
				uint64_t address, uint64_t end)
{
	const struct block key = {.process = process, .address = end};
	GTreeNode *after = g_tree_lower_bound(blocks->tree, &key);
	struct block *found =
	    block_of(after ? g_tree_node_previous(after) : g_tree_node_last(blocks->tree));

	return found && found->process == process && found->end > address ? found : NULL;
}

static uint64_t end_of(uint64_t address, uint64_t size)
{
	return size > UINT64_MAX - address ? UINT64_MAX : address + size;
}

void pp_blocks_remove(struct pp_blocks *blocks, const struct pp_process *process, uint64_t address,
		      uint64_t size)
{
	uint64_t end = end_of(address, MAX(size, 1));
	struct block *found;

	while ((found = find_block(blocks, process, address, end)))
		g_tree_remove(blocks->tree, found);
}

void pp_blocks_add(struct pp_blocks *blocks, const struct pp_process *process, uint64_t address,
		   uint64_t size, uint64_t site)
{
	struct block *added;

	if (!size)
		return;
	pp_blocks_remove(blocks, process, address, size);
	added = g_new(struct block, 1);
	*added = (struct block){process, address, end_of(address, size), site};
	g_tree_insert(blocks->tree, added, added);
}

struct pp_memory_place pp_blocks_place(const struct pp_blocks *blocks,
				       const struct pp_process *process, uint64_t address)
{
	const struct block *block = find_block(blocks, process, address, end_of(address, 1));

	if (!block)
		return (struct pp_memory_place){.process = process, .address = address};
	return (struct pp_memory_place){
	    .process = process,
	    .is_heap = true,
	    .site = block->site,
	    .size = block->end - block->address,
	    .address = address - block->address,
	};
}

guint pp_memory_place_hash(const void *data)
{
	const struct pp_memory_place *place = data;
	uint64_t hash = (uintptr_t)place->process ^ place->is_heap;

	hash = (hash ^ place->site) * UINT64_C(0x9e3779b97f4a7c15);
	hash = (hash ^ hash >> 29 ^ place->size) * UINT64_C(0x9e3779b97f4a7c15);
	hash = (hash ^ hash >> 29 ^ place->address) * UINT64_C(0x9e3779b97f4a7c15);
	return (guint)(hash >> 32);
}

int pp_memory_place_compare(const struct pp_memory_place *a, const struct pp_memory_place *b)
{
	if (a->process != b->process)
		return a->process->pid < b->process->pid || (a->process->pid == b->process->pid &&
							     a->process->image < b->process->image)
			   ? -1
			   : 1;
	if (a->is_heap != b->is_heap)
		return a->is_heap ? 1 : -1;
	if (a->site != b->site)
		return a->site < b->site ? -1 : 1;
	if (a->size != b->size)
		return a->size < b->size ? -1 : 1;
	return (a->address > b->address) - (a->address < b->address);
}

gboolean pp_memory_place_equal(const void *a, const void *b)
{
	const struct pp_memory_place *x = a, *y = b;

	return x->process == y->process && pp_memory_place_compare(x, y) == 0;
}
