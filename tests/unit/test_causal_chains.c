/* SPDX-License-Identifier: MIT */
/* Segments of chains that branch off each other at random; the reference writes out each chain. */
#include "check.h"
#include "analysis/graph/chain.h"

#define N_THREADS 7
#define N_STEPS	  24000
#define ROUNDS	  4

struct thread {
	struct pp_chain chain;
	GArray *segments; /* of struct pp_chain_segment; all segments */
	int64_t until_ns;
	bool passes;
	guint about;
};

static uint64_t random_below(uint64_t *state, uint64_t limit)
{
	*state = *state * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (*state >> 33) % limit;
}

static void go(struct thread *thread, guint number, int64_t now_ns, guint place, unsigned mode)
{
	GArray *segments = thread->segments;
	struct pp_chain_segment segment = {thread->until_ns, now_ns, .thread = number,
					   .place = place};
	struct pp_chain_segment *last =
	    segments->len ? &g_array_index(segments, struct pp_chain_segment, segments->len - 1)
			  : NULL;

	if (now_ns == thread->until_ns)
		return;
	pp_chain_go(&thread->chain, number, place, thread->until_ns, now_ns, mode);
	segment.ns[mode] = now_ns - thread->until_ns;
	thread->until_ns = now_ns;
	if (last && last->thread == number && !thread->passes) {
		last->end_ns = now_ns;
		last->ns[mode] += segment.ns[mode];
		return;
	}
	if (last && thread->passes) {
		last->to = number + 1;
		last->object = thread->about;
	}
	thread->passes = false;
	g_array_append_val(segments, segment);
}

static void wake(const struct thread *waker, struct thread *woken, struct pp_chain branch,
		 guint about)
{
	pp_chain_drop(&woken->chain);
	woken->chain = branch;
	pp_chain_pass(&woken->chain, about);
	g_array_set_size(woken->segments, 0);
	g_array_append_vals(woken->segments, waker->segments->data, waker->segments->len);
	woken->until_ns = waker->until_ns;
	woken->passes = true;
	woken->about = about;
}

static gint longest_first(gconstpointer a, gconstpointer b)
{
	const struct pp_chain_segment *x = a, *y = b;
	int64_t x_ns = x->end_ns - x->start_ns, y_ns = y->end_ns - y->start_ns;

	return x_ns != y_ns ? (x_ns < y_ns ? 1 : -1) : x->start_ns < y->start_ns ? -1 : 1;
}

static gint first_first(gconstpointer a, gconstpointer b)
{
	const struct pp_chain_segment *x = a, *y = b;

	return x->start_ns < y->start_ns ? -1 : 1;
}

static void compare(const struct thread *thread)
{
	uint64_t n_left_out;
	GArray *segments = pp_chain_segments(&thread->chain, &n_left_out), *want = thread->segments;
	guint n_all = want->len;

	g_array_sort(want, longest_first);
	g_array_set_size(want, MIN(n_all, PP_CHAIN_SEGMENTS));
	g_array_sort(want, first_first);
	CHECK_INT(segments->len, want->len);
	CHECK_INT(n_left_out, n_all - want->len);
	for (guint i = 0; i < want->len; i++) {
		const struct pp_chain_segment *x =
		    &g_array_index(segments, struct pp_chain_segment, i);
		const struct pp_chain_segment *y = &g_array_index(want, struct pp_chain_segment, i);

		CHECK_INT(x->start_ns, y->start_ns);
		CHECK_INT(x->end_ns, y->end_ns);
		CHECK(memcmp(x->ns, y->ns, sizeof(x->ns)) == 0);
		CHECK_INT(x->thread, y->thread);
		CHECK_INT(x->place, y->place);
		CHECK_INT(x->to, y->to);
		if (y->to)
			CHECK_INT(x->object, y->object);
	}
	g_array_unref(segments);
}

static guint run(uint64_t seed, guint n_awake)
{
	GNode *chains = pp_chains_new();
	struct thread threads[N_THREADS];
	uint64_t random = seed;
	int64_t now_ns = 0;
	guint n_legs = 0;

	for (guint i = 0; i < N_THREADS; i++)
		threads[i] = (struct thread){
		    .chain = pp_chain_begin(chains, 0),
		    .segments = g_array_new(FALSE, FALSE, sizeof(struct pp_chain_segment)),
		};
	for (guint step = 0; step < N_STEPS; step++) {
		/* Some threads sleep for a long time. */
		guint among = random_below(&random, 50) ? n_awake : N_THREADS;
		guint i = (guint)random_below(&random, among);
		guint j = (guint)random_below(&random, among);

		now_ns += (int64_t)random_below(&random, 3) * (int64_t)random_below(&random, 1000);
		go(&threads[i], i, now_ns, step, (unsigned)random_below(&random, PP_CHAIN_MODES));
		if (i != j)
			wake(&threads[i], &threads[j], pp_chain_branch(&threads[i].chain), step);
	}
	for (guint i = 0; i < N_THREADS; i++) {
		n_legs = MAX(n_legs, threads[i].segments->len);
		compare(&threads[i]);
		g_array_unref(threads[i].segments);
	}
	pp_chains_free(chains);
	return n_legs;
}

int main(void)
{
	for (uint64_t seed = 1; seed <= ROUNDS; seed++)
		for (guint n_awake = 2; n_awake <= N_THREADS; n_awake++)
			CHECK(run(seed, n_awake) > PP_CHAIN_SEGMENTS);
	return 0;
}
