/* SPDX-License-Identifier: MIT */
/*
 * Times up to 2^63 in a capture: they are left out and counted, and the figures are those of the
 * other events.  Every pass runs, in a sanitized build without an overflow.
 */
#include <inttypes.h>

#include "check.h"
#include "fixture.h"
#include "capture/traces.h"
#include "events/events.h"
#include "analysis/pass_set.h"

#define PID	  500
#define N_THREADS 4u
#define N_FAR	  6u /* far waits of each thread */
#define S	  UINT64_C(1000000000)
#define FAR	  (UINT64_C(1) << 62)
#define LONGEST	  ((uint64_t)PP_LONGEST_NS)

static const char *dir;
static const char far_events[] = "events more than 104 days from the start: left out";
static const char far_threads[] = "threads more than 104 days from the start: their times are left "
				  "out";
static const char bad_calls[] = "blocking calls with an impossible duration: without it";

/* last_end_ns: the recorded end of the last thread. */
static void write_process(uint64_t last_end_ns)
{
	struct gm_thread_slot slots[N_THREADS];

	for (unsigned i = 0; i < N_THREADS; i++)
		slots[i] = (struct gm_thread_slot){
		    .state = GM_THREAD_ENDED,
		    .tid = PID + i,
		    .parent_index = i ? 0 : -1,
		    .start_ns = 1 * S,
		    .end_ns = i + 1 < N_THREADS ? 9 * S : last_end_ns,
		    .name = "thread",
		};
	fixture_capture(dir, 1);
	fixture_process(dir, PID, slots, N_THREADS);
}

static void write_wait(struct fixture_stream *stream, uint64_t begin_ns, uint64_t end_ns)
{
	fixture_sync(stream, begin_ns, ST_EVENT_mutex_lock_begin, 0, 1, 0x1000, PID);
	fixture_sync(stream, end_ns, ST_EVENT_mutex_lock, 0, 1, 0x1000, 0);
	fixture_sync(stream, end_ns, ST_EVENT_mutex_unlock, 0, 1, 0x1000, 0);
}

/* Each thread waits from 2 s to 3 s + i; then, N_FAR times, as long as no machine runs. */
static void write_waits(void)
{
	for (unsigned i = 0; i < N_THREADS; i++) {
		struct fixture_stream *stream = fixture_thread_stream(dir, PID, i, PID + i, 1 * S);

		fixture_site(stream, 1 * S, 1, 0x401000);
		write_wait(stream, 2 * S, 3 * S + i);
		for (unsigned k = 0; k < N_FAR; k++)
			write_wait(stream, FAR + 2 * k * S, 2 * FAR - N_FAR + k);
		fixture_close(stream);
	}
}

static void write_switches(void)
{
	struct fixture_stream *cpu;

	fixture_kernel(dir, "perf");
	cpu = fixture_cpu_stream(dir, 0, 1 * S);
	fixture_switch(cpu, 1 * S, 0, 0, PID);
	fixture_switch(cpu, 4 * S, PID, 1, 0);
	fixture_switch(cpu, FAR, 0, 0, PID);
	fixture_switch(cpu, 2 * FAR - 1, PID, 1, 0);
	fixture_close(cpu);
}

/* --- reading ---------------------------------------------------------------------------------- */

static char *name_address(void *data, const struct pp_process *process, uint64_t address)
{
	(void)data;
	(void)process;
	return g_strdup_printf("0x%" PRIx64, address);
}

static const struct pp_namer namer = {.site = name_address, .function = name_address};

static void take(void *passes, const struct pp_event *event)
{
	pp_pass_set_event(passes, event);
}

static int64_t sum_of(struct pp_pass_set *passes, const char *pass, const char *key)
{
	unsigned n;
	const struct pp_table *table = pp_pass_set_tables(passes, pass, &n)[0];
	int64_t sum = 0;

	for (guint i = 0; i < table->rows->len; i++) {
		const struct pp_cell *cell = pp_table_cell(table, i, key);

		sum += cell ? cell->time_ns : 0;
	}
	return sum;
}

static uint64_t problem_count(const struct pp_model *model, const char *what)
{
	uint64_t count = 0;

	for (guint i = 0; i < model->problems->len; i++) {
		const struct pp_problem *problem = model->problems->pdata[i];

		if (strcmp(problem->what, what) == 0)
			count += problem->count;
	}
	return count;
}

static struct pp_capture *capture_open(void)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_capture *capture;

	CHECK_INT(pp_capture_open(dir, &capture, &err), 0);
	return capture;
}

/* Runs all passes; the caller frees them. */
static struct pp_pass_set *run_passes(struct pp_capture *capture, struct pp_pass_context *context)
{
	g_autoptr(GPtrArray) names = g_ptr_array_new();
	struct pp_error err = PP_ERROR_INIT;
	struct pp_kernel_abilities kernel;
	struct pp_pass_set *passes;
	unsigned n;

