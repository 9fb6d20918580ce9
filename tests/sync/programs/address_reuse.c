/* SPDX-License-Identifier: MIT */
/*
 * Plugins that are loaded at each other's addresses, each with its own mutex. As a library
 * (-DNAME=one): one_enter() locks one_mutex, one_leave() unlocks it, one_use() does both; one_run()
 * can be a thread's start routine.
 *
 * address_reuse HOW ROUNDS NAME...: in each round, loads ./NAME.so, has two threads that live
 * throughout meet in NAME_use(), where the second waits for the mutex, unloads it, and continues
 * with the next. "call": they meet at a mutex of the program, in a function that NAME_call() calls.
 * "outside": they meet there too; then the program locks the library's mutex, and NAME_leave()
 * unlocks it. "heap": in between, the program places a mutex at the address of the first library's
 * mutex. "kill": it kills itself while the last library is loaded; "keep": it ends then. Prints the
 * addresses of the mutexes and of the first library's code: one line each, the same if the loader
 * reuses addresses.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

struct plugin {
	pthread_mutex_t *mutex;
	void (*use)(void (*meanwhile)(void));
	void *(*run)(void *);
	void (*call)(void (*what)(void));
	void (*leave)(void);
};

#ifdef NAME
#define JOIN_(a, b) a##b
#define JOIN(a, b)  JOIN_(a, b)
#define MUTEX	    JOIN(NAME, _mutex)

void JOIN(NAME, _enter)(void);
void JOIN(NAME, _leave)(void);
void JOIN(NAME, _use)(void (*meanwhile)(void));
void *JOIN(NAME, _run)(void *unused);
void JOIN(NAME, _call)(void (*what)(void));
extern struct plugin plugin;

static pthread_mutex_t MUTEX = PTHREAD_MUTEX_INITIALIZER;

__attribute__((noinline, noipa)) void JOIN(NAME, _enter)(void)
{
	pthread_mutex_lock(&MUTEX);
}

__attribute__((noinline, noipa)) void JOIN(NAME, _leave)(void)
{
	pthread_mutex_unlock(&MUTEX);
}

__attribute__((noinline, noipa)) void JOIN(NAME, _use)(void (*meanwhile)(void))
{
	JOIN(NAME, _enter)();
	meanwhile();
	JOIN(NAME, _leave)();
	__asm__ volatile("");
}

void *JOIN(NAME, _run)(void *unused)
{
	return unused;
}

void JOIN(NAME, _call)(void (*what)(void))
{
	what();
	__asm__ volatile("");
}

struct plugin plugin = {&MUTEX, JOIN(NAME, _use), JOIN(NAME, _run), JOIN(NAME, _call),
			JOIN(NAME, _leave)};

#else

static pthread_barrier_t barrier;
static struct plugin *plugin;
static pthread_mutex_t shared = PTHREAD_MUTEX_INITIALIZER;
static bool at_shared;

static void nothing(void)
{
}

/* Lets the other thread run until it waits: glibc stores 2 in a mutex with waiters. */
static void until_awaited(void)
{
	struct timespec moment = {.tv_nsec = 1000000};
	pthread_mutex_t *mutex = at_shared ? &shared : plugin->mutex;

	pthread_barrier_wait(&barrier);
	while (__atomic_load_n(&mutex->__data.__lock, __ATOMIC_RELAXED) != 2)
		nanosleep(&moment, NULL);
}

__attribute__((noinline, noipa)) static void lock_it(pthread_mutex_t *mutex)
{
	pthread_mutex_lock(mutex);
}

static void hold_shared(void)
{
	lock_it(&shared);
	until_awaited();
	pthread_mutex_unlock(&shared);
}

static void take_shared(void)
{
	pthread_mutex_lock(&shared);
	pthread_mutex_unlock(&shared);
}

static void *second(void *unused)
{
	for (;;) {
		pthread_barrier_wait(&barrier);
		if (plugin == NULL)
			return unused;
		if (at_shared)
			take_shared();
		else
			plugin->use(nothing);
		pthread_barrier_wait(&barrier);
	}
}

/* A mutex without an initializing call, at the address of the library's mutex. */
__attribute__((noinline, noipa)) static void use_heap(pthread_mutex_t *mutex)
{
	char *page = (char *)((uintptr_t)mutex & -(uintptr_t)4096);

	if (mmap(page, 4096, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != page) {
		printf("the address range of the library is not free\n");
		return;
	}
	pthread_mutex_lock(mutex);
	pthread_mutex_unlock(mutex);
	munmap(page, 4096);
}

int main(int argc, char **argv)
{
	int rounds = atoi(argv[2]);
	pthread_t thread, of_library;
	void *library;

	at_shared = strcmp(argv[1], "call") == 0 || strcmp(argv[1], "outside") == 0;
	pthread_barrier_init(&barrier, NULL, 2);
	pthread_create(&thread, NULL, second, NULL);
	for (int i = 0; i < rounds; i++) {
		for (int name = 3; name < argc; name++) {
			char path[64];
			pthread_mutex_t *mutex;

			snprintf(path, sizeof(path), "./%s.so", argv[name]);
			library = dlopen(path, RTLD_NOW);
			if (library == NULL) {
				fprintf(stderr, "%s\n", dlerror());
				return 1;
			}
			plugin = dlsym(library, "plugin");
			mutex = plugin->mutex;
			printf("%p %p\n", (void *)mutex, (void *)(uintptr_t)plugin->use);
			fflush(stdout);
			pthread_create(&of_library, NULL, plugin->run, NULL);
			pthread_join(of_library, NULL);
			if (strcmp(argv[1], "outside") == 0) {
				hold_shared();
				lock_it(mutex);
				plugin->leave();
			} else if (at_shared) {
				plugin->call(hold_shared);
			} else {
				plugin->use(until_awaited);
			}
			pthread_barrier_wait(&barrier);
			if (i == rounds - 1 && name == argc - 1) {
				if (strcmp(argv[1], "kill") == 0)
					kill(getpid(), SIGKILL);
				if (strcmp(argv[1], "keep") == 0)
					break;
			}
			dlclose(library);
			if (strcmp(argv[1], "heap") == 0)
				use_heap(mutex);
		}
	}
	plugin = NULL;
	pthread_barrier_wait(&barrier);
	pthread_join(thread, NULL);
	return 0;
}
#endif
