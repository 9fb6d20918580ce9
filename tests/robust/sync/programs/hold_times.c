/* SPDX-License-Identifier: MIT */
/*
 * hold_times THREADS N: each thread acquires and releases its own locks N times, and then a forked
 * child does so with one mutex.  Prints "PID ADDRESS N INSIDE OUTSIDE" for each lock, and then
 * kills itself.  INSIDE and OUTSIDE are the least and the greatest time in ns that the lock can
 * have been held.
 *
 * hold_times many N: locks each of N mutexes once, prints "PID", and exits.
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_THREADS 32
#define MAX_MANY    65536

struct account {
	int64_t inside_ns, outside_ns;
};

struct locks {
	pthread_mutex_t mutex, outer;
	pthread_rwlock_t rwlock;
	pthread_spinlock_t spin;
	struct account of_mutex, of_outer, of_rwlock, of_spin;
};

static struct locks locks[MAX_THREADS];
static pthread_mutex_t many[MAX_MANY];
static int n;

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static void work(void)
{
	for (volatile int i = 0; i < 2000; i++)
		;
}

#define HELD(account, take, give)                                                                  \
	do {                                                                                       \
		int64_t before_ns = now_ns(), begin_ns, end_ns;                                    \
		take;                                                                              \
		begin_ns = now_ns();                                                               \
		work();                                                                            \
		end_ns = now_ns();                                                                 \
		give;                                                                              \
		(account).inside_ns += end_ns - begin_ns;                                          \
		(account).outside_ns += now_ns() - before_ns;                                      \
	} while (0)

static void hold_nested(struct locks *mine)
{
	int64_t before_ns = now_ns(), begin_ns, end_ns;

	pthread_mutex_lock(&mine->outer);
	begin_ns = now_ns();
	HELD(mine->of_mutex, pthread_mutex_trylock(&mine->mutex),
	     pthread_mutex_unlock(&mine->mutex));
	end_ns = now_ns();
	pthread_mutex_unlock(&mine->outer);
	mine->of_outer.inside_ns += end_ns - begin_ns;
	mine->of_outer.outside_ns += now_ns() - before_ns;
}

static void *hold(void *arg)
{
	struct locks *mine = arg;

	for (int i = 0; i < n; i++) {
		hold_nested(mine);
		if (i % 2 == 0)
			HELD(mine->of_rwlock, pthread_rwlock_rdlock(&mine->rwlock),
			     pthread_rwlock_unlock(&mine->rwlock));
		else
			HELD(mine->of_rwlock, pthread_rwlock_wrlock(&mine->rwlock),
			     pthread_rwlock_unlock(&mine->rwlock));
		HELD(mine->of_spin, pthread_spin_lock(&mine->spin),
		     pthread_spin_unlock(&mine->spin));
	}
	return NULL;
}

static void print(const volatile void *lock, const struct account *account)
{
	printf("%d %p %d %lld %lld\n", (int)getpid(), (void *)(uintptr_t)lock, n,
	       (long long)account->inside_ns, (long long)account->outside_ns);
}

static void in_child(void)
{
	struct account account = {0, 0};

	for (int i = 0; i < n; i++)
		HELD(account, pthread_mutex_lock(&locks[0].mutex),
		     pthread_mutex_unlock(&locks[0].mutex));
	print(&locks[0].mutex, &account);
	fflush(stdout);
	_exit(0);
}

int main(int argc, char **argv)
{
	pthread_t threads[MAX_THREADS];
	int n_threads = argc == 3 ? atoi(argv[1]) : 0;

	n = argc == 3 ? atoi(argv[2]) : 0;
	if (argc == 3 && strcmp(argv[1], "many") == 0) {
		for (int i = 0; i < n && i < MAX_MANY; i++) {
			pthread_mutex_lock(&many[i]);
			pthread_mutex_unlock(&many[i]);
		}
		printf("%d\n", (int)getpid());
		return 0;
	}
	if (n_threads < 1 || n_threads > MAX_THREADS)
		return 2;
	for (int i = 0; i < n_threads; i++) {
		pthread_mutex_init(&locks[i].mutex, NULL);
		pthread_mutex_init(&locks[i].outer, NULL);
		pthread_rwlock_init(&locks[i].rwlock, NULL);
		pthread_spin_init(&locks[i].spin, 0);
		pthread_create(&threads[i], NULL, hold, &locks[i]);
	}
	for (int i = 0; i < n_threads; i++) {
		pthread_join(threads[i], NULL);
		print(&locks[i].mutex, &locks[i].of_mutex);
		print(&locks[i].outer, &locks[i].of_outer);
		print(&locks[i].rwlock, &locks[i].of_rwlock);
		print(&locks[i].spin, &locks[i].of_spin);
	}
	fflush(stdout);
	if (fork() == 0)
		in_child();
	wait(NULL);
	kill(getpid(), SIGKILL);
	return 0;
}
