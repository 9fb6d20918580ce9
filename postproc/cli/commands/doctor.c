/* SPDX-License-Identifier: MIT */
/*
 * gprof-mt doctor: checks what works on this machine, or for a program.  It prints a line per
 * check, and below a failed one, the command that would change the result.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/capability.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/doctor.h"
#include "cli/options.h"
#include "record/collector.h"
#include "record/libraries.h"
#include "record/lttng/kernel.h"
#include "record/perf/tracefs.h"

/* A ring of minimum size per CPU; see record/collector.c. */
#define WANTED_LOCKED_BYTES (64 << 10)

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

static char *first_line(const char *path)
{
	char *text = NULL;

	if (!g_file_get_contents(path, &text, NULL, NULL))
		return NULL;
	text[strcspn(text, "\n")] = '\0';
	return text;
}

static enum pp_verdict check_source(enum gm_kernel_source source, const char *what,
				    const char *brings, enum pp_verdict without, const char *fix)
{
	struct pp_error err = PP_ERROR_INIT;
	g_autofree char *why = NULL;

	if (pp_collector_probe(source, &err) == 0) {
		pp_doctor_line(GOOD, what, brings, NULL);
		return GOOD;
	}
	why = pp_error_text(&err);
	pp_error_done(&err);
	pp_doctor_line(without, what, why, fix);
	return without;
}

/* Tests a bit of CapEff in /proc/self/status; see <linux/capability.h>. */
static bool may(unsigned capability)
{
	g_autofree char *text = NULL;
	const char *at;

	if (!g_file_get_contents("/proc/self/status", &text, NULL, NULL))
		return false;
	at = strstr(text, "\nCapEff:");
	return at && (g_ascii_strtoull(at + strlen("\nCapEff:"), NULL, 16) >> capability & 1);
}

/* With the effective capabilities, which access() ignores. */
static bool may_read_tracefs(void)
{
	const char *path = pp_tracefs_path();
	g_autofree char *events = path ? g_build_filename(path, "events", NULL) : NULL;

	return events && faccessat(AT_FDCWD, events, R_OK | X_OK, AT_EACCESS) == 0;
}

static bool may_use_bpf(void)
{
	return may(CAP_SYS_ADMIN) || (may(CAP_BPF) && may(CAP_PERFMON));
}

static const char *bpf_remedy(void)
{
	if (!pp_bpf_is_built())
		return "install clang and libbpf-dev, and build gprof-mt again";
	if (may_use_bpf() && (may_read_tracefs() || geteuid() == 0))
		return "outside any sandbox, run a kernel of 5.18 or later with "
		       "CONFIG_DEBUG_INFO_BTF";
	if (geteuid() == 0)
		return "this root lacks CAP_BPF or CAP_PERFMON: record on the host, or start the "
		       "container with them";
	return may_read_tracefs() ? "run as root, or: sudo setcap cap_bpf,cap_perfmon+ep "
				    "$(command -v gprof-mt)"
				  : "run as root, or: sudo setcap "
				    "cap_bpf,cap_perfmon,cap_dac_read_search+ep "
				    "$(command -v gprof-mt)";
}

/* Without BPF, recording only costs more time, so the line names the remedy and no failure. */
static void check_bpf(void)
{
	check_source(GM_KERNEL_BPF, "BPF programs",
		     "perf's events of the scheduler, at a fifth of their cost", POOR,
		     bpf_remedy());
}

static bool may_trace(void)
{
	return may(CAP_SYS_ADMIN) || may(CAP_PERFMON);
}

/* is_permitted: perf's tracepoints are. */
static void check_paranoid(bool is_permitted)
{
	g_autofree char *value = first_line("/proc/sys/kernel/perf_event_paranoid");
	g_autofree char *found = NULL;
	const char *allows;
	int level;

	if (!value) {
		pp_doctor_line(BAD, "perf_event_paranoid", "this kernel has no perf events",
			       "run a kernel with CONFIG_PERF_EVENTS");
		return;
	}
	level = atoi(value);
	allows = level < 0	? "everyone may use tracepoints"
		 : is_permitted ? "does not limit this user"
		 : level <= 2	? "everyone may record context switches, only root tracepoints"
				: "only root may record";
	found = g_strdup_printf("%d: %s", level, allows);
	pp_doctor_line(level < 0 || is_permitted ? GOOD
		       : level <= 2		 ? POOR
						 : BAD,
		       "perf_event_paranoid", found, "sudo sysctl kernel.perf_event_paranoid=-1");
}

