/* SPDX-License-Identifier: MIT */
/*
 * Blocks of the heap that critical sections access. Prints a line for each event that the test
 * expects of a block, in order: what, address, size, and for `block` the line of the allocation.
 * With an argument, the allocator is another one.
 */
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile int n_used;
static int is_glibc; /* its allocator */
static volatile size_t huge = SIZE_MAX / 2;

static void say_block(const volatile void *at, size_t n_bytes, int line)
{
	printf("block %zu %zu %d\n", (size_t)at, n_bytes, line);
}

static void say_freed(uintptr_t at, size_t n_bytes)
{
	printf("freed %zu %zu\n", (size_t)at, n_bytes);
}

static __attribute__((noinline)) void touch(volatile char *at)
{
	pthread_mutex_lock(&mutex);
	*at = 1;
	pthread_mutex_unlock(&mutex);
}

/* Accesses the first and the last byte in sections: one event. */
static void use(volatile char *at, size_t n_bytes, int line)
{
	touch(at);
	touch(at + n_bytes - 1);
	say_block(at, n_bytes, line);
}

/* In the line of the allocation. */
#define USE(at, n_bytes) use((char *)(at), n_bytes, __LINE__)

static void give_back(void *at, size_t n_bytes)
{
	uintptr_t address = (uintptr_t)at;

	free(at);
	say_freed(address, n_bytes);
}

/* For the result of an allocation for which there is no memory. */
static void refused(const void *made)
{
	if (made != NULL || (is_glibc && errno != ENOMEM))
		abort();
	errno = 0;
}

static void allocators(void)
{
	void *at;

	at = malloc(100), USE(at, 100);
	give_back(at, 100);
	at = calloc(10, 30), USE(at, 300);
	give_back(at, 300);
	at = aligned_alloc(64, 128), USE(at, 128);
	give_back(at, 128);
	n_used += posix_memalign(&at, 4096, 5000), USE(at, 5000);
	give_back(at, 5000);
	at = memalign(256, 70), USE(at, 70);
	give_back(at, 70);
	at = valloc(33), USE(at, 33);
	give_back(at, 33);
	at = strdup("a text that is long enough for a line of its own, or two"), USE(at, 57);
	give_back(at, 57);
	at = reallocarray(NULL, 7, 11), USE(at, 77);
	give_back(at, 77);
	if (is_glibc) { /* elsewhere it may begin at a multiple of 8 */
		at = malloc(1), USE(at, 1);
		give_back(at, 1);
	}
	at = malloc(50 << 20), USE(at, 50u << 20);
	touch((char *)at + (25 << 20));
	give_back(at, 50u << 20);
}

/* Only one of two neighbours in a line is accessed; a block without accesses has no events. */
static void neighbours(void)
{
	char *first = aligned_alloc(64, 24), *second = malloc(24);

	use(second, 24, __LINE__ - 2);
	free(first);
	give_back(second, 24);
}

static void resizes(void)
{
	char *at = malloc(200), *after, *moved;
	int line = __LINE__ - 1;

	use(at, 200, line);
	after = malloc(200);
	/* In place: the same block, which has another size now. */
	moved = realloc(at, 150);
	if (moved == at) {
		use(at, 150, line);
	} else if (is_glibc) {
		abort();
	} else {
		say_freed((uintptr_t)at, 200);
		at = moved;
		use(at, 150, __LINE__ - 8);
	}
	/* There is no room in place. */
	moved = realloc(at, 100000);
	if (moved == at)
		abort();
	say_freed((uintptr_t)at, 150);
	use(moved, 100000, __LINE__ - 4);
	/* Fails: the block stays. */
	refused(realloc(moved, huge));
	touch(moved);
	give_back(moved, 100000);
	free(after);
}

