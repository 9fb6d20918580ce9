/* SPDX-License-Identifier: MIT */
/*
 * Delays by other programs: random times in which threads run or are ready, against sums that are
 * made the slow way, ns by ns; and where the builder sees them, by hand.
 */
#include "../pass/event_text.h"
#include "../unit/check.h"
#include "replay/build.h"
#include "replay/delays.h"

#define N_RUNS	  2000
#define N_THREADS 4
#define N_NS	  300

enum mode { ASLEEP, RUNS, READY };

struct random_run {
	GRand *rand;
	int n_cpus;
	enum mode modes[N_THREADS][N_NS];
};

static uint32_t same_number(void *data, uint32_t serial)
{
	(void)data;
	return serial;
}

/* If two threads would have no CPU, one of them is ready only. */
static void fill(struct random_run *run)
{
	for (int i = 0; i < N_THREADS; i++) {
		enum mode mode = ASLEEP;

		for (int t = 0; t < N_NS; t++) {
			int running = 0;

			if (g_rand_int_range(run->rand, 0, 20) == 0)
				mode = (enum mode)g_rand_int_range(run->rand, 0, 3);
			for (int k = 0; k < i; k++)
				running += run->modes[k][t] == RUNS;
			if (mode == RUNS && running == run->n_cpus)
				mode = READY;
			run->modes[i][t] = mode;
		}
	}
}

/* Each time in which a thread is ready has a step of its own. */
static void add_intervals(const struct random_run *run, struct pp_replay_delays *delays,
			  GArray *expected)
{
	for (uint32_t i = 0; i < N_THREADS; i++) {
		uint32_t step = 0;

		for (int t = 0, end; t < N_NS; t = end) {
			enum mode mode = run->modes[i][t];
			struct pp_replay_delay delay = {.thread = i, .step = step};

			for (end = t; end < N_NS && run->modes[i][end] == mode; end++) {
				int running = 0;

				for (int k = 0; k < N_THREADS; k++)
					running += run->modes[k][end] == RUNS;
				delay.ns += running < run->n_cpus;
			}
			if (mode == RUNS)
				pp_replay_delays_run(delays, t, end);
			if (mode != READY)
				continue;
			delay.is_late = step % 2;
			pp_replay_delays_ready(delays, t, end, i, step++, delay.is_late);
			if (delay.ns)
				g_array_append_val(expected, delay);
		}
	}
}

static guint test_random(uint32_t seed)
{
	g_autofree struct random_run *run = g_new0(struct random_run, 1);
	struct pp_replay_delays *delays = pp_replay_delays_new();
	struct pp_replay_model *model = pp_replay_model_new();
	g_autoptr(GArray) expected = g_array_new(FALSE, FALSE, sizeof(struct pp_replay_delay));

	run->rand = g_rand_new_with_seed(seed);
	run->n_cpus = g_rand_int_range(run->rand, 1, 4);
	fill(run);
	add_intervals(run, delays, expected);
	model->n_cpus = (uint32_t)run->n_cpus;
	pp_replay_delays_finish(delays, model, same_number, NULL);
	CHECK_INT(model->delays->len, expected->len);
	for (guint i = 0; i < expected->len; i++) {
		const struct pp_replay_delay *a =
		    &g_array_index(model->delays, struct pp_replay_delay, i);
		const struct pp_replay_delay *b =
		    &g_array_index(expected, struct pp_replay_delay, i);

		CHECK_INT(a->thread, b->thread);
		CHECK_INT(a->step, b->step);
		CHECK_INT(a->ns, b->ns);
		CHECK_INT(a->is_late, b->is_late);
	}
	pp_replay_delays_free(delays);
	pp_replay_model_free(model);
	g_rand_free(run->rand);
	return expected->len;
}

/* --- by hand ---------------------------------------------------------------------------------- */

static char *name_address(void *data, const struct pp_process *process, uint64_t address)
{
	(void)data;
	(void)process;
	return g_strdup_printf("0x%" PRIx64, address);
}

