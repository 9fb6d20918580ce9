/* SPDX-License-Identifier: MIT */
/*
 * Folded stacks of the time that threads were blocked on synchronization objects: the calls that
 * led there, if their path was recorded, else the function of the call; the operation; the object.
 *
 * An operation's path comes with its end, so what it slept until then waits for that.
 */
#include <errno.h>
#include <inttypes.h>

#include "export/exporter.h"
#include "export/speedscope.h"
#include "export/stacks.h"
#include "pass/object_state.h"
#include "pass/select.h"

/* What an operation that goes on has slept so far. */
struct sleep {
	enum st_event op;
	uint64_t object, site;
	int64_t begin_ns, slept_ns;
};

/* Blocked alike. */
struct use {
	const struct pp_thread *thread;
	struct pp_object *object; /* NULL: the operation's end is not known */
	const struct pp_path *path;
	uint64_t site;
	enum st_event op;
	int64_t slept_ns;
};

struct off_cpu {
	const struct pp_export *export;
	struct pp_thread_listener thread_listener;
	struct pp_object_listener object_listener;
	struct pp_objects objects;
	struct pp_thread_states *states;
	GHashTable *sleeps; /* const struct pp_thread * -> GArray of struct sleep */
	GHashTable *known;  /* a set of struct use * */
	GPtrArray *uses;    /* the same, in order of appearance */
};

static guint use_hash(const void *data)
{
	const struct use *use = data;

	return g_direct_hash(use->thread) ^ g_direct_hash(use->object) * 31 ^
	       g_direct_hash(use->path) * 961 ^ g_int64_hash(&use->site) ^ use->op;
}

static gboolean use_equal(const void *a, const void *b)
{
	const struct use *x = a, *y = b;

	return x->thread == y->thread && x->object == y->object && x->path == y->path &&
	       x->site == y->site && x->op == y->op;
}

static void add_sleep(struct off_cpu *self, const struct use *key, int64_t slept_ns)
{
	struct use *use = g_hash_table_lookup(self->known, key);

	if (!use) {
		use = g_memdup2(key, sizeof(*key));
		g_hash_table_add(self->known, use);
		g_ptr_array_add(self->uses, use);
	}
	use->slept_ns += slept_ns;
}

static GArray *sleeps_of(const struct off_cpu *self, const struct pp_thread *thread)
{
	GArray *sleeps = g_hash_table_lookup(self->sleeps, thread);

	if (!sleeps) {
		sleeps = g_array_new(FALSE, FALSE, sizeof(struct sleep));
		g_hash_table_insert(self->sleeps, (void *)thread, sleeps);
	}
	return sleeps;
}

static bool is_of(const struct sleep *sleep, const struct pp_operation *operation)
{
	return sleep->op == operation->op && sleep->object == operation->object &&
	       sleep->begin_ns == operation->begin_ns;
}

static void on_interval(void *data, const struct pp_interval *interval)
{
	struct off_cpu *self = pp_objects_owner(data);
	const struct pp_operation *operation = interval->operation;
	GArray *sleeps;
	struct sleep sleep;

	if (interval->mode != PP_MODE_BLOCKED_SYNC || !operation)
		return;
	sleeps = sleeps_of(self, interval->thread);
	sleep = (struct sleep){
	    operation->op, operation->object, operation->site, operation->begin_ns,
	    pp_selected_ns(self->export->context, interval->start_ns, interval->end_ns)};
	for (guint i = 0; i < sleeps->len; i++) {
		struct sleep *known = &g_array_index(sleeps, struct sleep, i);

		if (is_of(known, operation)) {
			known->slept_ns += sleep.slept_ns;
			return;
		}
	}
	g_array_append_val(sleeps, sleep);
}

static void on_operation(void *data, struct pp_object *object, const struct pp_operation *operation,
			 bool acquired)
{
	struct off_cpu *self = data;
	GArray *sleeps = sleeps_of(self, operation->thread);
	struct use use = {operation->thread, object,	    operation->path,
			  operation->site,   operation->op, 0};

	(void)acquired;
	/* A condition wait comes a second time, for its mutex. */
	if (object->type != pp_sync_type(operation->op))
		return;
	for (guint i = sleeps->len; i-- > 0;) {
		const struct sleep *sleep = &g_array_index(sleeps, struct sleep, i);

		if (!is_of(sleep, operation))
			continue;
		if (sleep->slept_ns && pp_selects_operation(self->export->context, operation))
			add_sleep(self, &use, sleep->slept_ns);
		g_array_remove_index_fast(sleeps, i);
	}
}

