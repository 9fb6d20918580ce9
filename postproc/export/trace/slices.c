/* SPDX-License-Identifier: MIT */
/* Listens to thread and object states and writes a slice for each state that ends. */
#include "export/trace/slices.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "export/stacks/wakers.h"
#include "analysis/graph/call_sites.h"
#include "analysis/select.h"
#include "analysis/state/wait_end.h"

/* Texts of slices are discarded when they are this many. */
#define TEXTS_MAX ((size_t)1 << 20)

/* A wait that has not ended. */
struct wait {
	struct pp_object *object; /* NULL: it no longer exists */
	char *name;		  /* ... and had this name */
	uint64_t address;
	enum st_event op;
	int64_t begin_ns;
	const struct pp_thread *holder;
	const char *holder_site;
};

/* struct pp_object.data */
struct object {
	char *name;	  /* NULL: not resolved yet */
	int64_t shown_ns; /* the end of the last slice on its track */
};

struct pp_slices {
	const struct pp_pass_context *context;
	void (*take)(void *data, const struct pp_slice *slice);
	void (*forget)(void *data, const struct pp_object *object);
	void *data;
	struct pp_thread_listener thread_listener;
	struct pp_object_listener object_listener;
	struct pp_thread_states *states;
	struct pp_objects objects;
	struct pp_wait_ends ends; /* only for pp_wait_owner() */
	struct pp_call_sites sites;
	GPtrArray *site_names; /* of char *, by number of the site */
	GPtrArray *waits; /* of GArray of struct wait, innermost last; by serial of the thread */
	struct pp_wakers wakers;
	GStringChunk *texts; /* of the slices of one event, and some before it */
	size_t texts_bytes;  /* at most */
	uint64_t n_flows;
};

/* --- names ---------------------------------------------------------------------------------- */

static struct object *data_of(struct pp_object *object)
{
	struct object *data = object->data;

	if (!data) {
		data = object->data = g_new0(struct object, 1);
		data->shown_ns = INT64_MIN;
	}
	return data;
}

/* Takes ownership of the text; returns the same pointer for the same text. */
static const char *text_of(struct pp_slices *slices, char *text)
{
	const char *kept = g_string_chunk_insert_const(slices->texts, text);

	slices->texts_bytes += strlen(text) + 1;
	g_free(text);
	return kept;
}

const char *pp_slices_object(struct pp_slices *slices, struct pp_object *object)
{
	struct object *data = data_of(object);
	g_autofree char *name = NULL, *text = NULL;

	/* A thread's name may still change. */
	if (data->name && object->type != GM_SYNC_TYPE_thread)
		return data->name;
	name = pp_object_name(object, slices->context->namer);
	text = g_strdup_printf("%s (0x%" PRIx64 ")", name, object->address);
	/* A slice that is being made may have the same text already. */
	if (g_strcmp0(text, data->name) != 0) {
		g_free(data->name);
		data->name = g_steal_pointer(&text);
	}
	return data->name;
}

/* NULL: unknown. */
static const char *site_name(struct pp_slices *slices, const struct pp_process *process,
			     uint64_t address, enum st_event op)
{
	struct pp_call_site site = {process, address, op};
	uint32_t number;

	if (!address)
		return NULL;
	number = pp_call_sites_number(&slices->sites, site);
	while (slices->site_names->len <= number)
		g_ptr_array_add(slices->site_names, NULL);
	if (!slices->site_names->pdata[number])
		slices->site_names->pdata[number] =
		    pp_call_site_text(&site, slices->context->namer);
	return slices->site_names->pdata[number];
}

static const char *function_of(enum st_event op)
{
	return pp_sync_function(op) ?: pp_sync_name(op);
}

static const char *thread_name(struct pp_slices *slices, const struct pp_thread *thread)
{
	return text_of(slices, g_strdup_printf("%s (tid %u)", pp_thread_name(thread) ?: "thread",
					       thread->tid));
}

/* --- slices --------------------------------------------------------------------------------- */

static void add_text(struct pp_slice *slice, const char *key, const char *text)
{
	if (text && slice->n_notes < PP_SLICE_NOTES)
		slice->notes[slice->n_notes++] = (struct pp_slice_note){key, text, 0};
}

static void add_number(struct pp_slice *slice, const char *key, int64_t number)
{
	if (slice->n_notes < PP_SLICE_NOTES)
		slice->notes[slice->n_notes++] = (struct pp_slice_note){key, NULL, number};
}

