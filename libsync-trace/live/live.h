/* SPDX-License-Identifier: MIT */
/*
 * The live replay of a schedule (sync-trace/schedule.h), in one process.
 *
 * calls.c takes the place of the real functions, and asks for turns (turns.c). All functions here
 * are called with the gate open, by wrappers, and may be interrupted by handlers whose operations
 * ask for turns, too. They are signal-safe and keep errno.
 */
#ifndef ST_LIVE_H
#define ST_LIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "sync-trace/schedule.h"

/* A thread that takes part. */
struct st_live_thread {
	uint64_t n_begun; /* operations, including the one in progress */
	uint32_t n_created;
};

/* An object: how often it has been acquired; the first word is a futex. */
struct st_live_object {
	_Alignas(64) uint32_t n_acquired;
	uint32_t n_sleepers;
};

/* All of it is anonymous memory of the process. */
struct st_live {
	struct st_schedule *page; /* shared with the command */
	uint32_t n_threads, n_objects, n_sites, n_modules;
	uint64_t n_ops, patience_ns;
	const struct st_schedule_thread *threads;
	const struct st_schedule_op *ops;
	const struct st_schedule_site *sites;
	const struct st_schedule_module *modules;
	const struct st_schedule_line *lines;
	struct st_schedule_pair pair;
	uintptr_t *addresses; /* by site: the return address where it was found last; 0: never */
	struct st_live_thread *running; /* by thread */
	struct st_live_object *objects;
	uint32_t phase;	 /* of the pair; a futex */
	uint32_t *is_on; /* zeroed in a child of fork, whose threads are not enforced */
};

extern struct st_live st_live __attribute__((visibility("hidden")));

/* Takes the schedule that the environment names. Returns false if there is none, or it is bad. */
bool st_schedule_take(const char *path);

/* True if the return address is the site with that number, or one of them is not known. */
bool st_live_is_site(uint32_t number, uintptr_t address);

/* An operation that has begun. */
struct st_turn {
	const struct st_schedule_op *op; /* NULL: it is not enforced */
	uint32_t thread;
	uint64_t number; /* of the operation */
	bool is_of_pair; /* it begins a section of the pair */
	bool is_held;	 /* it must not begin before the pair is over */
};

bool st_turns_are_on(void);

/* The thread's next operation. Reports if it is another one than recorded. */
struct st_turn st_turn_next(enum st_event event);

/* Waits for the turn of an operation that has one. Returns false if nothing is enforced any more.
 */
bool st_turn_await(const struct st_turn *turn);

/* The object was acquired in its turn. */
void st_turn_taken(const struct st_turn *turn);

/* The result is not the recorded one. */
void st_turn_failed(const struct st_turn *turn);

/* Sleeps until the time of the clock, or for a moment if `until` is NULL, or nothing is enforced.
 */
struct timespec;
void st_turn_sleep(int clock, const struct timespec *until);

/* Puts the functions that ask for turns in place of the real ones. */
void st_live_interpose(void);

/* The time since a thread began an operation, as far as the sleeper knows; zeroed at first. */
struct st_patience {
	uint64_t n_begun, since_ns, since_cpu_ns;
};

/* Reports that the turn does not come, if no thread has made progress; then nothing is enforced. */
bool st_turn_is_stuck(const struct st_turn *turn, struct st_patience *patience);

/* Ends the enforcement; only the first caller gets true, and then stores the outcome. */
bool st_live_stop(void);
void st_live_publish(enum st_schedule_state state);

/* --- the pair (pair.c) ------------------------------------------------------------------------ */

/* This thread executes its section of the pair. */
extern __thread bool st_pair_is_inside
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Waits until it is this section's turn. Returns false if nothing is enforced any more. */
bool st_pair_await(const struct st_turn *turn);

/* The lock of the section was acquired. */
void st_pair_taken(const struct st_turn *turn, const void *lock);

/* A lock was acquired without a turn: perhaps that of the section, again. */
void st_pair_again(const void *lock);

/* A lock is about to be released: perhaps the section ends. */
void st_pair_release(const void *lock);

/* Waits until the pair is over. */
void st_pair_hold(const struct st_turn *turn);

#endif
