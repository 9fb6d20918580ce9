/* SPDX-License-Identifier: MIT */
/*
 * Graphs in the DOT language of Graphviz: two tables of a pass, nodes and edges, and a description
 * of what in them is drawn how.
 *
 * What makes a large graph unreadable can be left out or drawn together; the graph then says so
 * itself, in its caption.
 */
#ifndef PP_RENDER_DOT_H
#define PP_RENDER_DOT_H

#include "table/table.h"

#define PP_DOT_STYLES 4

/* A kind of graph.  Lists of columns, by their keys, end with NULL. */
struct pp_dot_kind {
	const char *name;    /* of the digraph: "switches" */
	const char *meaning; /* what an arrow A -> B says */
	const char *counted; /* what the counts are of: "switches" */
	const char *layout;  /* attributes of the graph: "rankdir=LR" */
	const char *shape;   /* of nodes */

	const char *const *node_key, *const *from_key, *const *to_key; /* who is who */
	const char *const *label;				       /* lines of a node */
	const char *const *group_key;	/* nodes alike in these are one group; NULL: no groups */
	const char *const *group_label; /* lines of such a node */
	const char *members;		/* what a group is of: "threads" */
	const char *alike;		/* what they have in common */
	/* Nodes alike in these stand in one box with these lines; NULL: no boxes. */
	const char *const *box_key, *const *box_label;
	const char *const *group_box_key, *const *group_box_label;

	const char *weight;  /* an edge's count or time: how thick it is, and what is kept */
	const char *apart;   /* edges that differ in it are not joined; NULL: all are */
	const char *details; /* the table in an edge that says where; NULL: none */
	const char *detail_weight;
	/* A row of it in words, without how often.  The caller frees it. */
	char *(*detail)(const struct pp_table *details, const struct pp_cell *row);
	/* Index into styles: of edges drawn as one, the greatest holds.  NULL: 0 for all. */
	unsigned (*style)(const struct pp_table *edges, const struct pp_cell *row);
	const char *styles[PP_DOT_STYLES]; /* attributes of an edge; NULL: none */
	unsigned kept_style;		   /* from this style on, never left out; 0: none */
};

struct pp_dot_options {
	uint64_t min_count; /* leave out edges that stand for less */
	unsigned top;	    /* draw so many edges at most; 0: all */
	bool grouped;	    /* one node for all of a group */
};

/* `nodes` and `edges` as the pass of that kind makes them. */
void pp_render_dot(GString *to, const struct pp_dot_kind *kind, const struct pp_table *nodes,
		   const struct pp_table *edges, const struct pp_dot_options *options);

/* The same choice of edges, ungrouped, for JSON: the rest is removed, and a note says so. */
void pp_dot_leave_out(struct pp_table *edges, const struct pp_dot_kind *kind,
		      const struct pp_dot_options *options);

/* One for each --kind; dot_kinds.c. */
extern const struct pp_dot_kind pp_dot_switch, pp_dot_calls, pp_dot_wait, pp_dot_precedence,
    pp_dot_lock_order;

#endif
