/* SPDX-License-Identifier: MIT */
/*
 * Call paths as a tree: a node is an address and its caller's node. Each node is defined once in a
 * stream and then referred to by its number, so a path that shares its outer frames with others
 * defines only the inner ones. The parent of the outermost node is the reason why the path ends
 * there.
 *
 * The nodes of a stream are in a hash table by parent and address, which belongs to the stream's
 * writer. Only the writer's thread uses it, with signals blocked or its gate closed.
 */
#ifndef GM_RUNTIME_NODES_H
#define GM_RUNTIME_NODES_H

#include <stdbool.h>
#include <stdint.h>

#define GM_PATH_MAX_FRAMES 240u /* addresses of a path */
#define GM_NODE_FIRST	   16u	/* number of a stream's first node; below: enum gm_unwind_end */
#define GM_NODES_FIRST	   256u /* slots of the first table; a power of two */

struct gm_node {
	uint64_t address;
	uint32_t parent; /* number of that node, or enum gm_unwind_end */
	uint32_t number; /* 0: the slot is free */
};

struct gm_nodes {
	struct gm_node *at; /* a hash table; NULL: none yet */
	uint32_t n_slots;   /* a power of two */
	uint32_t n_used;
	uint32_t last; /* number of the stream's newest node */
};

/* A call path, innermost address first. */
struct gm_call_path {
	uint64_t *addresses;
	unsigned n;   /* at least 1 */
	uint32_t end; /* enum gm_unwind_end */
};

/* The functions of a writer that the nodes call. */
struct gm_nodes_writer {
	/* Makes room for one more node, by gm_nodes_grow(). Returns false if there is none. */
	bool (*grow)(void *writer);
	/*
	 * Returns true if the address is in an object of the load map; *ret_address: how to define
	 * it. Otherwise the path ends before it.
	 */
	bool (*note)(void *writer, uint64_t address, uint64_t *ret_address);
	/* Writes the definition of a node to the stream. Returns false if there is no room. */
	bool (*define)(void *writer, uint32_t number, uint32_t parent, uint64_t address,
		       uint64_t now_ns);
};

/* Begins with the first table, which is in the writer's memory: GM_NODES_FIRST nodes. */
void gm_nodes_begin(struct gm_nodes *nodes, struct gm_node *first);

/* All paths must be defined again. */
void gm_nodes_forget(struct gm_nodes *nodes);

/* In a forked child: the memory of the tables belongs to its parent. */
void gm_nodes_forked(void);

/* Continues in a larger table. Returns false if there is no memory. */
bool gm_nodes_grow(struct gm_nodes *nodes, const struct gm_node *first);

/*
 * Returns the number of the path's innermost node, after defining those that are not known. 0:
 * there is no room.
 */
uint32_t gm_nodes_number(struct gm_nodes *nodes, const struct gm_call_path *path,
			 const struct gm_nodes_writer *functions, void *writer, uint64_t now_ns);

#endif
