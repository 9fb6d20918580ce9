/* SPDX-License-Identifier: MIT */
/*
 * Transformations of random models: the checker accepts each of them, random runs keep the order of
 * all conflicts and end, and the checker finds each change that breaks one.
 */
#include "check.h"
#include "replay/order_check/check.h"
#include "replay/ulcp/divide.h"
#include "replay/ulcp/edges.h"
#include "replay/ulcp/locksets.h"
#include "replay/ulcp/transform.h"
#include "ulcp_case.h"
#include "untimed.h"

#define N_MODELS 10000
#define N_RUN	 8 /* one in so many is also run, and changed */

static struct pp_replay_step *step_of(const struct pp_replay_model *model, uint32_t thread,
				      uint32_t step)
{
	const struct pp_replay_thread *of = model->threads->pdata[thread];

	return &g_array_index(of->steps, struct pp_replay_step, step);
}

static struct pp_order_claim claim_of(const struct ulcp_case *of,
				      const struct pp_ulcp_result *result)
{
	return (struct pp_order_claim){.original = of->model,
				       .result = result->model,
				       .steps = result->steps,
				       .sets = of->sets};
}

static char *check(const struct ulcp_case *of, const struct pp_ulcp_result *result)
{
	struct pp_order_claim claim = claim_of(of, result);

	return pp_order_check(&claim);
}

/* --- runs ------------------------------------------------------------------------------------- */

/* Returns, by thread and step, when it was done. */
static guint **times_of(const struct pp_replay_model *model, const GArray *log)
{
	guint **times = g_new0(guint *, model->threads->len);

	for (guint i = 0; i < model->threads->len; i++)
		times[i] = g_new(
		    guint, ((const struct pp_replay_thread *)model->threads->pdata[i])->steps->len);
	for (guint i = 0; i < log->len; i++) {
		const struct untimed_entry *entry = &g_array_index(log, struct untimed_entry, i);

		times[entry->thread][entry->step] = i;
	}
	return times;
}

static void free_times(const struct pp_replay_model *model, guint **times)
{
	for (guint i = 0; i < model->threads->len; i++)
		g_free(times[i]);
	g_free(times);
}

/* The run has each pair of sections in conflict in order. */
static void check_order(const struct ulcp_case *of, const struct pp_ulcp_result *result,
			const GArray *log, bool keeps_all)
{
	guint **times = times_of(result->model, log);

	for (guint i = 0; i < of->sections->len; i++) {
		const struct pp_ulcp_section *a = pp_ulcp_section_at(of->sections, i);

		for (guint k = i + 1; k < of->sections->len; k++) {
			const struct pp_ulcp_section *b = pp_ulcp_section_at(of->sections, k);
			bool is_ordered = a->object == b->object && !(a->shared && b->shared);

			if (keeps_all ? is_ordered : ulcp_case_conflict(of, a, b))
				CHECK(times[a->thread]
					   [pp_ulcp_first_step(result, a->thread, a->last)] <
				      times[b->thread][result->steps[b->thread][b->first]]);
		}
	}
	free_times(of->model, times);
}

/* A random run of the result ends, in this order. */
static void check_run(const struct ulcp_case *of, const struct pp_ulcp_result *result,
		      bool keeps_all, GRand *random)
{
	g_autoptr(GArray) log = untimed_run(result->model, random);

	CHECK_INT(log->len, pp_replay_n_steps(result->model));
	check_order(of, result, log, keeps_all);
}

/* Waits of sections, not of semaphores. */
static guint count_section_waits(const struct ulcp_case *of, const GArray *waits)
{
	guint n = 0;

	for (guint i = 0; i < waits->len; i++) {
		const struct pp_ulcp_wait *wait = &g_array_index(waits, struct pp_ulcp_wait, i);

		n += step_of(of->model, wait->thread, wait->step)->kind <= PP_REPLAY_RDLOCK;
	}
	return n;
}

/* --- changes that the checker must find ------------------------------------------------------- */

/* True if a section of the lock is known: otherwise, other waits imply this one. */
static bool is_known(const struct ulcp_case *of, uint32_t object)
{
	for (guint i = 0; i < of->sections->len; i++) {
		const struct pp_ulcp_section *section = pp_ulcp_section_at(of->sections, i);

		if (section->object == object &&
		    pp_replay_find_set(of->sets, section->thread, section->first))
			return true;
	}
	return false;
}

