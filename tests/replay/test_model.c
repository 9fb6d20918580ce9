/* SPDX-License-Identifier: MIT */
/*
 * Models of events, by hand: how long wake-ups took, how many threads of other programs wanted a
 * CPU, and what contention of a lock costs.
 */
#include "../unit/check.h"
#include "../pass/event_text.h"
#include "replay/build.h"

static char *name_address(void *data, const struct pp_process *process, uint64_t address)
{
	(void)data;
	(void)process;
	return g_strdup_printf("0x%" PRIx64, address);
}

static const struct pp_namer namer = {.site = name_address, .function = name_address};

static struct pp_replay_model *build_part(const char *events, int64_t from_ns, int64_t to_ns,
					  struct pp_replay_cut_sums *ret_cut)
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
	if (ret_cut)
		pp_replay_builder_cut(builder, from_ns, to_ns);
	for (guint i = 0; i < text->events->len; i++)
		pp_replay_builder_event(builder, &g_array_index(text->events, struct pp_event, i));
	model = pp_replay_builder_finish(builder, 1, text->model->end_ns, &gaps);
	if (ret_cut)
		*ret_cut = pp_replay_builder_cut_model(builder, model);
	pp_replay_builder_free(builder);
	pp_text_free(text);
	return model;
}

static struct pp_replay_model *build(const char *events)
{
	return build_part(events, 0, 0, NULL);
}

/* --- wake-ups and other programs -------------------------------------------------------------- */

/* A thread of a machine with one CPU, which it has at the begin and at the end, at 1 ms. */
static void check_thread(const char *events, int64_t wake_ns, uint32_t others)
{
	g_autofree char *text = g_strdup_printf("thread 10 start=0\nthread 11 start=0\n"
						"0 switch prev=11 next=10 state=S\n"
						"%s1000000 exit tid=10\n1000000 exit tid=11\n",
						events);
	struct pp_replay_model *model = build(text);

	CHECK_INT(model->n_wakes, 1);
	CHECK_INT(model->wake_ns[0], wake_ns);
	CHECK_INT(model->others, others);
	pp_replay_model_free(model);
}

static void test_others(void)
{
	/* The CPU was idle: it took 300 us to run again. */
	check_thread("100000 switch prev=10 next=0 state=S\n200000 waking tid=10 waker=11\n"
		     "500000 switch prev=0 next=10\n",
		     300000, 0);
	/* Another program ran there, and was preempted at once. */
	check_thread("100000 switch prev=10 next=99 state=S\n200000 waking tid=10 waker=11\n"
		     "220000 switch prev=99 next=10\n",
		     20000, 0);
	/* ... only after 700 us: of the 900 us in which it wanted the CPU, it had 200. */
	check_thread("100000 switch prev=10 next=99 state=S\n200000 waking tid=10 waker=11\n"
		     "900000 switch prev=99 next=10\n",
		     50000, 3500);
	/* The wake-up of a timer, or of another program, is not one that the replay has. */
	check_thread("100000 switch prev=10 next=99 state=S\n200000 waking tid=10\n"
		     "220000 switch prev=99 next=10\n",
		     50000, 0);
	/* The other program has preempted it: 300 of 1000 us. */
	check_thread("100000 switch prev=10 next=99 state=R\n800000 switch prev=99 next=10\n",
		     50000, 2333);
	/* It came back to a CPU that was idle. */
	check_thread("100000 switch prev=10 next=99 state=R\n800000 switch prev=0 next=10\n", 50000,
		     0);
	/* It has waited for another thread of its program, with the other one's time. */
	check_thread("90000 waking tid=11 waker=10\n100000 switch prev=10 next=11 state=R\n"
		     "800000 switch prev=11 next=10 state=S\n",
		     10000, 0);
}

