/* SPDX-License-Identifier: MIT */
/*
 * A call graph: arcs between addresses are combined to calls between functions, and cycles are
 * found, as in gprof (Graham, Kessler, McKusick 1982).
 */
#ifndef PP_ANALYSIS_GRAPH_GRAPH_H
#define PP_ANALYSIS_GRAPH_GRAPH_H

#include "analysis/pass.h"

/* The caller of a call from code without a name.  It is not a function of the graph. */
#define PP_SPONTANEOUS UINT32_MAX

struct pp_function {
	char *name;
	uint64_t entry;	     /* entry address; 0: not known */
	uint64_t calls;	     /* by others */
	uint64_t self_calls; /* by itself */
	uint32_t cycle;	     /* 1, 2, ...; 0: on no cycle */
	bool profiled;	     /* it was called through mcount; false: only known as a caller */
};

struct pp_call {
	uint32_t from, to; /* numbers of functions; from may be PP_SPONTANEOUS */
	uint64_t count;
};

struct pp_graph {
	GArray *functions; /* of struct pp_function: callers before callees */
	GArray *calls;	   /* of struct pp_call, by callee, lowest count first */
	uint32_t n_cycles;
};

/* `threads`: of struct pp_thread *, all of one process. */
struct pp_graph *pp_graph_new(const struct pp_namer *namer, struct pp_thread *const *threads,
			      unsigned n_threads);
void pp_graph_free(struct pp_graph *graph);

static inline struct pp_function *pp_graph_function(const struct pp_graph *graph, uint32_t number)
{
	return &g_array_index(graph->functions, struct pp_function, number);
}

#endif