/* True if no other wait of the thread can imply it: the original model has none before the step. */
static bool is_needed(const struct ulcp_case *of, const struct pp_ulcp_wait *wait)
{
	const struct pp_replay_step *step = step_of(of->model, wait->thread, wait->step);

	for (uint32_t i = 0; i < wait->step; i++)
		if (step_of(of->model, wait->thread, i)->kind == PP_REPLAY_AWAIT)
			return false;
	return step->kind <= PP_REPLAY_RDLOCK && is_known(of, step->object);
}

static bool is_caught(const struct ulcp_case *of, const GArray *waits)
{
	struct pp_ulcp_result result;
	g_autofree char *wrong = NULL;

	pp_ulcp_transform(of->model, waits, &result);
	wrong = check(of, &result);
	pp_ulcp_result_done(&result);
	return wrong != NULL;
}

static bool lose_wait(const struct ulcp_case *of, const GArray *waits, GRand *random)
{
	g_autoptr(GArray) fewer = g_array_copy((GArray *)waits);
	guint i;

	if (!waits->len)
		return false;
	i = (guint)g_rand_int_range(random, 0, (gint32)waits->len);
	if (!is_needed(of, &g_array_index(waits, struct pp_ulcp_wait, i)))
		return false;
	g_array_remove_index(fewer, i);
	CHECK(is_caught(of, fewer));
	return true;
}

/* Waits for the step before the end of a section. */
static bool wait_less(const struct ulcp_case *of, const GArray *waits, GRand *random)
{
	g_autoptr(GArray) other = g_array_copy((GArray *)waits);
	struct pp_ulcp_wait *wait;

	if (!waits->len)
		return false;
	wait = &g_array_index(other, struct pp_ulcp_wait,
			      g_rand_int_range(random, 0, (gint32)waits->len));
	if (!is_needed(of, wait) || wait->of.step == 0)
		return false;
	wait->of.step--;
	CHECK(is_caught(of, other));
	return true;
}

static int compare_places(const void *a, const void *b)
{
	const struct pp_ulcp_wait *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return (x->step > y->step) - (x->step < y->step);
}

/* Waits for an earlier section of the same lock without a conflict. */
static bool wait_more(const struct ulcp_case *of, const GArray *waits, GRand *random)
{
	g_autoptr(GArray) more = g_array_copy((GArray *)waits);
	const struct pp_ulcp_section *a, *b;
	struct pp_ulcp_wait wait;
	guint i, k;

	if (of->sections->len < 2)
		return false;
	i = (guint)g_rand_int_range(random, 0, (gint32)of->sections->len - 1);
	k = (guint)g_rand_int_range(random, (gint32)i + 1, (gint32)of->sections->len);
	a = pp_ulcp_section_at(of->sections, i);
	b = pp_ulcp_section_at(of->sections, k);
	if (a->object != b->object || a->thread == b->thread || ulcp_case_conflict(of, a, b))
		return false;
	wait = (struct pp_ulcp_wait){b->thread, b->first, {a->thread, a->last}};
	g_array_append_val(more, wait);
	g_array_sort(more, compare_places);
	CHECK(is_caught(of, more));
	return true;
}

static bool change_result(const struct ulcp_case *of, const GArray *waits, GRand *random)
{
	struct pp_ulcp_result result;
	g_autofree char *wrong = NULL;
	struct pp_replay_thread *thread;
	struct pp_replay_step *step;

	pp_ulcp_transform(of->model, waits, &result);
	thread = result.model->threads
		     ->pdata[g_rand_int_range(random, 0, (gint32)result.model->threads->len)];
	step = &g_array_index(thread->steps, struct pp_replay_step,
			      g_rand_int_range(random, 0, (gint32)thread->steps->len));
	if (g_rand_boolean(random))
		step->cpu_ns++;
	else
		step->kind = step->kind == PP_REPLAY_SLEEP ? PP_REPLAY_SIGNAL : PP_REPLAY_SLEEP;
	wrong = check(of, &result);
	CHECK(wrong);
	pp_ulcp_result_done(&result);
	return true;
}

static const struct {
	const char *name;
	bool (*change)(const struct ulcp_case *of, const GArray *waits, GRand *random);
} changes[] = {
    {"lost waits", lose_wait},
    {"waits for too little", wait_less},
    {"superfluous waits", wait_more},
    {"changed steps", change_result},
};
static unsigned n_caught[G_N_ELEMENTS(changes)];

