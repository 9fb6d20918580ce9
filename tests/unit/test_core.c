/* SPDX-License-Identifier: MIT */
/*
 * Errors in one line, names of synch-events, threads by tid and time, traits of operations,
 * percentiles.
 */
#include <errno.h>

#include "check.h"
#include "core/text/duration.h"
#include "core/error.h"
#include "core/event.h"
#include "core/model.h"
#include "analysis/percentiles.h"

static void check_error(void)
{
	struct pp_error err = PP_ERROR_INIT;
	char *text;

	CHECK_INT(pp_error_add(NULL, -5, "nobody listens"), -5);
	CHECK_INT(pp_error_add(&err, -22, "no such key '%s'", "x"), -22);
	pp_error_add(&err, -22, "line %d", 7);
	pp_error_add(&err, -22, "a\nfile\x1b[1m");
	text = pp_error_text(&err);
	/* One line without control characters, whatever a file contained. */
	CHECK_STR(text, "a file?[1m: line 7: no such key 'x'");
	g_free(text);
	pp_error_done(&err);
	text = pp_error_text(&err);
	CHECK(*text);
	g_free(text);
}

/* Payload of the event in the wire contract. */
enum shape {
	OP,
	BEGIN,
	VALUE,
	COND,
	ROUTINE,
	SITE,
	CALL_PATH,
	PATH,
	TRIES,
	CONDITIONALS,
	ORDER,
	IO
};

static const struct contract {
	const char *name;
	enum shape shape;
} contract[ST_N_EVENTS] = {
#define IN_CONTRACT(name, shape) {#name, shape},
    ST_EVENTS(IN_CONTRACT)
#undef IN_CONTRACT
};

static void check_begin(enum st_event op)
{
	enum st_event completion = pp_sync_completion(op);
	const char *name = pp_sync_name(op);

	CHECK_INT(pp_sync_has(op, PP_SYNC_BEGIN), g_str_has_suffix(name, "_begin"));
	CHECK_INT(completion != ST_N_EVENTS, pp_sync_has(op, PP_SYNC_BEGIN));
	if (completion == ST_N_EVENTS)
		return;
	CHECK_INT(strlen(pp_sync_name(completion)), strlen(name) - strlen("_begin"));
	CHECK(g_str_has_prefix(name, pp_sync_name(completion)));
	CHECK_INT(pp_sync_begin(completion), op);
	CHECK_STR(pp_sync_function(op), pp_sync_function(completion));
	CHECK_INT(pp_sync_row(op)->traits, PP_SYNC_BEGIN);
}

/*
 * Derives the function from the event: "thread_create" is "pthread_create", "signal_kill" "kill".
 */
static void check_function(enum st_event op)
{
	const char *name = pp_sync_name(op), *function = pp_sync_function(op);
	static const char signal[] = "signal_";
	g_autofree char *called =
	    g_strdup(g_str_has_prefix(name, signal) ? name + strlen(signal) : name);

	if (!function || g_str_has_prefix(function, "GOMP_") || g_str_has_prefix(function, "omp_"))
		return;
	if (pp_sync_has(op, PP_SYNC_BEGIN))
		called[strlen(called) - strlen("_begin")] = '\0';
	if (pp_sync_type(op) == GM_SYNC_TYPE_thread)
		CHECK(g_str_has_prefix(function, "p") && strcmp(function + 1, called) == 0);
	else
		CHECK_STR(g_str_has_prefix(function, "pthread_") ? function + strlen("pthread_")
								 : function,
			  called);
}

