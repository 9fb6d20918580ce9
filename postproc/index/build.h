/* SPDX-License-Identifier: MIT */
/* Builds an index from all events of a capture, in time order. */
#ifndef PP_INDEX_BUILD_H
#define PP_INDEX_BUILD_H

#include "index/index.h"

#define PP_INDEX_KINDS (PP_THREAD_STATE_KINDS | PP_EVENT_MASK(PP_EVENT_SAMPLE))

struct pp_index_builder;

/*
 * `fds`: PP_INDEX_FILES empty files, whose ownership passes to the builder; NULL: memory only.  The
 * model is that of the context and remains owned by the caller; it needs no namer.
 */
struct pp_index_builder *pp_index_builder_new(const struct pp_pass_context *context,
					      struct pp_model *model, const int *fds);
void pp_index_builder_event(struct pp_index_builder *builder, const struct pp_event *event);

/* Returns the number of events so far; *ret_last_ns is the time of the last one. */
uint64_t pp_index_builder_events(const struct pp_index_builder *builder, int64_t *ret_last_ns);

/* Adds a line about damage found in the capture. */
void pp_index_builder_damage(struct pp_index_builder *builder, const char *line);

/*
 * Call after the last event and the last line of damage.  Returns the index, owned by the caller;
 * NULL: `progress` (may be NULL) stopped it.
 */
struct pp_index *pp_index_builder_finish(struct pp_index_builder *builder,
					 const struct pp_index_progress *progress);
void pp_index_builder_free(struct pp_index_builder *builder);

#endif
