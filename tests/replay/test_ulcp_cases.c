/* SPDX-License-Identifier: MIT */
/*
 * Cases of unnecessary lock contention by hand (paper 003): figures 4, 7 to 11 and cases of its
 * appendix. Times are in ns: sections and the code around them take tens of ns, wake-ups none.
 */
#include "check.h"
#include "replay/model_file.h"
#include "replay/order_check/check.h"
#include "replay/ulcp/divide.h"
#include "replay/ulcp/regions.h"

struct hand_made {
	struct pp_replay_model *model;
	struct pp_access_sets *interned;
	GArray *sets, *sections;
	struct pp_ulcp_edges edges;
	struct pp_ulcp_result with, without, divided;
	GArray *waits; /* of `without` */
};

static void set_done(void *data)
{
	pp_access_set_unref(((struct pp_replay_set *)data)->set);
}

/* Adds "THREAD:STEP WORD..." for each line: rN or wN is a byte N that is read or changed, sN one
 * that is written with the value that it has. */
static void add_set(struct hand_made *self, const char *line)
{
	g_auto(GStrv) words = g_strsplit(line, " ", -1);
	struct pp_access_line access = {.address = 64};
	struct pp_replay_set set = {0};

	CHECK_INT(sscanf(words[0], "%u:%u", &set.thread, &set.step), 2);
	for (unsigned i = 1; words[i]; i++) {
		uint64_t bit = UINT64_C(1) << atoi(words[i] + 1);

		access.read |= words[i][0] == 'r' ? bit : 0;
		access.written |= words[i][0] != 'r' ? bit : 0;
		access.changed |= words[i][0] == 'w' ? bit : 0;
	}
	set.set = pp_access_set_get(self->interned, &access, 1);
	g_array_append_val(self->sets, set);
}

static void make_result(const struct hand_made *self, const struct pp_ulcp_edges *edges,
			GArray **ret_waits, struct pp_ulcp_result *ret)
{
	struct pp_order_claim claim = {
	    .original = self->model, .sets = self->sets, .keeps_order = edges->keeps_order};
	g_autofree char *wrong = NULL;

	*ret_waits = pp_ulcp_waits(self->model, self->sections, edges->edges);
	pp_ulcp_transform(self->model, *ret_waits, ret);
	claim.result = ret->model;
	claim.steps = ret->steps;
	wrong = pp_order_check(&claim);
	CHECK_STR(wrong ? wrong : "", "");
}

/* A model of these lines on four CPUs, with one lock, and all of its results. */
static struct hand_made make(const char *lines, const char *sets)
{
	struct hand_made self = {.interned = pp_access_sets_new(),
				 .sets = g_array_new(FALSE, FALSE, sizeof(struct pp_replay_set))};
	g_auto(GStrv) of_sets = g_strsplit(sets, "\n", -1);
	struct pp_error err = PP_ERROR_INIT;
	struct pp_ulcp_edges all;
	GArray *waits;
	FILE *file = fopen("model", "w");

	CHECK(file);
	fprintf(file, "gprof-mt-model 1\ncpus 4\nquantum 3000000\nlock \"L\"\n%s", lines);
	fclose(file);
	self.model = pp_replay_read("model", &err);
	CHECK(self.model);
	g_array_set_clear_func(self.sets, set_done);
	for (unsigned i = 0; of_sets[i] && of_sets[i][0]; i++)
		add_set(&self, of_sets[i]);
	self.sections = pp_ulcp_find_sections(self.model, &err);
	CHECK(self.sections);
	pp_ulcp_all_edges(self.model, self.sections, &all);
	make_result(&self, &all, &waits, &self.with);
	g_array_unref(waits);
	pp_ulcp_edges_done(&all);
	pp_ulcp_find_edges(self.model, self.sections, self.sets, &self.edges);
	make_result(&self, &self.edges, &self.waits, &self.without);
	pp_ulcp_divide(self.model, self.sections, self.sets, self.edges.keeps_order, &self.divided);
	return self;
}

static void done(struct hand_made *self)
{
	pp_replay_model_free(self->model);
	g_array_unref(self->sets);
	g_array_unref(self->sections);
	g_array_unref(self->waits);
	pp_ulcp_edges_done(&self->edges);
	pp_ulcp_result_done(&self->with);
	pp_ulcp_result_done(&self->without);
	pp_ulcp_result_done(&self->divided);
	pp_access_sets_free(self->interned);
}