/* Every second of 64 times is a quantile; those on a CPU of the program's own do not count. */
static void test_quantiles(void)
{
	GString *text =
	    g_string_new("thread 10 start=0\nthread 11 start=0\n"
			 "0 switch prev=0 next=10 cpu=0\n0 switch prev=0 next=11 cpu=1\n");
	struct pp_replay_model *model;
	int64_t now_ns = 0;

	for (int i = 64; i > 0; i--) {
		now_ns += 1000000;
		g_string_append_printf(text,
				       "%" PRId64 " switch prev=10 next=0 state=S cpu=0\n"
				       "%" PRId64 " waking tid=10 waker=11 cpu=1\n"
				       "%" PRId64 " switch prev=0 next=10 cpu=0\n",
				       now_ns, now_ns + 100, now_ns + 100 + i * 1000);
	}
	g_string_append_printf(text,
			       "%" PRId64 " switch prev=10 next=0 state=S cpu=0\n"
			       "%" PRId64 " waking tid=10 waker=11 cpu=1\n"
			       "%" PRId64 " switch prev=11 next=10 state=S cpu=1\n",
			       now_ns + 200000, now_ns + 200100, now_ns + 200200);
	model = build(text->str);
	CHECK_INT(model->n_wakes, 32);
	for (uint32_t i = 0; i < 32; i++)
		CHECK_INT(model->wake_ns[i], (2 * i + 2) * 1000);
	pp_replay_model_free(model);
	g_string_free(text, TRUE);
}

/* --- costs ------------------------------------------------------------------------------------ */

#define LOCK "object=0x1000 site=0x10"

/*
 * In each round, the thread 10 holds the lock, and the thread 11 takes block_ns to block, if it is
 * contended, is woken 500 ns after the release, and takes retry_ns to get the lock.
 */
static void add_round(GString *text, int64_t at_ns, bool is_contended, int64_t block_ns,
		      int64_t retry_ns, int64_t after_ns)
{
	int64_t release_ns = at_ns + 100000, run_ns = release_ns + 10000;

	g_string_append_printf(text, "%" PRId64 " mutex_lock tid=10 " LOCK "\n", at_ns);
	if (is_contended)
		g_string_append_printf(text,
				       "%" PRId64 " mutex_lock_begin tid=11 " LOCK " holder=10\n"
				       "%" PRId64 " switch prev=11 next=0 state=S cpu=1\n",
				       at_ns + 1000, at_ns + 1000 + block_ns);
	g_string_append_printf(text, "%" PRId64 " mutex_unlock tid=10 " LOCK "\n", release_ns);
	if (is_contended)
		g_string_append_printf(text,
				       "%" PRId64 " waking tid=11 waker=10 cpu=0\n"
				       "%" PRId64 " switch prev=0 next=11 cpu=1\n",
				       release_ns + 500, run_ns);
	if (is_contended)
		g_string_append_printf(text,
				       "%" PRId64 " mutex_lock tid=11 " LOCK "\n"
				       "%" PRId64 " mutex_unlock tid=11 " LOCK "\n",
				       run_ns + retry_ns, run_ns + retry_ns + 100);
	g_string_append_printf(text, "%" PRId64 " sem_post tid=10 object=0x2000 site=0x20\n",
			       release_ns + after_ns);
}

static void test_costs(void)
{
	GString *text =
	    g_string_new("thread 10 start=0\nthread 11 start=0\n"
			 "0 switch prev=0 next=10 cpu=0\n0 switch prev=0 next=11 cpu=1\n");
	struct pp_replay_model *model;
	int64_t at_ns = 1000000;

	/* One round in nine has times of another cause, such as an interrupt. */
	for (int i = 0; i < 36; i++) {
		bool is_odd = i / 2 % 9 == 4;

		add_round(text, at_ns, i % 2, is_odd ? 60000 : 2000, is_odd ? 30000 : 700,
			  i % 2 ? 53000 + 200000 * is_odd : 50000);
		at_ns += 1000000;
	}
	model = build(text->str);
	CHECK_INT(model->costs.block_ns, 2000);
	CHECK_INT(model->costs.retry_ns, 700);
	CHECK_INT(model->costs.release_ns, 3000);
	CHECK_INT(model->costs.wake_up_ns, 500);
	pp_replay_model_free(model);
	g_string_free(text, TRUE);
}

/* --- a part of the time ----------------------------------------------------------------------- */

static const struct pp_replay_step *step_of(const struct pp_replay_model *model, uint32_t thread,
					    uint32_t step)
{
	const GArray *steps =
	    ((const struct pp_replay_thread *)model->threads->pdata[thread])->steps;

	CHECK(step < steps->len);
	return &g_array_index(steps, struct pp_replay_step, step);
}

