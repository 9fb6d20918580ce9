/* SPDX-License-Identifier: MIT */
/*
 * Reads the events since the last look, and those of twice the longest condition before it, and
 * looks at the longest waits, holds and calls in the tables of `locks` and `io`: what lasts longer
 * than its condition has so long a part in there.  Looking takes a fourth of a CPU at most.  What
 * led to a snapshot leads to no other one.
 */
#include "cli/recording/when.h"

#include <inttypes.h>

#include "analysis/select.h"
#include "capture/live.h"
#include "cli/monitor/snapshot.h"
#include "cli/recording/notes.h"
#include "core/clock.h"
#include "core/text/duration.h"
#include "monitor/threads.h"

#define NS_PER_MS     INT64_C(1000000)
#define PERIOD_MS     100
#define MAX_TAKEN     10
#define MAX_GROWTH_NS (1000 * NS_PER_MS)
#define MAX_LONG_NS   (60000 * NS_PER_MS)

struct pp_watch {
	GArray *whens;
	struct pp_snapshots *snapshots;
	GThread *thread;
	GMutex lock; /* protects is_over */
	GCond over;
	bool is_over;
	int64_t since_ns; /* the events before are looked at, or led to a snapshot */
	int64_t longest_ns;
	unsigned n_taken, n_untaken;
	int64_t pause_us;
	bool is_pending;	     /* a condition is true, and goes on */
	int64_t pending_from_ns;     /* ... begin of the part where it is seen */
	int64_t begin_ns, looked_ns; /* of the watch; up to there, it has looked */
	int64_t missed_ns;	     /* the ring did not have any more */
	GHashTable *stalls;	     /* pid and tid -> struct stall */
};

/* A thread, and since when it has used no more CPU time. */
struct stall {
	uint64_t cpu_ns;
	int64_t since_ns;
	bool was_told;
};

/* --- conditions ------------------------------------------------------------------------------- */

static const char *const kinds[PP_N_WHENS] = {"wait", "hold", "call", "stall"};

static bool parse_subject(char *subject, struct pp_when *when)
{
	char *of = strstr(subject, " of ");

	if (of)
		*of = '\0';
	for (unsigned kind = 0; kind < PP_N_WHENS; kind++)
		if (g_str_equal(g_strstrip(subject), kinds[kind])) {
			when->kind = kind;
			when->name = of ? g_strdup(g_strstrip(of + strlen(" of "))) : NULL;
			return !when->name || *when->name;
		}
	return false;
}

bool pp_when_parse(const char *text, struct pp_when *ret)
{
	g_autofree char *copy = g_strdup(text);
	char *than = strrchr(copy, '>');

	*ret = (struct pp_when){.text = text};
	if (!than)
		return false;
	*than = '\0';
	if (parse_subject(copy, ret) &&
	    pp_duration_read(g_strstrip(than + 1), NULL, &ret->longer_ns) && ret->longer_ns > 0 &&
	    ret->longer_ns <= MAX_LONG_NS)
		return true;
	g_clear_pointer(&ret->name, g_free);
	return false;
}

static void come_true(struct pp_watch *watch, struct pp_when *when, int64_t ns)
{
	g_autofree char *length = pp_duration_text(ns);
	g_autofree char *why = g_strdup_printf("%s: %s", when->text, length);

	when->n_true++;
	watch->since_ns = pp_clock_now_ns();
	if (watch->n_taken == MAX_TAKEN) {
		watch->n_untaken++;
		return;
	}
	watch->n_taken++;
	pp_snapshots_ask(watch->snapshots, why);
}

/* --- tables ----------------------------------------------------------------------------------- */

static bool has_text(const struct pp_table *table, guint row, const char *key, const char *text)
{
	const struct pp_cell *cell = pp_table_cell(table, row, key);

	return cell && cell->text && g_pattern_match_simple(text, cell->text);
}

static bool has_address(const struct pp_table *table, guint row, const char *text)
{
	const struct pp_cell *cell = pp_table_cell(table, row, "object");
	guint64 address;

	return cell && g_str_has_prefix(text, "0x") &&
	       g_ascii_string_to_unsigned(text + strlen("0x"), 16, 1, UINT64_MAX, &address, NULL) &&
	       address == cell->count;
}

