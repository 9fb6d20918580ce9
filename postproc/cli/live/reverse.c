/* SPDX-License-Identifier: MIT */
/*
 * The capture is read twice: first to find samples, then to find which of them can be reversed.
 * Each sample is executed in the recorded and in the reversed order, in turn. All runs are recorded
 * with accesses, to see whether the sections have accessed the same memory.
 *
 * Addresses of the heap and of stacks are the same in all runs if the kernel does not choose them
 * at random, and if names of directories have the same length: they are in the environment, at the
 * bottom of the first stack.
 */
#include "cli/live/reverse.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/personality.h>
#include <unistd.h>

#include "capture/reversals.h"
#include "cli/commands.h"
#include "cli/live/recording.h"
#include "cli/live/reverse_rows.h"
#include "replay/live/file.h"
#include "replay/reverse/look.h"
#include "runtime/capture/capture.h"

/* Candidates that are drawn for each sample: some cannot be reversed. */
#define SPARE	  4
#define STUCK_MAX 2 /* such samples of a pair of sites; each of them takes seconds */

/* A replay is killed after this time and so many times that of the recorded run. */
#define TIMEOUT_NS   INT64_C(20000000000)
#define TIMEOUT_RUNS 20

struct reversing {
	const struct pp_cli_reverse *arguments;
	char *work; /* directory */
	struct pp_live_recording recorded;
	struct pp_reversal_finder *finder;
	GPtrArray *sites; /* of struct pp_reversal_sites * */
	struct pp_reversal_order *order;
	unsigned n_recorded; /* runs so far */
	struct pp_table *table;
	struct pp_reversals *kept; /* results for the capture */
	bool is_other_build;	   /* the program that ran is not that of the capture */
};

/* --- the capture ------------------------------------------------------------------------------ */

static void begin_finder(void *data, const struct pp_pass_context *context)
{
	struct reversing *self = data;

	self->finder = pp_reversal_finder_new(context, SPARE * self->arguments->n_samples);
}

static void find(void *data, const struct pp_event *event, uint64_t op)
{
	pp_reversal_finder_event(((struct reversing *)data)->finder, event, op);
}

static void follow(void *data, const struct pp_event *event, uint64_t op)
{
	pp_reversal_order_event(((struct reversing *)data)->order, event, op);
}

static char *run_dir(struct reversing *self)
{
	g_autofree char *name = g_strdup_printf("run.%06u", self->n_recorded++);

	return g_build_filename(self->work, name, NULL);
}

static char *schedule_path(const struct reversing *self)
{
	return g_build_filename(self->work, "schedule", NULL);
}

/*
 * Records a run in `dir`; if there is a schedule, with it. An order that the program has not had
 * may be one in which it waits for ever, so replays are killed after some time.
 */
static int record(const struct reversing *self, const char *dir, struct pp_measured *ret,
		  struct pp_error *err)
{
	g_autofree char *schedule = schedule_path(self), *output = g_strconcat(dir, ".out", NULL);
	const struct pp_live_run run = {
	    .command = self->arguments->command,
	    .dir = dir,
	    .schedule = schedule,
	    .output = self->arguments->keep ? output : NULL,
	    .accesses = self->arguments->accesses,
	    .timeout_ns = self->sites ? TIMEOUT_NS + TIMEOUT_RUNS * self->recorded.run_ns : 0};
	int rc = pp_live_record(&run, ret, err);

	return rc == 0 && ret->interrupted ? pp_error_add(err, -EINTR, "interrupted") : rc;
}

static int read_samples(struct reversing *self, const char *dir, struct pp_error *err)
{
	const struct pp_live_reader finder = {pp_reversal_kinds(), begin_finder, find, self};
	int rc = pp_live_read_with(&self->recorded, dir, &finder, err);

	if (rc == 0 && !pp_view_has_accesses(&self->recorded.view))
		rc =
		    pp_error_add(err, -ENODATA,
				 "%s: no memory accesses of critical sections were recorded: build "
				 "the program with the flags of access-trace, or use "
				 "--accesses=sampled",
				 self->arguments->command[0]);
	if (rc == 0)
		self->sites = pp_reversal_finder_finish(self->finder);
	return rc;
}

