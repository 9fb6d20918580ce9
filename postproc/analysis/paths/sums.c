/* SPDX-License-Identifier: MIT */
/*
 * See sums.h.  If objects are selected, their uses are kept apart until their end, since their
 * names are known only then.
 */
#include "analysis/paths/sums.h"

#include "analysis/select.h"
#include "analysis/state/select_object.h"

struct pp_path_sums {
	const struct pp_pass_context *context;
	bool by_thread, by_object;
	struct pp_thread_listener listener;
	struct pp_object_listener object_listener;
	struct pp_thread_states *states;
	struct pp_objects
	    objects;	   /* if objects are selected; data: a set of struct pp_path_use * */
	GHashTable *known; /* a set of struct pp_path_use * */
	unsigned n_ever;
	bool has_samples;
	GPtrArray *uses;    /* at the end: those of `known`, in order of appearance */
	GPtrArray *threads; /* by serial, of struct pp_path_thread *; NULL: none */
};

static guint use_hash(const void *data)
{
	const struct pp_path_use *use = data;

	return g_direct_hash(use->process) ^ g_direct_hash(use->thread) * 7 ^
	       g_direct_hash(use->path) * 31 ^ g_int64_hash(&use->site) * 961 ^
	       (use->op * 4 + use->kind) * 131;
}

static gboolean use_equal(const void *a, const void *b)
{
	const struct pp_path_use *x = a, *y = b;

	return x->process == y->process && x->thread == y->thread && x->path == y->path &&
	       x->site == y->site && x->kind == y->kind && x->op == y->op;
}

static GHashTable *new_set(void)
{
	return g_hash_table_new_full(use_hash, use_equal, g_free, NULL);
}

static struct pp_path_use *use_in(struct pp_path_sums *self, GHashTable *set,
				  const struct pp_path_use *key)
{
	struct pp_path_use *use = g_hash_table_lookup(set, key);

	if (!use) {
		use = g_memdup2(key, sizeof(*key));
		use->serial = self->n_ever++;
		use->n = 0;
		use->ns = use->in_waits_ns = 0;
		g_hash_table_add(set, use);
	}
	return use;
}

static struct pp_path_thread *thread_of(struct pp_path_sums *self, const struct pp_thread *thread)
{
	pp_by_serial_reach(self->threads, thread->serial);
	if (!self->threads->pdata[thread->serial])
		self->threads->pdata[thread->serial] = g_new0(struct pp_path_thread, 1);
	return self->threads->pdata[thread->serial];
}

/* Notes that the thread waited from `begin_ns` to `end_ns`, within its current mode. */
static void cover(const struct pp_path_sums *self, struct pp_path_thread *thread, int64_t since_ns,
		  int64_t begin_ns, int64_t end_ns)
{
	begin_ns = MAX(MAX(begin_ns, since_ns), thread->covered_until_ns);
	if (begin_ns >= end_ns)
		return;
	thread->covered_ns += pp_selected_ns(self->context, begin_ns, end_ns);
	thread->covered_until_ns = end_ns;
}

/* A mode may last from before a wait until after its end, so the waits in it are left out. */
static void take_interval(struct pp_path_sums *self, const struct pp_interval *interval)
{
	struct pp_path_thread *thread = thread_of(self, interval->thread);
	const struct pp_thread_state *state = pp_thread_state(self->states, interval->thread);
	int64_t begin_ns = INT64_MAX;

	if (state->in_io)
		begin_ns = state->io.begin_ns;
	if (state->operations.depth)
		begin_ns = MIN(begin_ns, state->operations.operations[0].begin_ns);
	cover(self, thread, interval->start_ns, begin_ns, interval->end_ns);
	thread->elsewhere_ns[interval->mode] +=
	    pp_selected_ns(self->context, interval->start_ns, interval->end_ns) -
	    thread->covered_ns;
	thread->covered_ns = 0;
}

/* Adds a wait to the uses in `set`, with its part in the selected time. */
static void take_wait(struct pp_path_sums *self, GHashTable *set,
		      const struct pp_operation *operation)
{
	int64_t wait_ns = pp_selected_ns(self->context, operation->begin_ns, operation->end_ns);
	bool counts = operation->waited && pp_selects_time(self->context, operation->end_ns);
	struct pp_path_use key = {
	    .process = operation->thread->process,
	    .thread = self->by_thread ? operation->thread : NULL,
	    .path = operation->path,
	    .site = operation->path ? 0 : operation->site,
	    .kind = PP_PATH_WAIT,
	    .op = operation->op,
	};
	struct pp_path_use *use;

	if ((!wait_ns && !counts) || !pp_sync_function(operation->op) ||
	    !pp_sync_has(operation->op, PP_SYNC_BLOCKS) ||
	    !pp_selects_operation(self->context, operation))
		return;
	use = use_in(self, set, &key);
	use->n += counts;
	use->ns += wait_ns;
	thread_of(self, operation->thread)->wait_ns += wait_ns;
}

