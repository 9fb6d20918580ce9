/* SPDX-License-Identifier: MIT */
/*
 * stale_frames ROUNDS LIBRARY: one thread loads and unloads the library in a loop.  Meanwhile eight
 * threads wait for a semaphore with a chain of frames that contains a return address into the
 * library, as an old chain in unused stack memory would.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static volatile int over;
static const char *library;
static volatile long n_loads, n_waits;
static sem_t never;

/* Calls function(sem, deadline) with this frame pointer. */
__asm__(".text\n"
	".type call_with_frame, @function\n"
	"call_with_frame:\n"
	"	.cfi_startproc\n"
	"	push %rbp\n"
	"	.cfi_def_cfa_offset 16\n"
	"	.cfi_offset rbp, -16\n"
	"	mov %rdi, %rbp\n"
	"	mov %rdx, %rdi\n"
	"	mov %rcx, %rdx\n"
	"	mov %rsi, %rax\n"
	"	mov %rdx, %rsi\n"
	"	call *%rax\n"
	"	pop %rbp\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size call_with_frame, . - call_with_frame\n");
int call_with_frame(void *frame, int (*function)(sem_t *, const struct timespec *), sem_t *sem,
		    const struct timespec *deadline);

static void *load(void *arg)
{
	while (!over) {
		void *handle = dlopen(library, RTLD_NOW);

		long seen = n_waits;

		if (handle == NULL)
			abort();
		while (n_waits < seen + 3 && !over)
			sched_yield();
		dlclose(handle);
		n_loads++;
	}
	return arg;
}

static uintptr_t address_in_library(void)
{
	void *handle = dlopen(library, RTLD_NOW);
	uintptr_t address = handle == NULL ? 0 : (uintptr_t)dlsym(handle, "plugin_code");

	if (address == 0)
		abort();
	dlclose(handle);
	return address;
}

static long n_rounds;
static uintptr_t code;

static void *wait_all(void *arg)
{
	for (long i = 0; i < n_rounds; i++) {
		struct timespec now;
		uintptr_t frames[4] = {0};

		clock_gettime(CLOCK_REALTIME, &now);
		now.tv_nsec += now.tv_nsec < 999000000 ? 5000 : 0;
		frames[0] = (uintptr_t)&frames[2];
		frames[1] = code + 7 + (uintptr_t)i; /* a different call path each time */
		call_with_frame(frames, sem_timedwait, &never, &now);
		__atomic_fetch_add(&n_waits, 1, __ATOMIC_RELAXED);
	}
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t loader, waiters[8];

	if (argc < 3)
		return 2;
	n_rounds = atol(argv[1]);
	library = argv[2];
	code = address_in_library();
	sem_init(&never, 0, 0);
	pthread_create(&loader, NULL, load, NULL);
	for (int i = 0; i < 8; i++)
		pthread_create(&waiters[i], NULL, wait_all, NULL);
	for (int i = 0; i < 8; i++)
		pthread_join(waiters[i], NULL);
	over = 1;
	pthread_join(loader, NULL);
	fprintf(stderr, "%ld loads\n", n_loads);
	puts("done");
	return 0;
}
