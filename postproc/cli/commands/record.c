/* SPDX-License-Identifier: MIT */
/*
 * gprof-mt record: checks the options, creates the capture directory, runs the program with the
 * runtime libraries preloaded, collects the kernel's events, and exits with the program's status.
 *
 * All errors in the options are found before the program starts.  From then on, nothing here
 * changes the behavior of the program.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/options.h"
#include "cli/recording/attach.h"
#include "cli/recording/end.h"
#include "cli/recording/new_capture.h"
#include "cli/recording/notes.h"
#include "cli/recording/snapshots.h"
#include "cli/recording/when.h"
#include "cli/view.h"
#include "core/clock.h"
#include "core/text/duration.h"
#include "record/ctf/cpu_files.h"
#include "record/discard.h"
#include "record/gmon_out.h"
#include "record/info.h"
#include "record/launch.h"
#include "record/libraries.h"
#include "record/lttng/lttng.h"
#include "record/program.h"
#include "record/ring_files.h"

/* Exit statuses as in shells. */
#define EXIT_CANNOT_EXECUTE 126
#define EXIT_NOT_FOUND	    127

struct options {
	const char *dir, *profile, *config_file;
	GPtrArray *settings;  /* of const char *, "GROUP.KEY=VALUE" */
	bool lttng;	      /* --backend lttng: a session of our own */
	const char *url;      /* --url: of a relay daemon; NULL: none */
	const char *ring;     /* --ring: output.ring; NULL: as configured */
	GArray *whens;	      /* --when: of struct pp_when */
	const char *accesses; /* --accesses: access.mode; NULL: as configured */
	pid_t pid;	      /* --pid: a process that already runs; 0: none */
	int64_t duration_ns;  /* --duration; 0: none */
	char **command;
};

/* --- options -------------------------------------------------------------------------------- */

static int take_pid(const char *value, struct options *options)
{
	guint64 pid;

	if (!g_ascii_string_to_unsigned(value, 10, 1, INT32_MAX, &pid, NULL))
		return pp_cli_usage("record",
				    "invalid --pid '%s' (expected the number of a process)", value);
	options->pid = (pid_t)pid;
	return PP_EXIT_GOOD;
}

static int take_when(const char *value, struct options *options)
{
	struct pp_when when;

	if (!pp_when_parse(value, &when))
		return pp_cli_usage("record",
				    "invalid --when '%s' (expected a condition as 'wait > 50ms', "
				    "'hold of NAME > 10ms', 'call > 1s' or 'stall > 1s')",
				    value);
	g_array_append_val(options->whens, when);
	return PP_EXIT_GOOD;
}

static int take_option(void *data, int option, const char *value)
{
	struct options *options = data;

	switch (option) {
	case 'o':
		options->dir = value;
		break;
	case 'p':
		options->profile = value;
		break;
	case 'c':
		options->config_file = value;
		break;
	case 's':
		g_ptr_array_add(options->settings, (char *)value);
		break;
	case 'b':
		options->lttng = strcmp(value, "lttng") == 0;
		if (!options->lttng && strcmp(value, "native") != 0)
			return pp_cli_usage("record", "no backend '%s': use native or lttng",
					    value);
		break;
	case 'u':
		if (!pp_relay_url_is_valid(value))
			return pp_cli_usage("record",
					    "invalid --url '%s' (expected "
					    "net://HOST[:CONTROL-PORT[:DATA-PORT]] of a relay "
					    "daemon, or net6://)",
					    value);
		options->url = value;
		break;
	case 'a':
		options->accesses = value;
		break;
	case 'r':
		options->ring = value;
		break;
	case 'w':
		return take_when(value, options);
	case 'P':
		return take_pid(value, options);
	case 'd':
		if (!pp_duration_read(value, "s", &options->duration_ns) || !options->duration_ns)
			return pp_cli_usage(
			    "record", "invalid --duration '%s' (expected a time, such as 10s)",
			    value);
		break;
	}
	return PP_EXIT_GOOD;
}

