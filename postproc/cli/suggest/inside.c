/* SPDX-License-Identifier: MIT */
/* A thread has a list of its sections; a sample belongs to all of them. */
#include "cli/suggest/inside.h"

#include "cli/suggest/addresses.h"

#include "analysis/state/object_state.h"

struct open {
	const struct pp_object *object;
	struct pp_suggest_inside *inside;
};

struct reading {
	struct pp_thread_listener thread_listener;
	struct pp_object_listener object_listener;
	struct pp_objects objects;
	struct pp_thread_states *states;
	GPtrArray *threads; /* by serial: GArray of struct open; NULL: none */
	GHashTable *by_entry;
	GPtrArray *all; /* of struct pp_suggest_inside * */
	int64_t last_ns;
};

static void inside_free(void *data)
{
	struct pp_suggest_inside *inside = data;

	g_hash_table_unref(inside->exits);
	g_hash_table_unref(inside->operations);
	g_hash_table_unref(inside->samples);
	g_free(inside);
}

static struct pp_suggest_inside *inside_at(struct reading *self, uint64_t entry)
{
	struct pp_suggest_inside *inside = g_hash_table_lookup(self->by_entry, &entry);

	if (inside)
		return inside;
	inside = g_new0(struct pp_suggest_inside, 1);
	inside->entry = entry;
	inside->exits = pp_suggest_addresses_new();
	inside->operations = pp_suggest_addresses_new();
	inside->samples = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	g_ptr_array_add(self->all, inside);
	g_hash_table_insert(self->by_entry, &inside->entry, inside);
	return inside;
}

static GArray *open_of(const struct reading *self, const struct pp_thread *thread)
{
	return thread->serial < self->threads->len ? self->threads->pdata[thread->serial] : NULL;
}

static int find_open(const GArray *open, const struct pp_object *object)
{
	for (guint i = open ? open->len : 0; i-- > 0;)
		if (g_array_index(open, struct open, i).object == object)
			return (int)i;
	return -1;
}

static void enter(struct reading *self, const struct pp_object *object,
		  const struct pp_operation *operation)
{
	uint32_t serial = operation->thread->serial;
	struct open entered = {object, inside_at(self, operation->site)};

	pp_by_serial_reach(self->threads, serial);
	if (!self->threads->pdata[serial])
		self->threads->pdata[serial] = g_array_new(FALSE, FALSE, sizeof(struct open));
	g_array_append_val((GArray *)self->threads->pdata[serial], entered);
}

/* --- callbacks -------------------------------------------------------------------------------- */

static void on_operation(void *data, struct pp_object *object, const struct pp_operation *operation,
			 bool acquired)
{
	struct reading *self = data;
	GArray *open = open_of(self, operation->thread);

	for (guint i = 0; open && i < open->len; i++)
		if (g_array_index(open, struct open, i).object != object)
			pp_suggest_addresses_add(
			    g_array_index(open, struct open, i).inside->operations,
			    operation->site);
	if (acquired && pp_object_is_lock(object) && find_open(open, object) < 0)
		enter(self, object, operation);
}

static void on_released(void *data, struct pp_object *object, const struct pp_hold *hold,
			int64_t end_ns, const struct pp_operation *operation)
{
	GArray *open = open_of(data, hold->thread);
	int at = find_open(open, object);

	(void)end_ns;
	if (at < 0)
		return;
	if (operation)
		pp_suggest_addresses_add(g_array_index(open, struct open, (guint)at).inside->exits,
					 operation->site);
	g_array_remove_index(open, (guint)at);
}

static void on_dropped(void *data, struct pp_object *object, const struct pp_thread *thread)
{
	GArray *open = open_of(data, thread);
	int at = find_open(open, object);

	if (at >= 0)
		g_array_remove_index(open, (guint)at);
}

static void add_sample(GHashTable *samples, const struct pp_event *event)
{
	const struct pp_path *path = event->sample.path;
	struct pp_suggest_sample *sample = g_hash_table_lookup(samples, path);

	if (!sample) {
		sample = g_new0(struct pp_suggest_sample, 1);
		sample->path = path;
		g_hash_table_insert(samples, (void *)path, sample);
	}
	sample->n++;
	sample->ns += event->sample.weight_ns;
}

static void on_sample(const struct reading *self, const struct pp_event *event)
{
	const GArray *open = event->thread ? open_of(self, event->thread) : NULL;

	if (!event->sample.path || !event->sample.weight_ns)
		return;
	for (guint i = 0; open && i < open->len; i++)
		add_sample(g_array_index(open, struct open, i).inside->samples, event);
}

static void take_event(void *data, const struct pp_event *event)
{
	struct reading *self = data;

	self->last_ns = MAX(self->last_ns, event->time_ns);
	if (event->kind == PP_EVENT_SAMPLE)
		on_sample(self, event);
	else
		pp_thread_states_event(self->states, event);
}

/* ---------------------------------------------------------------------------------------------- */

static void open_free(void *data)
{
	if (data)
		g_array_unref(data);
}

GPtrArray *pp_suggest_inside_read(struct pp_view *view, struct pp_error *err)
{
	struct reading self = {
	    .threads = g_ptr_array_new_with_free_func(open_free),
	    .by_entry = g_hash_table_new(g_int64_hash, g_int64_equal),
	    .all = g_ptr_array_new_with_free_func(inside_free),
	    .object_listener = {.data = &self,
				.operation = on_operation,
				.released = on_released,
				.dropped = on_dropped,
				.context = &view->context},
	    .last_ns = pp_model_origin(view->capture->model),
	};

	pp_objects_init(&self.objects, &self.object_listener, NULL);
	self.thread_listener = pp_objects_feed(&self.objects);
	self.states = pp_thread_states_new(&view->context, &self.thread_listener, NULL);
	if (pp_view_read(view, PP_THREAD_STATE_KINDS | PP_EVENT_MASK(PP_EVENT_SAMPLE), take_event,
			 &self, err))
		g_clear_pointer(&self.all, g_ptr_array_unref);
	pp_thread_states_free(self.states);
	pp_objects_done(&self.objects, NULL);
	g_ptr_array_unref(self.threads);
	g_hash_table_unref(self.by_entry);
	return self.all;
}
