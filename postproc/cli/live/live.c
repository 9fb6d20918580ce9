/* SPDX-License-Identifier: MIT */
/*
 * The program is recorded, and recorded again: if the two runs differ in the operations of a
 * thread, it is refused. Then it runs with the schedule of the first recording. Each of these runs
 * is recorded, too, which proves the order that it has kept.
 */
#include "cli/live/live.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/live/recording.h"
#include "cli/live/reverse.h"
#include "cli/tables.h"
#include "core/text/duration.h"
#include "replay/live/compare.h"
#include "replay/live/file.h"
#include "runtime/capture/capture.h"

#define N_RUNS		10
#define N_RUNS_REVERSED 2 /* in each order */

/* --- the command line ------------------------------------------------------------------------- */

struct arguments {
	struct pp_cli_tables how;
	const char *dir;  /* the capture; NULL: the program is recorded first */
	const char *keep; /* a directory for captures and output; NULL: they are removed */
	char *const *command;
	unsigned n_runs;      /* 0: not given */
	unsigned n_reverse;   /* samples of each pair of sites; 0: replay the recorded order */
	const char *accesses; /* with n_reverse; NULL: as configured */
	bool unchecked;
};

enum {
	OPTION_ENGINE = 0x400,
	OPTION_RUNS,
	OPTION_UNCHECKED,
	OPTION_KEEP,
	OPTION_REVERSE,
	OPTION_ACCESSES
};

static int take_number(const char *option, const char *value, unsigned *ret)
{
	guint64 n;

	if (!g_ascii_string_to_unsigned(value, 10, 1, 100000, &n, NULL))
		return pp_cli_usage("replay", "invalid --%s '%s' (expected 1 to 100000)", option,
				    value);
	*ret = (unsigned)n;
	return PP_EXIT_GOOD;
}

static int take_accesses(const char *value, const char **ret)
{
	if (strcmp(value, "sampled") != 0 && strcmp(value, "compiled") != 0)
		return pp_cli_usage(
		    "replay", "invalid --accesses '%s' (expected sampled or compiled)", value);
	*ret = value;
	return PP_EXIT_GOOD;
}

static int take_option(void *data, int option, const char *value)
{
	struct arguments *arguments = data;
	int status;

	switch (option) {
	case OPTION_ENGINE:
		return PP_EXIT_GOOD;
	case OPTION_RUNS:
		return take_number("runs", value, &arguments->n_runs);
	case OPTION_REVERSE:
		return take_number("reverse", value, &arguments->n_reverse);
	case OPTION_ACCESSES:
		return take_accesses(value, &arguments->accesses);
	case OPTION_UNCHECKED:
		arguments->unchecked = true;
		return PP_EXIT_GOOD;
	case OPTION_KEEP:
		arguments->keep = value;
		return PP_EXIT_GOOD;
	default:
		pp_cli_tables_take("replay", &arguments->how, option, value, &status);
		return status;
	}
}

static const struct pp_cli_option option_table[] = {
    {"engine", "live", OPTION_ENGINE, "run the program, with the recorded order of locks"},
    {"runs", "N", OPTION_RUNS, "so many times (default 10)"},
    {"reverse", "N", OPTION_REVERSE, "execute N conflicting pairs of sections in both orders"},
    {"accesses", "MODE", OPTION_ACCESSES, "with --reverse: sampled or compiled"},
    {"unchecked", NULL, OPTION_UNCHECKED, "do not record again to see whether runs differ"},
    {"keep", "DIR", OPTION_KEEP, "keep captures and output in the new DIR"},
    PP_CLI_TABLES_OPTIONS,
    PP_CLI_OPTION_QUIET,
    PP_CLI_OPTIONS_SYMBOLS,
    {0},
};

static const struct pp_cli_options options = {
    .command = "replay",
    .letters = ":hq",
    .table = option_table,
    .usage = "replay --engine=live [OPTION...] [DIR] -- COMMAND [ARGUMENT...]",
    .take = take_option,
};

bool pp_cli_live_is_meant(int argc, char **argv)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (strcmp(argv[i], "--engine=live") == 0 ||
		    (strcmp(argv[i], "--engine") == 0 && i + 1 < argc &&
		     strcmp(argv[i + 1], "live") == 0))
			return true;
	return false;
}

/* Returns -1 to continue, else the exit status. */
static int read_arguments(struct arguments *arguments, int argc, char **argv)
{
	int n = 1, status;

	while (n < argc && strcmp(argv[n], "--") != 0)
		n++;
	status = pp_cli_options_read(&options, n, argv, arguments);
	if (status >= 0)
		return status;
	if (n - optind > 1)
		return pp_cli_usage("replay", "expected one capture, and the command after --");
	if (n + 1 >= argc)
		return pp_cli_usage("replay", "no command: add -- COMMAND [ARGUMENT...]");
	if (optind < n)
		arguments->dir = argv[optind];
	arguments->command = argv + n + 1;
	status = pp_cli_tables_check("replay", &arguments->how, 1);
	return status == PP_EXIT_GOOD ? -1 : status;
}