/* The table of operations agrees with the wire contract. */
static void check_operations(void)
{
	for (enum st_event op = 0; op < ST_N_EVENTS; op++) {
		bool is_definition = pp_sync_has(op, PP_SYNC_DEFINES);

		CHECK_STR(pp_sync_name(op), contract[op].name);
		CHECK_INT(is_definition, contract[op].shape >= SITE);
		CHECK_INT(pp_sync_type(op) == PP_SYNC_TYPE_NONE, is_definition);
		if (!is_definition)
			CHECK(g_str_has_prefix(pp_sync_name(op),
					       pp_sync_type_name(pp_sync_type(op))));
		if (contract[op].shape == BEGIN)
			CHECK(pp_sync_has(op, PP_SYNC_BEGIN));
		CHECK_INT(contract[op].shape == COND,
			  pp_sync_has(op, PP_SYNC_YIELDS) ||
			      (op + 1 < ST_N_EVENTS && pp_sync_has(op + 1, PP_SYNC_YIELDS) &&
			       pp_sync_has(op, PP_SYNC_BEGIN)));
		check_begin(op);
		check_function(op);
	}
	CHECK_STR(pp_sync_function(ST_EVENT_mutex_lock_begin), "pthread_mutex_lock");
	CHECK_STR(pp_sync_function(ST_EVENT_sem_wait), "sem_wait");
	CHECK_STR(pp_sync_function(ST_EVENT_thread_join_begin), "pthread_join");
	CHECK_STR(pp_sync_function(ST_EVENT_barrier_wait), "pthread_barrier_wait");
	CHECK_STR(pp_sync_function(ST_EVENT_signal_kill), "kill");
	CHECK_STR(pp_sync_function(ST_EVENT_thread_kill), "pthread_kill");
	CHECK(!pp_sync_function(ST_EVENT_signal_failed));
	CHECK(!pp_sync_function(ST_EVENT_thread_start));
	CHECK(!pp_sync_function(ST_EVENT_site));
	CHECK_STR(pp_sync_type_name(pp_sync_type(ST_EVENT_cond_timedwait)), "cond");
	CHECK_STR(pp_sync_type_name(pp_sync_type(ST_N_EVENTS)), "unknown");
	CHECK_STR(pp_sync_name(ST_N_EVENTS), "unknown");
	CHECK_INT(pp_sync_completion(ST_N_EVENTS), ST_N_EVENTS);
	CHECK_INT(pp_sync_begin(ST_N_EVENTS), ST_N_EVENTS);
}

/* Traits that exclude or require others, and the results that acquire an object. */
static void check_traits(void)
{
	for (enum st_event op = 0; op < ST_N_EVENTS; op++) {
		if (pp_sync_has(op, PP_SYNC_BLOCKS))
			CHECK(pp_sync_has(op, PP_SYNC_ACQUIRES));
		if (pp_sync_has(op, PP_SYNC_TRIES))
			CHECK(pp_sync_has(op, PP_SYNC_ACQUIRES) &&
			      !pp_sync_has(op, PP_SYNC_BLOCKS));
		if (pp_sync_has(op, PP_SYNC_TIMED | PP_SYNC_YIELDS | PP_SYNC_SPINS))
			CHECK(pp_sync_has(op, PP_SYNC_BLOCKS));
		if (pp_sync_has(op, PP_SYNC_SHARED))
			CHECK_INT(pp_sync_type(op), GM_SYNC_TYPE_rwlock);
		if (pp_sync_has(op, PP_SYNC_RELEASES))
			CHECK(pp_sync_type_is_lock(pp_sync_type(op)));
		if (!pp_sync_has(op, PP_SYNC_ACQUIRES))
			CHECK(!pp_sync_acquired(op, 0));
	}
	CHECK(pp_sync_acquired(ST_EVENT_mutex_trylock, EOWNERDEAD));
	CHECK(!pp_sync_acquired(ST_EVENT_mutex_trylock, EBUSY));
	CHECK(!pp_sync_acquired(ST_EVENT_mutex_timedlock, ETIMEDOUT));
	CHECK(pp_sync_acquired(ST_EVENT_cond_timedwait, ETIMEDOUT));
	CHECK(!pp_sync_acquired(ST_EVENT_sem_timedwait, ETIMEDOUT));
	CHECK(pp_sync_acquired(ST_EVENT_barrier_wait, ST_RESULT_SERIAL_THREAD));
	CHECK(!pp_sync_acquired(ST_EVENT_rwlock_rdlock, EOWNERDEAD));
}

