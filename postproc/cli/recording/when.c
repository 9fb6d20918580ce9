/* SPDX-License-Identifier: MIT */
/*
 * Reads the events since the last look, and those of twice the longest condition before it, and
 * looks at the operations in them (cli/recording/when_hits.c).  Looking takes a fourth of a CPU at
 * most.
 */
#include "cli/recording/when.h"

#include "cli/monitor/snapshot.h"
#include "cli/recording/notes.h"
#include "cli/recording/when_hits.h"
#include "core/clock.h"

#define PERIOD_MS 100
#define MAX_TAKEN 10

struct pp_watch {
	struct pp_hits hits;
	struct pp_snapshots *snapshots;
	GThread *thread;
	GMutex lock; /* protects is_over */
	GCond over;
	bool is_over;
	int64_t shortest_ns, longest_ns; /* of all conditions */
	unsigned n_taken, n_untaken;
	int64_t pause_us;
	int64_t from_ns;	     /* of the last look */
	int64_t begin_ns, looked_ns; /* of the watch; up to there, it has looked */
	int64_t missed_ns;	     /* the ring did not have any more */
};

/* Adds the time whose events left the ring before this thread read them. */
static void note_missed(struct pp_watch *watch, const struct pp_snapshot *snapshot)
{
	const struct pp_model *model = snapshot->view.capture->model;

	if (pp_model_begins_late(model) && model->since_ns > watch->looked_ns)
		watch->missed_ns += model->since_ns - watch->looked_ns;
	watch->looked_ns = MAX(watch->looked_ns, snapshot->until_ns);
}

/* Operations that were pending in the last look are read again from their begin. */
static int64_t next_from(const struct pp_watch *watch)
{
	return watch->hits.is_pending
		   ? watch->from_ns
		   : MAX(watch->looked_ns - 2 * watch->longest_ns, watch->begin_ns);
}

static void take_snapshot(struct pp_watch *watch)
{
	if (!watch->hits.whys->len)
		return;
	if (watch->n_taken == MAX_TAKEN)
		watch->n_untaken++;
	else if (pp_snapshots_ask(watch->snapshots, watch->hits.whys->str))
		watch->n_taken++;
}

/* is_last: the program has ended. */
static void look(struct pp_watch *watch, bool is_last)
{
	static const char *const passes[] = {PP_HITS_PASS};
	const struct pp_snapshot_part part = {
	    .passes = passes,
	    .n_passes = G_N_ELEMENTS(passes),
	    .from_ns = next_from(watch),
	    .min_wait_ns = watch->shortest_ns,
	    .options = pp_hits_options(&watch->hits),
	    .may_be_over = is_last,
	};
	struct pp_error err = PP_ERROR_INIT;
	struct pp_snapshot snapshot;

	g_string_truncate(watch->hits.whys, 0);
	g_mutex_lock(&watch->snapshots->reading);
	if (pp_snapshot_read(&snapshot, watch->snapshots->dir, &part, &err) == 0 &&
	    snapshot.view.passes) {
		watch->from_ns = part.from_ns;
		note_missed(watch, &snapshot);
		pp_hits_look(&watch->hits, &snapshot.view, is_last);
	}
	/* The program has not begun, or ends: the next look tells more. */
	pp_error_done(&err);
	pp_snapshot_done(&snapshot);
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
		look(watch, false);
		take_snapshot(watch);
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
	watch->snapshots = snapshots;
	watch->begin_ns = watch->looked_ns = pp_clock_now_ns();
	watch->shortest_ns = INT64_MAX;
	for (guint i = 0; i < whens->len; i++) {
		int64_t longer_ns = g_array_index(whens, struct pp_when, i).longer_ns;

		watch->shortest_ns = MIN(watch->shortest_ns, longer_ns);
		watch->longest_ns = MAX(watch->longest_ns, longer_ns);
	}
	pp_hits_init(&watch->hits, whens);
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
	look(watch, true);
	if (watch->hits.whys->len)
		pp_record_note("--when: true at the end (%s), which the capture itself has",
			       watch->hits.whys->str);
	for (guint i = 0; i < watch->hits.whens->len; i++)
		tell(&g_array_index(watch->hits.whens, struct pp_when, i));
	if (watch->missed_ns)
		pp_record_note("--when: %.0f %% of the time left the ring before it was looked at; "
			       "use a larger --ring",
			       100.0 * (double)watch->missed_ns /
				   (double)(pp_clock_now_ns() - watch->begin_ns));
	if (watch->n_untaken)
		pp_record_note("--when: true %u more times, after %d snapshots", watch->n_untaken,
			       MAX_TAKEN);
	pp_hits_done(&watch->hits);
	g_mutex_clear(&watch->lock);
	g_cond_clear(&watch->over);
	g_free(watch);
}
