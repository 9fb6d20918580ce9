/* SPDX-License-Identifier: MIT */
/*
 * The tests of a campaign: commands with a workload that can be raised, from the command line or
 * from a key file with groups [test NAME].
 */
#ifndef PP_CAMPAIGN_PLAN_H
#define PP_CAMPAIGN_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "core/error.h"

/* The search for a workload ends after that many. */
#define PP_CAMPAIGN_STEPS 50

/* A command with chosen values.  0: none was chosen. */
struct pp_point {
	int64_t workload, cpus, threads;
};

static inline bool pp_point_equal(const struct pp_point *a, const struct pp_point *b)
{
	return a->workload == b->workload && a->cpus == b->cpus && a->threads == b->threads;
}

/* The number of CPUs that its command may use: the chosen one, or all of this process. */
unsigned pp_point_cpus(const struct pp_point *point);

struct pp_test {
	char *name;	  /* of letters, digits, '_', '.' and '-' */
	char **command;	  /* with "{w}", "{t}" and "{w/t}", which are replaced */
	GArray *workload; /* of int64_t, rising; empty: the command has none */
	GArray *threads;  /* the same; a single value states the number of threads only */
	GArray *cpus;	  /* the same */
	char *check;	  /* a shell command that gets the output as its input; NULL: none */
	int64_t warmup;	  /* runs of each point that do not count */
};

void pp_test_free(void *test);

/*
 * Reads "1000..20000:1000", "1..64*2", "1,2,4", or a list of these; without a step, it is 1.
 * Numbers must rise, and be at least 1.  Returns 0 or -EINVAL.
 */
int pp_numbers_read(const char *text, GArray **ret, struct pp_error *err);

/* The same after an optional "{t}=". */
int pp_thread_numbers_read(const char *text, GArray **ret, struct pp_error *err);

/*
 * Checks that the parts fit together: "{w}", "{t}" and "{w/t}" in the command, two workloads at
 * least or several threads or CPUs, and that the program can be executed.  Returns 0 or -errno.
 */
int pp_test_check(const struct pp_test *test, struct pp_error *err);

/* Reads a key file into an array of struct pp_test *, and checks each.  Returns 0 or -errno. */
int pp_plan_read(const char *file, GPtrArray **ret_tests, struct pp_error *err);

/* Whether the command has "{w/t}": the workload is that of all threads together. */
bool pp_test_shares_work(const struct pp_test *test);

/* The command at a point.  The caller frees it with g_strfreev(). */
char **pp_test_command(const struct pp_test *test, const struct pp_point *point);

/* The tests in one line of JSON, equal if and only if the tests are.  The caller frees it. */
char *pp_plan_text(const GPtrArray *tests);

#endif
