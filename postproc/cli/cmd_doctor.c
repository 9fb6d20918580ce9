/* SPDX-License-Identifier: MIT */
/*
 * gprof-mt doctor: what works on this machine, one line a check, and under what does not, the
 * command that would change it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/options.h"
#include "collect/collector.h"
#include "collect/libraries.h"
#include "collect/lttng_kernel.h"
#include "collect/tracefs.h"

enum verdict { GOOD, POOR, BAD };

static void line(enum verdict verdict, const char *what, const char *found, const char *fix)
{
	static const char *const words[] = {[GOOD] = "ok", [POOR] = "poor", [BAD] = "no"};

	printf("%-4s %-22s %s\n", words[verdict], what, found);
	if (verdict != GOOD && fix)
		printf("     %-22s -> %s\n", "", fix);
}

static char *first_line(const char *path)
{
	char *text = NULL;

	if (!g_file_get_contents(path, &text, NULL, NULL))
		return NULL;
	text[strcspn(text, "\n")] = '\0';
	return text;
}

static enum verdict check_source(enum gm_kernel_source source, const char *what, const char *brings,
				 enum verdict without, const char *fix)
{
	struct pp_error err = PP_ERROR_INIT;
	g_autofree char *why = NULL;

	if (pp_collector_probe(source, &err) == 0) {
		line(GOOD, what, brings, NULL);
		return GOOD;
	}
	why = pp_error_text(&err);
	pp_error_done(&err);
	line(without, what, why, fix);
	return without;
}

static void check_paranoid(void)
{
	g_autofree char *value = first_line("/proc/sys/kernel/perf_event_paranoid");
	g_autofree char *found = NULL;
	const char *allows;
	int level;

	if (!value) {
		line(BAD, "perf_event_paranoid", "this kernel has no perf events",
		     "run a kernel with CONFIG_PERF_EVENTS");
		return;
	}
	level = atoi(value);
	allows = level < 0    ? "everyone may use tracepoints"
		 : level <= 2 ? "everyone may record context switches, only root tracepoints"
			      : "only root may record";
	found = g_strdup_printf("%d: %s", level, allows);
	line(level < 0	  ? GOOD
	     : level <= 2 ? POOR
			  : BAD,
	     "perf_event_paranoid", found, "sudo sysctl kernel.perf_event_paranoid=-1");
}

static void check_tracefs(void)
{
	const char *path = pp_tracefs_path();
	g_autofree char *events = path ? g_build_filename(path, "events", NULL) : NULL;

	if (!path)
		line(geteuid() ? BAD : GOOD, "tracefs",
		     geteuid() ? "not mounted" : "not mounted; root needs no mount",
		     "sudo mount -t tracefs -o mode=755,gid=$(id -g) tracefs /sys/kernel/tracing");
	else if (access(events, R_OK | X_OK))
		line(BAD, "tracefs", "mounted, but only for root",
		     "sudo mount -o remount,mode=755,gid=$(id -g) /sys/kernel/tracing");
	else
		line(GOOD, "tracefs", path, NULL);
}

static enum verdict check_libraries(void)
{
	struct pp_error err = PP_ERROR_INIT;
	g_auto(GStrv) paths = NULL;
	g_autofree char *text = NULL;

	if (pp_libraries_find(&paths, &err) == 0) {
		text = g_strjoinv(", ", paths);
		line(GOOD, "runtime libraries", text, NULL);
		return GOOD;
	}
	text = pp_error_text(&err);
	pp_error_done(&err);
	line(BAD, "runtime libraries", text, "make install");
	return BAD;
}

static void check_tool(const char *name, const char *use, const char *fix)
{
	g_autofree char *path = g_find_program_in_path(name);
	g_autofree char *lacking = g_strdup_printf("not found; %s", use);

	line(path ? GOOD : POOR, name, path ?: lacking, fix);
}

static void check_lttng(void)
{
	bool loaded = access(PP_LTTNG_KERNEL_MODULE, F_OK) == 0;

	check_tool("lttng-sessiond", "record --backend lttng needs it",
		   "sudo apt-get install lttng-tools");
	if (geteuid() != 0)
		line(POOR, "LTTng kernel tracer", "for root alone", "run as root");
	else if (pp_lttng_kernel_ready())
		line(GOOD, "LTTng kernel tracer", "record takes the kernel's events from it", NULL);
	else
		line(POOR, "LTTng kernel tracer",
		     loaded ? "its modules are loaded, but no session daemon runs"
			    : "its modules are not loaded",
		     loaded
			 ? "sudo lttng-sessiond --daemonize"
			 : "sudo apt-get install lttng-modules-dkms; sudo modprobe lttng-tracer");
}

static void check_clock(void)
{
	g_autofree char *source =
	    first_line("/sys/devices/system/clocksource/clocksource0/current_clocksource");

	if (source && (strcmp(source, "tsc") == 0 || strcmp(source, "kvm-clock") == 0))
		line(GOOD, "clock source", source, NULL);
	else
		line(POOR, "clock source", source ?: "not known",
		     "a time stamp costs a system call; boot with clocksource=tsc tsc=reliable");
}

static void print_help(void)
{
	printf("usage: gprof-mt doctor\n\n"
	       "Tells what gprof-mt can record on this machine, and how to make it more.\n"
	       "Exits 1 if it cannot record at all.\n");
}

static const struct option option_table[] = {PP_CLI_OPTIONS_END};
static const struct pp_cli_options options = {"doctor", ":h", option_table, print_help, NULL};

int pp_cmd_doctor(int argc, char **argv)
{
	int status = pp_cli_options_read(&options, argc, argv, NULL);

	if (status < 0 && optind < argc)
		status = pp_cli_usage("doctor", "unexpected argument %s", argv[optind]);
	if (status >= 0)
		return status;
	status = check_libraries() == GOOD ? PP_EXIT_GOOD : PP_EXIT_FAILED;
	if (check_source(GM_KERNEL_PERF, "perf tracepoints",
			 "scheduling in full: who ran, who waited, who woke whom", POOR,
			 "run as root, or change what the two checks below name") != GOOD)
		check_source(GM_KERNEL_SWITCHES, "context-switch records",
			     "when each thread ran, and whether it was preempted or blocked", BAD,
			     "sudo sysctl kernel.perf_event_paranoid=2");
	check_paranoid();
	check_tracefs();
	check_clock();
	check_lttng();
	check_tool("gprof", "reads the gmon files too", "sudo apt-get install binutils");
	check_tool("babeltrace2", "prints a capture as text", "sudo apt-get install babeltrace2");
	return status;
}
