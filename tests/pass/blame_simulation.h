/* SPDX-License-Identifier: MIT */
/*
 * A simulation of threads and locks goes on in steps, and charges each step of each waiting thread
 * to the threads that hold the lock then, in equal shares; and to those for which these sleep.
 */
#ifndef TESTS_PASS_BLAME_SIMULATION_H
#define TESTS_PASS_BLAME_SIMULATION_H

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#define BLAME_TIMED_OUT 110

struct figures {
	int64_t wait_ns, running_ns, runnable_ns, sync_ns;
};

struct blame_simulation {
	GString *events;      /* as text */
	GHashTable *expected; /* "lock kind site acquired" -> struct figures * */
	GHashTable *nested;   /* the same twice, "...: ..." -> struct figures * */
};

/* many: 20 threads, most of which read; else 4. */
struct blame_simulation blame_simulate(unsigned run, bool many);
void blame_simulation_done(struct blame_simulation *result);

#endif