static const struct pp_namer namer = {.site = name_address, .function = name_address};

static struct pp_replay_model *build(const char *events)
{
	struct pp_pass_context context = {
	    .namer = &namer, .has_kernel = true, .has_switch_pairs = true, .has_wakings = true};
	struct pp_error err = PP_ERROR_INIT;
	struct pp_replay_builder *builder;
	struct pp_replay_model *model;
	struct pp_replay_gaps gaps;
	struct pp_text *text;

	if (pp_text_read(events, "events", 1, &text, &err)) {
		fprintf(stderr, "%s\n", pp_error_text(&err));
		exit(1);
	}
	context.model = text->model;
	builder = pp_replay_builder_new(&context);
	for (guint i = 0; i < text->events->len; i++)
		pp_replay_builder_event(builder, &g_array_index(text->events, struct pp_event, i));
	model = pp_replay_builder_finish(builder, 1, text->model->end_ns, &gaps);
	pp_replay_builder_free(builder);
	pp_text_free(text);
	return model;
}

static void check_delay(const struct pp_replay_model *model, guint at, uint32_t thread,
			uint32_t step, int64_t ns, bool is_late)
{
	const struct pp_replay_delay *delay =
	    &g_array_index(model->delays, struct pp_replay_delay, at);

	CHECK(at < model->delays->len);
	CHECK_INT(delay->thread, thread);
	CHECK_INT(delay->step, step);
	CHECK_INT(delay->ns, ns);
	CHECK_INT(delay->is_late, is_late);
}

/*
 * With one CPU, thread 10 is preempted by another program from 100 to 800 us, and by thread 11 from
 * 2000 us on, which is no delay. Thread 11 waits for the lock, is woken at 900 us, and runs 600 us
 * later: 10 ran for 100 us of these. It sleeps, and runs 20 us after it is woken: the replay has a
 * time for wake-ups of waits, but not for those of sleeps.
 */
static void test_builder(void)
{
	struct pp_replay_model *model = build(
	    "thread 10 start=0\nthread 11 start=0\n"
	    "0 switch prev=0 next=11\n10000 sem_post tid=11 object=0x2000\n"
	    "20000 mutex_lock_begin tid=11 object=0x1000 holder=10\n"
	    "30000 switch prev=11 next=10 state=S\n40000 mutex_lock tid=10 object=0x1000\n"
	    "100000 switch prev=10 next=99 state=R\n800000 switch prev=99 next=10\n"
	    "890000 mutex_unlock tid=10 object=0x1000\n900000 waking tid=11 waker=10\n"
	    "1000000 switch prev=10 next=99 state=S\n1500000 switch prev=99 next=11\n"
	    "1510000 mutex_lock tid=11 object=0x1000\n1520000 waking tid=10 waker=11\n"
	    "1530000 switch prev=11 next=10 state=R\n2000000 switch prev=10 next=11 state=R\n"
	    "2500000 mutex_unlock tid=11 object=0x1000\n2600000 switch prev=11 next=10 state=S\n"
	    "2900000 switch prev=10 next=0 state=S\n3000000 waking tid=11 waker=10\n"
	    "3020000 switch prev=0 next=11\n4000000 exit tid=10\n4000000 exit tid=11\n");

	check_delay(model, 0, 0, 1, 700000, false);
	check_delay(model, 1, 1, 1, 500000, true);
	check_delay(model, 2, 1, 4, 20000, false);
	CHECK_INT(model->delays->len, 3);
	pp_replay_model_free(model);
}

int main(void)
{
	uint64_t n_delays = 0;

	test_builder();
	for (uint32_t seed = 0; seed < N_RUNS; seed++)
		n_delays += test_random(seed);
	CHECK(n_delays > N_RUNS);
	printf("%d random runs, %" PRIu64 " delays\n", N_RUNS, n_delays);
	return 0;
}