/* The order of samples is that of their numbers in `order`. */
static int read_order(struct reversing *self, const char *dir, struct pp_error *err)
{
	const struct pp_live_reader order = {PP_SCHEDULE_KINDS, NULL, follow, self};
	struct pp_live_recording again;
	int rc;

	self->order = pp_reversal_order_new();
	for (guint i = 0; i < self->sites->len; i++) {
		const struct pp_reversal_sites *sites = self->sites->pdata[i];

		for (guint k = 0; k < sites->samples->len; k++) {
			const struct pp_reversal_pair *pair = sites->samples->pdata[k];

			pp_reversal_order_add(self->order, &pair->first, &pair->second);
		}
	}
	rc = pp_live_read_with(&again, dir, &order, err);
	pp_live_recording_done(&again);
	return rc;
}

static int begin(struct reversing *self, struct pp_error *err)
{
	g_autofree char *own = self->arguments->dir ? NULL : run_dir(self);
	const char *dir = own ?: self->arguments->dir;
	struct pp_measured measured;
	int rc = own ? record(self, own, &measured, err) : 0;

	if (rc == 0)
		rc = read_samples(self, dir, err);
	return rc ? rc : read_order(self, dir, err);
}

/* --- a run ------------------------------------------------------------------------------------ */

/* A sample, with the schedule that ends with it. */
struct sample {
	const struct pp_reversal_pair *pair;
	struct pp_schedule_pair schedule;
	struct look {
		struct pp_reversal_look *look;
		const struct pp_reversal_pair *pair;
	} look;
};

static void begin_look(void *data, const struct pp_pass_context *context)
{
	struct look *self = data;

	self->look = pp_reversal_look_new(context, self->pair->first.op, self->pair->second.op);
}

static void look_at(void *data, const struct pp_event *event, uint64_t op)
{
	pp_reversal_look_event(((struct look *)data)->look, event, op);
}

/* Have the sections of the run accessed the memory of the sample? */
static void compare_lines(const struct sample *sample, const struct pp_live_recording *run,
			  struct pp_reversal_run *ret)
{
	const struct pp_schedule_pair *threads = &sample->schedule;
	g_autoptr(GArray) lines = NULL;

	lines = pp_reversal_look_lines(sample->look.look, run->schedule, threads->first,
				       threads->second);
	if (!lines)
		return;
	if (ret->is_reversed) {
		ret->has_bytes = pp_reversal_lines_meet(sample->pair->lines, lines);
		ret->has_own = true;
		return;
	}
	ret->has_bytes = pp_reversal_lines_equal(sample->pair->lines, lines, PP_REVERSAL_BOTH);
	ret->has_own = pp_reversal_lines_equal(sample->pair->lines, lines, PP_REVERSAL_FIRST) &&
		       pp_reversal_lines_equal(sample->pair->lines, lines, PP_REVERSAL_SECOND);
}

static int read_run(struct sample *sample, const char *dir, struct pp_live_recording *run,
		    struct pp_reversal_run *ret, struct pp_error *err)
{
	const struct pp_live_reader reader = {pp_reversal_kinds(), begin_look, look_at,
					      &sample->look};
	int rc;

	sample->look = (struct look){NULL, sample->pair};
	rc = pp_live_read_with(run, dir, &reader, err);
	if (rc == 0)
		compare_lines(sample, run, ret);
	g_clear_pointer(&sample->look.look, pp_reversal_look_free);
	return rc;
}

/*
 * Executes the pair once. Returns 1 if it was executed, 0 if not, with the reason, or -errno if
 * there can be no further runs.
 */
static int run_once(struct reversing *self, struct sample *sample, bool is_reversed,
		    struct pp_reversal_run *ret, char **ret_reason, struct pp_error *err)
{
	g_autofree char *dir = run_dir(self), *path = schedule_path(self);
	struct pp_schedule_pair pair = sample->schedule;
	struct pp_live_recording run = {.run_ns = 0};
	struct pp_error unread = PP_ERROR_INIT;
	struct pp_measured measured = {0};
	struct st_schedule *page;
	int rc;

	*ret = (struct pp_reversal_run){.is_reversed = is_reversed};
	pair.is_reversed = is_reversed;
	page = pp_schedule_write(self->recorded.schedule, &pair, path, err);
	if (!page)
		return -EIO;
	rc = record(self, dir, &measured, err);
	unlink(path);
	if (rc == 0 && measured.timed_out)
		*ret_reason = g_strdup(
		    is_reversed ? "the program does not end in the other order, and was killed"
				: "the program did not end, and was killed");
	else if (rc == 0 && read_run(sample, dir, &run, ret, &unread) != 0)
		*ret_reason = pp_error_text(&unread);
	else if (rc == 0 && page->outcome.state != ST_SCHEDULE_PAIRED)
		*ret_reason = pp_live_outcome_text(self->recorded.schedule, page, &run);
	else if (rc == 0)
		rc = 1;
	if (rc == 1 && run.view.capture)
		self->is_other_build |=
		    strcmp(pp_reversals_build(run.view.capture->model),
			   pp_reversals_build(self->recorded.view.capture->model)) != 0;
	ret->digests = page->digests;
	pp_error_done(&unread);
	pp_live_recording_done(&run);
	pp_schedule_page_free(page);
	if (!self->arguments->keep)
		gm_remove_tree(dir);
	return rc;
}

