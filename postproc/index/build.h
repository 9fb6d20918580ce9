/* SPDX-License-Identifier: MIT */
/* Makes an index out of the events of a capture, all of them, in order of time. */
#ifndef PP_INDEX_BUILD_H
#define PP_INDEX_BUILD_H

#include "index/index.h"

#define PP_INDEX_KINDS PP_THREAD_STATE_KINDS

struct pp_index_builder;

/*
 * fds: of PP_INDEX_FILES empty files, which it takes; NULL: all in memory.  The model is that of
 * the context, and stays the caller's; it needs no namer.
 */
struct pp_index_builder *pp_index_builder_new(const struct pp_pass_context *context,
					      struct pp_model *model, const int *fds);
void pp_index_builder_event(struct pp_index_builder *builder, const struct pp_event *event);

/* So far. */
uint64_t pp_index_builder_events(const struct pp_index_builder *builder, int64_t *ret_last_ns);

/* A line about damage that was found in the capture. */
void pp_index_builder_damage(struct pp_index_builder *builder, const char *line);

/*
 * After the last event and the last line; the index is the caller's.  NULL: it was stopped by
 * `progress`, which may be NULL.
 */
struct pp_index *pp_index_builder_finish(struct pp_index_builder *builder,
					 const struct pp_index_progress *progress);
void pp_index_builder_free(struct pp_index_builder *builder);

#endif