static void check_changes(const struct ulcp_case *of, const GArray *waits, GRand *random)
{
	for (unsigned i = 0; i < G_N_ELEMENTS(changes); i++)
		n_caught[i] += changes[i].change(of, waits, random);
}

/* --- models ----------------------------------------------------------------------------------- */

static uint64_t n_sections, n_edges, n_waits, n_compared;

/* The edges that are found have the same waits as those of the direct search. */
static GArray *find_waits(const struct ulcp_case *of, bool **ret_keeps_order)
{
	g_autoptr(GArray) expected = pp_ulcp_waits(of->model, of->sections, of->edges);
	struct pp_ulcp_edges edges;
	GArray *waits;
	bool is_kept = false;

	pp_ulcp_find_edges(of->model, of->sections, of->sets, &edges);
	waits = pp_ulcp_waits(of->model, of->sections, edges.edges);
	for (guint i = 0; i < of->model->objects->len; i++)
		is_kept |= edges.keeps_order[i];
	if (!is_kept) {
		CHECK_INT(waits->len, expected->len);
		CHECK(
		    !memcmp(waits->data, expected->data, waits->len * sizeof(struct pp_ulcp_wait)));
	}
	n_edges += of->edges->len;
	n_compared += !is_kept;
	*ret_keeps_order = g_steal_pointer(&edges.keeps_order);
	pp_ulcp_edges_done(&edges);
	return waits;
}

static void check_result(const struct ulcp_case *of, const struct pp_ulcp_result *result,
			 const bool *keeps_order)
{
	struct pp_order_claim claim = claim_of(of, result);
	g_autofree char *wrong = NULL;

	claim.keeps_order = keeps_order;
	wrong = pp_order_check(&claim);
	if (wrong)
		CHECK_STR(wrong, "");
}

static void check_transformed(const struct ulcp_case *of, bool runs, GRand *random)
{
	g_autofree bool *keeps_order = NULL;
	g_autoptr(GArray) waits = find_waits(of, &keeps_order);
	struct pp_ulcp_result result;

	pp_ulcp_transform(of->model, waits, &result);
	check_result(of, &result, keeps_order);
	if (runs)
		check_run(of, &result, false, random);
	pp_ulcp_result_done(&result);
	n_sections += of->sections->len;
	n_waits += waits->len;
}

/* Without locks that keep their order. */
static void check_direct(const struct ulcp_case *of, GRand *random)
{
	g_autoptr(GArray) waits = pp_ulcp_waits(of->model, of->sections, of->edges);
	struct pp_ulcp_result result;

	pp_ulcp_transform(of->model, waits, &result);
	check_result(of, &result, NULL);
	pp_ulcp_result_done(&result);
	check_changes(of, waits, random);
}

/* --- divided locks ---------------------------------------------------------------------------- */

static bool has_unknown(const struct ulcp_case *of, uint32_t object)
{
	for (guint i = 0; i < of->sections->len; i++) {
		const struct pp_ulcp_section *section = pp_ulcp_section_at(of->sections, i);

		if (section->object == object &&
		    !pp_replay_find_set(of->sets, section->thread, section->first))
			return true;
	}
	return false;
}

/* Two sections in conflict have one lock, one of them exclusively, and never at the same time. */
static void check_excluded(const struct pp_ulcp_result *result, guint *const *times,
			   const struct pp_ulcp_section *a, const struct pp_ulcp_section *b)
{
	const struct pp_replay_step *x = step_of(result->model, a->thread, a->first);
	const struct pp_replay_step *y = step_of(result->model, b->thread, b->first);

	CHECK(pp_replay_acquires(x->kind) && pp_replay_acquires(y->kind));
	CHECK_INT(x->object, y->object);
	CHECK(x->kind != PP_REPLAY_RDLOCK || y->kind != PP_REPLAY_RDLOCK);
	CHECK(times[a->thread][a->last] < times[b->thread][b->first] ||
	      times[b->thread][b->last] < times[a->thread][a->first]);
}

/* A section that conflicts with none has no lock, unless its lock has sections that are not known.
 */
static void check_free(const struct ulcp_case *of, const struct pp_ulcp_result *result,
		       const struct pp_ulcp_section *section, bool is_kept)
{
	if (!is_kept && !has_unknown(of, section->object))
		CHECK_INT(step_of(result->model, section->thread, section->first)->kind,
			  PP_REPLAY_SIGNAL);
}

