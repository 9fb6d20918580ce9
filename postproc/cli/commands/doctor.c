/* SPDX-License-Identifier: MIT */
/*
 * gprof-mt doctor: checks what works on this machine, or for a program.  It prints a line per
 * check, and below a failed one, the command that would change the result.
 */
#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <stdio.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/doctor.h"
#include "cli/options.h"
#include "record/libraries.h"
#include "record/lttng/daemon.h"
#include "record/lttng/kernel.h"

#define GOOD PP_VERDICT_GOOD
#define POOR PP_VERDICT_POOR
#define BAD  PP_VERDICT_BAD

void pp_doctor_line(enum pp_verdict verdict, const char *what, const char *found,
		    const char *remedy)
{
	static const char *const words[] = {[GOOD] = "ok", [POOR] = "poor", [BAD] = "no"};

	printf("%-4s %-22s %s\n", words[verdict], what, found);
	if (verdict != GOOD && remedy)
		printf("     %-22s -> %s\n", "", remedy);
}

char *pp_doctor_first_line(const char *path)
{
	char *text = NULL;

	if (!g_file_get_contents(path, &text, NULL, NULL))
		return NULL;
	text[strcspn(text, "\n")] = '\0';
	return text;
}

static enum pp_verdict check_libraries(void)
{
	struct pp_error err = PP_ERROR_INIT;
	g_auto(GStrv) paths = NULL;
	g_autofree char *text = NULL;

	if (pp_libraries_find(&paths, &err) == 0) {
		text = g_strjoinv(", ", paths);
		pp_doctor_line(GOOD, "runtime libraries", text, NULL);
		return GOOD;
	}
	text = pp_error_text(&err);
	pp_error_done(&err);
	pp_doctor_line(BAD, "runtime libraries", text,
		       g_getenv("GPROF_MT_LIBDIR") ? "unset GPROF_MT_LIBDIR" : "make install");
	return BAD;
}

/* Programs into which our libraries cannot be loaded must run as without them. */
static void check_others(void)
{
	struct pp_error err = PP_ERROR_INIT;
	g_auto(GStrv) paths = NULL;

	if (pp_libraries_find(&paths, &err)) {
		pp_error_done(&err);
		return;
	}
	if (!pp_libraries_have_tree(paths))
		pp_doctor_line(POOR, "other programs",
			       "without gprof-mt.preload beside the libraries, programs of musl do "
			       "not start, and the loader of 32-bit programs prints errors",
			       "make install");
	else if (!pp_libraries_have_stub(paths, false))
		pp_doctor_line(POOR, "other programs",
			       "the loader of 32-bit programs prints an error for each library",
			       "install binutils that link for elf_i386; make; make install");
	else
		pp_doctor_line(GOOD, "other programs",
			       "static, musl, 32-bit and set-uid programs run unchanged; only "
			       "their scheduling can be recorded",
			       NULL);
}

/* Without these, most of what follows fails for that reason alone. */
static void check_mounts(void)
{
	if (access("/proc/self", F_OK))
		pp_doctor_line(BAD, "/proc", "not mounted", "sudo mount -t proc proc /proc");
	if (access("/sys/kernel", F_OK))
		pp_doctor_line(POOR, "/sys", "not mounted: no BPF programs",
			       "sudo mount -t sysfs sysfs /sys");
}

static void check_tool(const char *name, const char *use, const char *fix)
{
	g_autofree char *path = g_find_program_in_path(name);
	g_autofree char *lacking = g_strdup_printf("not found; %s", use);

	pp_doctor_line(path ? GOOD : POOR, name, path ?: lacking, fix);
}

static void check_kernel_tracer(bool daemon_runs)
{
	struct pp_lttng_lack lack = {
	    "its modules are not loaded",
	    "sudo apt-get install lttng-modules-dkms; sudo modprobe lttng-tracer",
	};

	if (daemon_runs && pp_lttng_kernel_ask(&lack))
		pp_doctor_line(GOOD, "LTTng kernel tracer",
			       geteuid() == 0 ? "record takes the kernel's events from it"
					      : "record --set kernel.source=lttng takes the "
						"kernel's events from it",
			       NULL);
	else if (daemon_runs || !pp_lttng_kernel_is_loaded())
		pp_doctor_line(POOR, "LTTng kernel tracer", lack.what, lack.remedy);
	else
		pp_doctor_line(POOR, "LTTng kernel tracer",
			       "its modules are loaded, but no session daemon runs",
			       "sudo lttng-sessiond --daemonize");
}

static void check_ust(void)
{
	struct pp_error err = PP_ERROR_INIT;
	g_auto(GStrv) paths = NULL;

	if (pp_libraries_find(&paths, &err) == 0 && pp_libraries_check_ust(paths, &err))
		pp_doctor_line(POOR, "LTTng-UST",
			       "libsync_trace_ust.so is missing; record --backend lttng needs it",
			       "install liblttng-ust-dev; make; make install");
	pp_error_done(&err);
}

static void check_steps(void)
{
	struct pp_error err = PP_ERROR_INIT;
	g_auto(GStrv) paths = NULL;

	if (pp_libraries_find(&paths, &err) == 0 && pp_libraries_check_step(paths, false, &err))
		pp_doctor_line(POOR, "accesses by steps",
			       "libaccess_step.so is missing; record --accesses=sampled needs it",
			       "install libzydis-dev; make; make install");
	else if (signal(SIGTRAP, SIG_DFL) == SIG_IGN)
		pp_doctor_line(
		    POOR, "accesses by steps",
		    "SIGTRAP is ignored here, so record --accesses=sampled steps through "
		    "no section",
		    "start record where it is not: trap - TRAP");
	else
		pp_doctor_line(GOOD, "accesses by steps", "record --accesses=sampled", NULL);
	pp_error_done(&err);
}

