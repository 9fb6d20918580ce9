/* SPDX-License-Identifier: MIT */
/* Shared by the pass that collects the precedence graph (precedence.c) and its tables (rows.c). */
#ifndef PP_PASS_PRECEDENCE_PRECEDENCE_H
#define PP_PASS_PRECEDENCE_PRECEDENCE_H

#include "analysis/graph/call_sites.h"
#include "analysis/graph/links.h"
#include "analysis/state/object_refs.h"
#include "analysis/state/object_state.h"

enum pp_precedence_kind {
	PP_PRECEDENCE_MUTEX,
	PP_PRECEDENCE_SPIN,
	PP_PRECEDENCE_RWLOCK,
	PP_PRECEDENCE_SEM,
	PP_PRECEDENCE_COND,
	PP_PRECEDENCE_BARRIER,
	PP_PRECEDENCE_ONCE,
	PP_PRECEDENCE_CREATE,
	PP_PRECEDENCE_JOIN
};

/* Parts of a link; `from` and `to` are node numbers. */
enum { PP_PRECEDENCE_PART_KIND, PP_PRECEDENCE_PART_OBJECT };

struct pp_precedence_node {
	const struct pp_thread *thread; /* NULL: a barrier */
	/* number of the call site; for a barrier, of the object */
	uint32_t at;
};

struct pp_precedence {
	const struct pp_pass_context *context;
	struct pp_thread_listener thread_listener;
	struct pp_object_listener object_listener;
	struct pp_thread_states *states;
	struct pp_objects objects;
	struct pp_object_refs refs;
	struct pp_call_sites sites;
	struct pp_links links;
	GArray *nodes; /* of struct pp_precedence_node */
	GHashTable *node_of;
	uint64_t unknown; /* number of times that a thread continued for an unknown cause */
};

static inline const struct pp_precedence_node *pp_precedence_node(const struct pp_precedence *self,
								  uint32_t number)
{
	return &g_array_index(self->nodes, struct pp_precedence_node, number);
}

/* Adds both tables.  Returns the second, of the edges, for notes. */
struct pp_table *pp_precedence_tables(const struct pp_precedence *self, GPtrArray *tables);

#endif