static const struct pp_cli_option option_table[] = {
    {"output", "DIR", 'o', "the capture directory (default " PP_DEFAULT_CAPTURE ")"},
    {"profile", "NAME", 'p', "applic-only, full-sched (default) or full"},
    {"config", "FILE", 'c', "the configuration"},
    {"set", "KEY=VALUE", 's', "set one GROUP.KEY of the configuration; may be repeated"},
    {"backend", "NAME", 'b', "native (default), or lttng (through LTTng-UST)"},
    {"url", "URL", 'u', "with lttng: send the events to a relay daemon"},
    {"accesses", "MODE", 'a', "memory accesses in sections: sampled, compiled or off"},
    {"ring", "SIZE|TIME", 'r', "keep only the newest events, such as 64M or 30s"},
    {"when", "CONDITION", 'w', "take a snapshot, such as when 'wait > 50ms'"},
    {"pid", "PID", 'P', "record a running process, by the kernel alone"},
    {"duration", "TIME", 'd', "with --pid: end after TIME, such as 10s"},
    {"quiet", NULL, 'q', "print only errors and losses"},
    {0},
};

/* "+": stop at the command, which has its own options. */
static const struct pp_cli_options cli_options = {
    .command = "record",
    .letters = "+:o:qh",
    .table = option_table,
    .usage = "record [OPTION...] [--] COMMAND [ARGUMENT...]\n"
	     "       gprof-mt record --pid PID [--duration TIME] [OPTION...]\n\n"
	     "Runs COMMAND; records its calls (if built with -pg), its synchronization and\n"
	     "its scheduling.  With --pid, records and samples a running process.",
    .take = take_option,
};

static int check_attach(const struct options *options)
{
	if (options->command[0])
		return pp_cli_usage("record", "--pid and a command exclude each other");
	if (options->lttng || options->url || options->accesses)
		return pp_cli_usage("record",
				    "--pid excludes --backend lttng, --url and --accesses, which "
				    "need libraries in the process");
	if (options->profile && options->config_file)
		return pp_cli_usage("record", "--profile and --config exclude each other");
	return -1;
}

/* Returns -1 to continue, else the exit status. */
static int parse_options(int argc, char **argv, struct options *options)
{
	int status = pp_cli_options_read(&cli_options, argc, argv, options);

	if (status >= 0)
		return status;
	options->command = argv + optind;
	if (options->pid && options->whens->len)
		return pp_cli_usage("record", "--when needs a command: of a process that already "
					      "runs, only kernel events are recorded");
	if (options->pid)
		return check_attach(options);
	if (options->duration_ns)
		return pp_cli_usage("record", "--duration needs --pid");
	if (options->url && !options->lttng)
		return pp_cli_usage("record", "--url needs --backend lttng");
	if (!options->command[0])
		return pp_cli_usage("record", "no command to run");
	if (options->profile && options->config_file)
		return pp_cli_usage("record", "--profile and --config exclude each other");
	return -1;
}

static int refuse_config(const struct gm_config_error *error)
{
	fprintf(stderr, "gprof-mt: %s\n", error->text);
	return PP_EXIT_USAGE;
}

/* Each CPU needs room for some packets of kernel events. */
static int check_ring_size(const struct gm_config *config)
{
	uint64_t n_cpus = g_get_num_processors(), kernel = gm_config_ring_of_kernel(config);
	uint64_t least = 4 * n_cpus * PP_CPU_FILES_LEAST;
	g_autofree char *text = NULL;

	if (!gm_config_has_ring(config) || !kernel || kernel / n_cpus >= PP_CPU_FILES_LEAST)
		return 0;
	text = g_format_size_full(least, G_FORMAT_SIZE_IEC_UNITS);
	return pp_cli_usage("record",
			    "the ring is too small for a packet of kernel events of each of %u "
			    "CPUs: use %s or more, or --set kernel.source=none",
			    (unsigned)n_cpus, text);
}

static int set_ring(const struct options *options, struct gm_config *config)
{
	struct gm_config_error error;

	if (options->ring) {
		g_autofree char *setting = g_strconcat("output.ring=", options->ring, NULL);

		if (gm_config_set(setting, config, &error))
			return pp_cli_usage("record",
					    "invalid --ring '%s' (expected a size of at least 1M, "
					    "such as 64M, or a time of 1s to 3600s)",
					    options->ring);
	}
	return check_ring_size(config);
}