/* Adds a blocking call, as a wait. */
static void take_call(struct pp_path_sums *self, const struct pp_io *io)
{
	int64_t ns = pp_selected_ns(self->context, io->begin_ns, io->end_ns);
	bool counts = pp_selects_time(self->context, io->end_ns);
	struct pp_path_use key = {
	    .process = io->thread->process,
	    .thread = self->by_thread ? io->thread : NULL,
	    .path = io->path,
	    .site = io->path ? 0 : io->site,
	    .kind = PP_PATH_CALL,
	    .op = io->call,
	};
	struct pp_path_use *use;

	if ((!ns && !counts) || !pp_selects_call(self->context, io->thread, pp_io_name(io->call),
						 io->site, io->end_ns - io->begin_ns))
		return;
	use = use_in(self, self->known, &key);
	use->n += counts;
	use->ns += ns;
	thread_of(self, io->thread)->call_ns += ns;
}

static void take_sample(struct pp_path_sums *self, const struct pp_event *event)
{
	struct pp_path_thread *thread = thread_of(self, event->thread);
	const struct pp_thread_state *state = pp_thread_state(self->states, event->thread);
	bool in_wait = state && (state->operations.depth || state->in_io);
	struct pp_path_use key = {
	    .process = event->thread->process,
	    .thread = self->by_thread ? event->thread : NULL,
	    .path = event->sample.path,
	    .kind = PP_PATH_CPU,
	};
	int64_t weight_ns = (int64_t)event->sample.weight_ns;
	struct pp_path_use *use;

	thread->sampled = true;
	if (self->by_object) /* no object has CPU time */
		return;
	self->has_samples = true;
	if (!pp_selects_time(self->context, event->time_ns) ||
	    !pp_selects_thread(self->context, event->thread))
		return;
	use = use_in(self, self->known, &key);
	use->n++;
	use->ns += weight_ns;
	use->in_waits_ns += in_wait ? weight_ns : 0;
	thread->cpu_ns += weight_ns;
	thread->in_waits_ns += in_wait ? weight_ns : 0;
}

/* Adds the histogram of a thread that has no samples in its stream. */
static void take_histogram(struct pp_path_sums *self, const struct pp_thread *thread)
{
	int64_t period_ns = (int64_t)thread->process->sample_period_ns;

	if (!thread->samples || !thread->samples->len)
		return;
	self->has_samples = true;
	for (guint i = 0; i < thread->samples->len; i++) {
		const struct pp_sample *sample =
		    &g_array_index(thread->samples, struct pp_sample, i);
		struct pp_path_use key = {
		    .process = thread->process,
		    .thread = self->by_thread ? thread : NULL,
		    .site = sample->address + 1, /* as that of a call */
		    .kind = PP_PATH_CPU,
		};
		struct pp_path_use *use = use_in(self, self->known, &key);

		use->n += sample->count;
		use->ns += (int64_t)sample->count * period_ns;
		thread_of(self, thread)->cpu_ns += (int64_t)sample->count * period_ns;
	}
}

static void take_histograms(struct pp_path_sums *self)
{
	const GPtrArray *threads = self->context->model->threads;

	if (pp_selects_by(self->context, PP_SELECT_TIME | PP_SELECT_OBJECT))
		return;
	for (guint i = 0; i < threads->len; i++) {
		const struct pp_path_thread *known = pp_path_sums_thread(self, threads->pdata[i]);

		if ((!known || !known->sampled) &&
		    pp_selects_thread(self->context, threads->pdata[i]))
			take_histogram(self, threads->pdata[i]);
	}
}

static void on_interval(void *data, const struct pp_interval *interval)
{
	take_interval(data, interval);
}

static void on_operation(void *data, const struct pp_operation *operation)
{
	struct pp_path_sums *self = data;

	cover(self, thread_of(self, operation->thread),
	      pp_thread_state(self->states, operation->thread)->since_ns, operation->begin_ns,
	      operation->end_ns);
	take_wait(self, self->known, operation);
}

static void on_io(void *data, const struct pp_io *io)
{
	struct pp_path_sums *self = data;

	cover(self, thread_of(self, io->thread),
	      pp_thread_state(self->states, io->thread)->since_ns, io->begin_ns, io->end_ns);
	take_call(self, io);
}

/* --- with selected objects ------------------------------------------------------------------ */

static void on_interval_by_object(void *data, const struct pp_interval *interval)
{
	take_interval(pp_objects_owner(data), interval);
}

static void on_object_operation(void *data, struct pp_object *object,
				const struct pp_operation *operation, bool acquired)
{
	struct pp_path_sums *self = data;

	(void)acquired;
	/* The second call for a condition wait, for its mutex. */
	if (object->type != pp_sync_type(operation->op) ||
	    !pp_may_select_object(self->context, object))
		return;
	if (!object->data)
		object->data = new_set();
	take_wait(self, object->data, operation);
}

