/* SPDX-License-Identifier: MIT */
/*
 * Folded stacks of the time that threads were blocked on synchronization objects and in blocking
 * calls: the call path if it was recorded, else the calling function; the operation or call; the
 * object.  With wakers: followed, as
 * in bcc's offwaketime, by `--` and the stack of the thread that ended the wait, innermost first.
 */
#include <errno.h>

#include "export/stacks/off_cpu.h"
#include "export/stacks/speedscope.h"
#include "export/stacks/stacks.h"
#include "analysis/select.h"
#include "analysis/thread_cells.h"

struct folded {
	const struct pp_export *export;
	struct pp_off_cpu *off_cpu;
	bool with_wakers;
	unsigned n_without_waker;
};

/* Appends the waker's stack, innermost first; its thread comes last. */
static struct pp_stack *fold_waker(struct folded *self, struct pp_stacks *stacks,
				   struct pp_stack *stack, const struct pp_release *waker)
{
	const struct pp_namer *namer = self->export->context->namer;
	const struct pp_process *process;
	g_autofree char *title = NULL;

	stack = pp_stack_child(stacks, stack, "--");
	if (!waker->thread) {
		self->n_without_waker++;
		return pp_stack_child(stacks, stack, "[not known]");
	}
	process = waker->thread->process;
	stack =
	    pp_stack_child(stacks, stack, pp_sync_function(waker->op) ?: pp_sync_name(waker->op));
	for (unsigned i = 0; waker->path && i < waker->path->n; i++)
		stack = pp_stack_address_reversed(stacks, stack, namer, process,
						  waker->path->addresses[i]);
	if (!waker->path && waker->site)
		stack = pp_stack_address_reversed(stacks, stack, namer, process, waker->site);
	if (self->export->no_threads)
		return stack;
	title = pp_thread_title(waker->thread);
	return pp_stack_child(stacks, stack, title);
}

static void fold(struct folded *self, struct pp_stacks *stacks, const struct pp_off_cpu_use *use)
{
	const struct pp_namer *namer = self->export->context->namer;
	const struct pp_process *process = use->thread->process;
	struct pp_stack *stack = pp_stacks_thread(stacks, use->thread, self->export->no_threads);
	g_autofree char *name = NULL;

	for (unsigned i = use->path ? use->path->n : 0; i-- > 0;)
		stack = pp_stack_address(stacks, stack, namer, process, use->path->addresses[i]);
	if (!use->path && use->site)
		stack = pp_stack_address(stacks, stack, namer, process, use->site);
	stack = pp_stack_child(stacks, stack, pp_op_function(use->op) ?: pp_sync_name(use->op));
	if (use->object) {
		name = pp_object_name(use->object, namer);
		stack = pp_stack_child(stacks, stack, name);
	}
	if (self->with_wakers)
		stack = fold_waker(self, stacks, stack, &use->waker);
	stack->value += (uint64_t)use->slept_ns;
}

static void *start(const struct pp_export *export, bool with_wakers)
{
	struct folded *self = g_new0(struct folded, 1);

	self->export = export;
	self->with_wakers = with_wakers;
	self->off_cpu = pp_off_cpu_new(export, with_wakers);
	return self;
}

static void *off_cpu_start(const struct pp_export *export)
{
	return start(export, false);
}

static void *off_wake_start(const struct pp_export *export)
{
	return start(export, true);
}

static void off_cpu_event(void *state, const struct pp_event *event)
{
	pp_off_cpu_event(((struct folded *)state)->off_cpu, event);
}

static int off_cpu_finish(void *state, int64_t end_ns, struct pp_error *err)
{
	struct folded *self = state;
	struct pp_stacks *stacks = pp_stacks_new(0);
	const GPtrArray *uses;
	unsigned n_without = 0;
	int ret = 0;

	pp_off_cpu_finish(self->off_cpu, end_ns);
	uses = pp_off_cpu_uses(self->off_cpu);
	for (guint i = 0; i < uses->len; i++) {
		const struct pp_off_cpu_use *use = uses->pdata[i];

		n_without += !use->path;
		fold(self, stacks, use);
	}
	if (!pp_export_stacks(self->export, stacks, "nanoseconds"))
		ret =
		    pp_error_add(err, -ENODATA,
				 "%s: no thread was blocked on an object, or in a blocking call%s",
				 self->export->context->model->dir,
				 self->export->context->selection ? " in the selection" : "");
	else if (!self->export->context->has_kernel)
		pp_export_note(self->export,
			       "no scheduling events were recorded: times are measured "
			       "from the call of an operation to its return");
	if (!ret && n_without)
		pp_export_note(self->export,
			       "%u of %u stacks have only the call site: the call path was not "
			       "recorded (sync.paths, unwind tables)",
			       n_without, uses->len);
	if (!ret && self->n_without_waker)
		pp_export_note(self->export,
			       "for %u of %u stacks the waker is unknown, or not a thread of "
			       "the program",
			       self->n_without_waker, uses->len);
	pp_stacks_free(stacks);
	return ret;
}

static void off_cpu_free(void *state)
{
	struct folded *self = state;

	pp_off_cpu_free(self->off_cpu);
	g_free(self);
}

const struct pp_exporter pp_exporter_folded_off_cpu = {
    .format = "folded",
    .what = "off-cpu",
    .file_name = "gprof-mt.folded",
    .kinds = PP_THREAD_STATE_KINDS,
    .selects = PP_SELECT_ALL,
    .has_thread_frames = true,
    .start = off_cpu_start,
    .event = off_cpu_event,
    .finish = off_cpu_finish,
    .free = off_cpu_free,
};

const struct pp_exporter pp_exporter_speedscope_off_cpu = {
    .format = "speedscope",
    .what = "off-cpu",
    .file_name = "gprof-mt.speedscope.json",
    .kinds = PP_THREAD_STATE_KINDS,
    .selects = PP_SELECT_ALL,
    .write_stacks = pp_speedscope_write_stacks,
    .start = off_cpu_start,
    .event = off_cpu_event,
    .finish = off_cpu_finish,
    .free = off_cpu_free,
};

const struct pp_exporter pp_exporter_folded_off_wake = {
    .format = "folded",
    .what = "off-wake",
    .file_name = "gprof-mt.folded",
    .kinds = PP_THREAD_STATE_KINDS,
    .selects = PP_SELECT_ALL,
    .has_thread_frames = true,
    .start = off_wake_start,
    .event = off_cpu_event,
    .finish = off_cpu_finish,
    .free = off_cpu_free,
};

const struct pp_exporter pp_exporter_speedscope_off_wake = {
    .format = "speedscope",
    .what = "off-wake",
    .file_name = "gprof-mt.speedscope.json",
    .kinds = PP_THREAD_STATE_KINDS,
    .selects = PP_SELECT_ALL,
    .write_stacks = pp_speedscope_write_stacks,
    .start = off_wake_start,
    .event = off_cpu_event,
    .finish = off_cpu_finish,
    .free = off_cpu_free,
};
