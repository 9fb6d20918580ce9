/* SPDX-License-Identifier: MIT */
/*
 * Signals and cancellations sent: to oneself, to no process, invalid ones, too many, not permitted.
 */
#define _GNU_SOURCE
#include "behaviour.h"

#include <signal.h>
#include <sys/resource.h>

static const pid_t nobody = 0x3ffffff; /* no process has that number */
static const union sigval value = {.sival_int = 5};
static volatile sig_atomic_t handled;

static void on_signal(int number)
{
	(void)number;
	handled++;
}

static void to_oneself(void)
{
	CALL(kill(getpid(), SIGUSR1));
	CALL(kill(getpid(), 0));
	CALL(killpg(getpgrp(), 0));
	CALL(tgkill(getpid(), gettid(), SIGUSR1));
	CALL(raise(SIGUSR1));
	CALL(sigqueue(getpid(), SIGUSR1, value));
	CALL(pthread_kill(pthread_self(), SIGUSR1));
	CALL(pthread_kill(pthread_self(), 0));
	CALL(pthread_sigqueue(pthread_self(), SIGUSR1, value));
	SAY("handled %d", handled);
}

static void wrong_ones(void)
{
	CALL(kill(getpid(), 1000));
	CALL(kill(nobody, SIGUSR1));
	CALL(killpg(getpgrp(), 1000));
	CALL(killpg(-1, SIGUSR1));
	CALL(killpg(nobody, SIGUSR1));
	CALL(tgkill(getpid(), gettid(), 1000));
	CALL(tgkill(-1, gettid(), SIGUSR1));
	CALL(tgkill(getpid(), nobody, SIGUSR1));
	CALL(raise(1000));
	CALL(sigqueue(getpid(), 1000, value));
	CALL(sigqueue(nobody, SIGUSR1, value));
	CALL(pthread_kill(pthread_self(), 1000));
	CALL(pthread_kill(pthread_self(), 32)); /* used by glibc itself */
	CALL(pthread_sigqueue(pthread_self(), 1000, value));
}

static void too_many(void)
{
	struct rlimit none = {0, 0};

	setrlimit(RLIMIT_SIGPENDING, &none);
	CALL(sigqueue(getpid(), SIGRTMIN, value));
	CALL(pthread_sigqueue(pthread_self(), SIGRTMIN, value));
}

/*
 * Sends signals to processes of another user: root sends to its own parent after it has become
 * another user.
 */
static void not_permitted(void)
{
	pid_t other = getppid();

	if (getuid() != 0) {
		SAY("nobody's process is known to be another's");
		return;
	}
	setpgid(0, 0);
	CALL(kill(getpid(), 0)); /* creates its stream while it still is root */
	if (setresuid(65534, 65534, 65534) != 0)
		SAY("cannot be another user");
	CALL(kill(other, 0));
	CALL(killpg(getpgid(other), 0));
	CALL(tgkill(other, other, 0));
	CALL(sigqueue(other, 0, value));
}

static sem_t leave;

static void *stay(void *arg)
{
	while (sem_wait(&leave) != 0)
		;
	return arg;
}

static void *cancels_itself(void *arg)
{
	CALL(pthread_cancel(pthread_self()));
	pthread_testcancel();
	return arg;
}

static void *cancels_itself_at_once(void *arg)
{
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	SAY("cancelled: %d", pthread_cancel(pthread_self()));
	return arg;
}

static void to_threads(void)
{
	pthread_t thread = start(stay, NULL);

	CALL(pthread_cancel(thread));
	SAY("cancelled %d", join(thread) == PTHREAD_CANCELED);
	SAY("cancelled %d", join(start(cancels_itself, NULL)) == PTHREAD_CANCELED);
	SAY("cancelled %d", join(start(cancels_itself_at_once, NULL)) == PTHREAD_CANCELED);
}

void signals(void)
{
	struct sigaction action = {.sa_handler = on_signal}, old;

	SAY("-- signals");
	sem_init(&leave, 0, 0);
	sigaction(SIGUSR1, &action, &old);
	to_oneself();
	wrong_ones();
	IN_CHILD(too_many());
	IN_CHILD(not_permitted());
	to_threads();
	sigaction(SIGUSR1, &old, NULL);
}