static void hand_out(struct pp_slices *slices, struct pp_slice *slice)
{
	const struct pp_selection *selection = slices->context->selection;

	if (!pp_selects_thread(slices->context, slice->thread))
		return;
	if (selection && selection->by & PP_SELECT_TIME) {
		int64_t origin_ns = pp_model_origin(selection->model);
		int64_t from_ns = MAX(slice->start_ns - origin_ns, selection->from_ns);
		int64_t to_ns = MIN(slice->end_ns - origin_ns, selection->to_ns);

		if (from_ns > to_ns || from_ns >= selection->to_ns)
			return;
		slice->start_ns = origin_ns + from_ns;
		slice->end_ns = origin_ns + to_ns;
	}
	slices->take(slices->data, slice);
}

/* --- waits ---------------------------------------------------------------------------------- */

static void cut_waits(GArray *waits, guint n)
{
	for (guint i = n; i < waits->len; i++)
		g_free(g_array_index(waits, struct wait, i).name);
	g_array_set_size(waits, n);
}

static void waits_free(void *data)
{
	if (data) {
		cut_waits(data, 0);
		g_array_unref(data);
	}
}

static GArray *waits_of(struct pp_slices *slices, const struct pp_thread *thread)
{
	GArray *waits;

	pp_by_serial_reach(slices->waits, thread->serial);
	waits = slices->waits->pdata[thread->serial];
	if (!waits)
		waits = slices->waits->pdata[thread->serial] =
		    g_array_new(FALSE, FALSE, sizeof(struct wait));
	return waits;
}

/* Returns NULL if its begin was not recorded. */
static struct wait *find_wait(struct pp_slices *slices, const struct pp_operation *operation)
{
	GArray *waits = waits_of(slices, operation->thread);

	for (guint i = waits->len; i-- > 0;) {
		struct wait *wait = &g_array_index(waits, struct wait, i);

		if (wait->op == operation->op && wait->begin_ns == operation->begin_ns &&
		    wait->address == operation->object)
			return wait;
	}
	return NULL;
}

static void on_waits(void *data, struct pp_object *object, const struct pp_operation *operation)
{
	struct pp_slices *slices = data;
	const struct pp_hold *hold;
	struct wait wait = {
	    .object = object,
	    .address = object->address,
	    .op = operation->op,
	    .begin_ns = operation->begin_ns,
	    .holder = pp_wait_owner(&slices->ends, object, operation, &hold),
	};

	if (hold)
		wait.holder_site = site_name(slices, object->process, hold->site, hold->op);
	pp_wakers_waits(&slices->wakers, object, operation);
	g_array_append_val(waits_of(slices, operation->thread), wait);
}

/*
 * The owner is determined before the event that gives the thread the lock; the owner's call site is
 * known by now.
 */
static void resolve_waits(struct pp_slices *slices, const struct pp_object *object,
			  const struct pp_operation *operation)
{
	for (guint i = 0; i < pp_object_n_waiters(object); i++) {
		const struct pp_waiter *waiter =
		    &g_array_index(object->waiters, struct pp_waiter, i);
		GArray *waits = waits_of(slices, waiter->thread);

		for (guint j = 0; j < waits->len; j++) {
			struct wait *wait = &g_array_index(waits, struct wait, j);

			if (wait->object == object && wait->holder == operation->thread &&
			    !wait->holder_site)
				wait->holder_site = site_name(slices, object->process,
							      operation->site, operation->op);
		}
	}
}

static void add_operation(struct pp_slices *slices, struct pp_slice *slice,
			  const struct pp_operation *operation, const struct wait *wait)
{
	const struct pp_thread *thread = operation->thread;

	add_text(slice, "site", site_name(slices, thread->process, operation->site, operation->op));
	if (wait && wait->holder) {
		add_text(slice, "holder", thread_name(slices, wait->holder));
		add_text(slice, "holder site", wait->holder_site);
	}
}

/* --- flows ---------------------------------------------------------------------------------- */

/* Passes on the instant of the release, with the wait's flow. */
static void hand_out_release(struct pp_slices *slices, struct pp_slice *of_wait,
			     const struct pp_release *release)
{
	const struct pp_pass_context *context = slices->context;
	struct pp_slice slice = {
	    .kind = PP_SLICE_RELEASE,
	    .thread = release->thread,
	    .object = of_wait->object,
	    .name = function_of(release->op),
	    .start_ns = release->at_ns,
	    .end_ns = release->at_ns,
	};

	if (!pp_selects_time(context, release->at_ns) ||
	    !pp_selects_time(context, of_wait->end_ns) ||
	    !pp_selects_thread(context, of_wait->thread) ||
	    !pp_selects_thread(context, release->thread))
		return;
	slice.flow = of_wait->flow = ++slices->n_flows;
	of_wait->woken_ns = release->at_ns;
	add_text(&slice, "object", pp_slices_object(slices, of_wait->object));
	add_text(&slice, "site",
		 site_name(slices, release->thread->process, release->site, release->op));
	add_text(&slice, "wakes", thread_name(slices, of_wait->thread));
	hand_out(slices, &slice);
}