	pp_kernel_abilities(capture, &kernel);
	*context = (struct pp_pass_context){
	    .model = capture->model,
	    .namer = &namer,
	    .has_kernel = kernel.has_events,
	    .has_switch_pairs = kernel.has_switch_pairs,
	    .has_wakings = kernel.has_wakings,
	};
	for (unsigned i = 0; pp_passes[i]; i++)
		g_ptr_array_add(names, (char *)pp_passes[i]->name);
	passes = pp_pass_set_new(context, (const char *const *)names->pdata, names->len);
	CHECK_INT(pp_events_read(capture, ~0u, take, passes, &err), 0);
	pp_pass_set_finish(passes, capture->model->end_ns);
	for (guint i = 0; i < names->len; i++)
		pp_pass_set_tables(passes, names->pdata[i], &n);
	return passes;
}

/* --- checks ----------------------------------------------------------------------------------- */

static void check_waits(bool has_kernel)
{
	const int64_t waits_ns = N_THREADS * S + N_THREADS * (N_THREADS - 1) / 2;
	struct pp_pass_context context;
	struct pp_pass_set *passes;
	struct pp_capture *capture;

	write_process(9 * S);
	write_waits();
	if (has_kernel)
		write_switches();
	capture = capture_open();
	passes = run_passes(capture, &context);
	CHECK_INT(problem_count(capture->model, far_events),
		  3 * N_FAR * N_THREADS + (has_kernel ? 2 : 0));
	CHECK_INT(sum_of(passes, "locks", "wait_ns"), waits_ns);
	CHECK_INT(sum_of(passes, "blame", "wait_ns"), waits_ns);
	CHECK_INT(capture->model->end_ns, 9 * S);
	pp_pass_set_free(passes);
	pp_capture_free(capture);
}

/* The end of a thread, as the thread table has it. */
static void check_thread(void)
{
	struct pp_pass_context context;
	struct pp_pass_set *passes;
	struct pp_capture *capture;
	const struct pp_thread *last;

	write_process(2 * FAR - 1);
	capture = capture_open();
	last = capture->model->threads->pdata[N_THREADS - 1];
	CHECK_INT(problem_count(capture->model, far_threads), 1);
	CHECK(last->end_ns == PP_TIME_UNKNOWN);
	CHECK_INT(last->start_ns, 1 * S);
	passes = run_passes(capture, &context);
	CHECK_INT(capture->model->end_ns, 9 * S);
	pp_pass_set_free(passes);
	pp_capture_free(capture);
}

/* The longest recording that is read, and an event beyond it. */
static void check_limit(void)
{
	struct fixture_stream *stream;
	struct pp_pass_context context;
	struct pp_pass_set *passes;
	struct pp_capture *capture;

	write_process(9 * S);
	stream = fixture_thread_stream(dir, PID, 0, PID, 1 * S);
	write_wait(stream, 2 * S, LONGEST + 1 * S);
	fixture_sync(stream, LONGEST + 1 * S + 1, ST_EVENT_sem_post, 0, 0, 0x2000, 0);
	fixture_close(stream);
	capture = capture_open();
	passes = run_passes(capture, &context);
	CHECK_INT(problem_count(capture->model, far_events), 3 * N_FAR * (N_THREADS - 1) + 1);
	CHECK_INT(capture->model->end_ns, LONGEST + 1 * S);
	pp_pass_set_free(passes);
	pp_capture_free(capture);
}

/*
 * Blocking calls that would have begun before the machine did, or that together took longer than
 * the thread, have no duration; a long one just after the machine's start has.
 */
static void check_calls(void)
{
	struct fixture_stream *stream;
	struct pp_pass_context context;
	struct pp_pass_set *passes;
	struct pp_capture *capture;

	write_process(9 * S);
	stream = fixture_thread_stream(dir, PID, 0, PID, 1 * S);
	fixture_io(stream, 5 * S, ST_IO_read, 3, 4 * S); /* from 1 s */
	fixture_io(stream, 6 * S, ST_IO_read, 3, 6 * S + 1);
	fixture_io(stream, 6 * S, ST_IO_read, 3, UINT64_MAX);
	fixture_io(stream, LONGEST, ST_IO_read, 3, LONGEST - 4 * S + 1);
	fixture_io(stream, LONGEST, ST_IO_read, 3, LONGEST - 4 * S);
	fixture_close(stream);
	capture = capture_open();
	passes = run_passes(capture, &context);
	CHECK_INT(problem_count(capture->model, bad_calls), 3);
	CHECK_INT(sum_of(passes, "io", "wait_ns"), LONGEST);
	pp_pass_set_free(passes);
	pp_capture_free(capture);
}

static void check_all(void)
{
	dir = "user";
	check_waits(false);
	check_thread();
	check_limit();
	check_calls();
	dir = "kernel";
	check_waits(true);
}

int main(void)
{
	check_all();
	g_setenv("GPROF_MT_READER", "babeltrace", TRUE);
	check_all();
	return 0;
}
