/* SPDX-License-Identifier: MIT */
/*
 * An operation is known by its condition, its thread, and its object or call: what begins before
 * the time up to which such an operation was told is the same one, seen again.
 *
 * A snapshot of an operation that goes on would lack its end, so it counts when it has ended.  One
 * that lasts for a second more than the condition may never end, and counts in any case.
 */
#include "cli/recording/when_hits.h"

#include <inttypes.h>

#include "analysis/select.h"
#include "core/text/duration.h"
#include "monitor/threads.h"

#define MAX_MORE_NS INT64_C(1000000000)
/* Operations that are remembered; more are forgotten when they have left the part that is read. */
#define MAX_TOLD 4096

/* A thread, and since when it has used no more CPU time. */
struct stall {
	uint64_t cpu_ns;
	int64_t since_ns;
	bool was_told;
};

static void come_true(struct pp_when *when, int64_t ns)
{
	when->n_true++;
	when->n_hits++;
	when->longest_ns = MAX(when->longest_ns, ns);
}

/* Adds the reason, if the condition came true in this look. */
static void add_why(struct pp_hits *hits, struct pp_when *when)
{
	g_autofree char *length = pp_duration_text(when->longest_ns);

	if (!when->n_hits)
		return;
	g_string_append_printf(hits->whys, "%s%s: %s", hits->whys->len ? "; " : "", when->text,
			       length);
	if (when->n_hits > 1)
		g_string_append_printf(hits->whys, ", the longest of %u", when->n_hits);
	when->n_hits = 0;
	when->longest_ns = 0;
}

/* --- operations ------------------------------------------------------------------------------- */

static const char *text_of(const struct pp_table *table, guint row, const char *key)
{
	const struct pp_cell *cell = pp_table_cell(table, row, key);

	return cell && cell->text ? cell->text : "";
}

/* True if the object has that name or address, or the call has that name. */
static bool is_named(const struct pp_table *table, guint row, const char *text)
{
	guint64 address;

	return g_pattern_match_simple(text, text_of(table, row, "name")) ||
	       (g_str_has_prefix(text, "0x") &&
		g_ascii_string_to_unsigned(text + strlen("0x"), 16, 1, UINT64_MAX, &address,
					   NULL) &&
		address == pp_table_count(table, row, "object"));
}

/* Waits for other objects, as for work to do, may last. */
static bool is_lock(const struct pp_table *table, guint row)
{
	const char *type = text_of(table, row, "type");

	return g_str_equal(type, "mutex") || g_str_equal(type, "rwlock") ||
	       g_str_equal(type, "spin");
}

/* True if the condition is about the operation. */
static bool is_meant(const struct pp_when *when, const struct pp_table *table, guint row)
{
	if (!g_str_equal(text_of(table, row, "kind"), pp_when_kind_name(when->kind)))
		return false;
	if (when->name)
		return is_named(table, row, when->name);
	return when->kind == PP_WHEN_CALL || is_lock(table, row);
}

/* The caller frees it. */
static char *key_of(const struct pp_hits *hits, const struct pp_when *when,
		    const struct pp_table *table, guint row)
{
	return g_strdup_printf("%td %" PRIu64 " %" PRIu64 " %" PRIu64 " %s",
			       when - (struct pp_when *)hits->whens->data,
			       pp_table_count(table, row, "pid"), pp_table_count(table, row, "tid"),
			       pp_table_count(table, row, "object"),
			       when->kind == PP_WHEN_CALL ? text_of(table, row, "name") : "");
}

static void look_at_operation(struct pp_hits *hits, struct pp_when *when,
			      const struct pp_table *table, guint row, bool is_last)
{
	const struct pp_cell *ended = pp_table_cell(table, row, "ended");
	int64_t begin_ns = pp_table_time_ns(table, row, "begin_ns"),
		ns = pp_table_time_ns(table, row, "time_ns");
	bool goes_on = !is_last && !(ended && ended->truth);
	g_autofree char *key = NULL;
	int64_t *told_ns;

	if (!is_meant(when, table, row) || ns <= when->longer_ns)
		return;
	key = key_of(hits, when, table, row);
	told_ns = g_hash_table_lookup(hits->told, key);
	if (!told_ns || begin_ns >= *told_ns) {
		if (goes_on && ns < when->longer_ns + MAX_MORE_NS) {
			hits->is_pending = true;
			return;
		}
		come_true(when, ns);
	}
	if (!told_ns) {
		told_ns = g_new0(int64_t, 1);
		g_hash_table_insert(hits->told, g_steal_pointer(&key), told_ns);
	}
	*told_ns = MAX(*told_ns, begin_ns + ns);
}

