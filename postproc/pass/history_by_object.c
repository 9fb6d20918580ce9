/* SPDX-License-Identifier: MIT */
/* See history_by_object.h. */
#include "pass/history_by_object.h"

#include "analysis/state/select_object.h"
#include "core/sorter.h"

struct pp_history_by_object {
	const struct pp_pass_context *context;
	struct pp_history *history;
	struct pp_sorter *operations; /* of struct pp_history_operation */
	struct pp_sorter *objects;    /* of struct pp_object, without their arrays */
	bool has_object;
	struct pp_object object; /* the current one */
};

static int compare_operations(const void *a, const void *b)
{
	const struct pp_history_operation *x = a, *y = b;

	if (x->object != y->object)
		return x->object < y->object ? -1 : 1;
	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static int compare_objects(const void *a, const void *b)
{
	const struct pp_object *x = a, *y = b;

	return x->order < y->order ? -1 : x->order > y->order;
}

static void take(void *data, struct pp_object *object, const struct pp_history_operation *operation)
{
	struct pp_history_by_object *self = data;

	(void)object;
	pp_sorter_add(self->operations, operation);
}

static void end(void *data, struct pp_object *object)
{
	struct pp_history_by_object *self = data;
	struct pp_object last = *object;

	last.holds = last.waiters = NULL;
	pp_sorter_add(self->objects, &last);
}

struct pp_history_by_object *pp_history_by_object_new(const struct pp_pass_context *context)
{
	struct pp_history_by_object *self = g_new0(struct pp_history_by_object, 1);

	self->context = context;
	self->history = pp_history_new(context, take, end, self);
	self->operations = pp_sorter_new(sizeof(struct pp_history_operation), compare_operations,
					 PP_SORTER_RUN_BYTES);
	self->objects =
	    pp_sorter_new(sizeof(struct pp_object), compare_objects, PP_SORTER_RUN_BYTES);
	return self;
}

void pp_history_by_object_free(struct pp_history_by_object *self)
{
	if (!self)
		return;
	pp_history_free(self->history);
	pp_sorter_free(self->operations);
	pp_sorter_free(self->objects);
	g_free(self);
}

void pp_history_by_object_event(struct pp_history_by_object *self, const struct pp_event *event)
{
	pp_history_event(self->history, event);
}

int pp_history_by_object_finish(struct pp_history_by_object *self, int64_t end_ns,
				struct pp_error *err)
{
	int ret;

	pp_history_finish(self->history, end_ns);
	ret = pp_sorter_finish(self->operations, err);
	return ret < 0 ? ret : pp_sorter_finish(self->objects, err);
}

int pp_history_by_object_check(const struct pp_history_by_object *self, struct pp_error *err)
{
	int ret = pp_sorter_check(self->operations, err);

	return ret < 0 ? ret : pp_sorter_check(self->objects, err);
}

/* The next operation of the current object; NULL: none is left. */
static const struct pp_history_operation *peek(const struct pp_history_by_object *self)
{
	const struct pp_history_operation *next = pp_sorter_peek(self->operations);

	return next && self->has_object && next->object == self->object.order ? next : NULL;
}

/* Finds the object of the next operation. */
static bool find_object(struct pp_history_by_object *self)
{
	const struct pp_history_operation *next = pp_sorter_peek(self->operations);
	const struct pp_object *object;

	self->has_object = false;
	while (next && !self->has_object && (object = pp_sorter_peek(self->objects))) {
		self->object = *object;
		self->has_object = object->order == next->object;
		pp_sorter_pop(self->objects);
	}
	return self->has_object;
}

const struct pp_object *pp_history_next_object(struct pp_history_by_object *self)
{
	do {
		while (peek(self))
			pp_sorter_pop(self->operations);
		if (!find_object(self))
			return NULL;
	} while (!pp_selects_object(self->context, &self->object));
	return &self->object;
}

struct pp_table *pp_history_next_operations(struct pp_history_by_object *self, unsigned n)
{
	const struct pp_history_operation *next = peek(self);
	struct pp_table *table = next ? pp_history_table_new(self->object.type) : NULL;

	for (; next && n > 0; n--, next = peek(self)) {
		pp_history_set_cells(pp_table_add_row(table), self->history, next);
		pp_sorter_pop(self->operations);
	}
	return table;
}