static void check_step(const struct pp_replay_model *model, uint32_t thread, uint32_t step,
		       enum pp_replay_kind kind, uint64_t cpu_ns)
{
	CHECK_STR(pp_replay_kind_name(step_of(model, thread, step)->kind),
		  pp_replay_kind_name(kind));
	CHECK_INT(step_of(model, thread, step)->cpu_ns, cpu_ns);
}

/*
 * The part begins at 1000, in a section of the thread 10, and ends at 3000, in one of the
 * thread 11. The condition has been notified once before, and the semaphore posted twice and waited
 * for once.
 */
static void test_part(void)
{
	static const char events[] =
	    "thread 10 start=0\nthread 11 start=0\nthread 12 start=0 end=600 ended\n"
	    "0 switch prev=0 next=10 cpu=0\n0 switch prev=0 next=11 cpu=1\n"
	    "100 cond_signal tid=11 object=0x2000\n200 sem_post tid=11 object=0x3000\n"
	    "300 sem_post tid=11 object=0x3000\n400 sem_wait tid=11 object=0x3000\n"
	    "600 exit tid=12\n800 mutex_lock tid=10 object=0x1000\n"
	    "1500 mutex_unlock tid=10 object=0x1000\n1600 sem_wait tid=10 object=0x3000\n"
	    "2000 cond_signal tid=11 object=0x2000\n2500 mutex_lock tid=11 object=0x1000\n"
	    "3500 mutex_unlock tid=11 object=0x1000\n"
	    "4000 exit tid=10\n4000 exit tid=11\n";
	struct pp_replay_cut_sums cut;
	struct pp_replay_model *model = build_part(events, 1000, 3000, &cut);
	g_autofree char *wrong = pp_replay_check(model);

	CHECK(!wrong);
	CHECK_INT(model->recorded_ns, 2000);
	CHECK_INT(cut.n_before, 5);
	CHECK_INT(cut.held->len, 1);
	check_step(model, 0, 0, PP_REPLAY_LOCK, 0);
	check_step(model, 0, 1, PP_REPLAY_UNLOCK, 500);
	check_step(model, 0, 2, PP_REPLAY_SEM_WAIT, 100);
	check_step(model, 0, 3, PP_REPLAY_EXIT, 1400);
	check_step(model, 1, 0, PP_REPLAY_NOTIFY, 1000);
	check_step(model, 1, 1, PP_REPLAY_LOCK, 500);
	check_step(model, 1, 2, PP_REPLAY_UNLOCK, 500);
	check_step(model, 1, 3, PP_REPLAY_EXIT, 0);
	for (guint i = 0; i < model->objects->len; i++) {
		const struct pp_replay_object *object = model->objects->pdata[i];

		if (object->kind == PP_REPLAY_OBJECT_SEM)
			CHECK_INT(object->count, 1);
	}
	g_ptr_array_unref(cut.held);
	pp_replay_model_free(model);
}

/* A barrier of two threads: one has arrived before the part, and one arrives behind another. */
static void test_part_of_barriers(void)
{
	struct pp_replay_model *model = pp_replay_model_new();
	struct pp_replay_cut_thread threads[2] = {{.n_before = 1}, {.n_before = 0}};
	struct pp_replay_cut_sums cut;

	pp_replay_add_object(model, PP_REPLAY_OBJECT_BARRIER, 2, "barrier");
	for (uint32_t i = 0; i < 2; i++) {
		GArray *steps = pp_replay_add_thread(model, "t")->steps;

		for (uint32_t k = 0; k < 3; k++) {
			struct pp_replay_step step = {.kind = k < 2 ? PP_REPLAY_BARRIER
								    : PP_REPLAY_EXIT,
						      .cpu_ns = 10,
						      .rank = k < 2 ? 2 * k + i + 1 : 0};

			g_array_append_val(steps, step);
		}
	}
	cut = pp_replay_cut(model, threads, 10);
	check_step(model, 0, 0, PP_REPLAY_BARRIER, 10);
	check_step(model, 1, 0, PP_REPLAY_SIGNAL, 10);
	check_step(model, 1, 1, PP_REPLAY_BARRIER, 10);
	g_ptr_array_unref(cut.held);
	pp_replay_model_free(model);
}

int main(void)
{
	test_part();
	test_part_of_barriers();
	test_others();
	test_quantiles();
	test_costs();
	return 0;
}
