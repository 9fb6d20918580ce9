/* SPDX-License-Identifier: MIT */
/*
 * Runs of skeletons. Since the machine may be busy, run times have lower bounds only; CPU time has
 * both. The order is checked on random models: they run freely, with a log, which then is the order
 * of the runs that follow.
 */
#include <errno.h>
#include <sys/wait.h>

#include "check.h"
#include "random_model.h"
#include "replay/model_file.h"
#include "replay/skeleton/skeleton.h"

#define MS	 INT64_C(1000000)
#define N_MODELS 60

/* The model of these lines, without its first ones. */
static struct pp_replay_model *model_of(const char *lines)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_replay_model *model;
	FILE *file = fopen("model", "w");

	CHECK(file);
	fprintf(file, "gprof-mt-model 1\ncpus 1\nquantum 3000000\n%s", lines);
	fclose(file);
	model = pp_replay_read("model", &err);
	CHECK(model);
	return model;
}

/* Runs it once, and checks that no process is left. */
static int run(const struct pp_replay_model *model, const struct pp_skeleton_how *how,
	       struct pp_skeleton_run *ret, char **ret_error)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_skeleton *skeleton = pp_skeleton_new(model, how, &err);
	int code = skeleton ? pp_skeleton_run(skeleton, ret, &err) : -EINVAL;

	*ret_error = code ? pp_error_text(&err) : NULL;
	pp_skeleton_free(skeleton);
	pp_error_done(&err);
	CHECK_INT(waitpid(-1, NULL, 0), -1);
	CHECK_INT(errno, ECHILD);
	return code;
}

static struct pp_skeleton_run good(const struct pp_replay_model *model,
				   const struct pp_skeleton_how *how)
{
	struct pp_skeleton_run ret;
	char *error;

	if (run(model, how, &ret, &error))
		CHECK_STR(error, "");
	CHECK_STR(ret.stuck ? ret.stuck : "", "");
	return ret;
}

/* Checks the least run time, and the CPU time. A thread may use a little less than is due. */
static void check_least(const char *lines, int64_t least_ns, int64_t cpu_ns, int64_t most_cpu_ns)
{
	struct pp_replay_model *model = model_of(lines);
	struct pp_skeleton_run ret =
	    good(model, &(struct pp_skeleton_how){.n_cpus = pp_skeleton_usable_cpus()});

	CHECK(ret.ns >= least_ns - least_ns / 20);
	CHECK(ret.cpu_ns >= cpu_ns - cpu_ns / 20);
	CHECK(ret.cpu_ns <= most_cpu_ns);
	pp_skeleton_run_done(&ret);
	pp_replay_model_free(model);
}

static void check_times(const char *lines, int64_t least_ns, int64_t cpu_ns)
{
	check_least(lines, least_ns, cpu_ns, 2 * cpu_ns + 20 * MS);
}