static gint compare_ns(gconstpointer a, gconstpointer b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

/* Percentiles of durations over ten orders of magnitude; the reference sorts them. */
static void check_percentiles(unsigned n, uint64_t seed)
{
	g_autoptr(GArray) sorted = g_array_new(FALSE, FALSE, sizeof(int64_t));
	struct pp_spread halves[2] = {0}, spread = {0};

	for (unsigned i = 0; i < n; i++) {
		int64_t ns;

		seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		ns = (int64_t)((seed >> 33) % UINT64_C(1000000000) >> seed % 30);
		g_array_append_val(sorted, ns);
		pp_spread_add(&halves[i % 2], ns);
	}
	pp_spread_merge(&spread, &halves[0]);
	pp_spread_merge(&spread, &halves[1]);
	g_array_sort(sorted, compare_ns);
	CHECK_INT(spread.n, n);
	CHECK_INT(spread.max_ns, g_array_index(sorted, int64_t, n - 1));
	for (unsigned percent = 0; percent <= 100; percent++) {
		unsigned rank = MAX((n * percent + 99) / 100, 1);
		int64_t exact = g_array_index(sorted, int64_t, rank - 1);
		int64_t found = pp_spread_percentile(&spread, percent);

		CHECK(llabs(found - exact) <= exact / 64);
	}
	pp_spread_done(&halves[0]);
	pp_spread_done(&halves[1]);
	pp_spread_done(&spread);
}

static void check_spread(void)
{
	struct pp_spread spread = {0};

	for (unsigned n = 1; n < 300; n++)
		check_percentiles(n, n);
	check_percentiles(100000, 7);
	/* The shortest and the longest duration. */
	pp_spread_add(&spread, INT64_MAX);
	CHECK(pp_spread_percentile(&spread, 50) >= INT64_MAX - INT64_MAX / 64);
	pp_spread_add(&spread, 0);
	pp_spread_add(&spread, -5);
	CHECK_INT(pp_spread_percentile(&spread, 50), 0);
	pp_spread_done(&spread);
}

static struct pp_thread *add(struct pp_model *model, struct pp_process *process, uint32_t tid,
			     uint32_t index, int64_t start_ns, int64_t end_ns)
{
	struct pp_thread *thread = pp_model_add_thread(model, process, tid, index);

	thread->start_ns = start_ns;
	thread->end_ns = end_ns;
	return thread;
}

/* A tid that was used three times; the last thread with it never ended. */
static void check_threads(void)
{
	struct pp_model *model = pp_model_new("dir");
	struct pp_process *process = pp_model_add_process(model, 1, "1");
	struct pp_thread *first = add(model, process, 10, 0, 100, 200);
	struct pp_thread *other = add(model, process, 11, 1, 50, 400);
	struct pp_thread *second = add(model, process, 10, 2, 300, 350);
	struct pp_thread *third = add(model, process, 10, 5, 500, PP_TIME_UNKNOWN);

	CHECK(pp_model_thread_at(model, 10, 150) == first);
	CHECK(pp_model_thread_at(model, 10, 250) == first);
	CHECK(pp_model_thread_at(model, 10, 320) == second);
	CHECK(pp_model_thread_at(model, 10, 351) == second);
	CHECK(pp_model_thread_at(model, 10, 10000) == third);
	CHECK(pp_model_thread_at(model, 10, 1) == first);
	CHECK(pp_model_thread_at(model, 11, 9999) == other);
	CHECK(!pp_model_thread_at(model, 12, 100));
	CHECK(pp_model_thread_from(model, 10, 201) == second);
	CHECK(!pp_model_thread_from(model, 10, 501));
	CHECK(pp_process_thread(process, 2) == second);
	CHECK(pp_process_thread(process, 5) == third);
	CHECK(!pp_process_thread(process, 3) && !pp_process_thread(process, 99));
	pp_model_add_problem(model, "lost", "a", 2);
	pp_model_add_problem(model, "lost", "b", 1);
	pp_model_add_problem(model, "lost", "a", 3);
	CHECK_INT(model->problems->len, 2);
	CHECK_INT(((struct pp_problem *)model->problems->pdata[0])->count, 5);
	pp_model_free(model);
	pp_model_free(NULL);
}

static void check_duration(int64_t ns, const char *expected)
{
	g_autofree char *text = pp_duration_text(ns);

	CHECK_STR(text, expected);
}

int main(void)
{
	check_error();
	check_spread();
	check_operations();
	check_traits();
	check_threads();
	check_duration(0, "0");
	check_duration(7, "7 ns");
	check_duration(999, "999 ns");
	check_duration(1000, "1.00 us");
	check_duration(999499, "999 us");
	check_duration(999600, "1.00 ms");
	check_duration(12345678, "12.3 ms");
	check_duration(-1500000000, "-1.50 s");
	check_duration(INT64_MAX, "9223372037 s");
	return 0;
}
