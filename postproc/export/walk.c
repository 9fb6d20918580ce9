/* SPDX-License-Identifier: MIT */
#include "export/walk.h"

#include <inttypes.h>

#include "pass/call_stack.h"
#include "pass/select.h"

struct pp_walk {
	const struct pp_export *export;
	bool only_returns;
	void (*take)(void *data, const struct pp_replay_line *line);
	void *data;
	struct pp_replay **replays; /* by serial; NULL: not begun */
	struct pp_functions functions;
	bool *left_out; /* by serial */
	guint n_threads;
};

struct pp_walk *pp_walk_new(const struct pp_export *export, bool only_returns,
			    void (*take)(void *data, const struct pp_replay_line *line), void *data)
{
	struct pp_walk *walk = g_new0(struct pp_walk, 1);

	walk->export = export;
	walk->only_returns = only_returns;
	walk->take = take;
	walk->data = data;
	walk->n_threads = export->context->model->threads->len;
	walk->replays = g_new0(struct pp_replay *, walk->n_threads);
	pp_functions_init(&walk->functions, export->context->namer);
	walk->left_out = g_new0(bool, walk->n_threads);
	return walk;
}

void pp_walk_free(struct pp_walk *walk)
{
	if (!walk)
		return;
	for (guint i = 0; i < walk->n_threads; i++)
		pp_replay_free(walk->replays[i]);
	pp_functions_done(&walk->functions);
	g_free(walk->replays);
	g_free(walk->left_out);
	g_free(walk);
}

static struct pp_replay *begin(struct pp_walk *walk, const struct pp_thread *thread)
{
	bool has_returns = walk->export->has_returns[thread->serial];
	struct pp_replay *replay = pp_replay_new_sharing(&walk->functions, thread->tid, has_returns,
							 walk->take, walk->data);

	walk->replays[thread->serial] = replay;
	return replay;
}

/* Histories make no threads: those of its events were there when it opened. */
void pp_walk_event(struct pp_walk *walk, const struct pp_event *event)
{
	const struct pp_thread *thread = event->thread;
	struct pp_replay *replay;

	if (!(PP_EVENT_MASK(event->kind) & PP_CALL_KINDS) || !thread ||
	    thread->serial >= walk->n_threads || !pp_selects_thread(walk->export->context, thread))
		return;
	if (walk->only_returns && !walk->export->has_returns[thread->serial]) {
		walk->left_out[thread->serial] = true;
		return;
	}
	replay = walk->replays[thread->serial];
	pp_replay_event(replay ?: begin(walk, thread), event);
}

unsigned pp_walk_left_out(const struct pp_walk *walk)
{
	unsigned n = 0;

	for (guint i = 0; i < walk->n_threads; i++)
		n += walk->left_out[i];
	return n;
}

void pp_walk_finish(struct pp_walk *walk)
{
	const GPtrArray *threads = walk->export->context->model->threads;
	uint64_t lost = 0;
	unsigned n;

	for (guint i = 0; i < walk->n_threads; i++) {
		if (!walk->replays[i])
			continue;
		pp_replay_release(walk->replays[i]);
		lost += ((const struct pp_thread *)threads->pdata[i])->records_lost;
	}
	if (lost)
		pp_export_note(walk->export,
			       "%" PRIu64 " records of calls were lost: stacks may be wrong there",
			       lost);
	n = pp_walk_left_out(walk);
	if (n)
		pp_export_note(walk->export,
			       "left out: %u threads whose history tells of no return, so that "
			       "nobody knows how long their calls took",
			       n);
}