static int64_t run_ns(const struct pp_ulcp_result *result, struct pp_simulation_log *log)
{
	const struct pp_simulation how = {.n_cpus = 4, .log = log};
	struct pp_simulated simulated;

	pp_simulate(result->model, &how, &simulated);
	CHECK_INT(simulated.n_stuck, 0);
	pp_simulated_done(&simulated);
	return simulated.ns;
}

/* "THREAD:STEP<THREAD:STEP ": each wait, at the first step, for the other one. */
static char *waits_text(const struct hand_made *self)
{
	GString *text = g_string_new("");

	for (guint i = 0; i < self->waits->len; i++) {
		const struct pp_ulcp_wait *wait =
		    &g_array_index(self->waits, struct pp_ulcp_wait, i);

		g_string_append_printf(text, "%u:%u<%u:%u ", wait->thread, wait->step,
				       wait->of.thread, wait->of.step);
	}
	return g_string_free(text, FALSE);
}

/* Checks the run times with and without unnecessary contention, and the waits. */
static void check_case(const char *lines, const char *sets, int64_t with_ns, int64_t without_ns,
		       int64_t divided_ns, const char *waits)
{
	struct hand_made self = make(lines, sets);
	g_autofree char *found = waits_text(&self);

	CHECK_STR(found, waits);
	CHECK_INT(run_ns(&self.with, NULL), with_ns);
	CHECK_INT(run_ns(&self.without, NULL), without_ns);
	CHECK_INT(run_ns(&self.divided, NULL), divided_ns);
	done(&self);
}

/* A thread of two sections, each of 10 ns, that have the lock at these places. */
#define TWO(name, first, second)                                                                   \
	"thread 0 \"" name "\"\n0 lock 0 @" #first "\n10 unlock 0\n0 lock 0 @" #second             \
	"\n10 unlock 0\n0 exit\n"
#define ONE(name, first) "thread 0 \"" name "\"\n0 lock 0 @" #first "\n10 unlock 0\n0 exit\n"

static void test_figures(void)
{
	/* 4: all sections but one only read the counter, and so does that one */
	check_case(ONE("a", 1) ONE("b", 2) ONE("c", 3) ONE("d", 4),
		   "0:0 r1\n1:0 r1\n2:0 r1\n3:0 r1 r2", 40, 10, 10, "");
	/*
	 * 7 and 8: T1 has R1 R2, T2 has R2 W1, T3 has W1 W1. The sections that only read byte 2
	 * lose the lock; each other one waits for those before it in other threads.
	 */
	check_case(TWO("t1", 1, 4) TWO("t2", 2, 5) TWO("t3", 3, 6),
		   "0:0 r1\n0:2 r2\n1:0 r2\n1:2 w1\n2:0 w1\n2:2 w1", 60, 40, 40,
		   "1:2<0:1 1:2<2:1 2:0<0:1 2:2<1:3 ");
	/* 9: of two sources in one thread, the last one is awaited; it includes the other one */
	check_case(TWO("c1", 1, 2) ONE("c", 3), "0:0 w1\n0:2 w1\n1:0 r1", 30, 30, 30, "1:0<0:3 ");
	/* 9, dynamic locking: the sources have ended when the target begins */
	check_case(TWO("c1", 1, 2) "thread 0 \"c\"\n50 lock 0 @3\n10 unlock 0\n0 exit\n",
		   "0:0 w1\n0:2 w1\n1:0 r1", 60, 60, 60, "1:0<0:3 ");
	/* 11: the order of two sections in contention changes the run time, 8 or 9; it is kept */
	check_case("thread 0 \"a\"\n10 lock 0 @1\n20 unlock 0\n40 exit\n"
		   "thread 0 \"b\"\n10 lock 0 @2\n20 unlock 0\n30 exit\n",
		   "0:0 w1\n1:0 w1", 80, 80, 80, "1:0<0:1 ");
	check_case("thread 0 \"b\"\n10 lock 0 @1\n20 unlock 0\n30 exit\n"
		   "thread 0 \"a\"\n10 lock 0 @2\n20 unlock 0\n40 exit\n",
		   "0:0 w1\n1:0 w1", 90, 90, 90, "1:0<0:1 ");
}

