/* SPDX-License-Identifier: MIT */
/*
 * Graphs in the DOT language of Graphviz, from the node and edge tables of a pass and a description
 * of the drawing.
 *
 * Large graphs can be reduced by leaving out edges or grouping nodes.  The caption then says so.
 */
#ifndef PP_RENDER_DOT_H
#define PP_RENDER_DOT_H

#include "table/table.h"

#define PP_DOT_STYLES 4

/* A kind of graph.  Lists of columns contain column keys and end with NULL. */
struct pp_dot_kind {
	const char *name;    /* of the digraph: "switches" */
	const char *meaning; /* meaning of an arrow A -> B */
	const char *counted; /* the unit of counts: "switches" */
	const char *layout;  /* attributes of the graph: "rankdir=LR" */
	const char *shape;   /* of nodes */

	/* columns that identify nodes */
	const char *const *node_key, *const *from_key, *const *to_key;
	const char *const *label; /* lines of a node */
	/* nodes with the same values form a group; NULL: no groups */
	const char *const *group_key;
	const char *const *group_label; /* label of a group's node */
	const char *members;		/* elements of a group: "threads" */
	const char *alike;		/* the property that they share */
	/* Nodes with the same values are drawn in a box with this label; NULL: no boxes. */
	const char *const *box_key, *const *box_label;
	const char *const *group_box_key, *const *group_box_label;

	const char *weight;  /* an edge's count or time, which determines its width and rank */
	const char *apart;   /* edges that differ in it are not joined; NULL: all are joined */
	const char *details; /* the nested table with details of an edge; NULL: none */
	const char *detail_weight;
	/* Describes a row of it, without its count.  The caller frees the text. */
	char *(*detail)(const struct pp_table *details, const struct pp_cell *row);
	/* The index into styles; joined edges get the greatest.  NULL: 0 for all. */
	unsigned (*style)(const struct pp_table *edges, const struct pp_cell *row);
	const char *styles[PP_DOT_STYLES]; /* attributes of an edge; NULL: none */
	/* edges with this style or a greater one are never left out; 0: none */
	unsigned kept_style;
};

struct pp_dot_options {
	uint64_t min_count; /* leave out edges with a lower count */
	unsigned top;	    /* maximum number of edges; 0: all */
	bool grouped;	    /* one node per group */
};

/* `nodes` and `edges` are the tables of the kind's pass. */
void pp_render_dot(GString *to, const struct pp_dot_kind *kind, const struct pp_table *nodes,
		   const struct pp_table *edges, const struct pp_dot_options *options);

/* Removes the same edges, without grouping, from the table for JSON and CSV, and adds a note. */
void pp_dot_leave_out(struct pp_table *edges, const struct pp_dot_kind *kind,
		      const struct pp_dot_options *options);

/* The kinds of graphs, for --kind; see dot_kinds.c. */
extern const struct pp_dot_kind pp_dot_switch, pp_dot_calls, pp_dot_wait, pp_dot_precedence,
    pp_dot_lock_order, pp_dot_sydg;

#endif
