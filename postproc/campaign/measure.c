/* SPDX-License-Identifier: MIT */
/*
 * posix_spawn() shares the memory of this process with the child until exec, so starting a command
 * costs the same however large this process is.
 *
 * The child inherits the CPUs of this thread, which are limited for that moment only.
 */
#include "campaign/measure.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/text/duration.h"

static sigset_t before, received;
static int interrupted;

void pp_measure_begin(void)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGCHLD};

	interrupted = 0;
	sigemptyset(&received);
	for (size_t i = 0; i < G_N_ELEMENTS(signals); i++)
		sigaddset(&received, signals[i]);
	/* If it was ignored, a child that has ended could not be waited for. */
	signal(SIGCHLD, SIG_DFL);
	sigprocmask(SIG_BLOCK, &received, &before);
}

void pp_measure_end(void)
{
	sigprocmask(SIG_SETMASK, &before, NULL);
}

/* Waits for a signal; false: there was none until the deadline (0: none). */
static bool await_signal(int64_t left_ns, bool has_deadline)
{
	const struct timespec left = {left_ns / 1000000000, left_ns % 1000000000};
	int signal_number = sigtimedwait(&received, NULL, has_deadline ? &left : NULL);

	if (signal_number > 0 && signal_number != SIGCHLD)
		interrupted = signal_number;
	return signal_number > 0 || errno != EAGAIN;
}

int pp_measure_interrupted(void)
{
	while (!interrupted && await_signal(0, true))
		;
	return interrupted;
}

unsigned pp_measure_cpus(void)
{
	cpu_set_t all;

	return sched_getaffinity(0, sizeof(all), &all) == 0 ? (unsigned)CPU_COUNT(&all) : 1;
}

/* --- start ---------------------------------------------------------------------------------- */

/* Limits this thread to its first CPUs.  *ret_all is what it had. */
static int limit_cpus(unsigned n_cpus, cpu_set_t *ret_all)
{
	cpu_set_t some;
	unsigned n = 0;

	CPU_ZERO(&some);
	if (sched_getaffinity(0, sizeof(*ret_all), ret_all))
		return -errno;
	for (unsigned cpu = 0; cpu < CPU_SETSIZE && n < n_cpus; cpu++)
		if (CPU_ISSET(cpu, ret_all)) {
			CPU_SET(cpu, &some);
			n++;
		}
	return sched_setaffinity(0, sizeof(some), &some) ? -errno : 0;
}

static void set_attributes(posix_spawnattr_t *attributes)
{
	posix_spawnattr_init(attributes);
	posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
	posix_spawnattr_setpgroup(attributes, 0);
	posix_spawnattr_setsigmask(attributes, &before);
}

static void set_files(posix_spawn_file_actions_t *files, const struct pp_measure *how)
{
	posix_spawn_file_actions_init(files);
	posix_spawn_file_actions_addopen(files, STDIN_FILENO, how->input ? how->input : "/dev/null",
					 O_RDONLY, 0);
	posix_spawn_file_actions_addopen(files, STDOUT_FILENO,
					 how->output ? how->output : "/dev/null",
					 O_WRONLY | O_CREAT | O_TRUNC, 0666);
	posix_spawn_file_actions_adddup2(files, STDOUT_FILENO, STDERR_FILENO);
}

static int start(const struct pp_measure *how, pid_t *ret_pid)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	cpu_set_t all;
	int rc = how->n_cpus ? limit_cpus(how->n_cpus, &all) : 0;

	if (rc)
		return rc;
	set_attributes(&attributes);
	set_files(&files, how);
	rc = -posix_spawnp(ret_pid, how->argv[0], &files, &attributes, how->argv,
			   how->env ? how->env : environ);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attributes);
	if (how->n_cpus)
		sched_setaffinity(0, sizeof(all), &all);
	return rc;
}

/* --- end ------------------------------------------------------------------------------------ */

/* Ends the process group, and waits for the command itself. */
static void end_group(pid_t pid, int *ret_status, struct rusage *usage)
{
	kill(-pid, SIGKILL);
	kill(pid, SIGKILL); /* it may have joined another group */
	TEMP_FAILURE_RETRY(wait4(pid, ret_status, 0, usage));
}

static void await_end(const struct pp_measure *how, pid_t pid, int64_t start_ns,
		      struct pp_measured *ret, struct rusage *usage)
{
	while (wait4(pid, &ret->status, WNOHANG, usage) != pid) {
		int64_t left_ns = start_ns + how->timeout_ns - pp_clock_now_ns();

		if (how->timeout_ns && left_ns <= 0)
			ret->timed_out = true;
		else if (!interrupted)
			await_signal(left_ns, how->timeout_ns != 0);
		ret->interrupted = interrupted;
		if (ret->timed_out || ret->interrupted) {
			end_group(pid, &ret->status, usage);
			return;
		}
	}
}

int pp_measure_run(const struct pp_measure *how, struct pp_measured *ret, struct pp_error *err)
{
	struct rusage usage = {0};
	int64_t start_ns = pp_clock_now_ns();
	pid_t pid;
	int rc = start(how, &pid);

	if (rc)
		return pp_error_add(err, rc, "cannot execute %s: %s", how->argv[0],
				    g_strerror(-rc));
	*ret = (struct pp_measured){0};
	await_end(how, pid, start_ns, ret, &usage);
	ret->wall_ns = pp_clock_now_ns() - start_ns;
	ret->user_ns = pp_timeval_ns(&usage.ru_utime);
	ret->system_ns = pp_timeval_ns(&usage.ru_stime);
	ret->max_rss_bytes = usage.ru_maxrss * INT64_C(1024);
	ret->voluntary = usage.ru_nvcsw;
	ret->involuntary = usage.ru_nivcsw;
	return 0;
}

double pp_measured_use(const struct pp_measured *measured, int64_t n_threads, unsigned n_cpus)
{
	double usable_ns = (double)measured->wall_ns * (double)MIN(n_threads, (int64_t)n_cpus);

	if (measured->wall_ns <= 0 || n_threads <= 0 || !n_cpus)
		return -1;
	return (double)(measured->user_ns + measured->system_ns) / usable_ns;
}
