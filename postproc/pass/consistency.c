/* SPDX-License-Identifier: MIT */
/*
 * Contradictions between events, as rows for the quality section.  This pass runs the state
 * machines of threads and objects only to count them, and has no table of its own.
 */
#include "analysis/anomaly.h"
#include "analysis/state/object_state.h"

struct consistency {
	const struct pp_model *model;
	struct pp_thread_listener listener;
	struct pp_object_listener object_listener;
	struct pp_thread_states *states;
	struct pp_objects objects;
	struct pp_anomalies anomalies;
	GHashTable *orders; /* lock -> the greatest number of its acquisitions so far */
};

/* A lock's key in `orders`: addresses have 47 bits. */
#define PID_SHIFT 47

static bool forget(void *data, struct pp_object *object, struct pp_object *group)
{
	(void)data;
	(void)object;
	(void)group;
	return false;
}

static void *consistency_start(const struct pp_pass_context *context)
{
	struct consistency *self = g_new0(struct consistency, 1);

	self->model = context->model;
	self->orders = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
	self->listener = pp_objects_feed(&self->objects);
	pp_anomalies_init(&self->anomalies);
	self->object_listener.fold = forget;
	pp_objects_init(&self->objects, &self->object_listener, &self->anomalies);
	self->states = pp_thread_states_new(context, &self->listener, &self->anomalies);
	return self;
}

/* Time stamps of a lock's acquisitions agree with their numbers if these do not fall. */
static void check_order(struct consistency *self, const struct pp_event *event)
{
	uint64_t lock =
	    pp_sync_has(event->sync.op, PP_SYNC_YIELDS) ? event->sync.value : event->sync.object;
	uint64_t key = lock ^ (uint64_t)event->thread->process->pid << PID_SHIFT, *last;

	last = g_hash_table_lookup(self->orders, &key);
	if (!last) {
		last = g_memdup2(&event->sync.order, sizeof(*last));
		g_hash_table_insert(self->orders, g_memdup2(&key, sizeof(key)), last);
	}
	if (event->sync.order < *last)
		pp_anomaly_add(&self->anomalies, PP_ANOMALY_ORDER, event->thread);
	*last = MAX(*last, event->sync.order);
}

static void consistency_event(void *state, const struct pp_event *event)
{
	struct consistency *self = state;

	if (event->kind == PP_EVENT_SYNC && event->sync.order && event->thread)
		check_order(self, event);
	pp_thread_states_event(self->states, event);
}

/* "thread 12 of process 10", "5 threads of process 10, most in 12". */
static char *describe(const struct pp_process *process, unsigned n_threads,
		      const struct pp_thread *most)
{
	if (n_threads == 1)
		return g_strdup_printf("thread %u of process %u", most->tid, process->pid);
	return g_strdup_printf("%u threads of process %u, most in %u", n_threads, process->pid,
			       most->tid);
}

/* Adds one row per process, since a fault often concerns all of its threads. */
static void report(struct consistency *self, const struct pp_process *process, enum pp_anomaly kind)
{
	const struct pp_thread *most = NULL;
	uint64_t total = 0, max = 0;
	unsigned n_threads = 0;

	for (guint i = 0; i < process->threads->len; i++) {
		const struct pp_thread *thread = process->threads->pdata[i];
		uint64_t count = pp_anomaly_count(&self->anomalies, kind, thread);

		total += count;
		n_threads += count > 0;
		if (count > max) {
			max = count;
			most = thread;
		}
	}
	if (total) {
		g_autofree char *where = describe(process, n_threads, most);

		pp_model_add_problem((struct pp_model *)self->model, pp_anomaly_text(kind), where,
				     total);
	}
}

static void consistency_finish(void *state, int64_t end_ns, GPtrArray *tables)
{
	struct consistency *self = state;

	(void)tables;
	pp_thread_states_finish(self->states, end_ns);
	pp_objects_finish(&self->objects, end_ns);
	for (guint i = 0; i < self->model->processes->len; i++)
		for (enum pp_anomaly kind = 0; kind < PP_N_ANOMALIES; kind++)
			report(self, self->model->processes->pdata[i], kind);
}

static void consistency_free(void *state)
{
	struct consistency *self = state;

	pp_thread_states_free(self->states);
	pp_objects_done(&self->objects, NULL);
	pp_anomalies_done(&self->anomalies);
	g_hash_table_unref(self->orders);
	g_free(self);
}

const struct pp_pass pp_pass_consistency = {
    .name = "consistency",
    .kinds = PP_THREAD_STATE_KINDS,
    .start = consistency_start,
    .event = consistency_event,
    .finish = consistency_finish,
    .free = consistency_free,
};
