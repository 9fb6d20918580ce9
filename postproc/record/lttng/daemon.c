/* SPDX-License-Identifier: MIT */
/* Finds LTTng's session daemon, or starts one that outlives this process. */
#include "record/lttng/daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <glib.h>
#include <lttng/lttng.h>

#include "record/lttng/kernel.h"

#define WAIT_MS	  60000
#define POLL_MS	  10
#define NOT_FOUND 127
#define FDS_MAX	  (1 << 20)

bool pp_lttng_daemon_runs(void)
{
	return lttng_session_daemon_alive() == 1;
}

static void pause_ms(unsigned ms)
{
	const struct timespec time = {ms / 1000, ms % 1000 * 1000000};

	nanosleep(&time, NULL);
}

/* The directory of the daemon's sockets; the caller frees it. */
static char *socket_dir(void)
{
	const char *home = g_getenv("LTTNG_HOME");

	if (geteuid() == 0)
		return g_strdup("/run/lttng");
	return g_build_filename(home ?: g_get_home_dir(), ".lttng", NULL);
}

/*
 * Recordings that begin at the same time start one daemon: the others wait here for the first.
 * A descriptor to be closed; -1: go on without, a second daemon refuses to start.
 */
static int wait_for_turn(void)
{
	g_autofree char *dir = socket_dir();
	int fd;

	g_mkdir_with_parents(dir, 0700);
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (unsigned waited_ms = 0; fd >= 0 && waited_ms < WAIT_MS; waited_ms += POLL_MS) {
		if (flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
			break;
		pause_ms(POLL_MS);
	}
	return fd;
}

/* --- starting -------------------------------------------------------------------------------- */

/* Without what another recording has put there for this process, if that is being recorded. */
static GStrv make_environment(void)
{
	GStrv env = g_get_environ(), names = g_listenv();

	for (char **name = names; *name; name++)
		if (g_str_has_prefix(*name, "GPROF_MT_") || strcmp(*name, "LD_PRELOAD") == 0 ||
		    strcmp(*name, "LD_AUDIT") == 0)
			env = g_environ_unsetenv(env, *name);
	g_strfreev(names);
	/* Seconds until it gives up a program that does not answer; its default is 5. */
	return g_environ_setenv(env, "LTTNG_APP_SOCKET_TIMEOUT", "60", FALSE);
}

/* n_fds: the limit of descriptor numbers, where close_range() is missing (before Linux 5.9) or
 * refused. */
static void close_from(int first, int n_fds)
{
	if (close_range((unsigned)first, ~0u, 0) == 0)
		return;
	for (int fd = first; fd < n_fds; fd++)
		close(fd);
}

/* In the child: async-signal-safe functions only, apart from the search of execvpe(). */
static _Noreturn void become_daemon(bool kernel, int error_fd, int n_fds, char *const *env)
{
	char *const argv[] = {"lttng-sessiond", "--daemonize", kernel ? NULL : "--no-kernel", NULL};
	int null_fd = open("/dev/null", O_RDWR);
	sigset_t none;

	for (int i = 1; i < _NSIG; i++)
		signal(i, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	dup2(error_fd, 2);
	dup2(null_fd, 0);
	dup2(null_fd, 1);
	close_from(3, n_fds);
	execvpe(argv[0], argv, env);
	_exit(NOT_FOUND);
}

/* The last line of its messages. */
static char *last_message(int fd)
{
	char text[4096];
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);
	char *line;

	text[n > 0 ? n : 0] = '\0';
	g_strchomp(text);
	line = strrchr(text, '\n');
	return g_strdup(line ? line + 1 : text);
}

/* --daemonize: the process ends when the daemon is ready, or has failed. */
static int wait_until_ready(pid_t starter, int error_fd, struct pp_error *err)
{
	g_autofree char *message = NULL;
	int status;

	for (unsigned waited_ms = 0; waitpid(starter, &status, WNOHANG) != starter;
	     waited_ms += POLL_MS) {
		if (waited_ms >= WAIT_MS) {
			kill(starter, SIGKILL);
			TEMP_FAILURE_RETRY(waitpid(starter, &status, 0));
			return pp_error_add(err, -ETIMEDOUT,
					    "LTTng: the session daemon does not answer within %d s",
					    WAIT_MS / 1000);
		}
		pause_ms(POLL_MS);
	}
	/* If it failed, lttng(1) may have started another daemon just before. */
	if (pp_lttng_daemon_runs())
		return 0;
	if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_FOUND)
		return pp_error_add(err, -ENOENT,
				    "LTTng: there is no lttng-sessiond: install lttng-tools");
	message = last_message(error_fd);
	return pp_error_add(err, -EIO, "LTTng: the session daemon does not start%s%s",
			    *message ? ": " : "", message);
}

static int start(bool kernel, struct pp_error *err)
{
	g_auto(GStrv) env = make_environment();
	int n_fds = (int)MIN(sysconf(_SC_OPEN_MAX), FDS_MAX);
	int error_fd = memfd_create("lttng-sessiond", MFD_CLOEXEC);
	pid_t starter;
	int ret;

	if (error_fd < 0)
		return pp_error_add(err, -errno, "memfd_create: %s", g_strerror(errno));
	starter = fork();
	if (starter == 0)
		become_daemon(kernel, error_fd, n_fds, env);
	if (starter < 0)
		ret = pp_error_add(err, -errno, "fork: %s", g_strerror(errno));
	else
		ret = wait_until_ready(starter, error_fd, err);
	close(error_fd);
	return ret;
}

int pp_lttng_daemon_use(bool kernel, bool *ret_started, struct pp_error *err)
{
	int turn, ret = 0;

	*ret_started = false;
	if (pp_lttng_daemon_runs())
		return 0;
	if (kernel && geteuid() != 0)
		return pp_error_add(err, -EPERM,
				    "LTTng's kernel tracer: needs root, or root's session daemon "
				    "and the group tracing");
	turn = wait_for_turn();
	if (!pp_lttng_daemon_runs()) {
		/* As the daemon stays, it serves the kernel tracer wherever that is there. */
		ret = start(kernel || pp_lttng_kernel_is_loaded(), err);
		*ret_started = ret == 0;
	}
	if (turn >= 0)
		close(turn);
	return ret;
}