/* --- runs ------------------------------------------------------------------------------------- */

struct replay {
	const struct arguments *arguments;
	char *work; /* directory */
	struct pp_live_recording recorded;
	struct pp_table *table;
	unsigned n_left; /* runs that have left the schedule, or are not known to have kept it */
	double sum_ns;
};

enum { RUN, TIME, STATUS, ACQUIRED, KEPT, OUTCOME };

static const struct pp_column columns[] = {
    [RUN] = {"run", "run", PP_TYPE_COUNT, PP_COLUMN_KEY, "number of the replay"},
    [TIME] = {"run_ns", "run time", PP_TYPE_TIME_NS, PP_COLUMN_MAIN, "of the program"},
    [STATUS] = {"status", "status", PP_TYPE_COUNT, PP_COLUMN_NO_SUM, "the program's exit status"},
    [ACQUIRED] =
	{"acquired", "acquired", PP_TYPE_COUNT, 0,
	 "acquisitions of locks in the recorded run; of threads that the end of the process "
	 "cut off, as far as the replay has come"},
    [KEPT] = {"kept_pct", "in order%", PP_TYPE_PERCENT, 0,
	      "of these, acquired in the same turn of their lock"},
    [OUTCOME] = {"outcome", "outcome", PP_TYPE_TEXT, 0,
		 "kept, or where the program did something else"},
};

/* As the shell gives it: 128 and the signal. */
static uint64_t exit_status(const struct pp_measured *measured)
{
	return WIFSIGNALED(measured->status) ? 128u + (unsigned)WTERMSIG(measured->status)
					     : (uint64_t)WEXITSTATUS(measured->status);
}

/* Records a run in <work>/<name>, and reads it. */
static int record(const struct replay *replay, const char *name, const char *schedule,
		  struct pp_live_recording *recording, struct pp_measured *ret,
		  struct pp_error *err)
{
	g_autofree char *dir = g_build_filename(replay->work, name, NULL);
	g_autofree char *output = g_strconcat(dir, ".out", NULL);
	const struct pp_live_run run = {.command = replay->arguments->command,
					.dir = dir,
					.schedule = schedule,
					.output = replay->arguments->keep ? output : NULL};
	int rc = pp_live_record(&run, ret, err);

	*recording = (struct pp_live_recording){.run_ns = 0};
	if (rc == 0 && ret->interrupted)
		rc = pp_error_add(err, -EINTR, "interrupted");
	return rc ? rc : pp_live_read(recording, dir, err);
}

static void add_row(struct replay *replay, unsigned number, const struct st_schedule *page,
		    const struct pp_live_recording *run, const struct pp_measured *measured,
		    const char *unread)
{
	struct pp_cell *row = pp_table_add_row(replay->table);
	g_autofree char *text = pp_live_outcome_text(replay->recorded.schedule, page, run);
	bool is_kept = page->outcome.state == ST_SCHEDULE_KEPT;
	struct pp_schedule_order order;

	pp_cell_set_count(&row[RUN], number);
	pp_cell_set_count(&row[STATUS], exit_status(measured));
	pp_cell_set_text(&row[OUTCOME], unread && is_kept ? unread : text);
	if (run->schedule) {
		order = pp_schedule_compare_order(replay->recorded.schedule, run->schedule);
		pp_cell_set_time(&row[TIME], run->run_ns);
		pp_cell_set_count(&row[ACQUIRED], order.n_recorded);
		replay->sum_ns += (double)run->run_ns;
		if (order.n_recorded)
			pp_cell_set_number(&row[KEPT],
					   100.0 * (double)order.n_kept / (double)order.n_recorded);
		is_kept &= order.n_kept == order.n_recorded;
	}
	replay->n_left += !is_kept || !run->schedule;
}

/* Returns 0 or -errno if there can be no further runs. */
static int run_once(struct replay *replay, unsigned number, struct pp_error *err)
{
	g_autofree char *name = g_strdup_printf("run.%u", number);
	g_autofree char *path = g_build_filename(replay->work, "schedule", NULL);
	g_autofree char *dir = g_build_filename(replay->work, name, NULL);
	struct st_schedule *page = pp_schedule_write(replay->recorded.schedule, NULL, path, err);
	g_autofree char *unread = NULL;
	struct pp_live_recording run;
	struct pp_measured measured = {0};
	int rc;

	if (!page)
		return -EIO;
	rc = record(replay, name, path, &run, &measured, err);
	unlink(path);
	if (rc && !measured.interrupted && measured.wall_ns) {
		unread = pp_error_text(err);
		pp_error_done(err);
		rc = 0;
	}
	if (rc == 0)
		add_row(replay, number, page, &run, &measured, unread);
	pp_live_recording_done(&run);
	pp_schedule_page_free(page);
	if (!replay->arguments->keep)
		gm_remove_tree(dir);
	return rc;
}

