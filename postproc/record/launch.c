/* SPDX-License-Identifier: MIT */
/*
 * Forks the program, blocks it on a pipe until recording is ready, and waits for its end while
 * forwarding signals.
 */
#include "record/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define DRAIN_MS 1000
#define RETRY_MS 10

static volatile sig_atomic_t forward[_NSIG];
static bool was_kept; /* SIGUSR2 was blocked by this process, not by its caller */

void pp_child_keep_requests(void)
{
	sigset_t mask, before;

	sigemptyset(&mask);
	sigaddset(&mask, SIGUSR2);
	was_kept = sigprocmask(SIG_BLOCK, &mask, &before) == 0 && !sigismember(&before, SIGUSR2);
}

static void note_signal(int signal)
{
	forward[signal] = 1;
}

/*
 * Runs in the child.  Between fork and exec, only async-signal-safe functions are used, except
 * execvpe()'s search.
 */
static _Noreturn void become_program(const struct pp_child *child, int go_fd, int result_fd,
				     char *const *argv, char *const *env)
{
	char go;
	int code;

	if (TEMP_FAILURE_RETRY(read(go_fd, &go, 1)) != 1)
		_exit(EXIT_FAILURE);
	sigprocmask(SIG_SETMASK, &child->old_mask, NULL);
	execvpe(argv[0], argv, env);
	code = errno;
	if (write(result_fd, &code, sizeof(code)) != sizeof(code))
		_exit(EXIT_FAILURE);
	_exit(EXIT_FAILURE);
}

/* Sets this process's signal dispositions, after the child has its own copy. */
static void set_signals(void)
{
	static const int ignored[] = {SIGINT, SIGQUIT, SIGPIPE, SIGXFSZ};
	static const int noted[] = {SIGTERM, SIGHUP, SIGCHLD, SIGUSR2};

	for (size_t i = 0; i < G_N_ELEMENTS(ignored); i++)
		signal(ignored[i], SIG_IGN);
	for (size_t i = 0; i < G_N_ELEMENTS(noted); i++) {
		struct sigaction action = {.sa_handler = note_signal};

		sigaction(noted[i], &action, NULL);
	}
}

static void block_signals(sigset_t *ret_old_mask)
{
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, SIGTERM);
	sigaddset(&mask, SIGHUP);
	sigaddset(&mask, SIGUSR2);
	sigaddset(&mask, SIGCHLD);
	sigaddset(&mask, SIGINT);
	sigaddset(&mask, SIGQUIT);
	sigprocmask(SIG_BLOCK, &mask, ret_old_mask);
	if (was_kept)
		sigdelset(ret_old_mask, SIGUSR2);
}

int pp_child_hold(struct pp_child *child, char *const *argv, char *const *env, struct pp_error *err)
{
	int go[2], result[2];

	*child = (struct pp_child){.pid = -1, .go_fd = -1, .result_fd = -1};
	if (pipe2(go, O_CLOEXEC))
		return pp_error_add(err, -errno, "pipe: %s", g_strerror(errno));
	if (pipe2(result, O_CLOEXEC)) {
		close(go[0]);
		close(go[1]);
		return pp_error_add(err, -errno, "pipe: %s", g_strerror(errno));
	}
	block_signals(&child->old_mask);
	child->pid = fork();
	if (child->pid == 0) {
		close(go[1]);
		close(result[0]);
		become_program(child, go[0], result[1], argv, env);
	}
	close(go[0]);
	close(result[1]);
	child->go_fd = go[1];
	child->result_fd = result[0];
	if (child->pid < 0) {
		int code = errno;

		pp_child_cancel(child);
		return pp_error_add(err, -code, "fork: %s", g_strerror(code));
	}
	set_signals();
	return 0;
}

static void reap(struct pp_child *child)
{
	if (child->pid > 0)
		TEMP_FAILURE_RETRY(wait4(child->pid, &child->status, 0, &child->usage));
}

