/* SPDX-License-Identifier: MIT */
/*
 * Wrappers of pthread_mutex_lock() and pthread_mutex_unlock() that count as mutrace does: a table
 * of all mutexes by address, with the acquisitions and those that had to wait for each.  An entry
 * is kept when its mutex is destroyed.  It is the least that a list of contended locks can cost.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>

#define N_ENTRIES (1UL << 22) /* mutexes beyond that many are not counted */
#define N_PROBES  32

static struct entry {
	uintptr_t mutex;
	unsigned long acquired, waited;
} table[N_ENTRIES];

static int (*lock)(pthread_mutex_t *), (*trylock)(pthread_mutex_t *);

__attribute__((constructor)) static void begin(void)
{
	lock = dlvsym(RTLD_NEXT, "pthread_mutex_lock", "GLIBC_2.2.5");
	trylock = dlvsym(RTLD_NEXT, "pthread_mutex_trylock", "GLIBC_2.2.5");
}

static struct entry *find(pthread_mutex_t *mutex)
{
	uintptr_t address = (uintptr_t)mutex;
	unsigned long at = address / 8 * 0x9e3779b97f4a7c15UL >> 42;

	for (int i = 0; i < N_PROBES; i++) {
		struct entry *entry = &table[(at + (unsigned long)i) % N_ENTRIES];
		uintptr_t there = entry->mutex;

		if (there == address ||
		    (there == 0 && __atomic_compare_exchange_n(&entry->mutex, &there, address, 0,
							       __ATOMIC_RELAXED, __ATOMIC_RELAXED)))
			return entry;
		if (there == address)
			return entry;
	}
	return NULL;
}

int pthread_mutex_lock(pthread_mutex_t *mutex)
{
	struct entry *entry;
	int result;

	if (!lock)
		begin();
	result = trylock(mutex);
	entry = find(mutex);
	if (entry)
		__atomic_fetch_add(&entry->acquired, 1, __ATOMIC_RELAXED);
	if (result == 0)
		return 0;
	if (entry)
		__atomic_fetch_add(&entry->waited, 1, __ATOMIC_RELAXED);
	return lock(mutex);
}
