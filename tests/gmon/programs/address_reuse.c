/* SPDX-License-Identifier: MIT */
/*
 * Plugins that are loaded at each other's addresses. As a library (-DNAME=one): one_outer() calls
 * one_inner() twice and a function of the program once.
 *
 * address_reuse HOW ROUNDS NAME...: in each round, loads ./NAME.so, calls NAME_outer 3 times (in
 * the main thread, in a thread that lives throughout, in one that ends before the unload), unloads
 * it, and continues with the next. Prints how often a plugin had an address that another had
 * before. With "kill" it kills itself while the last plugin is still loaded.
 * kills itself with the last still loaded.
 */
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef NAME
#define JOIN_(a, b) a##b
#define JOIN(a, b)  JOIN_(a, b)

int JOIN(NAME, _inner)(int x);
int JOIN(NAME, _outer)(int (*back)(int), int x);
int JOIN(NAME, _last)(int x);

#ifdef PADDING
int padding(int x);

int padding(int x)
{
	return JOIN(NAME, _inner)(x) * x + 1;
}
#endif

__attribute__((noinline, noipa)) int JOIN(NAME, _inner)(int x)
{
	return x + 1;
}

int JOIN(NAME, _outer)(int (*back)(int), int x)
{
	return JOIN(NAME, _inner)(x) + JOIN(NAME, _inner)(x + 1) + back(x);
}

/* Never called: without _init, calls from outside are attributed to the last function. */
int JOIN(NAME, _last)(int x)
{
	return x;
}

#else

static pthread_barrier_t barrier;
static int (*outer)(int (*)(int), int);

__attribute__((noinline, noipa)) static int back(int x)
{
	return x;
}

/* One call site for all plugins, so that the addresses of the arc are the same. */
__attribute__((noinline, noipa)) static void call_it(void)
{
	if (outer(back, 1) != 2 + 3 + 1)
		abort();
}

static void *lives_on(void *unused)
{
	for (;;) {
		pthread_barrier_wait(&barrier);
		if (outer == NULL)
			return unused;
		call_it();
		pthread_barrier_wait(&barrier);
	}
}

static void *lives_as_long(void *unused)
{
	call_it();
	return unused;
}

__attribute__((noinline, noipa)) static void *use(const char *name)
{
	char text[64];
	pthread_t thread;
	void *plugin;

	snprintf(text, sizeof(text), "./%s.so", name);
	plugin = dlopen(text, RTLD_NOW);
	if (plugin == NULL) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	snprintf(text, sizeof(text), "%s_outer", name);
	outer = (int (*)(int (*)(int), int))dlsym(plugin, text);
	call_it();
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	pthread_create(&thread, NULL, lives_as_long, NULL);
	pthread_join(thread, NULL);
	return plugin;
}

int main(int argc, char **argv)
{
	int rounds = atoi(argv[2]), n_reused = 0;
	ElfW(Addr) before = 0;
	pthread_t thread;

	pthread_barrier_init(&barrier, NULL, 2);
	pthread_create(&thread, NULL, lives_on, NULL);
	for (int i = 0; i < rounds; i++) {
		for (int name = 3; name < argc; name++) {
			void *plugin = use(argv[name]);

			n_reused += ((struct link_map *)plugin)->l_addr == before;
			before = ((struct link_map *)plugin)->l_addr;
			if (i == rounds - 1 && name == argc - 1 && strcmp(argv[1], "kill") == 0) {
				printf("%d\n", n_reused);
				fflush(stdout);
				kill(getpid(), SIGKILL);
			}
			dlclose(plugin);
		}
	}
	outer = NULL;
	pthread_barrier_wait(&barrier);
	pthread_join(thread, NULL);
	printf("%d\n", n_reused);
	return 0;
}
#endif
