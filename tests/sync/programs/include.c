/* SPDX-License-Identifier: MIT */
/*
 * A program and libraries with objects of their own, which the other modules' code uses. All are
 * this file, compiled with -DMODULE=... for the libraries. Every run has the same operations,
 * except for the number of waits; writes the addresses of the objects to descriptor 3.
 */
#include <assert.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

struct module {
	pthread_mutex_t *mutex;
	pthread_cond_t *cond;
	void (*make)(pthread_mutex_t *mutex);
	void (*lock)(pthread_mutex_t *mutex); /* and unlock */
	void (*use)(pthread_mutex_t *mutex);
	void (*destroy)(pthread_mutex_t *mutex);
	void (*wait)(pthread_cond_t *cond, pthread_mutex_t *mutex, const int *done);
	void (*signal)(pthread_cond_t *cond);
};

static pthread_mutex_t own_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t own_cond = PTHREAD_COND_INITIALIZER;

static void lock(pthread_mutex_t *mutex)
{
	pthread_mutex_lock(mutex);
	pthread_mutex_unlock(mutex);
}

static void use(pthread_mutex_t *mutex)
{
	assert(pthread_mutex_lock(mutex) == 0);
	assert(pthread_mutex_trylock(mutex) == EBUSY);
	assert(pthread_mutex_unlock(mutex) == 0);
}

#ifdef MODULE
static void make(pthread_mutex_t *mutex)
{
	assert(pthread_mutex_init(mutex, NULL) == 0);
}

static void destroy(pthread_mutex_t *mutex)
{
	assert(pthread_mutex_destroy(mutex) == 0);
}

static void wait_done(pthread_cond_t *cond, pthread_mutex_t *mutex, const int *done)
{
	while (!*done)
		pthread_cond_wait(cond, mutex);
}

static void wake(pthread_cond_t *cond)
{
	pthread_cond_signal(cond);
}

extern const struct module MODULE;
const struct module MODULE = {&own_mutex, &own_cond, make, lock, use, destroy, wait_done, wake};
#else
extern const struct module a, b;

struct exchange {
	pthread_mutex_t *mutex;
	pthread_cond_t *cond;
	int done;
};

static void *signaller(void *arg)
{
	struct exchange *exchange = arg;

	pthread_mutex_lock(exchange->mutex);
	exchange->done = 1;
	a.signal(exchange->cond);
	pthread_mutex_unlock(exchange->mutex);
	return NULL;
}

static pthread_t started(void *(*routine)(void *), void *arg)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, routine, arg) != 0)
		abort();
	return thread;
}

/* One wait: the waiter cannot get the mutex earlier. As in C++, a library makes these calls. */
static void exchange(pthread_mutex_t *mutex, pthread_cond_t *cond)
{
	struct exchange exchange = {mutex, cond, 0};
	pthread_t thread;

	pthread_mutex_lock(mutex);
	thread = started(signaller, &exchange);
	a.wait(cond, mutex, &exchange.done);
	pthread_mutex_unlock(mutex);
	pthread_join(thread, NULL);
}

static void place(const char *label, const void *object)
{
	dprintf(3, "%s %lx\n", label, (unsigned long)object);
}

static void loaded(const char *file, const char *symbol)
{
	void *library = dlopen(file, RTLD_NOW);
	const struct module *module;

	assert(library != NULL);
	module = dlsym(library, symbol);
	assert(module != NULL);
	module->use(module->mutex);
	place("c", module->mutex);
	dlclose(library);
}

static void forked(pthread_mutex_t *heap)
{
	pid_t pid = fork();

	if (pid == 0) {
		b.use(heap);
		a.use(a.mutex);
		b.use(b.mutex);
		use(&own_mutex);
		_exit(0);
	}
	assert(waitpid(pid, NULL, 0) == pid);
}

static void *mapped(size_t bytes)
{
	void *memory =
	    mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert(memory != MAP_FAILED);
	return memory;
}

/* Objects with even numbers belong to the library a, the others to the program. */
#define N_MANY 20000
static pthread_mutex_t *many;
static pthread_barrier_t barrier;

static void *use_many(void *arg)
{
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < N_MANY; i++)
		(i % 2 == 0 ? a.lock : lock)(&many[i]);
	return arg;
}

/* Two threads look up the same objects at once; then the program uses those of a. */
static void use_all_of_many(void)
{
	pthread_t thread;

	many = mapped(N_MANY * sizeof(*many));
	pthread_barrier_init(&barrier, NULL, 2);
	thread = started(use_many, NULL);
	use_many(NULL);
	pthread_join(thread, NULL);
	for (int i = 0; i < N_MANY; i += 2)
		lock(&many[i]);
}

int main(int argc, char **argv)
{
	pthread_mutex_t *heap = mapped(4096), *twice = heap + 1, *simple = heap + 2;
	pthread_cond_t *cond = (pthread_cond_t *)(heap + 3);

	if (argc > 1 && strcmp(argv[1], "many") == 0) {
		use_all_of_many();
		return 0;
	}
	dprintf(3, "parent %d\n", (int)getpid());
	place("program", &own_mutex);
	place("program", &own_cond);
	place("a", a.mutex);
	place("a", a.cond);
	place("b", b.mutex);
	place("a", heap);
	place("twice", twice);
	place("b", simple);
	place("early", cond);
	a.make(heap);
	if (argc > 1) {
		forked(heap);
		return 0;
	}
	use(&own_mutex);
	a.use(a.mutex);
	a.use(&own_mutex);
	b.use(b.mutex);
	b.use(heap);
	use(heap);
	b.use(simple); /* never initialized: belongs to b, which used it first */
	a.use(simple);
	a.make(twice);
	a.use(twice);
	a.destroy(twice);
	b.make(twice);
	b.use(twice);
	b.destroy(twice);
	exchange(heap, &own_cond);
	exchange(&own_mutex, a.cond);
	exchange(heap, a.cond);
	a.signal(cond); /* of a; then of the mutex's module, whichever module waits and signals */
	exchange(&own_mutex, cond);
	loaded("./libc_one.so", "c_one");
	loaded("./libc_two.so", "c_two");
	puts("done");
	return 7;
}
#endif