static void test_times(void)
{
	/* 10 outside of the lock, 30 inside: the second one waits for the first one */
	check_times("lock \"l\"\nthread 0 \"a\"\n0 create 1\n10000000 lock 0\n30000000 unlock 0\n"
		    "0 exit\nthread created \"b\"\n10000000 lock 0\n30000000 unlock 0\n0 exit\n",
		    70 * MS, 80 * MS);
	/* the one that waits uses CPU time as long as the other one has no CPU */
	check_least("lock \"l\"\nthread 0 \"a\"\n1000000 spin 0\n20000000 unlock 0\n0 exit\n"
		    "thread 0 \"b\"\n1000000 spin 0\n20000000 unlock 0\n0 exit\n",
		    41 * MS, 42 * MS, INT64_MAX);
	/* three threads arrive at 10, 20 and 30 */
	check_times("barrier 3 \"b\"\nthread 0 \"a\"\n10000000 barrier 0\n5000000 exit\n"
		    "thread 0 \"b\"\n20000000 barrier 0\n5000000 exit\nthread 0 \"c\"\n"
		    "30000000 barrier 0\n5000000 exit\n",
		    35 * MS, 75 * MS);
	check_times("sem 0 \"s\"\nthread 0 \"a\"\n20000000 post 0\n0 exit\nthread 0 \"b\"\n"
		    "1000000 wait 0\n10000000 exit\n",
		    30 * MS, 31 * MS);
	check_times("thread 0 \"a\"\n20000000 signal\n0 exit\nthread 0 \"b\"\n1000000 await 0:0\n"
		    "10000000 exit\n",
		    30 * MS, 31 * MS);
	check_times("thread 10000000 \"a\"\n5000000 sleep 50000000\n5000000 exit\n", 70 * MS,
		    10 * MS);
	/* a thread that tries does not wait, and holds nothing that it could release */
	check_times("lock \"l\"\nlock \"m\"\nthread 0 \"a\"\n0 lock 0\n0 signal\n0 await 1:1\n"
		    "10000000 unlock 0\n0 exit\nthread 0 \"b\"\n0 await 0:1\n0 signal\n"
		    "0 trylock 0\n5000000 unlock 0\n0 exit\n",
		    10 * MS, 15 * MS);
	check_times("lock \"l\"\nlock \"m\"\nthread 0 \"a\"\n0 lock 0\n0 signal\n0 await 1:1\n"
		    "0 lock 1\n10000000 unlock 1\n0 unlock 0\n0 exit\nthread 0 \"b\"\n0 lock 1\n"
		    "0 signal\n0 await 0:1\n0 trylock 0\n5000000 unlock 0\n0 unlock 1\n0 exit\n",
		    15 * MS, 15 * MS);
	/* many short steps: the lock's own time is part of theirs */
	GString *lines = g_string_new("lock \"l\"\nthread 0 \"a\"\n");

	for (unsigned i = 0; i < 20000; i++)
		g_string_append(lines, "1000 lock 0\n1000 unlock 0\n");
	g_string_append(lines, "0 exit\n");
	check_times(lines->str, 40 * MS, 40 * MS);
	g_string_free(lines, TRUE);
}

/* Nested locks, the release of a lock that is not held, and a second creation have no effect. */
static void test_without_effect(void)
{
	check_times("lock \"l\"\nthread 0 \"a\"\n0 create 1\n0 create 1\n0 lock 0\n0 lock 0\n"
		    "0 unlock 0\n10000000 unlock 0\n0 unlock 0\n0 exit\nthread created \"b\"\n"
		    "0 unlock 0\n0 lock 0\n0 unlock 0\n0 exit\n",
		    10 * MS, 10 * MS);
}

static void check_stuck(const char *lines, unsigned n_stuck, const char *text)
{
	struct pp_replay_model *model = model_of(lines);
	struct pp_skeleton_run ret;
	char *error;

	CHECK_INT(run(model, &(struct pp_skeleton_how){.n_cpus = 1}, &ret, &error), 0);
	CHECK_INT(ret.n_stuck, n_stuck);
	CHECK_STR(ret.stuck, text);
	pp_skeleton_run_done(&ret);
	pp_replay_model_free(model);
}

static void check_fails(const char *lines, struct pp_skeleton_how how, const char *text)
{
	struct pp_replay_model *model = model_of(lines);
	struct pp_skeleton_run ret;
	char *error;

	CHECK(run(model, &how, &ret, &error) != 0);
	CHECK_HOLDS(error, text);
	g_free(error);
	pp_replay_model_free(model);
}

static const char crossed[] = "lock \"l\"\nlock \"m\"\nsem 0 \"s\"\n"
			      "thread 0 \"a\"\n0 lock 0 @1\n0 post 2 @2\n0 await 1:1\n"
			      "0 lock 1 @5\n0 exit\n"
			      "thread 0 \"b\"\n0 lock 1 @3\n0 wait 2 @4\n0 lock 0 @6\n0 exit\n";