int pp_child_start(struct pp_child *child)
{
	ssize_t n = TEMP_FAILURE_RETRY(write(child->go_fd, "", 1));
	int code = 0;

	close(child->go_fd);
	child->go_fd = -1;
	if (n == 1)
		n = TEMP_FAILURE_RETRY(read(child->result_fd, &code, sizeof(code)));
	close(child->result_fd);
	child->result_fd = -1;
	if (n == sizeof(code)) {
		reap(child);
		return -code;
	}
	return 0;
}

void pp_child_cancel(struct pp_child *child)
{
	if (child->go_fd >= 0)
		close(child->go_fd);
	if (child->result_fd >= 0)
		close(child->result_fd);
	child->go_fd = child->result_fd = -1;
	reap(child);
}

static void forward_signals(const struct pp_child *child)
{
	static const int signals[] = {SIGTERM, SIGHUP};

	for (size_t i = 0; i < G_N_ELEMENTS(signals); i++)
		if (forward[signals[i]]) {
			forward[signals[i]] = 0;
			kill(child->pid, signals[i]);
		}
}

static void answer(const struct pp_child *child)
{
	if (forward[SIGUSR2] && (!child->asked || child->asked(child->data)))
		forward[SIGUSR2] = 0;
}

/* Returns NULL if there is no need to wake up. */
static const struct timespec *pause_of(bool has_rings)
{
	static const struct timespec drain = {DRAIN_MS / 1000, DRAIN_MS % 1000 * 1000000},
				     retry = {0, RETRY_MS * 1000000};

	return forward[SIGUSR2] ? &retry : has_rings ? &drain : NULL;
}

static bool has_ended(struct pp_child *child)
{
	if (!forward[SIGCHLD])
		return false;
	forward[SIGCHLD] = 0;
	return wait4(child->pid, &child->status, WNOHANG, &child->usage) == child->pid;
}

/*
 * ppoll() delivers no signal while a descriptor is ready immediately, which may be the case every
 * time.
 */
static void let_signals_in(const sigset_t *mask)
{
	sigset_t before;

	sigprocmask(SIG_SETMASK, mask, &before);
	sigprocmask(SIG_SETMASK, &before, NULL);
}

void pp_child_wait(struct pp_child *child, struct pp_collector *collector,
		   struct pp_mailbox *mailbox)
{
	g_autofree struct pollfd *fds = g_new(struct pollfd, PP_POLLFDS * collector->n_rings + 1);
	sigset_t mask = child->old_mask;

	/* Received here, even if the caller of this process had blocked them. */
	sigdelset(&mask, SIGCHLD);
	sigdelset(&mask, SIGTERM);
	sigdelset(&mask, SIGHUP);
	sigdelset(&mask, SIGUSR2);
	forward[SIGCHLD] = 1; /* the child may have ended before this check */
	while (!has_ended(child)) {
		unsigned n = pp_collector_pollfds(collector, fds);

		fds[n] = (struct pollfd){.fd = mailbox->fd, .events = POLLIN};
		if (ppoll(fds, n + 1, pause_of(n > 0), &mask) > 0)
			let_signals_in(&mask);
		forward_signals(child);
		answer(child);
		if (n)
			pp_collector_round(collector);
		pp_mailbox_read(mailbox);
	}
	answer(child);
	pp_mailbox_stop(mailbox);
}

_Noreturn void pp_child_exit_alike(const struct pp_child *child)
{
	int signal_number;
	sigset_t mask;

	if (WIFEXITED(child->status))
		exit(WEXITSTATUS(child->status));
	signal_number = WTERMSIG(child->status);
	/* The program has written its core file; ours would overwrite it. */
	prctl(PR_SET_DUMPABLE, 0);
	signal(signal_number, SIG_DFL);
	sigemptyset(&mask);
	sigaddset(&mask, signal_number);
	sigprocmask(SIG_UNBLOCK, &mask, NULL);
	raise(signal_number);
	exit(128 + signal_number);
}
