/* SPDX-License-Identifier: MIT */
/*
 * CPU time of steps in functions, by the history of calls: cases by hand, and random threads
 * against sums that are made the slow way, by looking at each thread's own stack every 10 ns.
 */
#include "../pass/event_text.h"
#include "../unit/check.h"
#include "replay/build.h"

/* Functions f0, f1, ... each have so many addresses. */
#define FUNCTION_BYTES UINT64_C(0x1000)

static char *name_function(void *data, const struct pp_process *process, uint64_t address)
{
	(void)data;
	(void)process;
	return g_strdup_printf("f%" PRIu64, address / FUNCTION_BYTES);
}

static const struct pp_namer namer = {.site = name_function, .function = name_function};

enum { F1, F2, ALL, N_PATTERNS };
static const char *const patterns[N_PATTERNS] = {"f1", "f2", "f?"};

/* The first so many threads have returns. */
static bool has_returns(const void *data, uint32_t serial)
{
	return serial < *(const uint32_t *)data;
}

struct built {
	struct pp_replay_model *model;
	struct pp_replay_gaps gaps;
};

/* to_ns: 0: the whole time. */
static struct built build(const char *events, uint32_t n_returning, int64_t from_ns, int64_t to_ns)
{
	struct pp_pass_context context = {
	    .namer = &namer, .has_kernel = true, .has_switch_pairs = true, .has_wakings = true};
	g_autoptr(GPtrArray) functions = g_ptr_array_new();
	struct pp_error err = PP_ERROR_INIT;
	struct pp_replay_builder *builder;
	struct built built;
	struct pp_text *text;
	g_autofree char *wrong = NULL;

	if (pp_text_read(events, "events", 1, &text, &err)) {
		fprintf(stderr, "%s\n", pp_error_text(&err));
		exit(1);
	}
	for (guint i = 0; i < N_PATTERNS; i++)
		g_ptr_array_add(functions, (void *)patterns[i]);
	context.model = text->model;
	builder = pp_replay_builder_new(&context);
	pp_replay_builder_call_times(builder, functions, has_returns, &n_returning);
	if (to_ns)
		pp_replay_builder_cut(builder, from_ns, to_ns);
	for (guint i = 0; i < text->events->len; i++)
		pp_replay_builder_event(builder, &g_array_index(text->events, struct pp_event, i));
	built.model = pp_replay_builder_finish(builder, 4, text->model->end_ns, &built.gaps);
	if (to_ns)
		g_ptr_array_unref(pp_replay_builder_cut_model(builder, built.model).held);
	wrong = pp_replay_check(built.model);
	CHECK(!wrong);
	pp_replay_builder_free(builder);
	pp_text_free(text);
	return built;
}

static uint32_t n_steps(const struct pp_replay_model *model, uint32_t thread)
{
	return ((const struct pp_replay_thread *)model->threads->pdata[thread])->steps->len;
}

static uint64_t cpu_ns(const struct pp_replay_model *model, uint32_t thread, uint32_t at)
{
	const struct pp_replay_thread *of = model->threads->pdata[thread];

	return g_array_index(of->steps, struct pp_replay_step, at).cpu_ns;
}

/* CPU time of the step in the function. */
static uint64_t in_ns(const struct pp_replay_model *model, uint32_t thread, uint32_t at,
		      uint32_t function)
{
	for (guint i = pp_replay_find_part(model, thread, at); i < model->parts->len; i++) {
		const struct pp_replay_function_part *part =
		    &g_array_index(model->parts, struct pp_replay_function_part, i);

		if (part->thread != thread || part->step != at)
			break;
		if (part->function == function)
			return (uint64_t)(part->share * (double)cpu_ns(model, thread, at) + 0.5);
	}
	return 0;
}

/* --- by hand ---------------------------------------------------------------------------------- */

/*
 * f1 from 100 to 900, with f2 from 300 to 600. The thread posts at 400, and has no CPU from 500 to
 * 550; its second step has 500 ns up to the post at 950.
 */