/* Moves the uses of the object to the others if it is selected. */
static bool end_object(void *data, struct pp_object *object, struct pp_object *group)
{
	struct pp_path_sums *self = data;
	GHashTable *set = g_steal_pointer(&object->data);
	GHashTableIter iter;
	void *item;

	(void)group;
	if (!set)
		return false;
	g_hash_table_iter_init(&iter, set);
	while (pp_selects_object(self->context, object) &&
	       g_hash_table_iter_next(&iter, &item, NULL)) {
		const struct pp_path_use *from = item;
		struct pp_path_use *use = use_in(self, self->known, from);

		use->serial = MIN(use->serial, from->serial);
		use->n += from->n;
		use->ns += from->ns;
	}
	g_hash_table_unref(set);
	return false;
}

static void end_all_objects(struct pp_path_sums *self)
{
	for (guint i = 0; i < self->objects.all->len; i++)
		if (self->objects.all->pdata[i])
			end_object(self, self->objects.all->pdata[i], NULL);
}

/* -------------------------------------------------------------------------------------------- */

struct pp_path_sums *pp_path_sums_new(const struct pp_pass_context *context, bool by_thread)
{
	struct pp_path_sums *self = g_new0(struct pp_path_sums, 1);

	self->context = context;
	self->by_thread = by_thread;
	self->by_object = pp_selects_by(context, PP_SELECT_OBJECT);
	self->listener = (struct pp_thread_listener){
	    .data = self, .interval = on_interval, .operation = on_operation, .io = on_io};
	if (self->by_object) {
		self->object_listener = (struct pp_object_listener){
		    .data = self, .operation = on_object_operation, .fold = end_object};
		pp_objects_init(&self->objects, &self->object_listener, NULL);
		self->listener = pp_objects_feed(&self->objects);
		self->listener.interval = on_interval_by_object;
	}
	self->known = new_set();
	self->threads = g_ptr_array_new_with_free_func(g_free);
	self->states = pp_thread_states_new(context, &self->listener, NULL);
	return self;
}

void pp_path_sums_event(struct pp_path_sums *self, const struct pp_event *event)
{
	if (event->kind == PP_EVENT_SAMPLE && event->thread)
		take_sample(self, event);
	else
		pp_thread_states_event(self->states, event);
}

/* True if the innermost function of a use of CPU time is selected. */
static bool selects_use(const struct pp_path_sums *self, const struct pp_path_use *use)
{
	const struct pp_namer *namer = self->context->namer;
	uint64_t address = use->path ? use->path->addresses[0] : use->site;
	g_autofree char *name = NULL;

	if (use->kind != PP_PATH_CPU || !pp_selects_by(self->context, PP_SELECT_FUNCTION))
		return true;
	name = address ? namer->function(namer->data, use->process, address) : NULL;
	return pp_selects_function(self->context, name);
}

static gint first_seen(gconstpointer a, gconstpointer b)
{
	const struct pp_path_use *x = *(struct pp_path_use *const *)a;
	const struct pp_path_use *y = *(struct pp_path_use *const *)b;

	return (x->serial > y->serial) - (x->serial < y->serial);
}

void pp_path_sums_finish(struct pp_path_sums *self, int64_t end_ns)
{
	GHashTableIter iter;
	void *use;

	pp_thread_states_finish(self->states, end_ns);
	if (self->by_object)
		end_all_objects(self);
	take_histograms(self);
	self->uses = g_ptr_array_new();
	g_hash_table_iter_init(&iter, self->known);
	while (g_hash_table_iter_next(&iter, &use, NULL))
		if (selects_use(self, use))
			g_ptr_array_add(self->uses, use);
	g_ptr_array_sort(self->uses, first_seen);
}

const GPtrArray *pp_path_sums_uses(const struct pp_path_sums *self)
{
	return self->uses;
}

const struct pp_path_thread *pp_path_sums_thread(const struct pp_path_sums *self,
						 const struct pp_thread *thread)
{
	return thread->serial < self->threads->len ? self->threads->pdata[thread->serial] : NULL;
}

const struct pp_thread_states *pp_path_sums_states(const struct pp_path_sums *self)
{
	return self->states;
}

bool pp_path_sums_has_samples(const struct pp_path_sums *self)
{
	return self->has_samples;
}

static void set_free(void *set)
{
	g_hash_table_unref(set);
}

void pp_path_sums_free(struct pp_path_sums *self)
{
	if (!self)
		return;
	pp_thread_states_free(self->states);
	pp_objects_done(&self->objects, set_free);
	if (self->uses)
		g_ptr_array_unref(self->uses);
	g_hash_table_unref(self->known);
	g_ptr_array_unref(self->threads);
	g_free(self);
}
