/* SPDX-License-Identifier: MIT */
/* Reads the histories once to find their threads and kinds of records. */
#include "calls/survey.h"

#include "calls/pool.h"

struct search {
	struct pp_calls_survey *survey;
	bool for_returns;
	GMutex *lock; /* protects the survey */
	struct pp_calls_pool pool;
	int64_t *starts_ns; /* by stream */
};

/* Rarely called, since a stream's packets of a thread are consecutive. */
static void claim(struct search *search, const struct pp_event *event, guint stream)
{
	const struct pp_thread *thread = event->thread;
	guint *owner = &search->survey->streams[thread->serial];

	g_mutex_lock(search->lock);
	if (*owner && *owner != stream + 1)
		search->survey->is_apart = false;
	if (!*owner)
		search->survey->firsts_ns[thread->serial] = event->time_ns;
	*owner = stream + 1;
	g_mutex_unlock(search->lock);
}

static void note_return(struct search *search, const struct pp_thread *thread)
{
	g_mutex_lock(search->lock);
	search->survey->has_returns[thread->serial] = true;
	g_mutex_unlock(search->lock);
}

static bool look_through(void *data, unsigned worker, guint at)
{
	struct search *search = data;
	struct pp_calls_stream *stream = search->pool.streams->pdata[at];
	const struct pp_thread *thread = NULL;
	bool has_returns = false; /* or not wanted */
	struct pp_event event;

	(void)worker;
	while (pp_calls_stream_next(stream, &event)) {
		if (!thread)
			search->starts_ns[at] = event.time_ns;
		if (!thread || event.thread != thread) {
			claim(search, &event, at);
			thread = event.thread;
			has_returns = !search->for_returns;
		}
		if (event.kind == PP_EVENT_RETURN && !has_returns) {
			note_return(search, thread);
			has_returns = true;
		}
		if (has_returns)
			pp_calls_stream_skip(stream);
	}
	return true;
}

struct pp_calls_survey *pp_calls_survey_new(struct pp_capture *capture, bool for_returns)
{
	struct pp_calls_survey *survey = g_new(struct pp_calls_survey, 1);
	guint n = capture->model->threads->len;
	struct search search = {
	    .survey = survey,
	    .for_returns = for_returns,
	    .lock = capture->model->lock,
	};

	*survey = (struct pp_calls_survey){
	    .n_threads = n,
	    .has_returns = g_new0(bool, n),
	    .streams = g_new0(guint, n),
	    .firsts_ns = g_new0(int64_t, n),
	    .is_apart = true,
	};
	pp_calls_pool_init(&search.pool, capture, look_through, &search);
	search.starts_ns = g_new(int64_t, search.pool.streams->len);
	for (guint i = 0; i < search.pool.streams->len; i++)
		search.starts_ns[i] = PP_TIME_UNKNOWN;
	pp_calls_pool_run(&search.pool);
	for (guint i = 0; i < search.pool.streams->len; i++)
		if (search.starts_ns[i] != PP_TIME_UNKNOWN)
			pp_model_widen(capture->model, search.starts_ns[i]);
	g_free(search.starts_ns);
	pp_calls_pool_done(&search.pool);
	return survey;
}

void pp_calls_survey_free(struct pp_calls_survey *survey)
{
	if (!survey)
		return;
	g_free(survey->has_returns);
	g_free(survey->streams);
	g_free(survey->firsts_ns);
	g_free(survey);
}