static const char events[] = "thread 10 start=0\n0 switch prev=0 next=10 cpu=0\n"
			     "100 call tid=10 self=0x1000 from=0x10\n"
			     "300 call tid=10 self=0x2000 from=0x1010\n"
			     "400 sem_post tid=10 object=0x9000 site=0x2010\n"
			     "500 switch prev=10 next=99 state=R cpu=0\n"
			     "550 switch prev=99 next=10 state=R cpu=0\n"
			     "600 return tid=10 self=0x2020\n"
			     "900 return tid=10 self=0x1020\n"
			     "950 sem_post tid=10 object=0x9000 site=0x10\n"
			     "1000 exit tid=10\n";

static void test_steps(void)
{
	struct built built = build(events, 1, 0, 0);
	const struct pp_replay_model *model = built.model;

	CHECK_INT(n_steps(model, 0), 3);
	CHECK_INT(in_ns(model, 0, 0, F1), 300);
	CHECK_INT(in_ns(model, 0, 0, F2), 100);
	CHECK_INT(in_ns(model, 0, 1, F1), 450);
	CHECK_INT(in_ns(model, 0, 1, F2), 150);
	CHECK_INT(in_ns(model, 0, 1, ALL), 450);
	CHECK_INT(in_ns(model, 0, 2, ALL), 0);
	CHECK_INT(model->functions->len, N_PATTERNS);
	CHECK_INT(g_array_index(model->functions, struct pp_replay_function, ALL).n_calls, 2);
	CHECK_INT(built.gaps.without_returns, 0);
	pp_replay_model_free(built.model);
}

/* From 350 on: of the first step, the last 50 ns remain; the rest of f2 is in both steps. */
static void test_part(void)
{
	struct built built = build(events, 1, 350, 920);
	const struct pp_replay_model *model = built.model;

	CHECK_INT(n_steps(model, 0), 2);
	CHECK_INT(cpu_ns(model, 0, 0), 50);
	CHECK_INT(in_ns(model, 0, 0, F1), 50);
	CHECK_INT(in_ns(model, 0, 0, F2), 50);
	CHECK_INT(cpu_ns(model, 0, 1), 470);
	CHECK_INT(in_ns(model, 0, 1, F1), 450);
	CHECK_INT(in_ns(model, 0, 1, F2), 150);
	pp_replay_model_free(built.model);
}

/*
 * -finstrument-functions tells the call of f2, which is inlined into f1, with the return address of
 * that one. So f1 seems to have ended, and its return is one without a call.
 */
static void test_inlined(void)
{
	static const char inlined[] = "thread 10 start=0\n0 switch prev=0 next=10 cpu=0\n"
				      "50 call tid=10 self=0x4000 from=0x10\n"
				      "100 call tid=10 self=0x1000 from=0x4010\n"
				      "200 call tid=10 self=0x2000 from=0x4010\n"
				      "400 return tid=10 self=0x2000\n"
				      "450 return tid=10 self=0x1000\n"
				      "900 return tid=10 self=0x4000\n"
				      "1000 exit tid=10\n";
	struct built built = build(inlined, 1, 0, 0);

	CHECK_INT(in_ns(built.model, 0, 0, F1), 100);
	CHECK_INT(in_ns(built.model, 0, 0, F2), 200);
	CHECK_INT(in_ns(built.model, 0, 0, ALL), 850);
	CHECK_INT(built.gaps.lone_returns, 1);
	pp_replay_model_free(built.model);
}

/* With -pg, f1 has ended by a tail call of f2, which has f1's return address. */
static void test_tail_call(void)
{
	static const char tail_call[] = "thread 10 start=0\n0 switch prev=0 next=10 cpu=0\n"
					"50 call tid=10 self=0x4005 from=0x10\n"
					"100 call tid=10 self=0x1005 from=0x4010\n"
					"300 call tid=10 self=0x2005 from=0x4010\n"
					"400 return tid=10 self=0x2020\n"
					"500 call tid=10 self=0x1005 from=0x4020\n"
					"550 return tid=10 self=0x1020\n"
					"1000 exit tid=10\n";
	struct built built = build(tail_call, 1, 0, 0);

	CHECK_INT(in_ns(built.model, 0, 0, F2), 100);
	CHECK_INT(in_ns(built.model, 0, 0, F1), 250);
	pp_replay_model_free(built.model);
}

