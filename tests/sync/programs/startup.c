/* SPDX-License-Identifier: MIT */
/* Uses early.c; the objects' addresses on stdout, their counts come from early.c at the very end.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

extern pthread_mutex_t early_mutex, heap_mutex;
void early_watch(void);

static void *run(void *arg)
{
	early_watch();
	free(malloc(100));
	return arg;
}

int main(void)
{
	pthread_t thread;
	int status;

	printf("early %p heap %p pid %d\n", (void *)&early_mutex, (void *)&heap_mutex, getpid());
	fflush(stdout);
	for (int i = 0; i < 3; i++) {
		pthread_create(&thread, NULL, run, NULL);
		pthread_join(thread, NULL);
	}
	dlsym(RTLD_DEFAULT, "no such symbol"); /* allocates its error */
	if (fork() == 0)
		_exit(5);
	wait(&status);
	return WEXITSTATUS(status);
}