static void *off_cpu_start(const struct pp_export *export)
{
	struct off_cpu *self = g_new0(struct off_cpu, 1);

	self->export = export;
	self->object_listener =
	    (struct pp_object_listener){.data = self, .operation = on_operation};
	pp_objects_init(&self->objects, &self->object_listener, NULL);
	self->thread_listener = pp_objects_feed(&self->objects);
	self->thread_listener.interval = on_interval;
	self->states = pp_thread_states_new(export->context, &self->thread_listener, NULL);
	self->sleeps = g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)g_array_unref);
	self->known = g_hash_table_new(use_hash, use_equal);
	self->uses = g_ptr_array_new_with_free_func(g_free);
	return self;
}

static void off_cpu_event(void *state, const struct pp_event *event)
{
	pp_thread_states_event(((struct off_cpu *)state)->states, event);
}

/* Of operations that were given up without a word: nobody knows of which object's life they were.
 */
static void add_the_rest(struct off_cpu *self)
{
	GHashTableIter iter;
	void *thread, *sleeps;

	g_hash_table_iter_init(&iter, self->sleeps);
	while (g_hash_table_iter_next(&iter, &thread, &sleeps))
		for (guint i = 0; i < ((GArray *)sleeps)->len; i++) {
			const struct sleep *sleep =
			    &g_array_index((GArray *)sleeps, struct sleep, i);
			struct use use = {.thread = thread, .site = sleep->site, .op = sleep->op};

			/* What else is chosen by, it cannot be asked for any more. */
			if (sleep->slept_ns &&
			    pp_selects_thread(self->export->context, use.thread) &&
			    !pp_selects_by(self->export->context, PP_SELECT_OBJECT |
								      PP_SELECT_FUNCTION |
								      PP_SELECT_MIN_WAIT))
				add_sleep(self, &use, sleep->slept_ns);
		}
}

static void fold(const struct off_cpu *self, struct pp_stacks *stacks, const struct use *use)
{
	const struct pp_namer *namer = self->export->context->namer;
	const struct pp_process *process = use->thread->process;
	struct pp_stack *stack = pp_stacks_thread(stacks, use->thread, self->export->no_threads);
	g_autofree char *name = NULL;

	for (unsigned i = use->path ? use->path->n : 0; i-- > 0;)
		stack = pp_stack_address(stacks, stack, namer, process, use->path->addresses[i]);
	if (!use->path && use->site)
		stack = pp_stack_address(stacks, stack, namer, process, use->site);
	stack = pp_stack_child(stacks, stack, pp_sync_function(use->op) ?: pp_sync_name(use->op));
	if (use->object) {
		name = pp_object_name(use->object, namer);
		stack = pp_stack_child(stacks, stack, name);
	}
	stack->value += (uint64_t)use->slept_ns;
}

static int off_cpu_finish(void *state, int64_t end_ns, struct pp_error *err)
{
	struct off_cpu *self = state;
	struct pp_stacks *stacks = pp_stacks_new();
	unsigned n_without = 0, n = 0;
	int ret = 0;

	pp_thread_states_finish(self->states, end_ns);
	add_the_rest(self);
	for (guint i = 0; i < self->uses->len; i++) {
		const struct use *use = self->uses->pdata[i];

		if (use->object && !pp_selects_object(self->export->context, use->object))
			continue;
		n_without += !use->path;
		n++;
		fold(self, stacks, use);
	}
	if (!pp_export_stacks(self->export, stacks, "nanoseconds"))
		ret = pp_error_add(err, -ENODATA, "%s: no thread was blocked on an object%s",
				   self->export->context->model->dir,
				   self->export->context->selection ? " in all that is selected"
								    : "");
	else if (!self->export->context->has_kernel)
		pp_export_note(self->export, "no scheduling events were recorded: times are those "
					     "from an operation's begin to its return");
	if (!ret && n_without)
		pp_export_note(self->export,
			       "%u of %u stacks have only the place of the call: its path was not "
			       "recorded (sync.paths, frame pointers)",
			       n_without, n);
	pp_stacks_free(stacks);
	return ret;
}

static void off_cpu_free(void *state)
{
	struct off_cpu *self = state;

	g_hash_table_unref(self->sleeps);
	g_hash_table_unref(self->known);
	g_ptr_array_unref(self->uses);
	pp_thread_states_free(self->states);
	pp_objects_done(&self->objects, NULL);
	g_free(self);
}

const struct pp_exporter pp_exporter_folded_off_cpu = {
    .format = "folded",
    .what = "off-cpu",
    .summary = "time blocked on objects, ns, by the calls that led there",
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
    .summary = "time blocked on objects, ns, by the calls that led there",
    .file_name = "gprof-mt.speedscope.json",
    .kinds = PP_THREAD_STATE_KINDS,
    .selects = PP_SELECT_ALL,
    .write_stacks = pp_speedscope_write_stacks,
    .start = off_cpu_start,
    .event = off_cpu_event,
    .finish = off_cpu_finish,
    .free = off_cpu_free,
};
