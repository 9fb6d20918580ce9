/* SPDX-License-Identifier: MIT */
/*
 * Which code is to blame for the waits: by cause (analysis/blame/blame.h), by waiting call, and by
 * suspect (analysis/blame/suspects.h).
 *
 * The option "by" chooses one of these views.  Without it, text has the first one, and programs get
 * all of them.
 */
#include "pass/blame/blame.h"

#include "analysis/select.h"

struct pass {
	const struct pp_pass_context *context;
	unsigned views;		      /* bits: enum pp_blame_view */
	bool chosen;		      /* by an option */
	struct pp_blame *blame;	      /* NULL: not needed */
	struct pp_suspects *suspects; /* NULL: not needed, or not possible */
};

unsigned pp_blame_views(const struct pp_pass_context *context, unsigned otherwise)
{
	static const struct {
		const char *name;
		unsigned views;
	} views[] = {{"holder", PP_BLAME_BY_HOLDER},
		     {"waiter", PP_BLAME_BY_WAITER},
		     {"suspect", PP_BLAME_BY_SUSPECT}};
	const char *by = context->options ? g_hash_table_lookup(context->options, "by") : NULL;

	for (unsigned i = 0; i < G_N_ELEMENTS(views); i++)
		if (g_strcmp0(by, views[i].name) == 0)
			return views[i].views;
	return otherwise;
}

static void *blame_start(const struct pp_pass_context *context)
{
	struct pass *self = g_new0(struct pass, 1);

	self->context = context;
	self->views = pp_blame_views(context, 0);
	self->chosen = self->views;
	if (!self->chosen)
		self->views = context->for_text ? PP_BLAME_BY_HOLDER : PP_BLAME_BY_ALL;
	/* Suspects know no objects. */
	if (self->views & (PP_BLAME_BY_HOLDER | PP_BLAME_BY_WAITER) ||
	    pp_selects_by(context, PP_SELECT_OBJECT))
		self->blame = pp_blame_new(context);
	if (self->views & PP_BLAME_BY_SUSPECT && pp_suspects_can(context))
		self->suspects = pp_suspects_new(context);
	return self;
}

static void blame_event(void *state, const struct pp_event *event)
{
	struct pass *self = state;

	if (self->blame && event->kind != PP_EVENT_SAMPLE)
		pp_blame_event(self->blame, event);
	if (self->suspects)
		pp_suspects_event(self->suspects, event);
}

/* Adds the table, or frees it if it is of no view that is wanted. */
static void add_table(const struct pass *self, GPtrArray *tables, struct pp_table *table,
		      enum pp_blame_view view)
{
	if (!(self->views & view)) {
		pp_table_free(table);
		return;
	}
	table->is_for_programs |= !self->chosen && view != PP_BLAME_BY_HOLDER;
	g_ptr_array_add(tables, table);
}

static void blame_finish(void *state, int64_t end_ns, GPtrArray *tables)
{
	struct pass *self = state;
	struct pp_table *causes, *waiters, *nested;

	if (self->blame) {
		pp_blame_finish(self->blame, end_ns);
		pp_blame_find_selected(self->blame);
		pp_blame_wait_tables(self->context, self->blame, &causes, &waiters);
		add_table(self, tables, causes, PP_BLAME_BY_HOLDER);
		nested = pp_blame_nested_table(self->context, self->blame);
		nested->is_for_programs = !nested->rows->len;
		add_table(self, tables, nested, PP_BLAME_BY_HOLDER);
		add_table(self, tables, waiters, PP_BLAME_BY_WAITER);
	}
	if (!(self->views & PP_BLAME_BY_SUSPECT))
		return;
	if (self->suspects)
		pp_suspects_finish(self->suspects, end_ns);
	add_table(self, tables, pp_blame_suspect_table(self->context, self->suspects),
		  PP_BLAME_BY_SUSPECT);
}

static void blame_free(void *state)
{
	struct pass *self = state;

	if (self->blame)
		pp_blame_free(self->blame);
	pp_suspects_free(self->suspects);
	g_free(self);
}

const struct pp_pass pp_pass_blame = {
    .name = "blame",
    .summary = "causes of waits",
    .kinds = PP_SUSPECTS_KINDS,
    .selects = PP_SELECT_ALL,
    .has_operations = true,
    .start = blame_start,
    .event = blame_event,
    .finish = blame_finish,
    .free = blame_free,
};