/* --- samples ---------------------------------------------------------------------------------- */

static uint32_t number_of(const struct pp_schedule *schedule, uint32_t serial)
{
	for (guint i = 0; i < schedule->threads->len; i++)
		if (((const struct pp_schedule_thread *)schedule->threads->pdata[i])->serial ==
		    serial)
			return i;
	return ST_SCHEDULE_NONE;
}

static GArray *lines_of(const GArray *lines, const struct pp_schedule_pair *pair)
{
	GArray *all = g_array_new(FALSE, FALSE, sizeof(struct pp_schedule_line));

	for (guint i = 0; i < lines->len; i++) {
		const struct pp_reversal_line *line =
		    &g_array_index(lines, struct pp_reversal_line, i);
		struct pp_schedule_line out = {.module = line->module,
					       .offset = line->offset,
					       .bytes = line->bytes,
					       .thread = ST_SCHEDULE_NONE};

		if (line->owner != PP_REVERSAL_BOTH)
			out.thread = line->owner == PP_REVERSAL_FIRST ? pair->first : pair->second;
		g_array_append_val(all, out);
	}
	return all;
}

/* Fills the schedule's end. Returns false if the second section cannot come first. */
static bool prepare(const struct reversing *self, struct sample *sample, const GArray *before)
{
	const struct pp_schedule *schedule = self->recorded.schedule;
	struct pp_schedule_pair *pair = &sample->schedule;

	pair->first = number_of(schedule, sample->pair->first.thread);
	pair->second = number_of(schedule, sample->pair->second.thread);
	if (!before || pair->first == ST_SCHEDULE_NONE || pair->second == ST_SCHEDULE_NONE)
		return false;
	pair->n_ops = g_new0(uint64_t, schedule->threads->len);
	for (guint i = 0; i < schedule->threads->len; i++) {
		const struct pp_schedule_thread *thread = schedule->threads->pdata[i];

		if (thread->serial < before->len)
			pair->n_ops[i] = g_array_index(before, uint64_t, thread->serial);
	}
	pair->lines = lines_of(sample->pair->lines, pair);
	return pp_schedule_pair_is_good(schedule, pair);
}

/* Returns a verdict, or -errno if there can be no further runs. */
static int run_all(struct reversing *self, struct sample *sample, char **ret_reason,
		   struct pp_error *err)
{
	unsigned n = 2 * self->arguments->n_runs;
	g_autofree struct pp_reversal_run *runs = g_new0(struct pp_reversal_run, n);

	for (unsigned i = 0; i < n; i++) {
		int rc = run_once(self, sample, i % 2, &runs[i], ret_reason, err);

		if (rc <= 0)
			return rc < 0 ? rc : PP_REVERSAL_STUCK;
	}
	return (int)pp_reversal_verdict(runs, n);
}

static int try_sample(struct reversing *self, const struct pp_reversal_pair *pair,
		      const GArray *before, char **ret_reason, struct pp_error *err)
{
	struct sample sample = {.pair = pair};
	int verdict = PP_REVERSAL_ORDERED;

	if (prepare(self, &sample, before))
		verdict = run_all(self, &sample, ret_reason, err);
	g_clear_pointer(&sample.schedule.lines, g_array_unref);
	g_free(sample.schedule.n_ops);
	return verdict;
}

/* A sample that differs decides; those that cannot be reversed are replaced by spare ones. */
static bool has_enough(const struct reversing *self, const struct pp_cli_reversed *reversed)
{
	uint64_t n_tried = 0;

	for (unsigned i = 0; i < PP_REVERSAL_N_VERDICTS; i++)
		n_tried += i == PP_REVERSAL_ORDERED ? 0 : reversed->n[i];
	return n_tried >= self->arguments->n_samples || reversed->n[PP_REVERSAL_DIFFERENT] ||
	       reversed->n[PP_REVERSAL_STUCK] >= STUCK_MAX;
}

/* first: the number of the first sample of these sites. */
static int try_sites(struct reversing *self, const struct pp_reversal_sites *sites, unsigned first,
		     struct pp_error *err)
{
	struct pp_cli_reversed reversed = {.stuck = NULL};
	int verdict = 0;

