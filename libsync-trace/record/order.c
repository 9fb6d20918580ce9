/* SPDX-License-Identifier: MIT */
/*
 * The order of locks ([sync] order = on): each acquisition has a number of its lock, taken while
 * the lock is held.
 *
 * The counters are in tables of our own, by the address of the lock. A table never changes its
 * size; a larger one is put in front of it, and a counter stays where it is. The thread that counts
 * holds the lock exclusively, so no other thread looks for the same counter, and readers add none.
 *
 * A counter is never reset: after a lock was destroyed, or its memory was reused, the numbers rise
 * further, which tells the order as well.
 */
#include <errno.h>

#include "record/internal.h"
#include "runtime/sys/seal.h"
#include "runtime/sys/sys.h"

struct counter {
	uintptr_t address; /* 0: free */
	uint64_t n;	   /* exclusive acquisitions so far */
};

struct table {
	struct counter *counters; /* NULL: not made yet */
	uint32_t n_used;
};

#define FIRST_BITS 12
#define STEP_BITS  2
#define N_TABLES   8 /* the last one has 64 M counters */
#define PROBES	   64

static struct table tables[N_TABLES];

static struct counter *table_counters(unsigned i)
{
	/* acquire: pairs with the release in table_make(): the memory is mapped */
	return __atomic_load_n(&tables[i].counters, __ATOMIC_ACQUIRE);
}

static uint32_t table_mask(unsigned i)
{
	return (1u << (FIRST_BITS + i * STEP_BITS)) - 1;
}

/* Returns false if there is no memory. */
static bool table_make(unsigned i)
{
	size_t size_bytes = ((size_t)table_mask(i) + 1) * sizeof(struct counter);
	struct counter *none = NULL, *made = gm_seal_is_set() ? NULL : st_memory_new(size_bytes);

	if (made == NULL)
		return false;
	/* release: pairs with the acquire in table_counters() */
	if (!__atomic_compare_exchange_n(&tables[i].counters, &none, made, false, __ATOMIC_RELEASE,
					 __ATOMIC_RELAXED))
		gm_sys_munmap(made, size_bytes);
	return true;
}

static uint32_t home_of(uintptr_t address, unsigned i)
{
	return (uint32_t)(address * UINT64_C(0x9e3779b97f4a7c15) >> 32) & table_mask(i);
}

/* Returns the counter of that address in the table; NULL: it has none. */
static struct counter *table_find(unsigned i, uintptr_t address)
{
	struct counter *counters = table_counters(i);

	for (uint32_t probe = 0; counters != NULL && probe < PROBES; probe++) {
		struct counter *at = &counters[(home_of(address, i) + probe) & table_mask(i)];
		uintptr_t seen = __atomic_load_n(&at->address, __ATOMIC_RELAXED);

		if (seen == address)
			return at;
		if (seen == 0)
			return NULL;
	}
	return NULL;
}

/* Gives the address a free counter of the table; NULL: it is full. */
static struct counter *table_add(unsigned i, uintptr_t address)
{
	struct counter *counters = table_counters(i);

	if (__atomic_load_n(&tables[i].n_used, __ATOMIC_RELAXED) > table_mask(i) / 2)
		return NULL;
	for (uint32_t probe = 0; probe < PROBES; probe++) {
		struct counter *at = &counters[(home_of(address, i) + probe) & table_mask(i)];
		uintptr_t none = 0;

		if (!__atomic_compare_exchange_n(&at->address, &none, address, false,
						 __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			continue;
		__atomic_add_fetch(&tables[i].n_used, 1, __ATOMIC_RELAXED);
		return at;
	}
	return NULL;
}

static struct counter *counter_find(uintptr_t address)
{
	for (unsigned i = 0; i < N_TABLES && table_counters(i) != NULL; i++) {
		struct counter *counter = table_find(i, address);

		if (counter != NULL)
			return counter;
	}
	return NULL;
}

static struct counter *counter_add(uintptr_t address)
{
	for (unsigned i = 0; i < N_TABLES; i++) {
		struct counter *counter;

		if (table_counters(i) == NULL && !table_make(i))
			return NULL;
		counter = table_add(i, address);
		if (counter != NULL)
			return counter;
	}
	return NULL;
}

enum how { NOT, EXCLUSIVELY, SHARED };

static enum how acquires(const struct st_record *record)
{
	bool acquired = record->result == 0 || record->result == EOWNERDEAD;

	switch (record->id) {
	case ST_EVENT_mutex_lock:
	case ST_EVENT_mutex_trylock:
	case ST_EVENT_mutex_timedlock:
	case ST_EVENT_mutex_critical:
	case ST_EVENT_mutex_omp_lock:
	case ST_EVENT_mutex_omp_trylock:
	case ST_EVENT_rwlock_wrlock:
	case ST_EVENT_rwlock_trywrlock:
	case ST_EVENT_rwlock_timedwrlock:
	case ST_EVENT_spin_lock:
	case ST_EVENT_spin_trylock:
		return acquired ? EXCLUSIVELY : NOT;
	case ST_EVENT_rwlock_rdlock:
	case ST_EVENT_rwlock_tryrdlock:
	case ST_EVENT_rwlock_timedrdlock:
		return acquired ? SHARED : NOT;
	case ST_EVENT_cond_wait:
	case ST_EVENT_cond_timedwait: /* the mutex is held again */
		return record->extra != 0 && (acquired || record->result == ETIMEDOUT ||
					      record->result == ECANCELED)
			   ? EXCLUSIVELY
			   : NOT;
	default:
		return NOT;
	}
}

uint64_t st_order_number(const struct st_record *record)
{
	enum how how = acquires(record);
	uintptr_t address =
	    record->id == ST_EVENT_cond_wait || record->id == ST_EVENT_cond_timedwait
		? record->extra
		: record->object;
	struct counter *counter;

	if (how == NOT || address == 0)
		return 0;
	counter = counter_find(address);
	if (how == SHARED)
		return 1 + (counter != NULL ? __atomic_load_n(&counter->n, __ATOMIC_RELAXED) : 0);
	if (counter == NULL)
		counter = counter_add(address);
	return counter != NULL ? 1 + __atomic_add_fetch(&counter->n, 1, __ATOMIC_RELAXED) : 0;
}

void st_order_forget(void)
{
	for (unsigned i = 0; i < N_TABLES && tables[i].counters != NULL; i++) {
		tables[i].n_used = 0;
		if (!st_memory_is_wiped)
			__builtin_memset(tables[i].counters, 0,
					 ((size_t)table_mask(i) + 1) * sizeof(struct counter));
	}
}
