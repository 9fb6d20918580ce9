/* SPDX-License-Identifier: MIT */
/* See history_by_object.h. */
#include "pass/history_by_object.h"

#include "analysis/state/select_object.h"
#include "core/sorter.h"

struct pp_history_by_object {
	const struct pp_pass_context *context;
	struct pp_history *history;
	struct pp_sorter *sorter;	/* of struct pp_history_operation */
	const struct pp_object *object; /* the current one; NULL: none yet */
};

static int compare(const void *a, const void *b)
{
	const struct pp_history_operation *x = a, *y = b;

	if (x->object != y->object)
		return x->object < y->object ? -1 : 1;
	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static void take(void *data, struct pp_object *object, const struct pp_history_operation *operation)
{
	struct pp_history_by_object *self = data;

	(void)object;
	pp_sorter_add(self->sorter, operation);
}

struct pp_history_by_object *pp_history_by_object_new(const struct pp_pass_context *context)
{
	struct pp_history_by_object *self = g_new0(struct pp_history_by_object, 1);

	self->context = context;
	self->history = pp_history_new(context, take, self);
	self->sorter =
	    pp_sorter_new(sizeof(struct pp_history_operation), compare, PP_SORTER_RUN_BYTES);
	return self;
}

void pp_history_by_object_free(struct pp_history_by_object *self)
{
	if (!self)
		return;
	pp_history_free(self->history, NULL);
	pp_sorter_free(self->sorter);
	g_free(self);
}

void pp_history_by_object_event(struct pp_history_by_object *self, const struct pp_event *event)
{
	pp_history_event(self->history, event);
}

int pp_history_by_object_finish(struct pp_history_by_object *self, int64_t end_ns,
				struct pp_error *err)
{
	pp_history_finish(self->history, end_ns);
	return pp_sorter_finish(self->sorter, err);
}

int pp_history_by_object_check(const struct pp_history_by_object *self, struct pp_error *err)
{
	return pp_sorter_check(self->sorter, err);
}

/* The next operation of the current object; NULL: none is left. */
static const struct pp_history_operation *peek(const struct pp_history_by_object *self)
{
	const struct pp_history_operation *next = pp_sorter_peek(self->sorter);

	return next && self->object && next->object == self->object->serial ? next : NULL;
}

const struct pp_object *pp_history_next_object(struct pp_history_by_object *self)
{
	const struct pp_history_operation *next;

	do {
		while (peek(self))
			pp_sorter_pop(self->sorter);
		next = pp_sorter_peek(self->sorter);
		self->object = next ? pp_history_object(self->history, next->object) : NULL;
	} while (self->object && !pp_selects_object(self->context, self->object));
	return self->object;
}

struct pp_table *pp_history_next_operations(struct pp_history_by_object *self, unsigned n)
{
	const struct pp_history_operation *next = peek(self);
	struct pp_table *table = next ? pp_history_table_new(self->object->type) : NULL;

	for (; next && n > 0; n--, next = peek(self)) {
		pp_history_set_cells(pp_table_add_row(table), self->history, next);
		pp_sorter_pop(self->sorter);
	}
	return table;
}
