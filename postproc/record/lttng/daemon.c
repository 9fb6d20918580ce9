/* SPDX-License-Identifier: MIT */
/*
 * Finds a session daemon, or starts one under a keeper that waits for the last user by locks on
 * one file.
 */
#include "record/lttng/daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <lttng/lttng.h>

#define LOCK_FILE "gprof-mt.lock"
#define WAIT_MS	  60000
#define POLL_MS	  10
#define OTHERS_MS 1000

/* The bytes of the lock file. */
enum {
	TURN, /* exclusive: looks for a daemon and starts one */
	USE,  /* shared: uses the daemon, whoever's it is; exclusive: a keeper ends it */
	KEEP, /* exclusive: a keeper, who will end it as soon as nobody uses it */
};

static void pause_ms(unsigned ms)
{
	const struct timespec time = {ms / 1000, ms % 1000 * 1000000};

	nanosleep(&time, NULL);
}

/* --- locks ----------------------------------------------------------------------------------- */

static int lock_control(int fd, int command, int byte, short *type)
{
	struct flock lock = {.l_type = *type, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};
	int ret = fcntl(fd, command, &lock);

	*type = lock.l_type;
	return ret;
}

static bool lock_try(int fd, int byte, short type)
{
	return lock_control(fd, F_OFD_SETLK, byte, &type) == 0;
}

static void lock_wait(int fd, int byte, short type)
{
	while (lock_control(fd, F_OFD_SETLKW, byte, &type) && errno == EINTR)
		;
}

/* How others have locked it: F_UNLCK: not at all. */
static short lock_of_others(int fd, int byte)
{
	short type = F_WRLCK;

	return lock_control(fd, F_OFD_GETLK, byte, &type) ? F_UNLCK : type;
}

static int lock_soon(int fd, int byte, short type, struct pp_error *err)
{
	for (unsigned waited_ms = 0; waited_ms < 2 * WAIT_MS; waited_ms += POLL_MS) {
		if (lock_try(fd, byte, type))
			return 0;
		if (errno != EAGAIN && errno != EACCES)
			return pp_error_add(err, -errno, "LTTng: cannot lock its daemon: %s",
					    g_strerror(errno));
		pause_ms(POLL_MS);
	}
	return pp_error_add(
	    err, -ETIMEDOUT,
	    "LTTng: another recording starts or ends a session daemon for too long");
}

/* In the directory where LTTng's daemon has its sockets. */
static char *lock_path(void)
{
	const char *home = g_getenv("LTTNG_HOME");
	g_autofree char *dir = NULL;

	if (geteuid() == 0)
		dir = g_strdup("/run/lttng");
	else
		dir = g_build_filename(home ? home : g_get_home_dir(), ".lttng", NULL);
	g_mkdir_with_parents(dir, 0700);
	return g_build_filename(dir, LOCK_FILE, NULL);
}

/* Never a standard stream's number.  A descriptor, or -errno. */
static int lock_open(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	int high = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 3);
	int ret = high < 0 ? -errno : high;

	if (fd >= 0)
		close(fd);
	return ret;
}

/* --- the keeper ------------------------------------------------------------------------------ */

static volatile pid_t kept;

static _Noreturn void become_daemon(const sigset_t *old_mask, bool kernel)
{
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	sigprocmask(SIG_SETMASK, old_mask, NULL);
	/* Seconds until it gives up a program that does not answer; by itself, 5. */
	g_setenv("LTTNG_APP_SOCKET_TIMEOUT", "60", FALSE);
	execlp("lttng-sessiond", "lttng-sessiond", kernel ? NULL : "--no-kernel", NULL);
	_exit(127);
}

static void daemon_ended(int signal_number)
{
	int status;

	(void)signal_number;
	if (waitpid(kept, &status, WNOHANG) == kept)
		_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

static void hold_child_signals(int how)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(how, &set, NULL);
}

static void stop_daemon(void)
{
	int status;

	kill(kept, SIGTERM);
	for (unsigned waited_ms = 0; waited_ms < WAIT_MS; waited_ms += POLL_MS) {
		if (waitpid(kept, &status, WNOHANG) == kept)
			return;
		pause_ms(POLL_MS);
	}
	kill(kept, SIGKILL);
	TEMP_FAILURE_RETRY(waitpid(kept, &status, 0));
}

/* A session that is neither of a recording, nor left behind by one that was killed. */
static bool is_of_others(const struct lttng_session *session)
{
	size_t prefix = strlen(PP_LTTNG_SESSION);
	char *end;
	guint64 pid;

	if (strncmp(session->name, PP_LTTNG_SESSION, prefix) != 0)
		return true;
	pid = g_ascii_strtoull(session->name + prefix, &end, 10);
	return *end || pid == 0 || kill((pid_t)pid, 0) == 0 || errno != ESRCH;
}

static bool others_have_sessions(void)
{
	struct lttng_session *sessions = NULL;
	bool found = false;
	int n;

	/* From a daemon that hangs we would never return: it gets its signal by our death. */
	alarm(WAIT_MS / 1000);
	n = lttng_list_sessions(&sessions);
	alarm(0);
	for (int i = 0; i < n && !found; i++)
		found = is_of_others(&sessions[i]);
	free(sessions);
	return found;
}

