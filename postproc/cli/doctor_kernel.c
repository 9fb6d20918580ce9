/* SPDX-License-Identifier: MIT */
/*
 * The part of `gprof-mt doctor` about the sources of kernel events, and the privileges and files
 * that they need.  A remedy is a command that works as it stands, or the name of another line.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/doctor.h"
#include "record/collector.h"
#include "record/perf/tracefs.h"

/* A ring of minimum size per CPU; see record/collector.c. */
#define WANTED_LOCKED_BYTES (64 << 10)
#define PARANOID	    "/proc/sys/kernel/perf_event_paranoid"

#define GOOD PP_VERDICT_GOOD
#define POOR PP_VERDICT_POOR
#define BAD  PP_VERDICT_BAD

enum tracefs { TRACEFS_READABLE, TRACEFS_CLOSED, TRACEFS_UNMOUNTED, TRACEFS_NONE };

struct facts {
	uint64_t capabilities; /* effective ones; none outside of the first user namespace */
	bool has_host_pids;
	bool is_container; /* other thread ids or user ids, or a root without its capabilities */
	int paranoid;	   /* INT_MAX: not known */
	enum tracefs tracefs;
	char *self; /* the path of this program, for a shell */
};

/* --- what is there --------------------------------------------------------------------------- */

/* In another user namespace, capabilities do not permit tracing, and user 0 is not root. */
static bool has_host_uids(void)
{
	g_autofree char *map = pp_doctor_first_line("/proc/self/uid_map");
	unsigned long first, host, n;

	return !map || (sscanf(map, "%lu %lu %lu", &first, &host, &n) == 3 && n == UINT32_MAX);
}

static uint64_t effective_capabilities(void)
{
	g_autofree char *text = NULL;
	const char *at;

	if (!has_host_uids() || !g_file_get_contents("/proc/self/status", &text, NULL, NULL))
		return 0;
	at = strstr(text, "\nCapEff:");
	return at ? g_ascii_strtoull(at + strlen("\nCapEff:"), NULL, 16) : 0;
}

static bool may(const struct facts *facts, unsigned capability)
{
	return facts->capabilities >> capability & 1;
}

static enum tracefs find_tracefs(void)
{
	struct pp_error err = PP_ERROR_INIT;
	int fd = pp_tracefs_open(&err);
	bool may_read;

	pp_error_done(&err);
	if (fd < 0)
		return fd == -ENODEV ? TRACEFS_NONE : TRACEFS_UNMOUNTED;
	/* With the effective capabilities, which access() ignores. */
	may_read = faccessat(fd, "events", R_OK | X_OK, AT_EACCESS) == 0;
	close(fd);
	return may_read ? TRACEFS_READABLE : TRACEFS_CLOSED;
}

static struct facts find_facts(void)
{
	g_autofree char *paranoid = pp_doctor_first_line(PARANOID);
	g_autofree char *self = g_file_read_link("/proc/self/exe", NULL);
	struct facts facts = {
	    .capabilities = effective_capabilities(),
	    .has_host_pids = pp_collector_sees_host_pids(),
	    .paranoid = paranoid ? atoi(paranoid) : INT_MAX,
	    .tracefs = find_tracefs(),
	};

	facts.is_container = !facts.has_host_pids || !has_host_uids() ||
			     (geteuid() == 0 && !may(&facts, CAP_SYS_ADMIN));
	if (self && strspn(self, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "/._+-") == strlen(self))
		facts.self = g_steal_pointer(&self);
	else
		facts.self = g_shell_quote(self ?: "gprof-mt");
	return facts;
}

static bool may_trace(const struct facts *facts)
{
	return may(facts, CAP_SYS_ADMIN) || may(facts, CAP_PERFMON) || facts->paranoid < 0;
}

static bool may_use_bpf(const struct facts *facts)
{
	return may(facts, CAP_SYS_ADMIN) || (may(facts, CAP_BPF) && may(facts, CAP_PERFMON));
}

/* --- remedies: the caller frees them --------------------------------------------------------- */

