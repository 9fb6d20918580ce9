/* SPDX-License-Identifier: MIT */
/*
 * Libraries are loaded and unloaded in several threads at once, while others lock and fork, and in
 * children. As a library (-DNAME=p0): its constructor, p0_use() and its destructor each lock and
 * unlock p0_mutex.
 *
 * unload ROUNDS LIBRARIES: each of two threads loads, uses and unloads half of the libraries
 * ./p0.so, ./p1.so, ... one after the other, ROUNDS times, and sometimes forks. Then each library
 * is used in a child; glibc 2.36 has no working dlopen() in a child forked during another dlopen().
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef NAME
#define JOIN_(a, b) a##b
#define JOIN(a, b)  JOIN_(a, b)
#define MUTEX	    JOIN(NAME, _mutex)

void JOIN(NAME, _use)(void);
extern void (*use)(void);

static pthread_mutex_t MUTEX = PTHREAD_MUTEX_INITIALIZER;

__attribute__((constructor)) static void JOIN(NAME, _come)(void)
{
	pthread_mutex_lock(&MUTEX);
	pthread_mutex_unlock(&MUTEX);
}

__attribute__((destructor)) static void JOIN(NAME, _go)(void)
{
	pthread_mutex_lock(&MUTEX);
	pthread_mutex_unlock(&MUTEX);
}

void JOIN(NAME, _use)(void)
{
	pthread_mutex_lock(&MUTEX);
	pthread_mutex_unlock(&MUTEX);
}

void (*use)(void) = JOIN(NAME, _use);

#else

static int n_rounds, n_libraries;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t mutex_of_children = PTHREAD_MUTEX_INITIALIZER;
static bool done;

static void fail(const char *what)
{
	fprintf(stderr, "%s\n", what);
	_exit(1);
}

static void use_library(int number)
{
	char path[32];
	void *library;

	snprintf(path, sizeof(path), "./p%d.so", number);
	library = dlopen(path, RTLD_NOW);
	if (library == NULL)
		fail(dlerror());
	(*(void (**)(void))dlsym(library, "use"))();
	dlclose(library);
}

static void use_nothing(int unused)
{
	(void)unused;
	pthread_mutex_lock(&mutex_of_children);
	pthread_mutex_unlock(&mutex_of_children);
}

static void in_child(void (*do_it)(int), int number)
{
	int status;
	pid_t child = fork();

	if (child == 0) {
		do_it(number);
		_exit(0);
	}
	if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
		fail("a child fails");
}

static void *come_and_go(void *first)
{
	for (int i = 0; i < n_rounds; i++)
		for (int number = *(int *)first; number < n_libraries; number += 2) {
			use_library(number);
			if (i % 8 == 7)
				in_child(use_nothing, number);
		}
	return NULL;
}

static void *lock(void *unused)
{
	while (!__atomic_load_n(&done, __ATOMIC_RELAXED)) {
		pthread_mutex_lock(&mutex);
		pthread_mutex_unlock(&mutex);
		usleep(100);
	}
	return unused;
}

int main(int argc, char **argv)
{
	static int firsts[2] = {0, 1};
	pthread_t threads[3];

	if (argc != 3)
		return 2;
	n_rounds = atoi(argv[1]);
	n_libraries = atoi(argv[2]);
	pthread_create(&threads[2], NULL, lock, NULL);
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, come_and_go, &firsts[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	__atomic_store_n(&done, true, __ATOMIC_RELAXED);
	pthread_join(threads[2], NULL);
	for (int number = 0; number < n_libraries; number++)
		in_child(use_library, number);
	puts("over");
	return 3;
}
#endif
