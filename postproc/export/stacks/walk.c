/* SPDX-License-Identifier: MIT */
/* Replays the history of each selected thread separately, and counts records without a stack. */
#include "export/stacks/walk.h"

#include <errno.h>
#include <inttypes.h>

#include "calls/survey.h"
#include "analysis/call_stack.h"
#include "analysis/select.h"

struct pp_walk {
	const struct pp_export *export;
	void (*take)(void *data, const struct pp_replay_line *line);
	void *data;
	struct pp_functions functions;
	struct pp_replay **replays; /* by serial; NULL: not started */
	bool *wanted;		    /* by serial of the thread */
	guint n_threads;
	unsigned n_left_out;
	uint64_t n_lost; /* lost records of wanted threads */
};

static void choose(struct pp_walk *walk, bool only_returns)
{
	const struct pp_calls_survey *survey = walk->export->survey;
	const GPtrArray *threads = walk->export->context->model->threads;

	for (guint i = 0; i < walk->n_threads; i++) {
		const struct pp_thread *thread = threads->pdata[i];

		if (!pp_calls_survey_has_history(survey, i) ||
		    !pp_selects_thread(walk->export->context, thread))
			continue;
		if (only_returns && !pp_calls_survey_has_returns(survey, i)) {
			walk->n_left_out++;
			continue;
		}
		walk->wanted[i] = true;
		walk->n_lost += thread->records_lost;
	}
}

struct pp_walk *pp_walk_new(const struct pp_export *export, bool only_returns,
			    void (*take)(void *data, const struct pp_replay_line *line), void *data)
{
	struct pp_walk *walk = g_new0(struct pp_walk, 1);

	walk->export = export;
	walk->take = take;
	walk->data = data;
	walk->n_threads = export->context->model->threads->len;
	walk->replays = g_new0(struct pp_replay *, walk->n_threads);
	walk->wanted = g_new0(bool, walk->n_threads);
	pp_functions_init(&walk->functions, export->context->namer, export->context->model->lock);
	choose(walk, only_returns);
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
	g_free(walk->wanted);
	g_free(walk);
}

static struct pp_replay *begin(struct pp_walk *walk, const struct pp_thread *thread)
{
	bool has_returns = pp_calls_survey_has_returns(walk->export->survey, thread->serial);
	struct pp_replay *replay = pp_replay_new_sharing(&walk->functions, thread->tid, has_returns,
							 walk->take, walk->data);

	walk->replays[thread->serial] = replay;
	return replay;
}

/* The array suffices: call histories create no threads. */
void pp_walk_event(struct pp_walk *walk, const struct pp_event *event)
{
	const struct pp_thread *thread = event->thread;
	struct pp_replay *replay;

	if (!(PP_EVENT_MASK(event->kind) & PP_CALL_KINDS) || !thread ||
	    thread->serial >= walk->n_threads || !walk->wanted[thread->serial])
		return;
	replay = walk->replays[thread->serial];
	pp_replay_event(replay ?: begin(walk, thread), event);
}

int pp_walk_no_stack(const struct pp_walk *walk, struct pp_error *err)
{
	const char *dir = walk->export->context->model->dir;

	return walk->n_left_out
		   ? pp_error_add(err, -ENODATA,
				  "%s: the history of calls has no returns: build with "
				  "`-pg -mfentry -minstrument-return=call` or "
				  "`-finstrument-functions`, or use --what calls",
				  dir)
		   : pp_error_add(err, -ENOENT, "%s: the selection contains no call", dir);
}

void pp_walk_finish(struct pp_walk *walk)
{
	for (guint i = 0; i < walk->n_threads; i++)
		if (walk->replays[i])
			pp_replay_release(walk->replays[i]);
}

void pp_walk_note(const struct pp_walk *walk)
{
	if (walk->n_lost)
		pp_export_note(walk->export,
			       "%" PRIu64
			       " records of calls were lost: stacks may be wrong after them",
			       walk->n_lost);
	if (walk->n_left_out)
		pp_export_note(walk->export,
			       "left out: %u threads whose history has no returns: the "
			       "times of their calls are unknown",
			       walk->n_left_out);
}