static void test_appendix(void)
{
	/* 1: the section behind a condition wait accesses nothing; the one before it writes */
	check_case("cond \"c\"\nsite \"w\"\n"
		   "thread 0 \"a\"\n0 lock 0 @1\n10 unlock 0 1\n0 notified 1:1\n0 lock 0 1 @4\n"
		   "10 unlock 0\n0 exit\n"
		   "thread 0 \"b\"\n0 lock 0 @2\n10 unlock 0\n0 notify 1 @3\n0 lock 0 @5\n"
		   "30 unlock 0\n0 exit\n",
		   "0:0 w1\n0:3\n1:0 r1\n1:3 w2", 60, 50, 50, "1:0<0:1 ");
	/* 3: one writes a member, the other one reads others; 5: both write other members */
	check_case(ONE("a", 1) ONE("b", 2), "0:0 w1\n1:0 r2 r3", 20, 10, 10, "");
	check_case(ONE("a", 1) ONE("b", 2), "0:0 w1\n1:0 w2", 20, 10, 10, "");
	/* redundant writes of one byte in any order; but a change of it must keep its place */
	check_case(ONE("a", 1) ONE("b", 2), "0:0 s1\n1:0 s1 r1", 20, 10, 10, "");
	check_case(ONE("a", 1) ONE("b", 2), "0:0 s1\n1:0 w1", 20, 20, 20, "1:0<0:1 ");
}

static void test_unknown(void)
{
	/* no section is known: the order is kept */
	check_case(ONE("a", 1) ONE("b", 2), "", 20, 20, 20, "1:0<0:1 ");
	/* one of three is not known: it keeps its place, and the others exclude it */
	check_case(ONE("a", 1) ONE("b", 2) ONE("c", 3), "0:0 r1\n2:0 r1", 30, 30, 20,
		   "1:0<0:1 2:0<1:1 ");
	/* readers exclude only writers, though their accesses are not known */
	check_case("thread 0 \"a\"\n0 rdlock 0 @1\n10 unlock 0\n0 exit\n"
		   "thread 0 \"b\"\n0 rdlock 0 @2\n10 unlock 0\n0 exit\n" ONE("c", 3),
		   "2:0 w1", 20, 20, 20, "2:0<0:1 2:0<1:1 ");
	/* readers that change memory: the lock stays as it is */
	check_case("thread 0 \"a\"\n0 rdlock 0 @1\n10 unlock 0\n0 exit\n" ONE("b", 2),
		   "0:0 w1\n1:0 r2", 20, 20, 20, "1:0<0:1 ");
}

/* Equation 1: A and B in turn lose 10 ns, which is all that the run loses. */
static void test_gain(void)
{
	struct hand_made self = make("thread 0 \"a\"\n10 lock 0 @1\n10 unlock 0\n10 exit\n"
				     "thread 0 \"b\"\n10 lock 0 @2\n10 unlock 0\n10 exit\n",
				     "0:0 r1\n1:0 r1");
	struct pp_simulation_log before, after;
	struct pp_ulcp_counts counts;
	GArray *pairs =
	    pp_ulcp_find_pairs(self.sections, self.sets, self.edges.keeps_order, &counts);

	CHECK_INT(run_ns(&self.with, &before), 40);
	CHECK_INT(run_ns(&self.without, &after), 30);
	CHECK_INT(counts.n_unnecessary, 1);
	CHECK_INT(counts.n_contending + counts.n_unknown, 0);
	pp_ulcp_add_gains(pairs, self.sections, &(struct pp_ulcp_replay){&self.with, &before},
			  &(struct pp_ulcp_replay){&self.without, &after});
	CHECK_INT(g_array_index(pairs, struct pp_ulcp_pair, 0).gain_ns, 10);
	pp_simulation_log_done(&before);
	pp_simulation_log_done(&after);
	g_array_unref(pairs);
	done(&self);
}

static void check_refused(const char *lines, const char *text)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_replay_model *model;
	g_autofree char *found = NULL;
	FILE *file = fopen("model", "w");

	CHECK(file);
	fprintf(file, "gprof-mt-model 1\ncpus 4\nquantum 3000000\nlock \"L\"\n%s", lines);
	fclose(file);
	model = pp_replay_read("model", &err);
	CHECK(model);
	CHECK(!pp_ulcp_find_sections(model, &err));
	found = pp_error_text(&err);
	CHECK_HOLDS(found, text);
	pp_error_done(&err);
	pp_replay_model_free(model);
}

