/* SPDX-License-Identifier: MIT */
/* Adds the cells of blame up over the waiting calls, in an order that is the same in each run. */
#include "export/stacks/blamed.h"

#include "analysis/mix.h"
#include "analysis/state/select_object.h"

struct sums {
	const struct pp_pass_context *context;
	GHashTable *known; /* a set of struct pp_blamed * */
	const struct pp_object *object;
	bool is_selected; /* `object` */
};

static guint blamed_hash(const void *data)
{
	const struct pp_blamed *blamed = data;
	const struct pp_blame_cause *cause = &blamed->cause;
	uint64_t hash = pp_mix(0, blamed->object->order);

	hash = pp_mix(hash, cause->kind << 16 | cause->why << 1 | blamed->is_idle);
	hash = pp_mix(hash, cause->call.op);
	hash = pp_mix(hash, cause->call.site);
	return (guint)pp_mix(hash, (uintptr_t)cause->call.path);
}

static gboolean blamed_equal(const void *a, const void *b)
{
	const struct pp_blamed *x = a, *y = b;

	return x->object == y->object && x->is_idle == y->is_idle &&
	       x->cause.kind == y->cause.kind && x->cause.why == y->cause.why &&
	       x->cause.call.op == y->cause.call.op && x->cause.call.site == y->cause.call.site &&
	       x->cause.call.path == y->cause.call.path;
}

static void add(struct sums *sums, const struct pp_object *object,
		const struct pp_blame_cause *cause, bool is_idle, int64_t ns)
{
	struct pp_blamed key = {.object = object, .cause = *cause, .is_idle = is_idle};
	struct pp_blamed *known;

	if (ns <= 0)
		return;
	known = g_hash_table_lookup(sums->known, &key);
	if (!known) {
		known = g_memdup2(&key, sizeof(key));
		g_hash_table_add(sums->known, known);
	}
	known->ns += ns;
}

static void take(void *data, const struct pp_object *object, const struct pp_blame_cell *cell,
		 int64_t idle_ns)
{
	struct sums *sums = data;

	if (object != sums->object) {
		sums->object = object;
		sums->is_selected = pp_selects_object(sums->context, object);
	}
	if (!sums->is_selected)
		return;
	add(sums, object, &cell->cause, false, cell->figures.ns - idle_ns);
	add(sums, object, &cell->cause, true, idle_ns);
}

static int compare_numbers(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int compare_paths(const struct pp_path *a, const struct pp_path *b)
{
	unsigned n = MIN(a ? a->n : 0, b ? b->n : 0);

	for (unsigned i = 0; i < n; i++)
		if (a->addresses[i] != b->addresses[i])
			return compare_numbers(a->addresses[i], b->addresses[i]);
	return compare_numbers(a ? a->n : 0, b ? b->n : 0);
}

static gint longest_first(gconstpointer a, gconstpointer b)
{
	const struct pp_blamed *x = a, *y = b;
	const struct pp_blame_call *of_x = &x->cause.call, *of_y = &y->cause.call;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	if (x->object->order != y->object->order)
		return compare_numbers(x->object->order, y->object->order);
	if (x->cause.kind != y->cause.kind || x->cause.why != y->cause.why)
		return compare_numbers((uint64_t)x->cause.kind << 32 | x->cause.why,
				       (uint64_t)y->cause.kind << 32 | y->cause.why);
	if (x->is_idle != y->is_idle)
		return x->is_idle ? 1 : -1;
	if (of_x->op != of_y->op || of_x->site != of_y->site)
		return of_x->op != of_y->op ? compare_numbers(of_x->op, of_y->op)
					    : compare_numbers(of_x->site, of_y->site);
	return compare_paths(of_x->path, of_y->path);
}

GArray *pp_blamed_causes(const struct pp_blame *blame, const struct pp_pass_context *context)
{
	struct sums sums = {
	    .context = context,
	    .known = g_hash_table_new_full(blamed_hash, blamed_equal, g_free, NULL),
	};
	GArray *all;
	GHashTableIter iter;
	gpointer key;

	pp_blame_walk(blame, take, &sums);
	all = g_array_sized_new(FALSE, FALSE, sizeof(struct pp_blamed),
				g_hash_table_size(sums.known));
	g_hash_table_iter_init(&iter, sums.known);
	while (g_hash_table_iter_next(&iter, &key, NULL))
		g_array_append_vals(all, key, 1);
	g_hash_table_unref(sums.known);
	g_array_sort(all, longest_first);
	return all;
}

static char *kind_without_call(const struct pp_blamed *blamed)
{
	return blamed->cause.kind == PP_BLAME_HANDOVER
		   ? g_strdup("hand-over")
		   : g_strdup_printf("unknown: %s", pp_blame_why_text(blamed->cause.why));
}

char *pp_blamed_kind(const struct pp_blamed *blamed)
{
	if (blamed->is_idle)
		return g_strdup("idle");
	if (!pp_blamed_has_call(blamed))
		return kind_without_call(blamed);
	return g_strdup(blamed->cause.kind == PP_BLAME_HOLD ? "holder" : "caller");
}

char *pp_blamed_frame(const struct pp_blamed *blamed)
{
	g_autofree char *kind = kind_without_call(blamed);

	return g_strdup_printf("[%s]", kind);
}

const char *pp_blamed_function(const struct pp_blamed *blamed)
{
	return pp_sync_function(blamed->cause.call.op) ?: "(end of the thread)";
}