static int64_t time_of(const struct pp_table *table, guint row, const char *key)
{
	const struct pp_cell *cell = pp_table_cell(table, row, key);

	return cell ? cell->time_ns : 0;
}

/* Waits for other objects, as for work to do, may last. */
static bool is_lock(const struct pp_table *table, guint row)
{
	return has_text(table, row, "type", "mutex") || has_text(table, row, "type", "rwlock") ||
	       has_text(table, row, "type", "spin");
}

/* Is the row of an object or a function that the condition is about? */
static bool is_meant(struct pp_when *when, const struct pp_table *table, guint row)
{
	bool is_named;

	if (!when->name)
		return when->kind == PP_WHEN_CALL || is_lock(table, row);
	is_named = when->kind == PP_WHEN_CALL ? has_text(table, row, "call", when->name)
					      : has_text(table, row, "name", when->name) ||
						    has_address(table, row, when->name);
	when->was_seen |= is_named;
	return is_named;
}

static int64_t longest(const struct pp_when *when, const struct pp_table *table, guint row)
{
	if (when->kind == PP_WHEN_HOLD)
		return time_of(table, row, "hold_max_ns");
	return MAX(time_of(table, row, "wait_max_ns"), time_of(table, row, "spin_max_ns"));
}

/*
 * A wait that is too long has ended if it has not grown since the last look; the events before it
 * are read again, so it has the same begin.  One that grows for more than a second may never end.
 */
static bool has_ended(struct pp_watch *watch, struct pp_when *when, int64_t longest_ns)
{
	bool grows = longest_ns > when->seen_ns;

	if (longest_ns <= when->longer_ns && !when->seen_ns)
		return false;
	when->seen_ns = MAX(when->seen_ns, longest_ns);
	if (grows && when->seen_ns < when->longer_ns + MAX_GROWTH_NS) {
		watch->is_pending = true;
		return false;
	}
	when->seen_ns = 0;
	return true;
}

static void look_at_table(struct pp_watch *watch, struct pp_when *when, const struct pp_view *view)
{
	const char *pass = when->kind == PP_WHEN_CALL ? "io" : "locks";
	const struct pp_table *table = pp_pass_set_table(view->passes, pass, pass);
	int64_t longest_ns = 0;

	for (guint row = 0; table && row < table->rows->len; row++)
		if (is_meant(when, table, row))
			longest_ns = MAX(longest_ns, longest(when, table, row));
	if (has_ended(watch, when, longest_ns))
		come_true(watch, when, longest_ns);
}

/* --- threads ---------------------------------------------------------------------------------- */

static void look_at_thread(struct pp_watch *watch, struct pp_when *when, uint32_t pid,
			   const struct pp_running_thread *thread)
{
	uint64_t key = (uint64_t)pid << 32 | thread->tid;
	struct stall *stall = g_hash_table_lookup(watch->stalls, &key);

	if (!stall) {
		stall = g_new0(struct stall, 1);
		g_hash_table_insert(watch->stalls, g_memdup2(&key, sizeof(key)), stall);
		stall->since_ns = thread->time_ns;
	} else if (stall->cpu_ns != thread->cpu_ns) {
		stall->since_ns = thread->time_ns;
		stall->was_told = false;
	}
	stall->cpu_ns = thread->cpu_ns;
	if (stall->was_told || thread->time_ns - stall->since_ns <= when->longer_ns)
		return;
	stall->was_told = true;
	come_true(watch, when, thread->time_ns - stall->since_ns);
}

static void look_at_threads(struct pp_watch *watch, struct pp_when *when,
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
				look_at_thread(watch, when, process->pid, thread);
		}
		g_clear_pointer(&threads, g_array_unref);
	}
}

/* --- the watch -------------------------------------------------------------------------------- */

/* Adds the time whose events left the ring before this thread read them. */
static void note_missed(struct pp_watch *watch, const struct pp_model *model)
{
	if (pp_model_begins_late(model) && model->since_ns > watch->looked_ns)
		watch->missed_ns += model->since_ns - watch->looked_ns;
	watch->looked_ns = MAX(watch->looked_ns, model->until_ns);
}