/* Without returns, times of calls are not known: of no thread, or of the second one. */
static void test_no_returns(void)
{
	static const char calls[] =
	    "thread 10 start=0\nthread 11 start=0\n0 switch prev=0 next=10 cpu=0\n"
	    "100 call tid=10 self=0x1000 from=0x10\n100 call tid=11 self=0x1000 from=0x10\n"
	    "300 return tid=10 self=0x1020\n1000 exit tid=10\n";
	struct built built = build(calls, 0, 0, 0);

	CHECK_INT(built.model->functions->len, 0);
	CHECK_INT(built.model->parts->len, 0);
	pp_replay_model_free(built.model);
	built = build(calls, 1, 0, 0);
	CHECK_INT(built.model->functions->len, N_PATTERNS);
	CHECK_INT(built.gaps.without_returns, 1);
	CHECK_INT(in_ns(built.model, 0, 0, F1), 200);
	pp_replay_model_free(built.model);
}

/* --- random ----------------------------------------------------------------------------------- */

#define N_RUNS	    2000
#define N_THREADS   3
#define N_TICKS	    200
#define TICK_NS	    10
#define N_FUNCTIONS 4
#define MAX_DEPTH   6

enum mode { RUNNING, READY, ASLEEP };

/* A thread has a CPU of its own. */
struct actor {
	enum mode mode;
	int64_t left_ns;		  /* its CPU */
	unsigned stack[MAX_DEPTH], depth; /* functions */
	uint32_t step;
	uint64_t cpu_ns[N_TICKS + 1], in_ns[N_TICKS + 1][N_PATTERNS];
};

struct random_run {
	GRand *rand;
	GString *events;
	int64_t now_ns;
	struct actor actors[N_THREADS];
};

static unsigned below(struct random_run *run, unsigned n)
{
	return (unsigned)g_rand_int_range(run->rand, 0, (gint32)n);
}

static void call(struct random_run *run, unsigned i)
{
	struct actor *actor = &run->actors[i];
	unsigned function = 1 + below(run, N_FUNCTIONS);
	unsigned caller;

	if (actor->depth == MAX_DEPTH)
		return;
	caller = actor->depth ? actor->stack[actor->depth - 1] : 0;
	/* Sometimes it comes from a longjmp(): to the innermost call of a function on the stack. */
	if (actor->depth && below(run, 8) == 0)
		caller = actor->stack[below(run, actor->depth)];
	while (actor->depth && actor->stack[actor->depth - 1] != caller)
		actor->depth--;
	g_string_append_printf(run->events, "%" PRId64 " call tid=%u self=0x%x000 from=0x%x0%x0\n",
			       run->now_ns, 10 + i, function, caller, function);
	actor->stack[actor->depth++] = function;
}

static void give_back(struct random_run *run, unsigned i)
{
	struct actor *actor = &run->actors[i];

	if (!actor->depth)
		return;
	g_string_append_printf(run->events, "%" PRId64 " return tid=%u self=0x%x020\n", run->now_ns,
			       10 + i, actor->stack[--actor->depth]);
}

static void post(struct random_run *run, unsigned i)
{
	g_string_append_printf(run->events, "%" PRId64 " sem_post tid=%u object=0x9000\n",
			       run->now_ns, 10 + i);
	run->actors[i].step++;
}

static void leave_cpu(struct random_run *run, unsigned i)
{
	run->actors[i].mode = below(run, 2) ? READY : ASLEEP;
	run->actors[i].left_ns = run->now_ns;
	g_string_append_printf(run->events, "%" PRId64 " switch prev=%u next=0 state=%c cpu=%u\n",
			       run->now_ns, 10 + i, run->actors[i].mode == READY ? 'R' : 'S', i);
}