static void check_tracefs(void)
{
	const char *path = pp_tracefs_path();

	if (!path)
		pp_doctor_line(
		    geteuid() ? BAD : GOOD, "tracefs",
		    geteuid() ? "not mounted" : "not mounted; root needs no mount",
		    "sudo mount -t tracefs -o mode=755,gid=$(id -g) tracefs /sys/kernel/tracing");
	else if (!may_read_tracefs())
		pp_doctor_line(BAD, "tracefs", "mounted, but only for root",
			       "sudo mount -o remount,mode=755,gid=$(id -g) /sys/kernel/tracing");
	else
		pp_doctor_line(GOOD, "tracefs", path, NULL);
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
	pp_doctor_line(BAD, "runtime libraries", text, "make install");
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

static void check_tool(const char *name, const char *use, const char *fix)
{
	g_autofree char *path = g_find_program_in_path(name);
	g_autofree char *lacking = g_strdup_printf("not found; %s", use);

	pp_doctor_line(path ? GOOD : POOR, name, path ?: lacking, fix);
}

static void check_lttng(void)
{
	bool loaded = pp_lttng_kernel_is_loaded();

	check_tool("lttng-sessiond", "record --backend lttng needs it",
		   "sudo apt-get install lttng-tools");
	if (geteuid() != 0)
		pp_doctor_line(POOR, "LTTng kernel tracer", "for root only", "run as root");
	else if (pp_lttng_kernel_ready())
		pp_doctor_line(GOOD, "LTTng kernel tracer",
			       "record takes the kernel's events from it", NULL);
	else
		pp_doctor_line(
		    POOR, "LTTng kernel tracer",
		    loaded ? "its modules are loaded, but no session daemon runs"
			   : "its modules are not loaded",
		    loaded ? "sudo lttng-sessiond --daemonize"
			   : "sudo apt-get install lttng-modules-dkms; sudo modprobe lttng-tracer");
}

static void check_capabilities(void)
{
	if (may_trace())
		pp_doctor_line(GOOD, "capabilities",
			       may(CAP_SYS_ADMIN) ? "CAP_SYS_ADMIN" : "CAP_PERFMON", NULL);
	else
		pp_doctor_line(POOR, "capabilities", "neither CAP_PERFMON nor CAP_SYS_ADMIN",
			       geteuid() ? "run as root, or see perf_event_paranoid and tracefs "
					   "above"
					 : "record on the host, or start the container with "
					   "CAP_PERFMON");
}

/* Unprivileged users' rings count against this limit. */
static void check_locked_memory(void)
{
	g_autofree char *free_kib = first_line("/proc/sys/kernel/perf_event_mlock_kb");
	g_autofree char *found = NULL;
	struct rlimit limit;

	if (may(CAP_IPC_LOCK) || getrlimit(RLIMIT_MEMLOCK, &limit) || !free_kib)
		return;
	if (limit.rlim_cur == RLIM_INFINITY)
		found = g_strdup("no limit");
	else
		found = g_strdup_printf("%s KiB for each CPU, and %llu KiB in all", free_kib,
					(unsigned long long)limit.rlim_cur / 1024);
	pp_doctor_line(limit.rlim_cur < WANTED_LOCKED_BYTES ? POOR : GOOD, "memory for rings",
		       found, "ulimit -l unlimited, or more in /etc/security/limits.conf");
}

static void check_numbers(void)
{
	if (!pp_collector_sees_host_pids())
		pp_doctor_line(POOR, "container", "thread ids differ from the host's",
			       "record on the host, or in a container with its pid namespace");
}

/* The limits of this process's cgroup and of those above it (cgroup version 2). */
static void check_limits(void)
{
	g_autofree char *group = first_line("/proc/self/cgroup");
	g_autofree char *path = NULL;

	if (!group || !g_str_has_prefix(group, "0::/"))
		return;
	path = g_strdup(group + strlen("0::"));
	while (*path) {
		g_autofree char *file = g_build_filename("/sys/fs/cgroup", path, "cpu.max", NULL);
		g_autofree char *max = first_line(file);
		char *slash = strrchr(path, '/');
		double quota, period;

		if (max && sscanf(max, "%lf %lf", &quota, &period) == 2 && period > 0) {
			g_autofree char *found = g_strdup_printf(
			    "the cgroup %s is limited to %.2f CPUs; its threads wait for more",
			    path, quota / period);

			pp_doctor_line(POOR, "container", found, "raise cpu.max of that group");
		}
		if (!slash)
			return;
		*slash = '\0';
	}
}

static void check_clock(void)
{
	g_autofree char *source =
	    first_line("/sys/devices/system/clocksource/clocksource0/current_clocksource");

	if (source && (strcmp(source, "tsc") == 0 || strcmp(source, "kvm-clock") == 0))
		pp_doctor_line(GOOD, "clock source", source, NULL);
	else
		pp_doctor_line(
		    POOR, "clock source", source ?: "not known",
		    "a time stamp costs a system call; boot with clocksource=tsc tsc=reliable");
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
	bool may_use_tracepoints;

	if (status < 0 && optind + 1 < argc)
		status = pp_cli_usage("doctor", "unexpected argument %s", argv[optind + 1]);
	if (status >= 0)
		return status;
	status = check_libraries() == GOOD ? PP_EXIT_GOOD : PP_EXIT_FAILED;
	check_others();
	check_bpf();
	may_use_tracepoints =
	    check_source(GM_KERNEL_PERF, "perf tracepoints",
			 "full scheduling: which threads ran, waited and woke each other", POOR,
			 geteuid() ? "run as root, or see the two checks below"
				   : "see the checks below") == GOOD;
	if (!may_use_tracepoints)
		check_source(GM_KERNEL_SWITCHES, "context-switch records",
			     "when each thread ran, and whether it was preempted or blocked", BAD,
			     "sudo sysctl kernel.perf_event_paranoid=2");
	check_paranoid(may_use_tracepoints);
	check_tracefs();
	check_capabilities();
	check_locked_memory();
	check_numbers();
	check_limits();
	check_clock();
	check_sync_mode();
	check_lttng();
	check_tool("gprof", "reads the gmon files too", "sudo apt-get install binutils");
	check_tool("babeltrace2", "prints a capture as text", "sudo apt-get install babeltrace2");
	if (optind < argc && pp_doctor_program(argv[optind]))
		status = PP_EXIT_FAILED;
	return status;
}