/* Sections begin and end at operations, so all of them are recorded. */
static int set_accesses(const struct options *options, struct gm_config *config)
{
	struct gm_config_error error;

	if (options->accesses) {
		g_autofree char *mode = g_strconcat("access.mode=", options->accesses, NULL);

		if (gm_config_set(mode, config, &error))
			return pp_cli_usage(
			    "record", "no mode '%s' of accesses: use sampled, compiled or off",
			    options->accesses);
	}
	if (gm_config_check(config, &error))
		return refuse_config(&error);
	if (options->accesses || config->access_mode == GM_ACCESS_SAMPLED)
		config->sync_mode = GM_SYNC_ALL;
	gm_config_settle(config);
	return 0;
}

static int read_config(const struct options *options, struct gm_config *config)
{
	struct gm_config_error error;
	int rc = 0;

	gm_config_defaults(config);
	config->sample_stacks = GM_STACKS_ON;
	if (options->profile) {
		g_autofree char *level = g_strconcat("profile.level=", options->profile, NULL);

		if (gm_config_set(level, config, &error))
			return pp_cli_usage("record",
					    "no profile '%s': use applic-only, full-sched or full",
					    options->profile);
	} else if (options->config_file) {
		rc = gm_config_read(options->config_file, config, &error);
	} else {
		rc = pp_cli_read_default_config(config, &error);
	}
	if (rc)
		return refuse_config(&error);
	for (guint i = 0; i < options->settings->len; i++)
		if (gm_config_set(options->settings->pdata[i], config, &error))
			return refuse_config(&error);
	if (options->dir) {
		g_autofree char *setting = g_strconcat("output.dir=", options->dir, NULL);

		if (gm_config_set(setting, config, &error))
			return refuse_config(&error);
	}
	if (options->lttng && config->sync_sink == GM_SINK_NATIVE)
		config->sync_sink = GM_SINK_LTTNG;
	config->existing = GM_EXISTING_NEW;
	rc = set_ring(options, config);
	return rc ? rc : set_accesses(options, config);
}

/* --- messages ------------------------------------------------------------------------------- */

/* Prints a line for each kind of data that this capture will lack. */
static void note_limits(const struct options *options, const struct pp_run *run,
			const struct pp_program *program)
{
	const struct pp_collector *collector = run->collector;
	const struct gm_config *config = run->config;
	bool samples = config->sample_hz && config->sample_stacks == GM_STACKS_ON &&
		       config->calls_mode != GM_CALLS_OFF;
	g_autofree char *losses =
	    pp_program_losses(program, collector->source != GM_KERNEL_NONE, samples);

	if (losses)
		pp_record_note("%s", losses);
	if (gm_config_has_ring(config) && config->sample_hz && config->calls_mode != GM_CALLS_OFF &&
	    !pp_program_image(program)->counts_calls)
		pp_record_note("no samples: with --ring, only programs built with -pg have some");
	if (config->access_mode == GM_ACCESS_SAMPLED)
		pp_record_note(
		    "accesses: some critical sections of each call site are executed in single "
		    "steps, for %u %% of the CPU time (access.budget)",
		    (unsigned)config->access_budget_percent);
	if (run->config->sync_sink == GM_SINK_LTTNG && !options->lttng)
		pp_record_note("synchronization goes to any LTTng session that records "
			       "gmon_mt_sync:*; --backend lttng creates a session for this run");
	pp_record_note_kernel(run);
}

/* --- run ------------------------------------------------------------------------------------ */

/* The program's own start time, without the preparations. */
static void note_start(struct pp_run *run)
{
	run->start_ns = pp_clock_now_ns();
	run->start_us = g_get_real_time();
}

/* The libraries that are preloaded. */
static GStrv all_libraries(const struct pp_program *program, const struct gm_config *config,
			   char *const *libraries)
{
	g_auto(GStrv) base =
	    config->access_mode == GM_ACCESS_SAMPLED
		? pp_libraries_with_step(libraries, config->access_blocks == GM_BLOCKS_ON)
		: g_strdupv((GStrv)libraries);

	return pp_program_image(program)->needs_openmp ? pp_libraries_with_openmp(base)
						       : g_steal_pointer(&base);
}

