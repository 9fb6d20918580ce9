/* SPDX-License-Identifier: MIT */
/*
 * compare_blame CAPTURE|FIXTURES.txt...: the causes that the browser finds for single waits agree
 * with those of all waits (analysis/blame): the sums of holds, of calls, and of what is left.
 */
#include <stdio.h>

#include "../unit/check.h"
#include "analysis/blame/blame.h"
#include "index/blame.h"
#include "index/build.h"
#include "events/events.h"
#include "event_text.h"
#include "capture/traces.h"

enum { HELD, CALLED, REST, N_SUMS };

struct comparison {
	struct pp_pass_context context;
	const char *title;
	bool is_real; /* its events may contradict each other by a few nanoseconds */
	struct pp_index_builder *builder;
	struct pp_index *index;
	struct pp_blame *blame;
	int64_t want[N_SUMS];
};

static uint64_t n_waits, n_causes, n_shared, n_different;

static void begin(struct comparison *self, struct pp_model *model)
{
	self->builder = pp_index_builder_new(&self->context, model, NULL);
	self->blame = pp_blame_new(&self->context);
}

static void take(void *data, const struct pp_event *event)
{
	struct comparison *self = data;

	pp_index_builder_event(self->builder, event);
	if (PP_EVENT_MASK(event->kind) & PP_THREAD_STATE_KINDS)
		pp_blame_event(self->blame, event);
}

static void take_cell(void *data, const struct pp_object *object, const struct pp_blame_cell *cell,
		      int64_t idle_ns)
{
	static const unsigned at[PP_N_BLAME_KINDS] = {
	    [PP_BLAME_HOLD] = HELD,
	    [PP_BLAME_CALL] = CALLED,
	    [PP_BLAME_HANDOVER] = REST,
	    [PP_BLAME_UNKNOWN] = REST,
	};
	struct comparison *self = data;

	(void)object;
	(void)idle_ns;
	self->want[at[cell->cause.kind]] += cell->figures.ns;
}

/* Adds up the causes of a wait.  One that did not end is unknown. */
static void add_wait(const struct comparison *self, uint32_t number, int64_t *sums)
{
	const struct pp_index_operation *wait = pp_index_operation(self->index, number);
	bool has_ended = wait->flags & PP_INDEX_FINISHED;
	struct pp_index_blame blame;
	int64_t sum_ns = 0;

	pp_index_blame_init(&blame, self->index, number);
	CHECK(has_ended || blame.why);
	for (guint i = 0; i < blame.causes->len; i++) {
		const struct pp_index_cause *cause =
		    &g_array_index(blame.causes, struct pp_index_cause, i);
		const struct pp_index_operation *end = pp_index_operation(self->index, cause->end);

		CHECK(!i || cause->ns <= (cause - 1)->ns);
		CHECK(!end || end->thread == cause->thread);
		sums[!has_ended ? REST : cause->is_hold ? HELD : CALLED] += cause->ns;
		sum_ns += cause->ns;
		n_shared += cause->ns < cause->to_ns - cause->from_ns;
	}
	n_waits++;
	n_causes += blame.causes->len;
	/* Shares are whole nanoseconds. */
	CHECK(sum_ns + blame.rest_ns <= blame.wait_ns);
	CHECK(sum_ns + blame.rest_ns >= blame.wait_ns - (int64_t)blame.causes->len);
	sums[REST] += blame.wait_ns - sum_ns;
	pp_index_blame_done(&blame);
}

static void compare(const struct comparison *self)
{
	const int64_t *want = self->want;
	int64_t got[N_SUMS] = {0}, most_ns;
	uint64_t before = n_shared;

	for (uint32_t i = 0; i < pp_index_n(self->index, PP_SECTION_OPERATIONS); i++)
		if (pp_index_operation(self->index, i)->flags & PP_INDEX_WAITED)
			add_wait(self, i, got);
	most_ns = (int64_t)(n_shared - before);
	if (self->is_real)
		most_ns += (want[HELD] + want[CALLED] + want[REST]) / 1000;
	for (unsigned i = 0; i < N_SUMS; i++) {
		if (llabs(got[i] - want[i]) <= most_ns)
			continue;
		printf("%s: held, called, rest: %" PRId64 " %" PRId64 " %" PRId64
		       ", expected %" PRId64 " %" PRId64 " %" PRId64 "\n",
		       self->title, got[0], got[1], got[2], want[0], want[1], want[2]);
		n_different++;
		return;
	}
}

static void finish(struct comparison *self, int64_t end_ns)
{
	pp_blame_finish(self->blame, end_ns);
	self->index = pp_index_builder_finish(self->builder, NULL);
	pp_blame_walk(self->blame, take_cell, self);
	compare(self);
	pp_blame_free(self->blame);
	pp_index_builder_free(self->builder);
	pp_index_free(self->index);
}

/* --- where events come from ----------------------------------------------------------------- */

static void compare_capture(const char *dir)
{
	struct pp_error err = PP_ERROR_INIT;
	struct comparison self = {.title = dir, .is_real = true};
	struct pp_kernel_abilities kernel;
	struct pp_capture *capture;

	if (pp_capture_open(dir, &capture, &err) < 0) {
		fprintf(stderr, "%s\n", pp_error_text(&err));
		exit(1);
	}
	pp_kernel_abilities(capture, &kernel);
	self.context = (struct pp_pass_context){
	    .model = capture->model,
	    .has_kernel = kernel.has_events,
	    .has_switch_pairs = kernel.has_switch_pairs,
	    .has_wakings = kernel.has_wakings,
	};
	begin(&self, capture->model);
	CHECK_INT(pp_events_read(capture, PP_INDEX_KINDS, take, &self, &err), 0);
	finish(&self, capture->model->end_ns);
	pp_capture_free(capture);
}

/* Cases as in tests/pass: "=== TITLE", events, "== EXPECTED TABLE". */
static void compare_case(char *text)
{
	struct pp_error err = PP_ERROR_INIT;
	char *events = strchr(text, '\n'), *end = events ? strstr(events, "\n== ") : NULL;
	struct comparison self = {.title = text};
	struct pp_text *read;

	CHECK(events);
	*events++ = '\0';
	if (end)
		end[1] = '\0';
	CHECK_INT(pp_text_read(events, self.title, 1, &read, &err), 0);
	self.context = (struct pp_pass_context){
	    .model = read->model,
	    .has_kernel = read->has_kernel,
	    .has_switch_pairs = read->has_switch_pairs,
	    .has_wakings = read->has_wakings,
	};
	begin(&self, read->model);
	for (guint i = 0; i < read->events->len; i++)
		take(&self, &g_array_index(read->events, struct pp_event, i));
	finish(&self, read->model->end_ns);
	pp_text_free(read);
}

static void compare_fixtures(const char *path)
{
	g_autofree char *all = NULL;
	g_auto(GStrv) cases = NULL;

	CHECK(g_file_get_contents(path, &all, NULL, NULL));
	cases = g_strsplit(all, "\n=== ", -1);
	for (unsigned i = 1; cases[i]; i++)
		compare_case(cases[i]);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (g_str_has_suffix(argv[i], ".txt"))
			compare_fixtures(argv[i]);
		else
			compare_capture(argv[i]);
	}
	printf("%" PRIu64 " waits, %" PRIu64 " causes, %" PRIu64 " shared\n", n_waits, n_causes,
	       n_shared);
	return n_waits && n_causes && !n_different ? 0 : 1;
}
