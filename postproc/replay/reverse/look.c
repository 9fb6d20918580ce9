/* SPDX-License-Identifier: MIT */
/* Sections of all threads with one of the two operation numbers are kept until the end. */
#include "replay/reverse/look.h"

#include "analysis/accesses/sections.h"
#include "replay/reverse/lines.h"
#include "replay/reverse/section_ops.h"

struct seen {
	const struct pp_thread *thread;
	uint64_t op;
	struct pp_access_set *set; /* a reference */
};

struct pp_reversal_look {
	const struct pp_pass_context *context;
	struct pp_access_listener listener;
	struct pp_access_sections *sections;
	struct pp_section_ops *ops;
	uint64_t wanted[2];
	GArray *seen; /* of struct seen */
};

static void on_ended(void *data, const struct pp_access_instance *instance)
{
	struct pp_reversal_look *self = data;
	struct seen seen = {
	    instance->thread,
	    pp_section_ops_end(self->ops, instance->thread, instance->object->address), NULL};

	if ((seen.op != self->wanted[0] && seen.op != self->wanted[1]) ||
	    instance->known != PP_ACCESSES_KNOWN || instance->left_out)
		return;
	seen.set = pp_access_set_ref(instance->set);
	g_array_append_val(self->seen, seen);
}

static void seen_clear(void *data)
{
	pp_access_set_unref(((struct seen *)data)->set);
}

struct pp_reversal_look *pp_reversal_look_new(const struct pp_pass_context *context,
					      uint64_t first_op, uint64_t second_op)
{
	struct pp_reversal_look *self = g_new0(struct pp_reversal_look, 1);

	self->context = context;
	self->wanted[0] = first_op;
	self->wanted[1] = second_op;
	self->listener = (struct pp_access_listener){.data = self, .ended = on_ended};
	self->sections = pp_access_sections_new(context, &self->listener);
	self->ops = pp_section_ops_new();
	self->seen = g_array_new(FALSE, FALSE, sizeof(struct seen));
	g_array_set_clear_func(self->seen, seen_clear);
	return self;
}

void pp_reversal_look_free(struct pp_reversal_look *self)
{
	pp_access_sections_free(self->sections, NULL);
	pp_section_ops_free(self->ops);
	g_array_unref(self->seen);
	g_free(self);
}

void pp_reversal_look_event(struct pp_reversal_look *self, const struct pp_event *event,
			    uint64_t op)
{
	pp_access_sections_event(self->sections, event);
	if (event->kind == PP_EVENT_SYNC && event->thread)
		pp_section_ops_event(self->ops, event, op);
}

static const struct seen *find(const struct pp_reversal_look *self,
			       const struct pp_schedule *schedule, uint32_t number, uint64_t op)
{
	const struct pp_schedule_thread *thread =
	    number < schedule->threads->len ? schedule->threads->pdata[number] : NULL;

	for (guint i = 0; thread && i < self->seen->len; i++) {
		const struct seen *seen = &g_array_index(self->seen, struct seen, i);

		if (seen->thread->serial == thread->serial && seen->op == op)
			return seen;
	}
	return NULL;
}

GArray *pp_reversal_look_lines(const struct pp_reversal_look *self,
			       const struct pp_schedule *schedule, uint32_t first_thread,
			       uint32_t second_thread)
{
	const struct seen *first = find(self, schedule, first_thread, self->wanted[0]);
	const struct seen *second = find(self, schedule, second_thread, self->wanted[1]);

	return first && second ? pp_reversal_lines(first->set, second->set, first->thread->process,
						   self->context->namer)
			       : NULL;
}