static void check_divided(const struct ulcp_case *of, GRand *random)
{
	struct pp_ulcp_edges edges;
	struct pp_ulcp_result result;
	GArray *log;
	guint **times;

	pp_ulcp_find_edges(of->model, of->sections, of->sets, &edges);
	pp_ulcp_divide(of->model, of->sections, of->sets, edges.keeps_order, &result);
	CHECK(!pp_replay_check(result.model));
	log = untimed_run(result.model, random);
	CHECK_INT(log->len, pp_replay_n_steps(result.model));
	times = times_of(result.model, log);
	for (guint i = 0; i < of->sections->len; i++) {
		const struct pp_ulcp_section *a = pp_ulcp_section_at(of->sections, i);
		bool conflicts = false;

		for (guint k = 0; k < of->sections->len; k++) {
			const struct pp_ulcp_section *b = pp_ulcp_section_at(of->sections, k);

			if (!ulcp_case_conflict(of, a, b))
				continue;
			conflicts = true;
			check_excluded(&result, times, a, b);
		}
		if (!conflicts)
			check_free(of, &result, a, edges.keeps_order[a->object]);
	}
	free_times(of->model, times);
	g_array_unref(log);
	pp_ulcp_result_done(&result);
	pp_ulcp_edges_done(&edges);
}

/* --- auxiliary locks -------------------------------------------------------------------------- */

static unsigned n_stuck;

/*
 * Random runs with auxiliary locks keep the order of conflicts. Without the recorded order of all
 * locks, two targets of one source can have its lock in another order than a lock within it, and
 * then wait for ever: this is counted.
 */
static void check_locksets(const struct ulcp_case *of, GRand *random)
{
	g_autoptr(GArray) waits = pp_ulcp_waits(of->model, of->sections, of->edges);
	struct pp_ulcp_result result;
	uint32_t n = pp_ulcp_locksets(of->model, of->sections, waits, false, &result);
	g_autoptr(GArray) log = NULL;

	CHECK(!pp_replay_check(result.model));
	CHECK_INT(result.model->objects->len, of->model->objects->len + n);
	CHECK(n <= of->sections->len && (n > 0) == (count_section_waits(of, waits) > 0));
	log = untimed_run(result.model, random);
	if (log->len < pp_replay_n_steps(result.model))
		n_stuck++;
	else
		check_order(of, &result, log, false);
	pp_ulcp_result_done(&result);
}

/* The whole order of all locks. */
static void check_kept(const struct ulcp_case *of, bool runs, GRand *random)
{
	struct pp_ulcp_edges edges;
	struct pp_ulcp_result result;
	GArray *waits;

	pp_ulcp_all_edges(of->model, of->sections, &edges);
	waits = pp_ulcp_waits(of->model, of->sections, edges.edges);
	pp_ulcp_transform(of->model, waits, &result);
	check_result(of, &result, edges.keeps_order);
	if (runs)
		check_run(of, &result, true, random);
	pp_ulcp_result_done(&result);
	pp_ulcp_edges_done(&edges);
	g_array_unref(waits);
}

int main(void)
{
	GRand *random = g_rand_new_with_seed(1);

	for (uint32_t seed = 0; seed < N_MODELS; seed++) {
		struct ulcp_case of = ulcp_case_random(seed, random);

		check_transformed(&of, seed % N_RUN == 0, random);
		if (seed % N_RUN == 0) {
			check_direct(&of, random);
			check_divided(&of, random);
			check_locksets(&of, random);
		}
		check_kept(&of, seed % N_RUN == 0, random);
		ulcp_case_done(&of);
	}
	printf("%d models: %" PRIu64 " sections, %" PRIu64 " edges, %" PRIu64 " waits; in %" PRIu64
	       " models all locks are searched\n",
	       N_MODELS, n_sections, n_edges, n_waits, n_compared);
	CHECK(n_compared > N_MODELS / 10);
	printf("auxiliary locks: %u of %d runs do not end\n", n_stuck, N_MODELS / N_RUN);
	CHECK(n_stuck < N_MODELS / N_RUN / 2);
	for (unsigned i = 0; i < G_N_ELEMENTS(changes); i++) {
		printf("%s: %u found\n", changes[i].name, n_caught[i]);
		CHECK(n_caught[i] > N_MODELS / N_RUN / 10);
	}
	g_rand_free(random);
	return 0;
}