static void test_stuck(void)
{
	check_stuck(crossed, 2,
		    "thread 0 'a' at step 3 for lock 'm', thread 1 'b' at step 2 for lock 'l'");
	check_stuck("sem 0 \"s\"\nbarrier 2 \"b\"\nthread 0 \"a\"\n0 wait 0\n0 exit\n"
		    "thread 0 \"b\"\n0 barrier 1\n0 exit\nthread 0 \"c\"\n0 await 0:1\n0 exit\n"
		    "thread 0 \"d\"\n0 exit\n",
		    3,
		    "thread 0 'a' at step 0 for semaphore 's', thread 1 'b' at step 0 for barrier "
		    "'b', thread 2 'c' at step 0 for step 1 of thread 0");
	check_stuck("thread 0 \"a\"\n0 exit\nthread created \"b\"\n0 exit\n", 1,
		    "1 thread is never created");
	check_fails(crossed, (struct pp_skeleton_how){.n_cpus = 1, .order = PP_SKELETON_LOCKS},
		    "the replay would wait for ever: thread 1 'b' at step 2 for lock 'l', thread "
		    "0 'a' at step 3 for lock 'm'");
	check_fails("thread 0 \"a\"\n0 sleep 99000000000\n0 exit\n",
		    (struct pp_skeleton_how){.n_cpus = 1, .limit_ns = 10 * MS},
		    "the replay has not ended after 10.0 ms");
	/* a thread that spins is not blocked */
	check_fails("lock \"l\"\nthread 0 \"a\"\n0 spin 0\n0 await 1:1\n0 exit\n"
		    "thread 0 \"b\"\n0 await 0:0\n0 spin 0\n0 exit\n",
		    (struct pp_skeleton_how){.n_cpus = 1, .limit_ns = 5000 * MS},
		    "the replay has not ended after 5.00 s, and waits: thread 0 'a' at step 1 for "
		    "step 1 of thread 1, thread 1 'b' at step 1 for lock 'l'");
}

static void test_refused(void)
{
	check_fails("thread 0 \"a\"\n0 exit\n",
		    (struct pp_skeleton_how){.n_cpus = pp_skeleton_usable_cpus() + 1},
		    "use --engine=simulation");
	check_fails("thread 0 \"a\"\n0 exit\n",
		    (struct pp_skeleton_how){.n_cpus = 1, .order = PP_SKELETON_ALL},
		    "the model has no order of its steps: use --order=free");
}

/* --- order ------------------------------------------------------------------------------------ */

static const struct pp_replay_step *step_of(const struct pp_replay_model *model, const GArray *log,
					    guint i)
{
	const struct pp_skeleton_entry *entry = &g_array_index(log, struct pp_skeleton_entry, i);
	const struct pp_replay_thread *thread = model->threads->pdata[entry->thread];

	return &g_array_index(thread->steps, struct pp_replay_step, entry->step);
}

/* The first thread by its CPU time is the last one by the order. */
static void test_other_order(void)
{
	struct pp_replay_model *model =
	    model_of("lock \"l\"\nthread 0 \"a\"\n0 lock 0 @3\n"
		     "0 unlock 0 @4\n0 exit\nthread 0 \"b\"\n"
		     "20000000 lock 0 @1\n10000000 unlock 0 @2\n0 exit\n");

	for (int order = PP_SKELETON_LOCKS; order <= PP_SKELETON_ALL; order++) {
		struct pp_skeleton_run ret = good(
		    model, &(struct pp_skeleton_how){.n_cpus = 1, .order = order, .has_log = true});

		CHECK(ret.ns >= 30 * MS);
		CHECK_INT(g_array_index(ret.log, struct pp_skeleton_entry, 0).thread, 1);
		pp_skeleton_run_done(&ret);
	}
	pp_replay_model_free(model);
}