static int make_environment(const struct options *options, const struct gm_config *settings,
			    const struct pp_program *program, char *const *libraries,
			    const struct gm_capture *capture, GStrv *ret_env, struct pp_error *err)
{
	g_autofree char *config = g_build_filename(capture->dir, "config", NULL);
	g_autofree char *preload = NULL;
	GStrv env = g_get_environ();

	env = g_environ_setenv(env, "GPROF_MT_CONFIG", config, TRUE);
	if (pp_program_takes_libraries(program, libraries)) {
		g_auto(GStrv) all = all_libraries(program, settings, libraries);
		int rc = pp_libraries_preload(all, g_getenv("LD_PRELOAD"), &preload, err);

		if (rc) {
			g_strfreev(env);
			return rc;
		}
		env = g_environ_setenv(env, "LD_PRELOAD", preload, TRUE);
	}
	/*
	 * Records the start also on a busy machine, where LTTng's default timeout of 3 s is too
	 * short.
	 */
	if (options->lttng)
		env = g_environ_setenv(env, "LTTNG_UST_REGISTER_TIMEOUT", "60000", FALSE);
	*ret_env = env;
	return 0;
}

static int exec_status(int code)
{
	return code == -ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_EXECUTE;
}

/*
 * Opens LTTng's session, if requested, and the kernel's event source: that session or the
 * collector.
 */
static int open_sources(const struct options *options, struct pp_run *run,
			const struct pp_child *child, struct pp_collector *collector,
			struct pp_lttng *lttng, struct pp_error *err)
{
	const struct gm_capture *capture = run->capture;
	struct pp_lttng_wanted wanted = {
	    .user = options->lttng,
	    .kernel = pp_collector_wants_lttng(run->config),
	    .url = options->url,
	};
	struct pp_collector_lttng kernel = {.runs = wanted.kernel};
	g_autofree char *why = NULL;
	bool started;
	int rc = 0;

	*lttng = (struct pp_lttng){0};
	if (wanted.kernel && pp_lttng_begin(lttng, wanted, run->config, capture->dir, err)) {
		why = pp_error_text(err);
		kernel.why = why;
		pp_error_done(err);
		kernel.runs = wanted.kernel = false;
	}
	started = lttng->started_daemon;
	if (wanted.user && !wanted.kernel)
		rc = pp_lttng_begin(lttng, wanted, run->config, capture->dir, err);
	if (started || lttng->started_daemon)
		pp_record_note("LTTng's session daemon was started and keeps running; see "
			       "gprof-mt-lttng(7)");
	if (rc)
		return rc;
	if (lttng->relay) {
		run->relay_url = options->url;
		run->relay_session = g_strdup(lttng->session);
	}
	kernel.missing = lttng->kernel_missing;
	pp_collector_open(collector, run->config, &kernel, child->pid, run->dir_fd,
			  capture->clock_uuid, capture->clock_offset_ns);
	return 0;
}

/* On SIGUSR2.  Returns false if no process has begun to record yet. */
static bool take_asked(void *data)
{
	if (!pp_snapshots_may_begin(data))
		return false;
	(void)pp_snapshots_ask(data, "SIGUSR2");
	return true;
}

static void end_snapshots(void *data)
{
	pp_snapshots_end(data);
}

/*
 * Runs the program and records until it ends.  Returns 0, or the exit status if the program cannot
 * be run.
 */
static int run_program(const struct options *options, struct pp_run *run,
		       const struct pp_program *program, char *const *env, struct pp_child *child,
		       struct pp_collector *collector)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_ring_files ring_files;
	struct pp_watch *watch;
	struct pp_gmon_out gmon_out;
	struct pp_lttng lttng;
	struct pp_lttng_lost unused;
	int rc;

	if (pp_child_hold(child, options->command, env, &err))
		return pp_cli_fail(&err);
	child->asked = take_asked;
	child->data = run->data;
	if (open_sources(options, run, child, collector, &lttng, &err)) {
		pp_child_cancel(child);
		return pp_cli_fail(&err);
	}
	run->collector = collector;
	note_start(run);
	rc = pp_info_begin(run, &err);
	if (rc) {
		pp_child_cancel(child);
		pp_collector_done(collector);
		pp_lttng_end(&lttng, &unused, NULL);
		return pp_cli_fail(&err);
	}
	note_limits(options, run, program);
	note_start(run);
	pp_gmon_out_init(&gmon_out, child->pid);
	rc = pp_child_start(child);
	if (rc) {
		pp_gmon_out_done(&gmon_out);
		pp_collector_done(collector);
		pp_lttng_end(&lttng, &unused, NULL);
		pp_error_add(&err, rc, "cannot execute %s: %s", options->command[0],
			     g_strerror(-rc));
		pp_cli_fail(&err);
		return exec_status(rc);
	}
	pp_ring_files_begin(&ring_files, run->dir_fd, run->config);
	watch = pp_watch_begin(options->whens, child->data);
	pp_child_wait(child, collector, run->mailbox);
	pp_watch_end(watch);
	pp_ring_files_end(&ring_files);
	run->end_ns = pp_clock_now_ns();
	run->end_us = g_get_real_time();
	run->status = child->status;
	run->usage = child->usage;
	pp_record_end(run, &lttng, &gmon_out);
	pp_gmon_out_done(&gmon_out);
	pp_collector_done(collector);
	return 0;
}