/* The section frees what it has accessed, and allocates at the same address. */
static void inside(void)
{
	char *at, *again;

	pthread_mutex_lock(&mutex);
	at = malloc(64), *at = 1;
	say_block(at, 64, __LINE__ - 1);
	give_back(at, 64);
	again = malloc(64), *again = 2;
	say_block(again, 64, __LINE__ - 1);
	pthread_mutex_unlock(&mutex);
	if (again != at)
		abort();
	give_back(again, 64);
}

static void unmap(char *at, size_t n_bytes, char *block, size_t n_block)
{
	if (munmap(at, n_bytes) != 0)
		abort();
	say_freed((uintptr_t)block, n_block);
}

static void mappings(void)
{
	const int protection = PROT_READ | PROT_WRITE, flags = MAP_PRIVATE | MAP_ANONYMOUS;
	char *at, *moved;
	int line;

	at = mmap(NULL, 5000, protection, flags, -1, 0), USE(at, 5000);
	unmap(at, 5000, at, 5000);
	at = mmap(NULL, 4 * 4096, protection, flags, -1, 0), line = __LINE__;
	use(at, 4 * 4096, line);
	/* A hole: the parts on both sides are new blocks. */
	unmap(at + 4096, 4096, at, 4 * 4096);
	use(at, 4096, line);
	use(at + 2 * 4096, 2 * 4096, line);
	/* Over the first one, the hole, and the begin of the second one. */
	if (mmap(at, 3 * 4096, protection, flags | MAP_FIXED, -1, 0) != at)
		abort();
	say_freed((uintptr_t)at, 4096);
	say_freed((uintptr_t)at + 2 * 4096, 2 * 4096);
	use(at, 3 * 4096, __LINE__ - 4);
	/* It cannot grow in place, since the second one goes on behind it. */
	moved = mremap(at, 3 * 4096, 10 * 4096, MREMAP_MAYMOVE);
	if (moved == at)
		abort();
	say_freed((uintptr_t)at, 3 * 4096);
	use(moved, 10 * 4096, __LINE__ - 4);
	if (munmap(moved + 1, 4096) == 0 || errno != EINVAL)
		abort();
	touch(moved + 4096);
	unmap(moved, 10 * 4096, moved, 10 * 4096);
	munmap(at + 3 * 4096, 4096);
}

static void *takes(void *node)
{
	touch(node);
	give_back(node, 48);
	return NULL;
}

static void *makes(void *unused)
{
	char *node;

	node = malloc(48), USE(node, 48);
	(void)unused;
	return node;
}

/* A node is freed by another thread than the one that made it, and a third makes it again. */
static void threads(void)
{
	pthread_t thread;
	void *node = makes(NULL);

	pthread_create(&thread, NULL, takes, node);
	pthread_join(thread, NULL);
	node = makes(NULL);
	pthread_create(&thread, NULL, takes, node);
	pthread_join(thread, NULL);
}

static void fails(void)
{
	void *at = (void *)1;

	refused(malloc(huge));
	refused(calloc(huge, 4));
	refused(reallocarray(NULL, huge, 4));
	if (posix_memalign(&at, 3, 10) != EINVAL || at != (void *)1)
		abort();
	refused(aligned_alloc(64, huge));
	errno = 7;
	free(NULL);
	at = malloc(0);
	free(at);
	if (errno != 7)
		abort();
}

int main(int argc, char **argv)
{
	char *inherited;
	pid_t child;
	int line;

	(void)argv;
	is_glibc = argc == 1;
	setvbuf(stdout, NULL, _IOLBF, 0);
	allocators();
	neighbours();
	resizes();
	inside();
	threads();
	mappings();
	if (is_glibc)
		fails();
	inherited = malloc(500), line = __LINE__;
	use(inherited, 500, line);
	puts("child");
	child = fork();
	if (child == 0) {
		use(inherited, 500, line);
		allocators();
		give_back(inherited, 500);
		exit(0);
	}
	waitpid(child, NULL, 0);
	puts("parent");
	give_back(inherited, 500);
	return 0;
}