/* The acquisitions of an object as text; readers between two writers are sorted. */
static char *acquisitions(const struct pp_replay_model *model, const GArray *log, uint32_t object)
{
	GString *text = g_string_new("");
	g_autoptr(GArray) readers = g_array_new(FALSE, FALSE, sizeof(uint64_t));

	for (guint i = 0; i <= log->len; i++) {
		const struct pp_replay_step *step = i < log->len ? step_of(model, log, i) : NULL;
		const struct pp_skeleton_entry *entry =
		    &g_array_index(log, struct pp_skeleton_entry, i);

		if (step && (step->kind >= PP_REPLAY_BARRIER || step->kind == PP_REPLAY_UNLOCK ||
			     step->kind == PP_REPLAY_SEM_POST || step->object != object))
			continue;
		if (step && step->kind == PP_REPLAY_RDLOCK) {
			uint64_t reader = (uint64_t)entry->thread << 32 | entry->step;
			guint at = 0;

			while (at < readers->len && g_array_index(readers, uint64_t, at) < reader)
				at++;
			g_array_insert_val(readers, at, reader);
			continue;
		}
		for (guint k = 0; k < readers->len; k++)
			g_string_append_printf(text, "r%" PRIx64 " ",
					       g_array_index(readers, uint64_t, k));
		g_array_set_size(readers, 0);
		if (step)
			g_string_append_printf(text, "%u:%u ", entry->thread, entry->step);
	}
	return g_string_free(text, FALSE);
}

static void check_acquisitions(const struct pp_replay_model *model, const GArray *before,
			       const GArray *after)
{
	for (uint32_t i = 0; i < model->objects->len; i++) {
		g_autofree char *expected = acquisitions(model, before, i);
		g_autofree char *found = acquisitions(model, after, i);

		CHECK_STR(found, expected);
	}
}

/* Makes the order of the log that of the model. */
static void take_order(struct pp_replay_model *model, const GArray *log)
{
	for (guint i = 0; i < log->len; i++)
		((struct pp_replay_step *)step_of(model, log, i))->rank = i + 1;
}

static void test_random_model(uint32_t seed)
{
	struct pp_replay_model *model = random_model(seed);
	struct pp_skeleton_how how = {.n_cpus = pp_skeleton_usable_cpus(), .has_log = true};
	struct pp_skeleton_run free_run, run;

	CHECK(!pp_replay_check(model));
	free_run = good(model, &how);
	take_order(model, free_run.log);
	how.order = PP_SKELETON_LOCKS;
	run = good(model, &how);
	CHECK_INT(run.log->len, free_run.log->len);
	check_acquisitions(model, free_run.log, run.log);
	pp_skeleton_run_done(&run);
	how.order = PP_SKELETON_ALL;
	run = good(model, &how);
	CHECK_INT(run.log->len, free_run.log->len);
	CHECK(memcmp(run.log->data, free_run.log->data,
		     run.log->len * sizeof(struct pp_skeleton_entry)) == 0);
	pp_skeleton_run_done(&run);
	pp_skeleton_run_done(&free_run);
	pp_replay_model_free(model);
}

/* Any order is followed as far as the rules permit; here, it is random. */
static void test_random_order(uint32_t seed)
{
	struct pp_replay_model *model = random_model(seed);
	GRand *random = g_rand_new_with_seed(seed);

	CHECK(!pp_replay_check(model));
	for (guint i = 0; i < model->threads->len; i++) {
		const struct pp_replay_thread *thread = model->threads->pdata[i];

		for (guint k = 0; k < thread->steps->len; k++)
			g_array_index(thread->steps, struct pp_replay_step, k).rank =
			    (uint32_t)g_rand_int_range(random, 1, 1000);
	}
	for (int order = PP_SKELETON_LOCKS; order <= PP_SKELETON_ALL; order++) {
		struct pp_skeleton_run ret =
		    good(model, &(struct pp_skeleton_how){.n_cpus = 1, .order = order});

		pp_skeleton_run_done(&ret);
	}
	g_rand_free(random);
	pp_replay_model_free(model);
}

int main(void)
{
	test_times();
	test_without_effect();
	test_stuck();
	test_refused();
	test_other_order();
	for (uint32_t seed = 0; seed < N_MODELS; seed++) {
		test_random_model(seed);
		test_random_order(seed);
	}
	return 0;
}