/* --- the program ------------------------------------------------------------------------------ */

/* Reads or makes the recording that is to be replayed. */
static int begin(struct replay *replay, struct pp_error *err)
{
	struct pp_measured measured;

	if (replay->arguments->dir)
		return pp_live_read(&replay->recorded, replay->arguments->dir, err);
	return record(replay, "recorded", NULL, &replay->recorded, &measured, err);
}

/* Returns -ENOTSUP if a second run, without a schedule, performs other operations. */
static int check_again(const struct replay *replay, struct pp_error *err)
{
	struct pp_live_recording again;
	struct pp_measured measured;
	g_autofree char *difference = NULL;
	int rc = record(replay, "again", NULL, &again, &measured, err);

	if (rc == 0)
		difference = pp_schedule_difference(replay->recorded.schedule, again.schedule);
	if (difference)
		rc = pp_error_add(err, -ENOTSUP,
				  "the program is not deterministic, and cannot be replayed live: "
				  "%s; --unchecked tries it nevertheless",
				  difference);
	pp_live_recording_done(&again);
	return rc;
}

static void add_notes(const struct replay *replay)
{
	unsigned n = replay->table->rows->len;
	g_autofree char *recorded = pp_duration_text(replay->recorded.run_ns);

	if (n && replay->recorded.run_ns)
		pp_table_note(replay->table,
			      "recorded run: %s; the replays take %.2f times as long, on average",
			      recorded, replay->sum_ns / n / (double)replay->recorded.run_ns);
	if (replay->arguments->unchecked)
		pp_table_note(replay->table,
			      "whether the program is deterministic was not checked");
}

static int run_all(struct replay *replay, struct pp_error *err)
{
	int rc = begin(replay, err);

	if (rc == 0 && !replay->arguments->unchecked)
		rc = check_again(replay, err);
	for (unsigned i = 1; rc == 0 && i <= replay->arguments->n_runs; i++)
		rc = run_once(replay, i, err);
	return rc;
}

static int reverse(const struct arguments *arguments)
{
	const struct pp_cli_reverse reverse = {
	    .how = arguments->how,
	    .dir = arguments->dir,
	    .keep = arguments->keep,
	    .command = arguments->command,
	    .accesses = arguments->accesses,
	    .n_samples = arguments->n_reverse,
	    .n_runs = arguments->n_runs ?: N_RUNS_REVERSED,
	};

	if (arguments->n_runs == 1)
		return pp_cli_usage("replay", "--reverse needs --runs of at least 2: it compares "
					      "runs of the same order");
	return pp_cli_reverse(&reverse);
}

int pp_cli_live(int argc, char **argv)
{
	struct arguments arguments = {.n_runs = 0};
	struct replay replay = {.arguments = &arguments};
	struct pp_error err = PP_ERROR_INIT;
	int status = read_arguments(&arguments, argc, argv);

	if (status >= 0)
		return status;
	if (arguments.accesses && !arguments.n_reverse)
		return pp_cli_usage("replay", "--accesses needs --reverse");
	if (arguments.unchecked && arguments.n_reverse)
		return pp_cli_usage("replay",
				    "--reverse excludes --unchecked: it makes no check of "
				    "the whole program");
	if (arguments.n_reverse)
		return reverse(&arguments);
	if (!arguments.n_runs)
		arguments.n_runs = N_RUNS;
	replay.work = pp_live_make_work(arguments.keep, &err);
	if (!replay.work)
		return pp_cli_fail(&err);
	replay.table = pp_table_new("live_replays", "Live replays", columns, G_N_ELEMENTS(columns));
	replay.table->is_in_order = true;
	pp_measure_begin();
	if (run_all(&replay, &err)) {
		status = pp_cli_fail(&err);
	} else {
		add_notes(&replay);
		status = pp_cli_tables_print(&arguments.how, &replay.table, 1);
		status = MAX(status, replay.n_left ? PP_EXIT_FAILED : PP_EXIT_GOOD);
	}
	pp_measure_end();
	if (!arguments.keep)
		gm_remove_tree(replay.work);
	pp_live_recording_done(&replay.recorded);
	pp_table_free(replay.table);
	g_free(replay.work);
	return status;
}
