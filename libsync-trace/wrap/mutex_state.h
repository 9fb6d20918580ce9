/* SPDX-License-Identifier: MIT */
/* The state of a mutex, as glibc stores it: its kind and its owner. */
#ifndef ST_MUTEX_STATE_H
#define ST_MUTEX_STATE_H

#include "record/writer.h"

#ifndef __GLIBC__
#error "the owner of a mutex is read from glibc's pthread_mutex_t"
#endif

/* Bits of glibc's mutex kinds; the first two kinds store their owner's tid in the futex itself. */
#define KIND_ROBUST	 16
#define KIND_INHERIT	 32
#define KIND_PROTECT	 64
#define KINDS_SPECIAL	 (KIND_ROBUST | KIND_INHERIT | KIND_PROTECT)
#define KIND_TYPE_MASK	 3
#define FUTEX_OWNER_MASK 0x3fffffffu
#define FUTEX_OWNER_GONE 0x40000000u
#define FUTEX_SLEEPERS	 0x80000000u
/* The other kinds: a value above TAKEN means that threads sleep on it. */
#define TAKEN	     1
#define PROTECT_MASK 0x7ffffu

static inline int mutex_kind(const pthread_mutex_t *mutex)
{
	return __atomic_load_n(&mutex->__data.__kind, __ATOMIC_RELAXED);
}

static inline bool mutex_is_plain(const pthread_mutex_t *mutex)
{
	return (mutex_kind(mutex) & KINDS_SPECIAL) == 0;
}

/* 0: free, the owner has died, or not known. */
static inline uint32_t mutex_owner(const pthread_mutex_t *mutex)
{
	uint32_t word = (uint32_t)__atomic_load_n(&mutex->__data.__lock, __ATOMIC_RELAXED);

	if ((mutex_kind(mutex) & (KIND_ROBUST | KIND_INHERIT)) == 0)
		return (uint32_t)__atomic_load_n(&mutex->__data.__owner, __ATOMIC_RELAXED);
	return (word & FUTEX_OWNER_GONE) != 0 ? 0 : word & FUTEX_OWNER_MASK;
}

/* Returns true if a lock by its owner fails at once, or counts, instead of waiting. */
static inline bool mutex_is_relock(const struct st_thread *self, const pthread_mutex_t *mutex,
				   uint32_t owner)
{
	int type = mutex_kind(mutex) & KIND_TYPE_MASK;

	return owner == self->stream.tid &&
	       (type == PTHREAD_MUTEX_RECURSIVE || type == PTHREAD_MUTEX_ERRORCHECK);
}

#endif
