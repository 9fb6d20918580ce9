/* SPDX-License-Identifier: MIT */
/*
 * The program locks and unlocks a mutex in some rounds.  The lower quartile of the rounds counts:
 * the fastest may miss what the recorded pages cost, the slower ones have interruptions.  The
 * fastest of a few runs counts, since other programs may slow down all rounds of one.
 */
#include "cli/operation_cost.h"

#include <errno.h>
#include <ftw.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/commands.h"
#include "core/clock.h"
#include "record/libraries.h"

#define ROUNDS	    15u
#define PAIRS	    20000u
#define RUNS	    3u
#define REMOVE_OPEN 8 /* descriptors of nftw() */

/* --- the program ---------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

int pp_operation_cost_run(void)
{
	static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	double rounds[ROUNDS];

	for (unsigned i = 0; i < ROUNDS; i++) {
		double begin_ns = (double)pp_clock_now_ns();

		for (unsigned k = 0; k < PAIRS; k++) {
			pthread_mutex_lock(&mutex);
			pthread_mutex_unlock(&mutex);
		}
		rounds[i] = ((double)pp_clock_now_ns() - begin_ns) / (2 * PAIRS);
	}
	qsort(rounds, ROUNDS, sizeof(*rounds), compare);
	printf("%.3f\n", rounds[ROUNDS / 4]);
	return PP_EXIT_GOOD;
}

/* --- its runs ------------------------------------------------------------------------------- */

/* Sets the time if it is less than *best_ns, or that is 0. */
static int run(char **env, double *best_ns, struct pp_error *err)
{
	char *argv[] = {"/proc/self/exe", "calibrate", NULL};
	g_autoptr(GError) error = NULL;
	g_autofree char *out = NULL;
	char *end = NULL;
	int status = 0;
	double ns;

	if (!g_spawn_sync(NULL, argv, env, G_SPAWN_STDERR_TO_DEV_NULL, NULL, NULL, &out, NULL,
			  &status, &error))
		return pp_error_add(err, -EIO, "cannot measure the cost of recording: %s",
				    error->message);
	ns = g_ascii_strtod(out, &end);
	if (status || end == out)
		return pp_error_add(err, -EIO,
				    "cannot measure the cost of recording: the test run failed");
	*best_ns = *best_ns > 0 ? MIN(*best_ns, ns) : ns;
	return 0;
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	return remove(path);
}

/* The environment of a run that is recorded into the folder. */
static int recorded_env(const char *dir, char ***env, struct pp_error *err)
{
	g_auto(GStrv) paths = NULL;
	g_autofree char *preload = NULL, *file = g_build_filename(dir, "gprof-mt.conf", NULL);
	g_autofree char *config = g_strdup_printf("[calls]\nmode = off\n[sync]\nmode = all\n"
						  "[sample]\nhz = 0\n[output]\ndir = %s/data\n",
						  dir);
	int rc = pp_libraries_find(&paths, err);

	if (rc == 0)
		rc = pp_libraries_preload(paths, NULL, &preload, err);
	if (rc < 0)
		return rc;
	if (!g_file_set_contents(file, config, -1, NULL))
		return pp_error_add(err, -EIO, "cannot write %s", file);
	*env = g_environ_setenv(*env, "LD_PRELOAD", preload, TRUE);
	*env = g_environ_setenv(*env, "GPROF_MT_CONFIG", file, TRUE);
	return 0;
}

static int measure(double *ret_ns, struct pp_error *err)
{
	g_auto(GStrv) bare = g_environ_unsetenv(g_get_environ(), "LD_PRELOAD");
	g_autofree char *dir = g_dir_make_tmp("gprof-mt.XXXXXX", NULL);
	double bare_ns = 0, recorded_ns = 0;
	char **recorded = g_strdupv(bare);
	int rc;

	if (!dir) {
		g_strfreev(recorded);
		return pp_error_add(err, -EIO, "cannot create a temporary directory");
	}
	rc = recorded_env(dir, &recorded, err);
	for (unsigned i = 0; rc == 0 && i < RUNS; i++) {
		rc = run(bare, &bare_ns, err);
		if (rc == 0)
			rc = run(recorded, &recorded_ns, err);
	}
	nftw(dir, remove_entry, REMOVE_OPEN, FTW_DEPTH | FTW_PHYS);
	g_strfreev(recorded);
	if (rc == 0)
		*ret_ns = MAX(recorded_ns - bare_ns, 0);
	return rc;
}

int pp_operation_cost_measure(double *ret_ns, struct pp_error *err)
{
	static double known_ns = -1;
	int rc = known_ns < 0 ? measure(&known_ns, err) : 0;

	*ret_ns = known_ns;
	return rc;
}