/* The same for all lines, since a later setcap replaces an earlier one. */
static char *setcap_remedy(const struct facts *facts)
{
	return g_strdup_printf("run as root, or: sudo setcap cap_perfmon%s%s+ep %s",
			       pp_bpf_is_built() ? ",cap_bpf" : "",
			       facts->tracefs == TRACEFS_CLOSED ? ",cap_dac_read_search" : "",
			       facts->self);
}

/* Where privileges and tracefs suffice, but the kernel refuses BPF programs. */
static const char *kernel_remedy(void)
{
	struct utsname name;
	unsigned major, minor;

	if (access("/sys/kernel", F_OK))
		return "see /sys above";
	if (uname(&name) == 0 && sscanf(name.release, "%u.%u", &major, &minor) == 2 &&
	    (major < 5 || (major == 5 && minor < 18)))
		return "run a kernel of 5.18 or later";
	if (access("/sys/kernel/btf/vmlinux", F_OK))
		return "run a kernel with CONFIG_DEBUG_INFO_BTF";
	return "record outside any sandbox that filters system calls (seccomp)";
}

static char *bpf_remedy(const struct facts *facts)
{
	if (!pp_bpf_is_built())
		return g_strdup("install clang and libbpf-dev, and build gprof-mt again");
	if (!facts->has_host_pids)
		return g_strdup("see container below");
	if (!may_use_bpf(facts))
		return facts->is_container
			   ? g_strdup("record on the host, or start the container with CAP_BPF and "
				      "CAP_PERFMON")
			   : setcap_remedy(facts);
	return g_strdup(facts->tracefs == TRACEFS_READABLE ? kernel_remedy() : "see tracefs below");
}

static const char *perf_remedy(const struct facts *facts)
{
	if (!facts->has_host_pids)
		return "see container below";
	if (!may_trace(facts))
		return "see capabilities below, or perf_event_paranoid and tracefs";
	return facts->tracefs == TRACEFS_READABLE
		   ? "record outside any sandbox that filters system calls (seccomp)"
		   : "see tracefs below";
}

/* On the host: the limit is the same for all containers. */
static char *paranoid_remedy(const struct facts *facts, int wanted)
{
	return g_strdup_printf("%ssudo sysctl kernel.perf_event_paranoid=%d",
			       facts->is_container ? "on the host: " : "", wanted);
}

/* --- lines ----------------------------------------------------------------------------------- */

static bool check_source(enum gm_kernel_source source, const char *what, const char *brings,
			 enum pp_verdict without, const char *fix)
{
	struct pp_error err = PP_ERROR_INIT;
	g_autofree char *why = NULL;

	if (pp_collector_probe(source, &err) == 0) {
		pp_doctor_line(GOOD, what, brings, NULL);
		return true;
	}
	why = pp_error_text(&err);
	pp_error_done(&err);
	pp_doctor_line(without, what, why, fix);
	return false;
}

/* Without BPF, recording only costs more time. */
static void check_sources(const struct facts *facts)
{
	g_autofree char *for_bpf = bpf_remedy(facts);
	g_autofree char *for_switches = paranoid_remedy(facts, 2);

	check_source(GM_KERNEL_BPF, "BPF programs",
		     "perf's events of the scheduler, at a fifth of their cost", POOR, for_bpf);
	if (check_source(GM_KERNEL_PERF, "perf tracepoints",
			 "full scheduling: which threads ran, waited and woke each other", POOR,
			 perf_remedy(facts)))
		return;
	check_source(GM_KERNEL_SWITCHES, "context-switch records",
		     "when each thread ran, and whether it was preempted or blocked", BAD,
		     facts->paranoid > 2
			 ? for_switches
			 : "record outside any sandbox that filters system calls (seccomp)");
}

static void check_paranoid(const struct facts *facts)
{
	g_autofree char *remedy = paranoid_remedy(facts, -1);
	g_autofree char *found = NULL;
	int level = facts->paranoid;
	const char *allows;

	if (level == INT_MAX) {
		pp_doctor_line(BAD, "perf_event_paranoid", "this kernel has no perf events",
			       "run a kernel with CONFIG_PERF_EVENTS");
		return;
	}
	allows = level < 0	    ? "everyone may use tracepoints"
		 : may_trace(facts) ? "does not limit this user"
		 : level <= 2	    ? "everyone may record context switches, only root tracepoints"
				    : "only root may record";
	found = g_strdup_printf("%d: %s", level, allows);
	pp_doctor_line(may_trace(facts) ? GOOD
		       : level <= 2	? POOR
					: BAD,
		       "perf_event_paranoid", found, remedy);
}

