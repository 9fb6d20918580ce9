/* SPDX-License-Identifier: MIT */
/*
 * The matrix: each wrapped function, and each answer it can be brought to give.  The program prints
 * a transcript that must be the same with and without the library, so nothing in it depends on time
 * or addresses, and only one thread speaks at a time; then which function gave which answers.
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

/* What a call gave, and what it left in errno. */
struct answer {
	const char *text; /* the call as it is written */
	long value;
	int error;
};

#define ERRNO_BEFORE 77

/* An answer can be told later, by another thread. */
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

/* What answers nothing is written (call, 0). */
void tell(const struct answer *answer);

extern const struct timespec past, crooked, minus;

struct timespec far_from_now(clockid_t clock);

/* Threads that must not fail. */
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

/* Says how it ended, if not by _exit(0). */
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