static void look(struct pp_watch *watch)
{
	int64_t from_ns = watch->is_pending
			      ? watch->pending_from_ns
			      : MAX(watch->looked_ns - 2 * watch->longest_ns, watch->since_ns);
	struct pp_error err = PP_ERROR_INIT;
	struct pp_snapshot part;

	watch->pending_from_ns = from_ns;
	watch->is_pending = false;
	g_mutex_lock(&watch->snapshots->reading);
	if (pp_snapshot_take(&part, watch->snapshots->dir, from_ns, &err) == 0 && part.is_live) {
		note_missed(watch, part.view.capture->model);
		for (guint i = 0; i < watch->whens->len; i++) {
			struct pp_when *when = &g_array_index(watch->whens, struct pp_when, i);

			if (when->kind == PP_WHEN_STALL)
				look_at_threads(watch, when, part.view.capture->model);
			else
				look_at_table(watch, when, &part.view);
		}
	}
	/* The program has not begun, or ends: the next look tells more. */
	pp_error_done(&err);
	pp_snapshot_done(&part);
	g_mutex_unlock(&watch->snapshots->reading);
}

static void *run(void *data)
{
	struct pp_watch *watch = data;
	int64_t begin_us;

	watch->pause_us = PERIOD_MS * G_TIME_SPAN_MILLISECOND;
	g_mutex_lock(&watch->lock);
	while (!watch->is_over) {
		g_cond_wait_until(&watch->over, &watch->lock,
				  g_get_monotonic_time() + watch->pause_us);
		if (watch->is_over)
			break;
		g_mutex_unlock(&watch->lock);
		begin_us = g_get_monotonic_time();
		look(watch);
		watch->pause_us = MAX(PERIOD_MS * G_TIME_SPAN_MILLISECOND,
				      3 * (g_get_monotonic_time() - begin_us));
		g_mutex_lock(&watch->lock);
	}
	g_mutex_unlock(&watch->lock);
	return NULL;
}

struct pp_watch *pp_watch_begin(GArray *whens, struct pp_snapshots *snapshots)
{
	struct pp_watch *watch;

	if (!whens->len)
		return NULL;
	watch = g_new0(struct pp_watch, 1);
	watch->whens = whens;
	watch->snapshots = snapshots;
	watch->since_ns = watch->begin_ns = watch->looked_ns = pp_clock_now_ns();
	watch->stalls = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
	for (guint i = 0; i < whens->len; i++)
		watch->longest_ns =
		    MAX(watch->longest_ns, g_array_index(whens, struct pp_when, i).longer_ns);
	g_mutex_init(&watch->lock);
	g_cond_init(&watch->over);
	watch->thread = g_thread_new("when", run, watch);
	return watch;
}

static void tell(const struct pp_when *when)
{
	if (when->name && !when->was_seen)
		pp_record_note("--when '%s': there was no %s '%s'", when->text,
			       when->kind == PP_WHEN_CALL    ? "blocking call of a function"
			       : when->kind == PP_WHEN_STALL ? "thread"
							     : "object",
			       when->name);
	else if (when->seen_ns)
		pp_record_note("--when '%s': true at the end, which the capture itself has",
			       when->text);
	else if (!when->n_true)
		pp_record_note("--when '%s': never true", when->text);
}

void pp_watch_end(struct pp_watch *watch)
{
	if (!watch)
		return;
	g_mutex_lock(&watch->lock);
	watch->is_over = true;
	g_cond_signal(&watch->over);
	g_mutex_unlock(&watch->lock);
	g_thread_join(watch->thread);
	for (guint i = 0; i < watch->whens->len; i++)
		tell(&g_array_index(watch->whens, struct pp_when, i));
	if (watch->missed_ns)
		pp_record_note("--when: %.0f %% of the time left the ring before it was looked at; "
			       "use a larger --ring",
			       100.0 * (double)watch->missed_ns /
				   (double)(pp_clock_now_ns() - watch->begin_ns));
	if (watch->n_untaken)
		pp_record_note("--when: true %u more times, after %d snapshots", watch->n_untaken,
			       MAX_TAKEN);
	g_hash_table_unref(watch->stalls);
	g_mutex_clear(&watch->lock);
	g_cond_clear(&watch->over);
	g_free(watch);
}