static void check_tracefs(const struct facts *facts)
{
	const char *path = pp_tracefs_path();
	g_autofree char *remount =
	    g_strdup_printf("sudo mount -o remount,mode=755,gid=$(id -g) %s", path ?: "");

	switch (facts->tracefs) {
	case TRACEFS_READABLE:
		pp_doctor_line(GOOD, "tracefs",
			       path ?: "not mounted; gprof-mt mounts it for itself", NULL);
		break;
	case TRACEFS_CLOSED:
		pp_doctor_line(BAD, "tracefs", "mounted, but only for root",
			       facts->is_container ? "record on the host" : remount);
		break;
	case TRACEFS_UNMOUNTED:
		pp_doctor_line(BAD, "tracefs", "not mounted",
			       facts->is_container
				   ? "record on the host, or start the container with the host's "
				     "/sys/kernel/tracing"
				   : "sudo mount -t tracefs -o mode=755,gid=$(id -g) tracefs "
				     "/sys/kernel/tracing");
		break;
	case TRACEFS_NONE:
		pp_doctor_line(BAD, "tracefs", "this kernel has none",
			       "run a kernel with CONFIG_FTRACE");
		break;
	}
}

static void check_capabilities(const struct facts *facts)
{
	g_autofree char *remedy = setcap_remedy(facts);

	if (may(facts, CAP_SYS_ADMIN) || may(facts, CAP_PERFMON))
		pp_doctor_line(GOOD, "capabilities",
			       may(facts, CAP_SYS_ADMIN) ? "CAP_SYS_ADMIN" : "CAP_PERFMON", NULL);
	else if (may_trace(facts))
		pp_doctor_line(GOOD, "capabilities", "perf tracepoints need none here", NULL);
	else
		pp_doctor_line(POOR, "capabilities", "neither CAP_PERFMON nor CAP_SYS_ADMIN",
			       facts->is_container
				   ? "record on the host, or start the container with CAP_PERFMON"
				   : remedy);
}

static char *memory_remedy(const struct rlimit *limit)
{
	if (limit->rlim_max == RLIM_INFINITY)
		return g_strdup("ulimit -l unlimited");
	if (limit->rlim_max >= WANTED_LOCKED_BYTES)
		return g_strdup_printf("ulimit -l %llu",
				       (unsigned long long)limit->rlim_max / 1024);
	return g_strdup("sudo prlimit --pid $$ --memlock=unlimited, or more in "
			"/etc/security/limits.conf");
}

/* Unprivileged users' rings count against this limit. */
static void check_locked_memory(const struct facts *facts)
{
	g_autofree char *free_kib = pp_doctor_first_line("/proc/sys/kernel/perf_event_mlock_kb");
	g_autofree char *found = NULL, *remedy = NULL;
	struct rlimit limit;

	if (may(facts, CAP_IPC_LOCK) || getrlimit(RLIMIT_MEMLOCK, &limit) || !free_kib)
		return;
	if (limit.rlim_cur == RLIM_INFINITY)
		found = g_strdup("no limit");
	else
		found = g_strdup_printf("%s KiB for each CPU, and %llu KiB in all", free_kib,
					(unsigned long long)limit.rlim_cur / 1024);
	remedy = memory_remedy(&limit);
	pp_doctor_line(limit.rlim_cur < WANTED_LOCKED_BYTES ? POOR : GOOD, "memory for rings",
		       found, remedy);
}

static void check_numbers(const struct facts *facts)
{
	if (!facts->has_host_pids)
		pp_doctor_line(POOR, "container", "thread ids differ from the host's",
			       "record on the host, or in a container with its pid namespace");
}

void pp_doctor_kernel(void)
{
	struct facts facts = find_facts();

	check_sources(&facts);
	check_paranoid(&facts);
	check_tracefs(&facts);
	check_capabilities(&facts);
	check_locked_memory(&facts);
	check_numbers(&facts);
	g_free(facts.self);
}
