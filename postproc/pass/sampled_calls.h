/* SPDX-License-Identifier: MIT */
/*
 * The call graph of a process that was built without -pg, whose calls are not counted: callers and
 * called functions are those of the call paths of samples.
 */
#ifndef PP_PASS_SAMPLED_CALLS_H
#define PP_PASS_SAMPLED_CALLS_H

#include "analysis/pass.h"

struct pp_sampled_calls;

struct pp_sampled_function {
	char *name;
	uint64_t self;	/* samples in it */
	uint64_t total; /* ... and in the functions that it called, directly or not */
};

/* Samples in which `from` had called `to`; `self`: and `to` had called no other function. */
struct pp_sampled_call {
	uint32_t from, to; /* numbers of functions */
	uint64_t total, self;
};

struct pp_sampled_graph {
	GPtrArray *functions; /* of struct pp_sampled_function *: most samples first */
	GPtrArray *calls;     /* of struct pp_sampled_call *: most samples first */
	uint64_t n_samples;
	uint64_t n_lost; /* samples whose path is not known */
	uint64_t period_ns;
};

struct pp_sampled_calls *pp_sampled_calls_new(const struct pp_pass_context *context);
void pp_sampled_calls_free(struct pp_sampled_calls *self);
void pp_sampled_calls_event(struct pp_sampled_calls *self, const struct pp_event *event);

/* Returns the selected threads of the process with such samples: of struct pp_thread *. */
GPtrArray *pp_sampled_calls_threads(const struct pp_sampled_calls *self,
				    const struct pp_process *process);

/* The graph of some of these threads, all of one process. */
struct pp_sampled_graph *pp_sampled_graph_new(const struct pp_sampled_calls *self,
					      const GPtrArray *threads);
void pp_sampled_graph_free(struct pp_sampled_graph *graph);

/* Appends the graph in the layout of gprof. */
void pp_sampled_graph_append(const struct pp_pass_context *context, GString *text,
			     const char *title, const struct pp_sampled_graph *graph);

#endif