/* --- events --------------------------------------------------------------------------------- */

static const char *state_name(struct pp_slices *slices, const struct pp_interval *interval,
			      const struct wait *wait)
{
	if (interval->io &&
	    (interval->mode == PP_MODE_BLOCKED_IO || interval->mode == PP_MODE_BLOCKED_OTHER))
		return text_of(slices,
			       g_strconcat("blocked in ", pp_io_name(interval->io->call), NULL));
	switch (interval->mode) {
	case PP_MODE_RUNNING:
		return "running";
	case PP_MODE_RUNNABLE:
		return "runnable";
	case PP_MODE_BLOCKED_IO:
		return "blocked on I/O";
	case PP_MODE_BLOCKED_OTHER:
		return "asleep";
	case PP_MODE_BLOCKED_SYNC:
		if (wait)
			return text_of(slices, g_strconcat("blocked on ",
							   wait->object ? pp_slices_object(
									      slices, wait->object)
									: wait->name,
							   NULL));
		return "blocked";
	default:
		return "not known";
	}
}

/* Describes the blocking call that the thread was in. */
static void add_io(struct pp_slices *slices, struct pp_slice *slice, const struct pp_io *io)
{
	char *object = pp_io_object_text(io->call, io->fd, io->object);

	add_text(slice, "call", pp_io_name(io->call));
	if (object)
		add_text(slice, "of", text_of(slices, object));
	if (io->site)
		add_text(slice, "site",
			 site_name(slices, io->thread->process, io->site, pp_io_op(io->call)));
}

static void on_interval(void *data, const struct pp_interval *interval)
{
	struct pp_slices *slices = pp_objects_owner(data);
	const struct pp_operation *operation =
	    interval->mode == PP_MODE_BLOCKED_SYNC ? interval->operation : NULL;
	const struct wait *wait = operation ? find_wait(slices, operation) : NULL;
	struct pp_slice slice = {
	    .kind = PP_SLICE_STATE,
	    .thread = interval->thread,
	    .name = state_name(slices, interval, wait),
	    .start_ns = interval->start_ns,
	    .end_ns = interval->end_ns,
	};

	if (interval->mode == PP_MODE_RUNNING && interval->cpu != PP_CPU_UNKNOWN)
		add_number(&slice, "cpu", interval->cpu);
	if (interval->mode == PP_MODE_RUNNABLE && interval->waker)
		add_text(&slice, "waker", thread_name(slices, interval->waker));
	if (operation) {
		add_text(&slice, "operation", function_of(operation->op));
		add_operation(slices, &slice, operation, wait);
	}
	if (interval->io && interval->mode != PP_MODE_RUNNING)
		add_io(slices, &slice, interval->io);
	if (slice.end_ns > slice.start_ns)
		hand_out(slices, &slice);
}

static void end_wait(struct pp_slices *slices, struct pp_object *object,
		     const struct pp_operation *operation)
{
	GArray *waits = waits_of(slices, operation->thread);
	struct wait *wait = find_wait(slices, operation);
	struct pp_release release;
	struct pp_slice slice = {
	    .kind = PP_SLICE_WAIT,
	    .thread = operation->thread,
	    .object = object,
	    .name = function_of(operation->op),
	    .start_ns = operation->begin_ns,
	    .end_ns = operation->end_ns,
	};

	add_text(&slice, "object", pp_slices_object(slices, object));
	add_operation(slices, &slice, operation, wait);
	if (operation->finished)
		add_number(&slice, "result", operation->result);
	if (pp_wakers_end(&slices->wakers, object, operation, &release))
		hand_out_release(slices, &slice, &release);
	hand_out(slices, &slice);
	/* Nested waits were abandoned. */
	if (wait)
		cut_waits(waits, (guint)(wait - (struct wait *)(void *)waits->data));
}

static void on_operation(void *data, struct pp_object *object, const struct pp_operation *operation,
			 bool acquired)
{
	struct pp_slices *slices = data;

	if (acquired)
		resolve_waits(slices, object, operation);
	/* A condition wait is reported a second time, for its mutex. */
	if (object->type != pp_sync_type(operation->op))
		return;
	if (operation->waited)
		end_wait(slices, object, operation);
	pp_wakers_operation(&slices->wakers, object, operation);
}

static void on_yielded(void *data, struct pp_object *mutex, const struct pp_operation *operation)
{
	pp_wakers_yielded(&((struct pp_slices *)data)->wakers, mutex, operation);
}

