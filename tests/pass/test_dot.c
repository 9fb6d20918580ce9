/* SPDX-License-Identifier: MIT */
/* The switch graph in DOT: arrows, groups, and the note about omitted arrows. */
#include <stdio.h>
#include <string.h>

#include "event_text.h"
#include "analysis/pass.h"
#include "render/dot.h"

static unsigned n_failed;

/* main gives its CPU to each of three clients, one, two and three times; one client to another. */
static const char events[] = "thread 5 name=main start=0\n"
			     "thread 6 name=say\"hi\\ start=0\n"
			     "thread 7 name=client-1 start=0\n"
			     "thread 8 name=client-2 start=0\n"
			     "thread 9 name=idler start=0\n"
			     "0 exec tid=5 cpu=0\n"
			     "0 fork tid=6\n"
			     "0 fork tid=7\n"
			     "0 fork tid=8\n"
			     "0 fork tid=9\n"
			     "10 switch prev=5 next=6 state=R cpu=0\n"
			     "20 switch prev=6 next=99 state=R cpu=0\n"
			     "30 switch prev=99 next=5 cpu=0\n"
			     "40 switch prev=5 next=7 state=R cpu=0\n"
			     "50 switch prev=7 next=8 state=R cpu=0\n"
			     "60 switch prev=8 next=5 state=R cpu=0\n"
			     "70 switch prev=5 next=7 state=R cpu=0\n"
			     "80 switch prev=7 next=5 state=R cpu=0\n"
			     "90 switch prev=5 next=8 state=R cpu=0\n"
			     "100 switch prev=8 next=5 state=R cpu=0\n";

static char *draw(uint64_t min_count, unsigned top, bool grouped)
{
	const struct pp_pass *pass = pp_pass_find("switches");
	struct pp_dot_options options = {.min_count = min_count, .top = top, .grouped = grouped};
	struct pp_error err = PP_ERROR_INIT;
	GPtrArray *tables = g_ptr_array_new();
	GString *dot = g_string_new(NULL);
	struct pp_pass_context context;
	struct pp_text *text;
	void *state;

	if (pp_text_read(events, "events", 1, &text, &err)) {
		puts(pp_error_text(&err));
		return g_string_free(dot, FALSE);
	}
	context = (struct pp_pass_context){
	    .model = text->model,
	    .has_kernel = true,
	    .has_switch_pairs = true,
	    .has_wakings = true,
	};
	state = pass->start(&context);
	for (guint i = 0; i < text->events->len; i++)
		pass->event(state, &g_array_index(text->events, struct pp_event, i));
	pass->finish(state, text->model->end_ns, tables);
	pass->free(state);
	pp_render_dot(dot, &pp_dot_switch, tables->pdata[0], tables->pdata[1], &options);
	pp_table_free(tables->pdata[0]);
	pp_table_free(tables->pdata[1]);
	g_ptr_array_unref(tables);
	pp_text_free(text);
	return g_string_free(dot, FALSE);
}

static void check(const char *dot, const char *wanted, bool there)
{
	if (!strstr(dot, wanted) == !there)
		return;
	printf("expected %s: %s\ngot: %s\n", there ? "this" : "without", wanted, dot);
	n_failed++;
}

int main(void)
{
	g_autofree char *all = draw(0, 0, false);
	g_autofree char *thick = draw(2, 0, false);
	g_autofree char *top = draw(0, 2, false);
	g_autofree char *groups = draw(0, 0, true);

	check(all, "digraph switches {", true);
	check(all, "n0 [label=\"main\\n5\"]", true);
	check(all, "n1 [label=\"say\\\"hi\\\\\\n6\"]", true);
	check(all, "n0 -> n1 [label=\"1\\npreempted\", tooltip=\"1 preempted\"", true);
	check(all, "n0 -> n2 [label=\"2\\npreempted\"", true);
	check(all, "n2 -> n3 [label=\"1\\n", true);
	check(all, "idler", false);
	check(all, "left out: 1 without arrows", true);
	check(all, "arrows of less", false);
	check(all, "1 times no thread of the program ran next", true);

	/* 5>6, 5>8, 7>5 and 7>8 happened once. */
	check(thick, "left out: 4 arrows of less than 2, 4 switches in all", true);
	check(thick, "n0 -> n2 [label=\"2\\npreempted\"", true);
	check(thick, "n3 -> n0 [label=\"2\\npreempted\"", true);
	check(thick, "n2 -> n3", false);
	check(thick, "hi", false);
	check(thick, "left out: 2 without arrows", true);

	/* Both switches that happened twice. */
	check(top, "left out: 4 arrows beyond the first 2, 4 switches in all", true);
	check(top, "n0 -> n2 [label=\"2\\npreempted\"", true);
	check(top, "n3 -> n0 [label=\"2\\npreempted\"", true);
	check(top, "n2 -> n3", false);

	check(groups, "drawn together", true);
	check(groups, "label=\"main\\n5\"", true);
	check(groups, "label=\"client\\n2 threads\"", true);
	check(groups, "n0 -> n2 [label=\"3\\npreempted\"", true);
	check(groups, "n2 -> n0 [label=\"3\\npreempted\"", true);
	check(groups, "n2 -> n2 [label=\"1\\npreempted\"", true);
	check(groups, "client-1", false);
	return n_failed != 0;
}
