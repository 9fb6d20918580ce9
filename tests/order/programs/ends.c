/* SPDX-License-Identifier: MIT */
/*
 * Programs whose threads end, wait or are interrupted in other ways than by lock and unlock: ends
 * WAY [N]. Each prints "end N", and has the exit status N.
 *
 * fork: a child uses the locks of its parent. exec: the program executes itself. cancel: threads
 * are cancelled in condition waits. handler: handlers acquire locks while their threads hold
 * others. exit: the process ends while threads wait and others work. more: locks N times. spawn:
 * creates N threads. file: reads from a file how it behaves, and changes it. stuck: with N > 0,
 * waits without a lock for a flag that another thread sets after it has had its turn. tokens:
 * threads take pairs of semaphores.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define N_THREADS 3

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static sem_t tokens[N_THREADS];
static int n, n_waiting, flag;

static void lock_both(void)
{
	pthread_mutex_lock(&mutex);
	pthread_mutex_lock(&other);
	pthread_mutex_unlock(&other);
	pthread_mutex_unlock(&mutex);
}

static void *lock_often(void *argument)
{
	for (int i = 0; i < 200; i++)
		lock_both();
	return argument;
}

static void run(void *(*work)(void *))
{
	pthread_t threads[N_THREADS];

	for (int i = 0; i < N_THREADS; i++)
		pthread_create(&threads[i], NULL, work, (void *)(size_t)i);
	for (int i = 0; i < N_THREADS; i++)
		pthread_join(threads[i], NULL);
}

static void do_fork(void)
{
	pid_t child;
	int status;

	run(lock_often);
	child = fork();
	if (child == 0) {
		for (int i = 0; i < 100; i++)
			lock_both();
		_exit(7);
	}
	if (waitpid(child, &status, 0) != child || WEXITSTATUS(status) != 7)
		exit(1);
	run(lock_often);
}

static void unlock_mutex(void *argument)
{
	(void)argument;
	n_waiting--;
	pthread_mutex_unlock(&mutex);
}

static void *wait_for_cancel(void *argument)
{
	pthread_mutex_lock(&mutex);
	n_waiting++;
	pthread_cleanup_push(unlock_mutex, NULL);
	for (;;)
		pthread_cond_wait(&cond, &mutex);
	pthread_cleanup_pop(0);
	return argument;
}

static void do_cancel(void)
{
	pthread_t threads[N_THREADS];

	for (int i = 0; i < N_THREADS; i++)
		pthread_create(&threads[i], NULL, wait_for_cancel, NULL);
	for (int i = 0; i < N_THREADS; i++) {
		int waiting = 0;

		while (waiting <= i) { /* the number of polls depends on time: tries count once */
			if (pthread_mutex_trylock(&mutex))
				continue;
			waiting = n_waiting + i;
			pthread_mutex_unlock(&mutex);
		}
	}
	for (int i = 0; i < N_THREADS; i++)
		pthread_cancel(threads[i]);
	for (int i = 0; i < N_THREADS; i++)
		pthread_join(threads[i], NULL);
}

static void on_signal(int number)
{
	(void)number;
	pthread_mutex_lock(&other);   /* NOLINT(bugprone-signal-handler): raised where it is free */
	pthread_mutex_unlock(&other); /* NOLINT(bugprone-signal-handler) */
}

static void *raise_often(void *argument)
{
	for (int i = 0; i < 100; i++) {
		pthread_mutex_lock(&mutex);
		raise(SIGUSR1);
		pthread_mutex_unlock(&mutex);
	}
	return argument;
}

static void do_handler(void)
{
	signal(SIGUSR1, on_signal);
	run(raise_often);
}

static void *wait_for_ever(void *argument)
{
	pthread_mutex_lock(&mutex);
	for (;;)
		pthread_cond_wait(&cond, &mutex);
	return argument;
}

static void *work_for_ever(void *argument)
{
	for (;;) {
		pthread_mutex_lock(&other);
		__atomic_fetch_add(&flag, 1, __ATOMIC_RELAXED);
		pthread_mutex_unlock(&other);
	}
	return argument;
}

static void do_exit(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, wait_for_ever, NULL);
	pthread_create(&thread, NULL, work_for_ever, NULL);
	while (__atomic_load_n(&flag, __ATOMIC_RELAXED) < 100)
		;
}

static void do_more(void)
{
	for (int i = 0; i < n; i++)
		lock_both();
	run(lock_often);
}

static void do_spawn(void)
{
	pthread_t threads[100];

	for (int i = 0; i < n && i < 100; i++)
		pthread_create(&threads[i], NULL, lock_often, NULL);
	for (int i = 0; i < n && i < 100; i++)
		pthread_join(threads[i], NULL);
}

static void do_file(void)
{
	FILE *file = fopen("runs", "r");
	int runs = 0;

	if (file && fscanf(file, "%d", &runs) != 1)
		exit(1);
	if (file)
		fclose(file);
	file = fopen("runs", "w");
	fprintf(file, "%d\n", runs + 1);
	fclose(file);
	run(lock_often);
	if (runs % 2) {
		pthread_mutex_lock(&other);
		pthread_mutex_unlock(&other);
	} else {
		pthread_mutex_lock(&mutex);
		pthread_mutex_unlock(&mutex);
	}
}

/* The thread's token and the next one's, in the order of their numbers. */
static void *take_tokens(void *argument)
{
	int self = (int)(size_t)argument, first = self, second = (self + 1) % N_THREADS;

	if (first > second) {
		first = second;
		second = self;
	}
	for (int i = 0; i < 100; i++) {
		sem_wait(&tokens[first]);
		sem_wait(&tokens[second]);
		lock_both();
		sem_post(&tokens[second]);
		sem_post(&tokens[first]);
	}
	return argument;
}

static void do_tokens(void)
{
	for (int i = 0; i < N_THREADS; i++)
		sem_init(&tokens[i], 0, 1);
	run(take_tokens);
}

static void *lock_and_set(void *argument)
{
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	__atomic_store_n(&flag, 1, __ATOMIC_RELEASE);
	return argument;
}

/* This thread's lock, then the other's; with N, the other way round. */
static void do_stuck(void)
{
	pthread_t thread;

	if (n == 0)
		lock_both();
	pthread_create(&thread, NULL, lock_and_set, NULL);
	while (!__atomic_load_n(&flag, __ATOMIC_ACQUIRE))
		usleep(1000);
	if (n > 0)
		lock_both();
	pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} ways[] = {{"fork", do_fork}, {"cancel", do_cancel}, {"handler", do_handler},
		    {"exit", do_exit}, {"more", do_more},     {"spawn", do_spawn},
		    {"file", do_file}, {"stuck", do_stuck},   {"tokens", do_tokens}};
	const char *way = argc > 1 ? argv[1] : "";

	n = argc > 2 ? atoi(argv[2]) : 0;
	if (strcmp(way, "exec") == 0) {
		run(lock_often);
		execl("/proc/self/exe", argv[0], "more", argv[2], (char *)NULL);
		return 1;
	}
	for (unsigned i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		if (strcmp(way, ways[i].name) != 0)
			continue;
		ways[i].run();
		printf("end %d\n", n);
		return n;
	}
	return 2;
}
