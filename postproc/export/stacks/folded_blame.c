/* SPDX-License-Identifier: MIT */
/*
 * Folded stacks of the time of waits, at the call that is to blame for it: the release that ended a
 * hold, or the call that was awaited.  The outermost frame tells the kind of the cause; then follow
 * the call path, the function, and the object.  What is in no call has a frame instead of these.
 */
#include <errno.h>

#include "analysis/select.h"
#include "export/exporter.h"
#include "export/stacks/blamed.h"
#include "export/stacks/speedscope.h"
#include "export/stacks/stacks.h"

struct folded {
	const struct pp_export *export;
	struct pp_blame *blame;
};

static struct pp_stack *fold_call(const struct folded *self, struct pp_stacks *stacks,
				  struct pp_stack *stack, const struct pp_blamed *blamed)
{
	const struct pp_namer *namer = self->export->context->namer;
	const struct pp_process *process = blamed->object->process;
	const struct pp_blame_call *call = &blamed->cause.call;

	for (unsigned i = call->path ? call->path->n : 0; i-- > 0;)
		stack = pp_stack_address(stacks, stack, namer, process, call->path->addresses[i]);
	if (!call->path && call->site)
		stack = pp_stack_address(stacks, stack, namer, process, call->site);
	return pp_stack_child(stacks, stack, pp_blamed_function(blamed));
}

static void fold(const struct folded *self, struct pp_stacks *stacks,
		 const struct pp_blamed *blamed)
{
	g_autofree char *kind = pp_blamed_kind(blamed);
	g_autofree char *root = g_strdup_printf("[%s]", kind);
	g_autofree char *name = pp_object_name(blamed->object, self->export->context->namer);
	struct pp_stack *stack = pp_stack_child(stacks, pp_stacks_root(stacks), root);

	if (pp_blamed_has_call(blamed)) {
		stack = fold_call(self, stacks, stack, blamed);
	} else if (blamed->is_idle) {
		g_autofree char *frame = pp_blamed_frame(blamed);

		stack = pp_stack_child(stacks, stack, frame);
	}
	pp_stack_child(stacks, stack, name)->value += (uint64_t)blamed->ns;
}

static void *blame_start(const struct pp_export *export)
{
	struct folded *self = g_new0(struct folded, 1);

	self->export = export;
	self->blame = pp_blame_new(export->context);
	return self;
}

static void blame_event(void *state, const struct pp_event *event)
{
	pp_blame_event(((struct folded *)state)->blame, event);
}

static int blame_finish(void *state, int64_t end_ns, struct pp_error *err)
{
	struct folded *self = state;
	const struct pp_pass_context *context = self->export->context;
	struct pp_stacks *stacks = pp_stacks_new(0);
	g_autoptr(GArray) causes = NULL;
	unsigned n_calls = 0, n_without = 0;
	int ret = 0;

	pp_blame_finish(self->blame, end_ns);
	causes = pp_blamed_causes(self->blame, context);
	for (guint i = 0; i < causes->len; i++) {
		const struct pp_blamed *blamed = &g_array_index(causes, struct pp_blamed, i);

		n_calls += pp_blamed_has_call(blamed);
		n_without += pp_blamed_has_call(blamed) && !blamed->cause.call.path;
		fold(self, stacks, blamed);
	}
	if (!pp_export_stacks(self->export, stacks, "nanoseconds"))
		ret = pp_error_add(err, -ENODATA, "%s: no thread waited for an object%s",
				   context->model->dir,
				   context->selection ? " in the selection" : "");
	else if (n_without)
		pp_export_note(self->export,
			       "%u of %u stacks have only the call site: the call path was not "
			       "recorded (sync.paths, unwind tables)",
			       n_without, n_calls);
	pp_stacks_free(stacks);
	return ret;
}

static void blame_free(void *state)
{
	struct folded *self = state;

	pp_blame_free(self->blame);
	g_free(self);
}

const struct pp_exporter pp_exporter_folded_blame = {
    .format = "folded",
    .what = "blame",
    .file_name = "gprof-mt.folded",
    .kinds = PP_THREAD_STATE_KINDS,
    .selects = PP_SELECT_ALL,
    .start = blame_start,
    .event = blame_event,
    .finish = blame_finish,
    .free = blame_free,
};

const struct pp_exporter pp_exporter_speedscope_blame = {
    .format = "speedscope",
    .what = "blame",
    .file_name = "gprof-mt.speedscope.json",
    .kinds = PP_THREAD_STATE_KINDS,
    .selects = PP_SELECT_ALL,
    .write_stacks = pp_speedscope_write_stacks,
    .start = blame_start,
    .event = blame_event,
    .finish = blame_finish,
    .free = blame_free,
};
