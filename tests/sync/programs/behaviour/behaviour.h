/* SPDX-License-Identifier: MIT */
/*
 * The matrix: each wrapped function with each of its possible results. The program prints a
 * transcript that must be the same with and without the library: it has no times or addresses, and
 * only one thread prints at a time. Then it prints the results of each function.
 */
#ifndef BEHAVIOUR_H
#define BEHAVIOUR_H

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#define SAY(...)                                                                                   \
	do {                                                                                       \
		printf(__VA_ARGS__);                                                               \
		putchar('\n');                                                                     \
	} while (0)

/* The result of a call, and errno afterwards. */
struct answer {
	const char *text; /* the call as written in the source */
	long value;
	int error;
};

#define ERRNO_BEFORE 77

/* Another thread may print a result later. */
#define ASK(into, what)                                                                            \
	do {                                                                                       \
		struct answer *answer_ = (into);                                                   \
		answer_->text = #what;                                                             \
		errno = ERRNO_BEFORE;                                                              \
		answer_->value = (long)(what);                                                     \
		answer_->error = errno;                                                            \
	} while (0)

#define CALL(what)                                                                                 \
	do {                                                                                       \
		struct answer told_;                                                               \
		ASK(&told_, what);                                                                 \
		tell(&told_);                                                                      \
	} while (0)

/* A function without a result is recorded as (call, 0). */
void tell(const struct answer *answer);

extern const struct timespec past, crooked, minus;

struct timespec far_from_now(clockid_t clock);

/* Creates and joins threads; neither may fail. */
pthread_t start(void *(*routine)(void *), void *arg);
void *join(pthread_t thread);

/* The child does what is to be done and exits; true: it came to that. */
#define IN_CHILD(what)                                                                             \
	do {                                                                                       \
		pid_t pid_;                                                                        \
		fflush(stdout);                                                                    \
		pid_ = fork();                                                                     \
		if (pid_ == 0) {                                                                   \
			what;                                                                      \
			fflush(stdout);                                                            \
			_exit(0);                                                                  \
		}                                                                                  \
		await_child(pid_);                                                                 \
	} while (0)

/* Prints how the child ended, if not by _exit(0). */
void await_child(pid_t pid);

void make_mutex(pthread_mutex_t *mutex, int type, int robust, int protocol, int shared);

/* The sections. */
void mutexes(void);
void robust_mutexes(void);
void priorities(void);
void semaphores(void);
void rwlocks(void);
void other_locks(void);
void conditions(void);
void threads(void);
void signals(void);
void c11(void);
void cancellation(void);
void blocked(void);
void forks(void);

#endif