/* Also without any long operation, the name may be right. */
static void look_for_name(struct pp_when *when, const struct pp_table *names)
{
	for (guint row = 0; names && row < names->rows->len; row++) {
		bool is_call = text_of(names, row, "type")[0] == '\0';

		if (is_call == (when->kind == PP_WHEN_CALL))
			when->was_seen |= is_named(names, row, when->name);
	}
}

static gboolean is_before(void *key, void *value, void *data)
{
	(void)key;
	return *(int64_t *)value < *(int64_t *)data;
}

/* --- threads ---------------------------------------------------------------------------------- */

static void look_at_thread(struct pp_hits *hits, struct pp_when *when, uint32_t pid,
			   const struct pp_running_thread *thread)
{
	uint64_t at = (uint64_t)(when - (struct pp_when *)hits->whens->data);
	/* A pid has 22 bits. */
	uint64_t key = at << 44 | (uint64_t)pid << 22 | thread->tid;
	struct stall *stall = g_hash_table_lookup(hits->stalls, &key);

	if (!stall) {
		stall = g_new0(struct stall, 1);
		g_hash_table_insert(hits->stalls, g_memdup2(&key, sizeof(key)), stall);
		stall->since_ns = thread->time_ns;
	} else if (stall->cpu_ns != thread->cpu_ns) {
		stall->since_ns = thread->time_ns;
		stall->was_told = false;
	}
	stall->cpu_ns = thread->cpu_ns;
	if (stall->was_told || thread->time_ns - stall->since_ns <= when->longer_ns)
		return;
	stall->was_told = true;
	come_true(when, thread->time_ns - stall->since_ns);
}

static void look_at_threads(struct pp_hits *hits, struct pp_when *when,
			    const struct pp_model *model)
{
	for (guint i = 0; i < model->processes->len; i++) {
		const struct pp_process *process = model->processes->pdata[i];
		GArray *threads = process->is_live ? pp_running_threads((pid_t)process->pid) : NULL;

		for (guint k = 0; threads && k < threads->len; k++) {
			const struct pp_running_thread *thread =
			    &g_array_index(threads, struct pp_running_thread, k);
			bool is_named =
			    when->name && g_pattern_match_simple(when->name, thread->name);

			when->was_seen |= is_named;
			if (thread->has_times && (!when->name || is_named))
				look_at_thread(hits, when, process->pid, thread);
		}
		g_clear_pointer(&threads, g_array_unref);
	}
}

/* ---------------------------------------------------------------------------------------------- */

void pp_hits_look(struct pp_hits *hits, const struct pp_view *view, bool is_last)
{
	const struct pp_table *table =
	    pp_pass_set_table(view->passes, PP_HITS_PASS, "long_operations");
	const struct pp_table *names = pp_pass_set_table(view->passes, PP_HITS_PASS, "names");

	hits->is_pending = false;
	for (guint i = 0; i < hits->whens->len; i++) {
		struct pp_when *when = &g_array_index(hits->whens, struct pp_when, i);

		if (when->kind == PP_WHEN_STALL)
			look_at_threads(hits, when, view->capture->model);
		else if (when->name)
			look_for_name(when, names);
		for (guint row = 0; table && row < table->rows->len; row++)
			look_at_operation(hits, when, table, row, is_last);
		add_why(hits, when);
	}
	if (g_hash_table_size(hits->told) > MAX_TOLD)
		g_hash_table_foreach_remove(hits->told, is_before,
					    &view->context.selection->windows->begin_ns);
}

GHashTable *pp_hits_options(const struct pp_hits *hits)
{
	for (guint i = 0; i < hits->whens->len; i++) {
		const struct pp_when *when = &g_array_index(hits->whens, struct pp_when, i);

		if (when->name && !when->was_seen && when->kind != PP_WHEN_STALL)
			return hits->options;
	}
	return NULL;
}

void pp_hits_init(struct pp_hits *hits, GArray *whens)
{
	*hits = (struct pp_hits){
	    .whens = whens,
	    .told = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free),
	    .stalls = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free),
	    .whys = g_string_new(NULL),
	    .options = g_hash_table_new(g_str_hash, g_str_equal),
	};
	g_hash_table_add(hits->options, (void *)"names");
}

void pp_hits_done(struct pp_hits *hits)
{
	g_hash_table_unref(hits->told);
	g_hash_table_unref(hits->stalls);
	g_string_free(hits->whys, TRUE);
	g_hash_table_unref(hits->options);
}