static void on_released(void *data, struct pp_object *object, const struct pp_hold *hold,
			int64_t end_ns, const struct pp_operation *operation)
{
	struct pp_slices *slices = data;
	struct object *shown = data_of(object);
	struct pp_slice slice = {
	    .kind = PP_SLICE_HOLD,
	    .thread = hold->thread,
	    .object = object,
	    .name = thread_name(slices, hold->thread),
	    .start_ns = hold->since_ns,
	    .end_ns = end_ns,
	    .is_aside = hold->since_ns < shown->shown_ns,
	};

	(void)operation;
	if (!slice.is_aside)
		shown->shown_ns = end_ns;
	add_text(&slice, "operation", function_of(hold->op));
	add_text(&slice, "site", site_name(slices, object->process, hold->site, hold->op));
	add_number(&slice, "wait (ns)", hold->wait_ns);
	hand_out(slices, &slice);
}

/* A barrier may be destroyed while its last waiters have not returned. */
static void name_in_waits(struct pp_slices *slices, struct pp_object *object)
{
	for (guint t = 0; t < slices->waits->len; t++) {
		GArray *waits = slices->waits->pdata[t];

		for (guint i = 0; waits && i < waits->len; i++) {
			struct wait *wait = &g_array_index(waits, struct wait, i);

			if (wait->object != object)
				continue;
			wait->name = g_strdup(pp_slices_object(slices, object));
			wait->object = NULL;
		}
	}
}

static void object_free(void *data)
{
	struct object *object = data;

	g_free(object->name);
	g_free(object);
}

static bool on_end(void *data, struct pp_object *object, struct pp_object *group)
{
	struct pp_slices *slices = data;

	(void)group;
	if (pp_object_n_waiters(object))
		name_in_waits(slices, object);
	pp_wakers_forget(&slices->wakers, object);
	slices->forget(slices->data, object);
	if (object->data)
		object_free(g_steal_pointer(&object->data));
	return false;
}

void pp_slices_event(struct pp_slices *slices, const struct pp_event *event)
{
	if (slices->texts_bytes > TEXTS_MAX) {
		g_string_chunk_clear(slices->texts);
		slices->texts_bytes = 0;
	}
	if (event->kind == PP_EVENT_WAKING)
		pp_wakers_waking(&slices->wakers, event);
	pp_thread_states_event(slices->states, event);
}

void pp_slices_finish(struct pp_slices *slices, int64_t end_ns)
{
	pp_thread_states_finish(slices->states, end_ns);
	pp_objects_finish(&slices->objects, end_ns);
}

int pp_slices_nothing(const struct pp_export *export, struct pp_error *err)
{
	return pp_error_add(err, -ENODATA, "%s: no activity of threads%s",
			    export->context->model->dir,
			    export->context->selection ? " in the selection" : "");
}

void pp_slices_note_kernel(const struct pp_export *export)
{
	if (!export->context->has_kernel)
		pp_export_note(export, "no scheduling events were recorded: unknown when "
				       "threads ran; they are shown as blocked from the call of an "
				       "operation to its return");
}

struct pp_slices *pp_slices_new(const struct pp_export *export,
				void (*take)(void *data, const struct pp_slice *slice),
				void (*forget)(void *data, const struct pp_object *object),
				void *data)
{
	struct pp_slices *slices = g_new0(struct pp_slices, 1);

	slices->context = export->context;
	slices->take = take;
	slices->forget = forget;
	slices->data = data;
	slices->object_listener = (struct pp_object_listener){.data = slices,
							      .waits = on_waits,
							      .operation = on_operation,
							      .released = on_released,
							      .yielded = on_yielded,
							      .fold = on_end,
							      .context = export->context};
	pp_objects_init(&slices->objects, &slices->object_listener, NULL);
	slices->thread_listener = pp_objects_feed(&slices->objects);
	slices->thread_listener.interval = on_interval;
	slices->states = pp_thread_states_new(export->context, &slices->thread_listener, NULL);
	pp_wait_ends_init(&slices->ends, export->context->model);
	pp_call_sites_init(&slices->sites);
	slices->site_names = g_ptr_array_new_with_free_func(g_free);
	slices->waits = g_ptr_array_new_with_free_func(waits_free);
	pp_wakers_init(&slices->wakers);
	slices->texts = g_string_chunk_new(4096);
	return slices;
}

void pp_slices_free(struct pp_slices *slices)
{
	if (!slices)
		return;
	pp_thread_states_free(slices->states);
	pp_objects_done(&slices->objects, object_free);
	pp_wait_ends_done(&slices->ends);
	pp_call_sites_done(&slices->sites);
	g_ptr_array_unref(slices->site_names);
	g_ptr_array_unref(slices->waits);
	pp_wakers_done(&slices->wakers);
	g_string_chunk_free(slices->texts);
	g_free(slices);
}
