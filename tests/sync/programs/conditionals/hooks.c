/* SPDX-License-Identifier: MIT */
/*
 * Instrumented code where the hook may surprise: in a signal handler, in a library that is opened
 * and closed, in a child of fork, in threads that end in each way. Prints the results.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile sig_atomic_t n_handled;
static atomic_int done;

static unsigned loop(unsigned n)
{
	unsigned odd = 0;

	for (unsigned i = 0; i < n; i++)
		if (i % 2)
			odd++;
	return odd;
}

static void on_signal(int number)
{
	(void)number;
	n_handled += loop(10) == 5;
}

static unsigned locked(unsigned n)
{
	unsigned odd;

	pthread_mutex_lock(&lock);
	odd = loop(n);
	pthread_mutex_unlock(&lock);
	return odd;
}

static void *returns(void *n)
{
	locked((unsigned)(long)n);
	done++;
	return NULL;
}

static void *exits(void *n)
{
	locked((unsigned)(long)n);
	done++;
	pthread_exit(NULL);
}

static void *is_cancelled(void *n)
{
	locked((unsigned)(long)n);
	done++;
	for (;;)
		pause();
}

static void run(void *(*routine)(void *))
{
	pthread_t thread;
	int before = done;

	pthread_create(&thread, NULL, routine, (void *)1000);
	while (done == before)
		usleep(100);
	if (routine == is_cancelled)
		pthread_cancel(thread);
	pthread_join(thread, NULL);
}

static int in_child(void)
{
	pid_t child = fork();
	int status = -1;

	if (child == 0) {
		unsigned odd = locked(10000);

		run(returns);
		_exit(odd == 5000 && done == 1 ? 7 : 1);
	}
	waitpid(child, &status, 0);
	return WEXITSTATUS(status);
}

int main(int argc, char **argv)
{
	unsigned (*in_library)(unsigned) = NULL;
	void *library;

	signal(SIGALRM, on_signal);
	printf("child %d\n", in_child());
	for (int i = 0; i < 1000; i++) {
		if (i % 100 == 0)
			raise(SIGALRM);
		locked(100);
	}
	printf("handled %d\n", (int)n_handled);
	run(returns);
	run(exits);
	run(is_cancelled);
	printf("threads %d\n", done);
	for (int i = 0; argc > 1 && i < 3; i++) {
		library = dlopen(argv[1], RTLD_NOW);
		if (library == NULL) {
			printf("%s\n", dlerror());
			return 1;
		}
		in_library = (unsigned (*)(unsigned))dlsym(library, "in_library");
		printf("library %u\n", in_library(1000));
		dlclose(library);
	}
	return 3;
}
