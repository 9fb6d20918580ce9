/* SPDX-License-Identifier: MIT */
/*
 * Nodes of call paths (nodes.h).
 *
 * An address in no object of the load map has a node, too, which is not defined: a path ends before
 * it. The first table is part of the writer's memory: of a thousand threads most have few paths. If
 * a handler jumps out while a node is added, at worst it is defined again, by another number.
 */
#include <sys/mman.h>

#include "runtime/sys/sys.h"
#include "runtime/unwind/nodes.h"
#include "runtime/unwind/unwind.h"

#define SLOTS_MAX  (1u << 20)		 /* of a writer: 16 MiB */
#define TABLES_MAX ((uint64_t)256 << 20) /* of all writers, in bytes */
#define OUTSIDE	   UINT32_MAX		 /* number of a node that ends paths */

_Static_assert(GM_N_ENDS <= GM_NODE_FIRST, "numbers of nodes are greater");

static uint64_t tables_bytes; /* of all tables that grew */

/* Returns the slot of the node, or the free slot for it. */
static struct gm_node *node_at(const struct gm_nodes *nodes, uint32_t parent, uint64_t address)
{
	uint64_t hash = (address ^ (uint64_t)parent << 40) * 0x9e3779b97f4a7c15u;

	hash = (hash ^ parent) * 0x9e3779b97f4a7c15u;
	for (uint64_t i = hash >> 40;; i++) {
		struct gm_node *node = &nodes->at[i & (nodes->n_slots - 1)];

		if (node->number == 0 || (node->address == address && node->parent == parent))
			return node;
	}
}

static uint64_t table_bytes(const struct gm_nodes *nodes)
{
	return nodes->n_slots * sizeof(nodes->at[0]);
}

/* Returns memory for the nodes of a table, zeroed in a forked child; NULL: there is no more. */
static struct gm_node *table_new(uint64_t size_bytes)
{
	struct gm_node *table = NULL;

	if (__atomic_add_fetch(&tables_bytes, size_bytes, __ATOMIC_RELAXED) <= TABLES_MAX)
		table = gm_sys_mmap(size_bytes, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (table == NULL)
		__atomic_fetch_sub(&tables_bytes, size_bytes, __ATOMIC_RELAXED);
	else
		gm_syscall3(SYS_madvise, (long)table, (long)size_bytes, MADV_WIPEONFORK);
	return table;
}

void gm_nodes_begin(struct gm_nodes *nodes, struct gm_node *first)
{
	nodes->at = first;
	nodes->n_slots = GM_NODES_FIRST;
	gm_nodes_forget(nodes); /* in a forked child they may be the parent's */
}

void gm_nodes_forget(struct gm_nodes *nodes)
{
	if (nodes->at != NULL)
		memset(nodes->at, 0, table_bytes(nodes));
	nodes->n_used = 0;
}

void gm_nodes_forked(void)
{
	/* Writes only if necessary: each page that a child writes to is copied. */
	if (tables_bytes != 0)
		tables_bytes = 0;
}

bool gm_nodes_grow(struct gm_nodes *nodes, const struct gm_node *first)
{
	struct gm_nodes bigger = *nodes;

	if (nodes->n_slots == SLOTS_MAX)
		return false;
	bigger.n_slots = 4 * nodes->n_slots;
	bigger.at = table_new(table_bytes(&bigger));
	if (bigger.at == NULL)
		return false;
	for (uint32_t i = 0; i < nodes->n_slots; i++)
		if (nodes->at[i].number != 0)
			*node_at(&bigger, nodes->at[i].parent, nodes->at[i].address) = nodes->at[i];
	if (nodes->at != first) {
		gm_sys_munmap(nodes->at, table_bytes(nodes));
		__atomic_fetch_sub(&tables_bytes, table_bytes(nodes), __ATOMIC_RELAXED);
	}
	*nodes = bigger;
	return true;
}

/* A node is being added. */
struct addition {
	struct gm_nodes *nodes;
	const struct gm_nodes_writer *functions;
	void *writer;
	uint64_t now_ns;
};

/* Defines a node in the stream. Returns its number; 0: there is no room. */
static uint32_t define(const struct addition *addition, uint32_t parent, uint64_t address)
{
	struct gm_nodes *nodes = addition->nodes;
	uint32_t number = nodes->last < GM_NODE_FIRST ? GM_NODE_FIRST : nodes->last + 1;

	if (number == OUTSIDE)
		return 0;
	nodes->last = number;
	return addition->functions->define(addition->writer, number, parent, address,
					   addition->now_ns)
		   ? number
		   : 0;
}

/* Returns the number of a node, which it defines if it is new. 0: there is no room. */
static uint32_t node_number(const struct addition *addition, uint32_t parent, uint64_t address,
			    bool is_innermost)
{
	struct gm_nodes *nodes = addition->nodes;
	struct gm_node *node = node_at(nodes, parent, address);
	uint32_t number = OUTSIDE;
	uint64_t defined = address;

	if (node->number != 0)
		return node->number;
	if (nodes->n_used >= nodes->n_slots - nodes->n_slots / 4 &&
	    !addition->functions->grow(addition->writer))
		return 0;
	if (addition->functions->note(addition->writer, address, &defined) || is_innermost)
		number = define(addition, parent, defined);
	if (number == 0)
		return 0;
	node = node_at(nodes, parent, address); /* after the table has grown */
	nodes->n_used++;
	node->address = address;
	node->parent = parent;
	/* release: a handler that jumps out leaves the node whole or free */
	__atomic_store_n(&node->number, number, __ATOMIC_RELEASE);
	return number;
}

/* Returns the number of the path's node; 0: not all its nodes are known. */
static uint32_t find(const struct gm_nodes *nodes, const struct gm_call_path *path)
{
	uint32_t parent = path->end;

	for (unsigned i = path->n; i-- > 0;) {
		uint32_t number = node_at(nodes, parent, path->addresses[i])->number;

		if (number == 0)
			return 0;
		parent = number == OUTSIDE ? GM_END_NO_OBJECT : number;
	}
	return parent;
}

/* The same, but defines nodes that are not known. 0: there is no room. */
static __attribute__((noinline, cold)) uint32_t learn(const struct addition *addition,
						      const struct gm_call_path *path)
{
	uint32_t parent = path->end;

	for (unsigned i = path->n; i-- > 0;) {
		uint32_t number = node_number(addition, parent, path->addresses[i], i == 0);

		if (number == 0)
			return 0;
		parent = number == OUTSIDE ? GM_END_NO_OBJECT : number;
	}
	return parent;
}

uint32_t gm_nodes_number(struct gm_nodes *nodes, const struct gm_call_path *path,
			 const struct gm_nodes_writer *functions, void *writer, uint64_t now_ns)
{
	const struct addition addition = {nodes, functions, writer, now_ns};
	uint32_t number = find(nodes, path);

	return number != 0 ? number : learn(&addition, path);
}
