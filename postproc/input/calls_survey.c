/* SPDX-License-Identifier: MIT */
#include "input/calls_survey.h"

#include "input/calls_pool.h"

struct search {
	struct pp_calls_survey *survey;
	struct pp_calls_pool pool;
	int64_t *starts_ns; /* by stream */
};

/* Threads follow each other in a stream: seldom asked. */
static void claim(struct search *search, const struct pp_thread *thread, guint stream)
{
	guint *owner = &search->survey->streams[thread->serial];

	g_mutex_lock(&search->pool.lock);
	if (*owner && *owner != stream + 1)
		search->survey->is_apart = false;
	*owner = stream + 1;
	search->survey->has_calls[thread->serial] = true;
	g_mutex_unlock(&search->pool.lock);
}

static void note_return(struct search *search, const struct pp_thread *thread)
{
	g_mutex_lock(&search->pool.lock);
	search->survey->has_returns[thread->serial] = true;
	g_mutex_unlock(&search->pool.lock);
}

static bool look_through(void *data, unsigned worker, guint at)
{
	struct search *search = data;
	struct pp_calls_stream *stream = search->pool.streams->pdata[at];
	const struct pp_thread *thread = NULL;
	bool has_returns = false;
	struct pp_event event;

	(void)worker;
	while (pp_calls_stream_next(stream, &event)) {
		if (!thread)
			search->starts_ns[at] = event.time_ns;
		if (!thread || event.thread != thread) {
			claim(search, event.thread, at);
			thread = event.thread;
			has_returns = false;
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

struct pp_calls_survey *pp_calls_survey_new(struct pp_capture *capture)
{
	struct pp_calls_survey *survey = g_new(struct pp_calls_survey, 1);
	guint n = capture->model->threads->len;
	struct search search = {.survey = survey};

	*survey = (struct pp_calls_survey){
	    .has_calls = g_new0(bool, n),
	    .has_returns = g_new0(bool, n),
	    .streams = g_new0(guint, n),
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
	g_free(survey->has_calls);
	g_free(survey->has_returns);
	g_free(survey->streams);
	g_free(survey);
}