	for (guint i = 0; i < sites->samples->len && !has_enough(self, &reversed); i++) {
		g_autofree char *reason = NULL;

		verdict =
		    try_sample(self, sites->samples->pdata[i],
			       pp_reversal_order_before(self->order, first + i), &reason, err);
		if (verdict < 0)
			break;
		reversed.n[verdict]++;
		if (!reversed.stuck)
			reversed.stuck = g_steal_pointer(&reason);
	}
	if (verdict >= 0) {
		pp_cli_reversed_add(self->table, sites, &reversed);
		pp_cli_reversed_keep(self->kept, sites, &reversed, self->arguments->n_runs);
	}
	g_free(reversed.stuck);
	return MIN(verdict, 0);
}

static int try_all(struct reversing *self, struct pp_error *err)
{
	unsigned first = 0;
	int rc = begin(self, err);

	for (guint i = 0; rc == 0 && i < self->sites->len; i++) {
		const struct pp_reversal_sites *sites = self->sites->pdata[i];

		rc = try_sites(self, sites, first, err);
		first += sites->samples->len;
	}
	return rc;
}

/* --- the command ------------------------------------------------------------------------------ */

/* Stores the results in the capture, unless it is removed. */
static void store(struct reversing *self)
{
	const struct pp_model *model = self->recorded.view.capture->model;
	struct pp_error err = PP_ERROR_INIT;
	g_autofree char *why = NULL;

	if ((!self->arguments->dir && !self->arguments->keep) || !self->kept->all->len)
		return;
	if (self->is_other_build)
		why = g_strdup("the program is of another build than the capture");
	else if (pp_reversals_write(model, self->kept, &err) != 0)
		why = pp_error_text(&err);
	if (why)
		pp_table_note(self->table, "the results are not stored in the capture: %s", why);
	else
		pp_table_note(self->table,
			      "the results are stored in %s/" PP_REVERSALS_FILE
			      ", for report ulcp and suggest",
			      model->dir);
	pp_error_done(&err);
}

static void add_notes(struct reversing *self, bool has_fixed_addresses)
{
	uint64_t n_unknown, n = pp_reversal_finder_sections(self->finder, &n_unknown);

	pp_table_note(self->table, "benign: both orders leave the same values in the memory that "
				   "the samples write, in the states of these runs; values that a "
				   "section keeps in registers are not compared");
	if (n_unknown)
		pp_table_note(self->table,
			      "%" PRIu64 " of %" PRIu64 " sections are left out, since not all of "
			      "their accesses are known",
			      n_unknown, n);
	if (!has_fixed_addresses)
		pp_table_note(self->table, "addresses are random, since the system refuses to fix "
					   "them: memory of the heap and of stacks is not found");
	else if (self->arguments->dir)
		pp_table_note(self->table, "the capture may have been recorded with random "
					   "addresses of the heap and of stacks; without a "
					   "capture, the command records the program itself");
}

/* Processes that this one starts have fixed addresses. Returns false if that is refused. */
static bool fix_addresses(void)
{
	int now = personality(0xffffffff);

	return now != -1 && personality((unsigned long)now | ADDR_NO_RANDOMIZE) != -1;
}

static void reversing_done(struct reversing *self)
{
	if (self->finder)
		pp_reversal_finder_free(self->finder);
	if (self->sites)
		g_ptr_array_unref(self->sites);
	if (self->order)
		pp_reversal_order_free(self->order);
	pp_live_recording_done(&self->recorded);
	pp_table_free(self->table);
	pp_reversals_free(self->kept);
	if (self->work && !self->arguments->keep)
		gm_remove_tree(self->work);
	g_free(self->work);
}

int pp_cli_reverse(const struct pp_cli_reverse *arguments)
{
	struct reversing self = {
	    .arguments = arguments, .table = pp_cli_reversed_table(), .kept = pp_reversals_new()};
	bool has_fixed_addresses = fix_addresses();
	struct pp_error err = PP_ERROR_INIT;
	struct pp_table *table = self.table;
	int status;

	self.work = pp_live_make_work(arguments->keep, &err);
	pp_measure_begin();
	if (!self.work || try_all(&self, &err)) {
		status = pp_cli_fail(&err);
	} else {
		add_notes(&self, has_fixed_addresses);
		store(&self);
		status = pp_cli_tables_print(&arguments->how, &table, 1);
	}
	pp_measure_end();
	reversing_done(&self);
	return status;
}
