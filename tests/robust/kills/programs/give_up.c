/* SPDX-License-Identifier: MIT */
/*
 * The main thread is stopped while it holds locks of the runtime, until another thread has given up
 * its wait for them: a filter that no library sees traps a system call, and the handler does not
 * return earlier.
 *
 * usage: give_up pause|exit|leave|end|locked|load|unload
 * pause: the other thread calls moncontrol(0).
 * exit: it calls exit().
 * leave: it calls _exit(), after a third thread has ended.
 * end: it ends, with calls for which the file had no room.
 * locked: it ends while the main thread is in moncontrol(0), which holds another lock too.
 * load: it calls a function of a library, while the main thread makes the first call into another.
 * unload: it unloads that library.
 *
 * Prints how often `before` and `after` were called.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "robust/kills/programs/phase.h"
#include "robust/programs/raw_filter.h"

#define N_CALLS	   100
#define N_SITES	   65536
#define NOINLINE   __attribute__((noinline, noipa))
#define UNPROFILED __attribute__((noinline, noipa, no_instrument_function))

extern void moncontrol(int mode);
extern void __cyg_profile_func_enter(void *function, void *site);
extern const char sites[N_SITES];
__asm__(".text\nsites:\t.skip 65536\n");

enum { NOT_YET, IS_READY, IS_STOPPED, HAS_GIVEN_UP };
static const char *mode;
static pthread_t thread;
static void *library;
static void *functions[2]; /* in libraries that are loaded after the start */

NOINLINE void before(void)
{
	__asm__ volatile("");
}

NOINLINE void after(void)
{
	__asm__ volatile("");
}

UNPROFILED static int is_mode(const char *name)
{
	return strcmp(mode, name) == 0;
}

UNPROFILED static void handle(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)info;
	if (__atomic_load_n(&phase, __ATOMIC_SEQ_CST) < HAS_GIVEN_UP) {
		set_phase(IS_STOPPED);
		wait_phase(HAS_GIVEN_UP);
	}
	/* The call returns 0, which no caller here can use. */
	((ucontext_t *)context)->uc_mcontext.gregs[REG_RAX] = 0;
}

UNPROFILED static void *call(void *unused)
{
	for (int i = 0; i < N_CALLS; i++)
		before();
	return unused;
}

UNPROFILED static void *run(void *unused)
{
	call(unused);
	set_phase(IS_READY);
	wait_phase(IS_STOPPED);
	if (is_mode("pause")) {
		moncontrol(0);
		after();
	} else if (is_mode("exit")) {
		exit(0);
	} else if (is_mode("leave")) {
		_exit(0);
	} else if (is_mode("load")) {
		__cyg_profile_func_enter(functions[1], (void *)sites);
	} else if (is_mode("unload")) {
		dlclose(library);
	}
	return unused;
}

UNPROFILED static void *watch(void *unused)
{
	pthread_join(thread, NULL);
	set_phase(HAS_GIVEN_UP);
	return unused;
}

/* The library looks for room in the file at most every 0.1 s. */
UNPROFILED static void wait_for_retry(void)
{
	struct timespec begin, now;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 < 200);
}

UNPROFILED static void limit_files(rlim_t bytes)
{
	struct rlimit limit;

	getrlimit(RLIMIT_FSIZE, &limit);
	limit.rlim_cur = bytes;
	setrlimit(RLIMIT_FSIZE, &limit);
}

UNPROFILED static int is_of_loads(void)
{
	return is_mode("load") || is_mode("unload");
}

UNPROFILED static int load(void)
{
	void *other = dlopen("libm.so.6", RTLD_NOW);

	library = dlopen("libresolv.so.2", RTLD_NOW);
	if (other == NULL || library == NULL)
		return -1;
	functions[0] = dlsym(other, "frexp");
	functions[1] = dlsym(library, "ns_datetosecs");
	return functions[0] != NULL && functions[1] != NULL ? 0 : -1;
}

/* Makes the calls of the main thread stop where it holds the locks of the mode. */
UNPROFILED static int trap(void)
{
	if (is_of_loads()) /* the position behind a new line of the load map */
		return raw_filter_trap_argument(SYS_lseek, 2, SEEK_CUR, handle);
	if (is_mode("locked"))
		return raw_filter_trap(SYS_process_vm_writev, (uint32_t)getpid(), handle);
	return raw_filter_trap(SYS_prctl, PR_SET_NAME, handle);
}

UNPROFILED int main(int argc, char **argv)
{
	pthread_t third, watcher;

	mode = argc > 1 ? argv[1] : "";
	printf("before %d\nafter 0\n", is_mode("leave") ? 2 * N_CALLS : N_CALLS);
	fflush(stdout);
	if (is_of_loads() && load() != 0)
		return 1;
	if (is_mode("end"))
		limit_files(4096);
	if (pthread_create(&thread, NULL, run, NULL) != 0)
		return 77;
	wait_phase(IS_READY);
	if (is_mode("end")) {
		limit_files(RLIM_INFINITY);
		wait_for_retry();
	}
	if (is_mode("leave") &&
	    (pthread_create(&third, NULL, call, NULL) != 0 || pthread_join(third, NULL) != 0))
		return 77;
	if (pthread_create(&watcher, NULL, watch, NULL) != 0 || trap() != 0)
		return 77;
	if (is_mode("locked"))
		moncontrol(0);
	for (int i = 0; i < N_SITES && __atomic_load_n(&phase, __ATOMIC_SEQ_CST) < HAS_GIVEN_UP;
	     i++)
		__cyg_profile_func_enter(is_of_loads() ? functions[0] : (void *)call,
					 (void *)(sites + i));
	pthread_join(watcher, NULL);
	return 0;
}
