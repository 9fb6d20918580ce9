/* SPDX-License-Identifier: MIT */
/*
 * storm N: makes N detached threads one after the other while two threads send signals, each of a
 * kind of its own.  The handler posts the semaphore that permits the next signal of its kind;
 * either kind can interrupt the handler of the other.  Prints the number of posts.
 */
#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct sender {
	int signal;
	sem_t may_send;
	long n_sent, n_handled;
};

static struct sender senders[2] = {{.signal = SIGUSR1}, {.signal = SIGUSR2}};
static sem_t ready;
static int is_over;

static void handle(int signal)
{
	struct sender *sender = &senders[signal == SIGUSR2];

	sem_post(&sender->may_send);
	__atomic_fetch_add(&sender->n_handled, 1, __ATOMIC_RELEASE);
}

static void *send(void *arg)
{
	struct sender *sender = arg;

	while (sem_wait(&sender->may_send) == 0 && !__atomic_load_n(&is_over, __ATOMIC_RELAXED)) {
		kill(getpid(), sender->signal);
		sender->n_sent++;
	}
	return NULL;
}

static void *run(void *arg)
{
	pthread_sigmask(SIG_UNBLOCK, arg, NULL);
	sem_post(&ready);
	return NULL;
}

/* Returns true if no thread but the caller is left. */
static bool is_alone(void)
{
	DIR *tasks = opendir("/proc/self/task");
	int n = 0;

	if (tasks == NULL)
		return true;
	for (const struct dirent *entry; (entry = readdir(tasks)) != NULL;)
		n += entry->d_name[0] != '.';
	closedir(tasks);
	return n == 1;
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};
	int n = argc > 1 ? atoi(argv[1]) : 1;
	pthread_attr_t detached;
	pthread_t threads[2];
	sigset_t both;
	long n_posts = n;

	sigemptyset(&both);
	sigaddset(&both, SIGUSR1);
	sigaddset(&both, SIGUSR2);
	pthread_sigmask(SIG_BLOCK, &both, NULL);
	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGUSR2, &action, NULL);
	pthread_attr_init(&detached);
	pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
	sem_init(&ready, 0, 0);
	for (int i = 0; i < 2; i++) {
		sem_init(&senders[i].may_send, 0, 1);
		if (pthread_create(&threads[i], NULL, send, &senders[i]) != 0)
			return 1;
	}
	for (int i = 0; i < n; i++) {
		pthread_t thread;

		if (pthread_create(&thread, &detached, run, &both) != 0)
			return 1;
		sem_wait(&ready);
	}
	__atomic_store_n(&is_over, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < 2; i++) {
		sem_post(&senders[i].may_send);
		pthread_join(threads[i], NULL);
	}
	/* The last signals may still be pending, or handled by a thread that is about to end. */
	pthread_sigmask(SIG_UNBLOCK, &both, NULL);
	for (int i = 0; i < 2; i++) {
		n_posts += 1 + senders[i].n_sent;
		while (__atomic_load_n(&senders[i].n_handled, __ATOMIC_ACQUIRE) < senders[i].n_sent)
			sched_yield();
	}
	/* The end of a thread whose handler has run is still to be recorded. */
	while (!is_alone())
		sched_yield();
	printf("%ld\n", n_posts);
	return 0;
}