static int record(const struct options *options, struct gm_config *config,
		  const struct pp_program *program, struct pp_child *child)
{
	g_autofree struct gm_capture *capture = g_new0(struct gm_capture, 1);
	g_autofree char *shown_dir = g_strdup(config->dir);
	g_autoptr(GPtrArray) losses = pp_losses_new();
	g_auto(GStrv) libraries = NULL, env = NULL;
	struct pp_error err = PP_ERROR_INIT;
	struct pp_discard discard;
	struct pp_collector collector;
	struct pp_mailbox mailbox;
	struct pp_snapshots snapshots;
	struct pp_run run = {
	    .kernel_ended = end_snapshots,
	    .data = &snapshots,
	    .argv = options->command,
	    .config = config,
	    .capture = capture,
	    .shown_dir = shown_dir,
	    .dir_fd = -1,
	    .losses = losses,
	};
	int status;

	if (pp_libraries_find(&libraries, &err))
		return pp_cli_fail(&err);
	if (config->sync_sink != GM_SINK_NATIVE && pp_libraries_check_ust(libraries, &err))
		return pp_cli_fail(&err);
	if (config->access_mode == GM_ACCESS_SAMPLED &&
	    pp_libraries_check_step(libraries, config->access_blocks == GM_BLOCKS_ON, &err))
		return pp_cli_fail(&err);
	pp_discard_begin(&discard, config->dir);
	if (pp_record_make_capture(config, capture, &run, &err)) {
		pp_discard_undo(&discard);
		pp_discard_end(&discard);
		return pp_cli_fail(&err);
	}
	run.libraries = libraries;
	run.mailbox = &mailbox;
	pp_mailbox_open(&mailbox, capture, run.dir_fd, config->output_max_bytes);
	pp_snapshots_begin(&snapshots, capture->dir, shown_dir);
	status = make_environment(options, config, program, libraries, capture, &env, &err)
		     ? pp_cli_fail(&err)
		     : run_program(options, &run, program, env, child, &collector);
	/* If the program could not be run. */
	if (snapshots.pool)
		pp_snapshots_end(&snapshots);
	pp_mailbox_done(&mailbox);
	pp_record_end_capture(capture, &run, &discard, status == PP_EXIT_GOOD);
	g_free(run.relay_session);
	return status;
}

int pp_cmd_record(int argc, char **argv)
{
	g_autofree struct gm_config *config = g_new(struct gm_config, 1);
	g_autoptr(GPtrArray) settings = g_ptr_array_new();
	g_autoptr(GArray) whens = g_array_new(FALSE, FALSE, sizeof(struct pp_when));
	struct options options = {.settings = settings, .whens = whens};
	struct pp_error err = PP_ERROR_INIT;
	struct pp_program program = {.path = NULL};
	struct pp_child child;
	int rc, status;

	pp_child_keep_requests();
	status = parse_options(argc, argv, &options);
	if (status >= 0)
		return status;
	status = read_config(&options, config);
	if (status)
		return status;
	if (options.pid &&
	    (config->level == GM_LEVEL_APPLIC_ONLY || config->kernel == GM_KERNEL_NONE))
		return pp_cli_usage("record", "--pid records kernel events, which the profile "
					      "applic-only and kernel.source=none leave out");
	/* Their streams would grow without a limit. */
	if (options.pid && gm_config_has_ring(config)) {
		if (config->sample_hz)
			pp_record_note("no samples: with --pid, a ring has none");
		config->sample_hz = 0;
	}
	if (options.pid)
		return pp_record_attach(options.pid, options.duration_ns, config);
	rc = pp_program_read(options.command[0], &program, &err);
	if (rc) {
		pp_cli_fail(&err);
		status = exec_status(rc);
	} else {
		status = record(&options, config, &program, &child);
	}
	pp_program_done(&program);
	if (!status)
		pp_child_exit_alike(&child);
	return status;
}
