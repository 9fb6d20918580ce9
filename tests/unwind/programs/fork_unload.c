/* SPDX-License-Identifier: MIT */
/*
 * Waits in a module; a forked child replaces it by one with another stack frame at the same
 * address, and waits there. Exit status 3: it came to another address.
 */
#include <dlfcn.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef void frame_of(void (*function)(void));

static sem_t sem;

static void wait_in_vain(void)
{
	struct timespec past = {1, 0};

	sem_timedwait(&sem, &past);
	__asm__ volatile(""); /* no jump to sem_timedwait() */
}

static __attribute__((noinline)) frame_of *use(void *module)
{
	frame_of *frame = (frame_of *)dlsym(module, "frame");

	if (frame == NULL)
		_exit(2);
	frame(wait_in_vain);
	return frame;
}

static __attribute__((noinline)) void child(void *module, frame_of *before)
{
	dlclose(module);
	_exit(use(dlopen("./large.so", RTLD_NOW)) == before ? 0 : 3);
}

int main(void)
{
	void *module = dlopen("./small.so", RTLD_NOW);
	frame_of *before;
	int status;

	if (module == NULL)
		return 2;
	sem_init(&sem, 0, 0);
	before = use(module);
	if (fork() == 0)
		child(module, before);
	return wait(&status) > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : 4;
}