static void test_refused(void)
{
	check_refused("thread 0 \"a\"\n0 lock 0\n0 unlock 0\n0 exit\n"
		      "thread 0 \"b\"\n0 lock 0\n0 unlock 0\n0 exit\n",
		      "the order in which threads acquired lock 'L' is not known");
	check_refused(TWO("a", 2, 1), "thread 0, step 0: the order of lock 'L' contradicts that "
				      "of the thread's steps");
}

/* --- regions ---------------------------------------------------------------------------------- */

static void check_region(const char *acquired, const char *released, const char *text)
{
	struct pp_ulcp_region region = pp_ulcp_region(acquired, released);
	g_autofree char *found = pp_ulcp_region_text(&region);

	CHECK_STR(found, text);
	g_free(region.function);
}

static void test_regions(void)
{
	check_region("f (a.c:3)", "f (a.c:9)", "f (a.c:3-9)");
	check_region("f (a.c:9)", "f (a.c:3)", "f (a.c:3-9)");
	check_region("f (a.c:3)", "f (a.c:3)", "f (a.c:3)");
	check_region("lock (a.c:3)", "unlock (a.c:9)", "lock (a.c:3)");
	check_region("f", "g", "f");
	check_region("f (a.c:3) [inlined]", "f (a.c:9)", "f (a.c:3) [inlined]");
}

/* Adds a pair of sections of the sites with these lines, in two threads. */
static void add_pair(struct pp_replay_model *model, GArray *sections, GArray *pairs,
		     const unsigned *lines, double gain_ns)
{
	struct pp_ulcp_pair pair = {sections->len, sections->len + 1, gain_ns};

	for (unsigned i = 0; i < 2; i++) {
		struct pp_replay_thread *thread = model->threads->pdata[i];
		struct pp_ulcp_section section = {
		    .thread = i, .first = thread->steps->len, .last = thread->steps->len + 1};

		for (unsigned k = 0; k < 2; k++) {
			g_autofree char *name = g_strdup_printf("f (a.c:%u)", lines[2 * i + k]);
			struct pp_replay_step step = {.site = pp_replay_add_site(model, name)};

			g_array_append_val(thread->steps, step);
		}
		g_array_append_val(sections, section);
	}
	g_array_append_val(pairs, pair);
}

/* Checks the pairs that remain, as text. */
static void check_fused(const unsigned (*lines)[4], unsigned n, const char *text)
{
	struct pp_replay_model *model = pp_replay_model_new();
	g_autoptr(GArray) sections = g_array_new(FALSE, FALSE, sizeof(struct pp_ulcp_section));
	g_autoptr(GArray) pairs = g_array_new(FALSE, FALSE, sizeof(struct pp_ulcp_pair));
	g_autoptr(GString) found = g_string_new("");
	g_autoptr(GArray) fused = NULL;
	bool is_all;

	pp_replay_add_thread(model, "a");
	pp_replay_add_thread(model, "b");
	for (unsigned i = 0; i < n; i++)
		add_pair(model, sections, pairs, lines[i], 10 * (i + 1));
	fused = pp_ulcp_fuse(model, sections, pairs, &is_all);
	CHECK(is_all);
	for (guint i = 0; i < fused->len; i++) {
		const struct pp_ulcp_fused *of = &g_array_index(fused, struct pp_ulcp_fused, i);

		g_string_append_printf(found, "%u-%u %u-%u: %d; ", of->regions[0].from,
				       of->regions[0].to, of->regions[1].from, of->regions[1].to,
				       (int)of->gain_ns);
	}
	CHECK_STR(found->str, text);
	pp_replay_model_free(model);
}

static void test_fused(void)
{
	static const unsigned same[][4] = {{1, 5, 11, 15}, {1, 5, 11, 15}};
	static const unsigned overlapping[][4] = {{1, 5, 11, 15}, {14, 18, 4, 8}};
	static const unsigned one_side[][4] = {{1, 5, 11, 15}, {4, 8, 21, 25}};
	/* the first two do not overlap until the third one joins them */
	static const unsigned chain[][4] = {{1, 3, 11, 13}, {7, 9, 17, 19}, {3, 7, 13, 17}};

	check_fused(same, 2, "1-5 11-15: 30; ");
	check_fused(overlapping, 2, "11-18 1-8: 30; ");
	check_fused(one_side, 2, "4-8 21-25: 20; 1-5 11-15: 10; ");
	check_fused(chain, 3, "1-9 11-19: 60; ");
}

int main(void)
{
	test_figures();
	test_appendix();
	test_unknown();
	test_gain();
	test_refused();
	test_regions();
	test_fused();
	return 0;
}