/* A sleep is an operation of its own, unless no time has passed. */
static void come_back(struct random_run *run, unsigned i)
{
	g_string_append_printf(run->events, "%" PRId64 " switch prev=0 next=%u cpu=%u\n",
			       run->now_ns, 10 + i, i);
	run->actors[i].step +=
	    run->actors[i].mode == ASLEEP && run->actors[i].left_ns < run->now_ns;
	run->actors[i].mode = RUNNING;
}

static void act(struct random_run *run, unsigned i)
{
	static void (*const acts[])(struct random_run * run, unsigned i) = {
	    call, call, give_back, give_back, post, leave_cpu};

	if (run->actors[i].mode != RUNNING) {
		if (below(run, 4) == 0)
			come_back(run, i);
	} else if (below(run, 3) == 0) {
		acts[below(run, G_N_ELEMENTS(acts))](run, i);
	}
}

static bool is_in(const struct actor *actor, unsigned pattern)
{
	for (unsigned i = 0; i < actor->depth; i++)
		if (pattern == ALL || actor->stack[i] == pattern + 1)
			return true;
	return false;
}

static void use_cpu(struct actor *actor)
{
	if (actor->mode != RUNNING)
		return;
	actor->cpu_ns[actor->step] += TICK_NS;
	for (unsigned k = 0; k < N_PATTERNS; k++)
		actor->in_ns[actor->step][k] += is_in(actor, k) ? TICK_NS : 0;
}

static void compare(const struct random_run *run, const struct pp_replay_model *model)
{
	for (unsigned i = 0; i < N_THREADS; i++) {
		const struct actor *actor = &run->actors[i];

		CHECK_INT(n_steps(model, i), actor->step + 1);
		for (unsigned step = 0; step <= actor->step; step++) {
			CHECK_INT(cpu_ns(model, i, step), actor->cpu_ns[step]);
			for (unsigned k = 0; k < N_PATTERNS && model->functions->len; k++)
				CHECK_INT(in_ns(model, i, step, k), actor->in_ns[step][k]);
		}
	}
}

/* Returns the number of parts that the model has. */
static guint test_random(uint32_t seed)
{
	g_autofree struct random_run *run = g_new0(struct random_run, 1);
	struct built built;
	guint n_parts;

	run->rand = g_rand_new_with_seed(seed);
	run->events = g_string_new(NULL);
	for (unsigned i = 0; i < N_THREADS; i++)
		g_string_append_printf(run->events, "thread %u start=0\n", 10 + i);
	for (unsigned i = 0; i < N_THREADS; i++)
		g_string_append_printf(run->events, "0 switch prev=0 next=%u cpu=%u\n", 10 + i, i);
	/* A return of each thread at the begin: from then on, its stack is known. */
	for (unsigned i = 0; i < N_THREADS; i++)
		call(run, i);
	for (unsigned i = 0; i < N_THREADS; i++)
		give_back(run, i);
	for (unsigned tick = 0; tick < N_TICKS; tick++) {
		for (unsigned i = 0; i < N_THREADS; i++)
			use_cpu(&run->actors[i]);
		run->now_ns += TICK_NS;
		for (unsigned i = 0; i < N_THREADS; i++)
			act(run, i);
	}
	for (unsigned i = 0; i < N_THREADS; i++) {
		if (run->actors[i].mode != RUNNING)
			come_back(run, i);
		g_string_append_printf(run->events, "%" PRId64 " exit tid=%u\n", run->now_ns,
				       10 + i);
	}
	built = build(run->events->str, N_THREADS, 0, 0);
	CHECK_INT(built.gaps.lone_returns, 0);
	compare(run, built.model);
	n_parts = built.model->parts->len;
	pp_replay_model_free(built.model);
	g_string_free(run->events, TRUE);
	g_rand_free(run->rand);
	return n_parts;
}

int main(void)
{
	uint64_t n_parts = 0;

	test_steps();
	test_part();
	test_inlined();
	test_tail_call();
	test_no_returns();
	for (uint32_t seed = 0; seed < N_RUNS; seed++)
		n_parts += test_random(seed);
	CHECK(n_parts > (uint64_t)N_RUNS * N_THREADS * N_PATTERNS);
	printf("%d random runs, %" PRIu64 " parts of steps\n", N_RUNS, n_parts);
	return 0;
}
