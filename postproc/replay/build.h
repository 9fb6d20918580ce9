/* SPDX-License-Identifier: MIT */
/*
 * Makes a model from the events of a capture of one process.
 *
 * CPU time is that in which a thread ran; without scheduling events, it is all time in which it did
 * not wait. A wait for an object is not part of the model: whether and how long the thread waits is
 * a result of the replay. Blocked time outside of synchronization becomes a sleep of that length.
 */
#ifndef PP_REPLAY_BUILD_H
#define PP_REPLAY_BUILD_H

#include "analysis/state/thread_state.h"
#include "replay/cut.h"
#include "replay/gaps.h"
#include "replay/model.h"

/* The kinds of events that it needs. */
#define PP_REPLAY_KINDS (PP_THREAD_STATE_KINDS | PP_ACCESS_KINDS | PP_EVENT_MASK(PP_EVENT_SAMPLE))

struct pp_replay_builder;

struct pp_replay_builder *pp_replay_builder_new(const struct pp_pass_context *context);
void pp_replay_builder_free(struct pp_replay_builder *builder);

/* To be called before the first event: the model tells the shares of these functions (shares.h). */
void pp_replay_builder_share(struct pp_replay_builder *builder, const GPtrArray *functions);

/*
 * The same: it tells the CPU time of these functions by the history of calls (call_times.h), whose
 * events (PP_CALL_KINDS) the builder then needs, too.
 */
void pp_replay_builder_call_times(struct pp_replay_builder *builder, const GPtrArray *functions,
				  bool (*has_returns)(const void *data, uint32_t serial),
				  const void *data);

/* The same: the model tells the accesses of sections, and where they conflict (units.h). */
void pp_replay_builder_accesses(struct pp_replay_builder *builder, bool with_spans);

/*
 * The same: only what happens from then until then, since the begin of the capture, is part of the
 * model (cut.h).
 */
void pp_replay_builder_cut(struct pp_replay_builder *builder, int64_t from_ns, int64_t to_ns);

void pp_replay_builder_event(struct pp_replay_builder *builder, const struct pp_event *event);

/*
 * Returns the model; the caller frees it. n_cpus: of the machine. end_ns: time of the capture's
 * last event.
 */
struct pp_replay_model *pp_replay_builder_finish(struct pp_replay_builder *builder, uint32_t n_cpus,
						 int64_t end_ns, struct pp_replay_gaps *ret);

/*
 * Calls pp_replay_cut() for a model that was just made, if the builder has a part of the time; else
 * the sums are 0 and NULL.
 */
struct pp_replay_cut_sums pp_replay_builder_cut_model(struct pp_replay_builder *builder,
						      struct pp_replay_model *model);

/* After pp_replay_builder_accesses() and _finish(): pp_replay_units_sets(). */
GArray *pp_replay_builder_sets(const struct pp_replay_builder *builder);

#endif