static void check_lttng(void)
{
	bool daemon_runs = pp_lttng_daemon_runs();

	check_ust();
	if (daemon_runs)
		pp_doctor_line(GOOD, "lttng-sessiond", "runs; record --backend lttng uses it",
			       NULL);
	else
		check_tool("lttng-sessiond", "record --backend lttng needs it",
			   "sudo apt-get install lttng-tools");
	check_kernel_tracer(daemon_runs);
}

/* The limits of this process's cgroup and of those above it (cgroup version 2). */
static void check_limits(void)
{
	g_autofree char *group = pp_doctor_first_line("/proc/self/cgroup");
	g_autofree char *path = NULL;

	if (!group || !g_str_has_prefix(group, "0::/"))
		return;
	path = g_strdup(group + strlen("0::"));
	while (*path) {
		g_autofree char *file = g_build_filename("/sys/fs/cgroup", path, "cpu.max", NULL);
		g_autofree char *max = pp_doctor_first_line(file);
		char *slash = strrchr(path, '/');
		double quota, period;

		if (max && sscanf(max, "%lf %lf", &quota, &period) == 2 && period > 0) {
			g_autofree char *found = g_strdup_printf(
			    "the cgroup %s is limited to %.2f CPUs; its threads wait for more",
			    path, quota / period);

			g_autofree char *remedy = g_strdup_printf("echo max | sudo tee %s", file);

			pp_doctor_line(POOR, "CPU limit", found, remedy);
		}
		if (!slash)
			return;
		*slash = '\0';
	}
}

static void check_clock(void)
{
	static const char *const fast[] = {"tsc", "kvm-clock", "hyperv_clocksource_tsc_page", NULL};
	g_autofree char *source = pp_doctor_first_line(
	    "/sys/devices/system/clocksource/clocksource0/current_clocksource");

	if (!source)
		pp_doctor_line(POOR, "clock source", "not known", "see /sys above");
	else if (g_strv_contains(fast, source))
		pp_doctor_line(GOOD, "clock source", source, NULL);
	else
		pp_doctor_line(
		    POOR, "clock source", source,
		    "a time stamp costs a system call; boot with clocksource=tsc tsc=reliable");
}

bool pp_doctor_uses_tables(void)
{
	return dlvsym(RTLD_DEFAULT, "_dl_find_object", "GLIBC_2.35") != NULL;
}

static void check_paths(void)
{
	g_autofree char *found = g_strdup_printf(
	    pp_doctor_uses_tables() ? "by unwind tables: in any code (glibc %s)"
				    : "by frame pointers only: glibc %s is older than 2.35",
	    gnu_get_libc_version());

	pp_doctor_line(pp_doctor_uses_tables() ? GOOD : POOR, "call paths", found,
		       "compile with: -fno-omit-frame-pointer");
}

/* Shows the mode that `record` would use without options. */
static void check_sync_mode(void)
{
	g_autofree struct gm_config *config = g_new(struct gm_config, 1);
	g_autofree char *found = NULL;
	struct gm_config_error error;

	gm_config_defaults(config);
	if (pp_cli_read_default_config(config, &error)) {
		pp_doctor_line(BAD, "configuration", error.text, "correct the file");
		return;
	}
	switch (config->sync_mode) {
	case GM_SYNC_AUTO:
		found = g_strdup_printf("auto: in full, until that takes more than %u %% of a "
					"thread's CPU time, then its waits and their holders",
					(unsigned)config->sync_budget_percent);
		pp_doctor_line(GOOD, "synchronization", found, NULL);
		break;
	case GM_SYNC_ALL:
		pp_doctor_line(GOOD, "synchronization", "all: every operation", NULL);
		break;
	case GM_SYNC_CONTENDED:
		pp_doctor_line(POOR, "synchronization",
			       "contended: waits and their holders, the rest is counted",
			       "record --set sync.mode=all");
		break;
	case GM_SYNC_OFF:
		pp_doctor_line(POOR, "synchronization", "off: none is recorded",
			       "record --set sync.mode=auto");
		break;
	}
}

static const struct pp_cli_option option_table[] = {
    {0},
};

static const struct pp_cli_options options = {
    .command = "doctor",
    .letters = ":h",
    .table = option_table,
    .usage = "doctor [PROGRAM]\n\n"
	     "Shows what gprof-mt can record on this machine and of PROGRAM, and how to "
	     "record\nmore.  Exits with 1 if nothing can be recorded.",
};

int pp_cmd_doctor(int argc, char **argv)
{
	int status = pp_cli_options_read(&options, argc, argv, NULL);

	if (status < 0 && optind + 1 < argc)
		status = pp_cli_usage("doctor", "unexpected argument %s", argv[optind + 1]);
	if (status >= 0)
		return status;
	check_mounts();
	status = check_libraries() == GOOD ? PP_EXIT_GOOD : PP_EXIT_FAILED;
	check_others();
	pp_doctor_kernel();
	check_limits();
	check_clock();
	check_paths();
	check_sync_mode();
	pp_doctor_rtm();
	check_steps();
	check_lttng();
	check_tool("gprof", "reads the gmon files too", "sudo apt-get install binutils");
	check_tool("babeltrace2", "prints a capture as text", "sudo apt-get install babeltrace2");
	if (optind < argc && pp_doctor_program(argv[optind]))
		status = PP_EXIT_FAILED;
	return status;
}
