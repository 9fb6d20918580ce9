/* SPDX-License-Identifier: MIT */
/*
 * eintr MS: waits in many ways, each with a short timeout and some kernel work before it, until MS
 * of CPU time are used; then prints how often each way was interrupted: never. eintr MS control:
 * another thread sends signals with a handler until each way was interrupted.
 */
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "burn.h"

#define N_POLLED 1000
#define WAIT_NS	 20000

static struct pollfd polled[N_POLLED];
static int pipe_fds[2], sockets[2], epoll_fd, semaphores, word;
static sem_t semaphore;

/* Each returns whether it was interrupted. */

static bool wait_poll(void)
{
	struct timespec limit = {0, WAIT_NS};

	return ppoll(polled, N_POLLED, &limit, NULL) < 0 && errno == EINTR;
}

static bool wait_select(void)
{
	struct timeval limit = {0, WAIT_NS / 1000};
	fd_set set;

	FD_ZERO(&set);
	FD_SET(pipe_fds[0], &set);
	return select(pipe_fds[0] + 1, &set, NULL, NULL, &limit) < 0 && errno == EINTR;
}

static bool wait_epoll(void)
{
	struct epoll_event event;

	return epoll_wait(epoll_fd, &event, 1, 1) < 0 && errno == EINTR;
}

static bool wait_nanosleep(void)
{
	struct timespec limit = {0, WAIT_NS};

	return nanosleep(&limit, NULL) < 0 && errno == EINTR;
}

static bool wait_futex(void)
{
	struct timespec limit = {0, WAIT_NS};

	return syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &limit, NULL, 0) < 0 &&
	       errno == EINTR;
}

static bool wait_sem(void)
{
	struct timespec limit;

	clock_gettime(CLOCK_REALTIME, &limit);
	limit.tv_nsec += WAIT_NS;
	if (limit.tv_nsec >= 1000000000) {
		limit.tv_sec++;
		limit.tv_nsec -= 1000000000;
	}
	return sem_timedwait(&semaphore, &limit) < 0 && errno == EINTR;
}

static bool wait_recv(void)
{
	char byte;

	return recv(sockets[0], &byte, 1, 0) < 0 && errno == EINTR;
}

static bool wait_sigtimedwait(void)
{
	struct timespec limit = {0, WAIT_NS};
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	return sigtimedwait(&set, NULL, &limit) < 0 && errno == EINTR;
}

static bool wait_semtimedop(void)
{
	struct timespec limit = {0, WAIT_NS};
	struct sembuf operation = {0, -1, 0};

	return semtimedop(semaphores, &operation, 1, &limit) < 0 && errno == EINTR;
}

/*
 * often: calls per round; waits with a granularity of a tick or a millisecond are called less
 * often.
 */
static struct {
	const char *name;
	bool (*wait)(void);
	unsigned often, interrupted;
} ways[] = {
    {"ppoll", wait_poll, 40, 0},
    {"select", wait_select, 5, 0},
    {"epoll_wait", wait_epoll, 1, 0},
    {"nanosleep", wait_nanosleep, 10, 0},
    {"futex", wait_futex, 10, 0},
    {"sem_timedwait", wait_sem, 10, 0},
    {"recv", wait_recv, 1, 0},
    {"sigtimedwait", wait_sigtimedwait, 10, 0},
    {"semtimedop", wait_semtimedop, 1, 0},
};
#define N_WAYS (sizeof(ways) / sizeof(ways[0]))

static void handle(int number)
{
	(void)number;
}

static bool all_interrupted(void)
{
	for (unsigned i = 0; i < N_WAYS; i++)
		if (__atomic_load_n(&ways[i].interrupted, __ATOMIC_RELAXED) == 0)
			return false;
	return true;
}

static void *interrupt(void *thread)
{
	while (!all_interrupted()) {
		struct timespec pause = {0, 50000};

		pthread_kill(*(pthread_t *)thread, SIGUSR1);
		nanosleep(&pause, NULL);
	}
	return NULL;
}

static void set_up(void)
{
	struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};
	struct timeval limit = {0, 4000};
	struct epoll_event event = {.events = EPOLLIN};

	if (pipe(pipe_fds) != 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0)
		exit(2);
	for (unsigned i = 0; i < N_POLLED; i++)
		polled[i] = (struct pollfd){.fd = pipe_fds[0], .events = POLLIN};
	epoll_fd = epoll_create1(0);
	epoll_ctl(epoll_fd, EPOLL_CTL_ADD, pipe_fds[0], &event);
	setsockopt(sockets[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	semaphores = semget(IPC_PRIVATE, 1, 0600);
	sem_init(&semaphore, 0, 0);
	sigaction(SIGUSR1, &action, NULL);
}

int main(int argc, char **argv)
{
	uint64_t end;
	bool is_control = argc > 2;
	pthread_t self = pthread_self(), other;

	if (argc < 2)
		return 2;
	set_up();
	end = cpu_ns() + strtoull(argv[1], NULL, 10) * 1000000;
	if (is_control)
		pthread_create(&other, NULL, interrupt, &self);
	while (is_control ? !all_interrupted() : cpu_ns() < end)
		for (unsigned i = 0; i < N_WAYS; i++)
			for (unsigned n = 0; n < ways[i].often; n++)
				if (ways[i].wait())
					__atomic_fetch_add(&ways[i].interrupted, 1,
							   __ATOMIC_RELAXED);
	if (is_control)
		pthread_join(other, NULL);
	for (unsigned i = 0; i < N_WAYS; i++)
		printf("%s %s\n", ways[i].name, ways[i].interrupted > 0 ? "interrupted" : "never");
	if (semaphores >= 0)
		semctl(semaphores, 0, IPC_RMID);
	return 0;
}