/* As a process of its own, which neither the terminal's interrupt nor the death of the one that
 * started it ends. */
static void detach(int error_fd)
{
	static const int defaults[] = {SIGINT, SIGQUIT, SIGPIPE, SIGXFSZ, SIGTERM, SIGHUP, SIGALRM};
	int null_fd = open("/dev/null", O_RDWR);

	setsid();
	prctl(PR_SET_NAME, "gprof-mt-lttng");
	for (size_t i = 0; i < G_N_ELEMENTS(defaults); i++)
		signal(defaults[i], SIG_DFL);
	dup2(error_fd, 2);
	for (int fd = 0; fd < 2; fd++)
		dup2(null_fd, fd);
	close_range(3, ~0u, 0);
}

static _Noreturn void keep(const char *path, const sigset_t *old_mask, int error_fd, bool kernel)
{
	int fd;

	detach(error_fd);
	fd = lock_open(path);
	if (fd < 0 || !lock_try(fd, KEEP, F_WRLCK))
		_exit(1);
	hold_child_signals(SIG_BLOCK);
	signal(SIGCHLD, daemon_ended);
	kept = fork();
	if (kept == 0)
		become_daemon(old_mask, kernel);
	if (kept < 0)
		_exit(1);
	for (;;) {
		lock_try(fd, KEEP, F_WRLCK);
		hold_child_signals(SIG_UNBLOCK);
		lock_wait(fd, USE, F_WRLCK);
		hold_child_signals(SIG_BLOCK);
		if (!others_have_sessions())
			break;
		/* Made by hand: the daemon stays for them, too. */
		lock_try(fd, USE, F_UNLCK);
		lock_try(fd, KEEP, F_UNLCK);
		hold_child_signals(SIG_UNBLOCK);
		pause_ms(OTHERS_MS);
	}
	stop_daemon();
	_exit(0);
}

/* --- its users -------------------------------------------------------------------------------- */

/* The last line of what it said. */
static char *last_words(int fd)
{
	char text[4096];
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);
	char *line;

	text[n > 0 ? n : 0] = '\0';
	g_strchomp(text);
	line = strrchr(text, '\n');
	return g_strdup(line ? line + 1 : text);
}

static int wait_for_daemon(pid_t keeper, int error_fd, struct pp_error *err)
{
	g_autofree char *words = NULL;
	int status;

	for (unsigned waited_ms = 0; waited_ms < WAIT_MS; waited_ms += POLL_MS) {
		if (lttng_session_daemon_alive() == 1)
			return 0;
		if (waitpid(keeper, &status, WNOHANG) == keeper) {
			if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
				return pp_error_add(err, -ENOENT,
						    "LTTng: there is no lttng-sessiond: install "
						    "lttng-tools");
			words = last_words(error_fd);
			return pp_error_add(err, -EIO,
					    "LTTng: its session daemon does not start%s%s",
					    *words ? ": " : "", words);
		}
		pause_ms(POLL_MS);
	}
	return pp_error_add(err, -ETIMEDOUT, "LTTng: its session daemon does not answer");
}

static int start_daemon(const char *path, const sigset_t *old_mask, bool kernel,
			struct pp_error *err)
{
	int error_fd = memfd_create("lttng-sessiond", MFD_CLOEXEC);
	pid_t keeper;
	int ret;

	if (error_fd < 0)
		return pp_error_add(err, -errno, "memfd_create: %s", g_strerror(errno));
	keeper = fork();
	if (keeper == 0)
		keep(path, old_mask, error_fd, kernel);
	if (keeper < 0)
		ret = pp_error_add(err, -errno, "fork: %s", g_strerror(errno));
	else
		ret = wait_for_daemon(keeper, error_fd, err);
	close(error_fd);
	return ret;
}

int pp_lttng_daemon_use(const sigset_t *old_mask, bool kernel, int *ret_lease, struct pp_error *err)
{
	g_autofree char *path = lock_path();
	int fd = lock_open(path);
	int ret;

	*ret_lease = 0;
	/* A place that cannot be written to: then a daemon that runs is somebody else's. */
	if (fd < 0 && lttng_session_daemon_alive() == 1)
		return 0;
	if (fd < 0)
		return pp_error_add(err, fd, "LTTng: cannot make %s: %s", path, g_strerror(-fd));
	ret = lock_soon(fd, USE, F_RDLCK, err);
	if (ret == 0)
		ret = lock_soon(fd, TURN, F_WRLCK, err);
	if (ret == 0 && lttng_session_daemon_alive() != 1)
		ret = start_daemon(path, old_mask, kernel, err);
	lock_try(fd, TURN, F_UNLCK);
	if (ret)
		pp_lttng_daemon_leave(&fd);
	else
		*ret_lease = fd;
	return ret;
}

void pp_lttng_daemon_leave(int *lease)
{
	unsigned waited_ms;

	if (*lease <= 0)
		return;
	lock_try(*lease, USE, F_UNLCK);
	for (waited_ms = 0; waited_ms < 2 * WAIT_MS; waited_ms += POLL_MS) {
		if (lock_of_others(*lease, KEEP) == F_UNLCK ||
		    lock_of_others(*lease, USE) == F_RDLCK)
			break;
		pause_ms(POLL_MS);
	}
	close(*lease);
	*lease = 0;
}
