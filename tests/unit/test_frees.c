/* SPDX-License-Identifier: MIT */
/* Parts of sets that other threads freed later, compared with a list of all frees. */
#include "check.h"

#include "replay/frees.h"

#define N_THREADS 4
#define N_FREES	  60
#define N_BYTES	  512
#define N_RUNS	  2000
#define LARGE	  (UINT64_C(1) << 20) /* bytes of a block that is kept as a range */

struct free {
	int thread;
	uint64_t address, size;
	int64_t time_ns;
};

static struct pp_process *processes;
static struct pp_thread *threads;
static struct free frees[N_FREES];

static int any(GRand *rand, int n)
{
	return g_rand_int_range(rand, 0, n);
}

static void make_frees(GRand *rand, struct pp_replay_frees *of)
{
	for (int i = 0; i < N_THREADS; i++)
		threads[i] = (struct pp_thread){.process = &processes[i == N_THREADS - 1],
						.end_ns = any(rand, 2) ? any(rand, 2 * N_FREES)
								       : PP_TIME_UNKNOWN};
	for (int i = 0; i < N_FREES; i++) {
		bool is_large = any(rand, 30) == 0;

		frees[i] = (struct free){
		    .thread = any(rand, N_THREADS),
		    .address = is_large ? 0 : (uint64_t)any(rand, N_BYTES),
		    .size = is_large ? LARGE : (uint64_t)any(rand, 100),
		    .time_ns = 2 * i,
		};
		pp_replay_frees_add(of, &threads[frees[i].thread], frees[i].address, frees[i].size,
				    frees[i].time_ns);
	}
}

static bool is_freed(int thread, int64_t since_ns, uint64_t address)
{
	for (int i = 0; i < N_FREES; i++) {
		const struct free *free = &frees[i];

		if (free->thread != thread && free->time_ns > since_ns &&
		    threads[free->thread].process == threads[thread].process &&
		    (threads[thread].end_ns == PP_TIME_UNKNOWN ||
		     threads[thread].end_ns > free->time_ns) &&
		    address >= free->address && address - free->address < free->size)
			return true;
	}
	return false;
}

static uint64_t expected(uint64_t bytes, int thread, int64_t since_ns, uint64_t address)
{
	uint64_t freed = 0;

	for (unsigned i = 0; i < 64; i++)
		if (bytes >> i & 1 && is_freed(thread, since_ns, address + i))
			freed |= UINT64_C(1) << i;
	return freed;
}

static void check_part(GRand *rand, struct pp_access_sets *sets, const struct pp_replay_frees *of)
{
	int thread = any(rand, N_THREADS);
	int64_t since_ns = any(rand, 2 * N_FREES);
	struct pp_access_line lines[N_BYTES / 64];
	struct pp_access_set *set, *part;

	for (unsigned i = 0; i < G_N_ELEMENTS(lines); i++)
		lines[i] = (struct pp_access_line){
		    .address = 64 * i,
		    .read = (uint64_t)g_rand_int(rand) << any(rand, 33),
		    .written = (uint64_t)g_rand_int(rand) << any(rand, 33),
		    .first_site = 7,
		};
	set = pp_access_set_get(sets, lines, G_N_ELEMENTS(lines));
	part = pp_replay_frees_part(of, &threads[thread], since_ns, set);
	for (unsigned i = 0; i < set->n; i++) {
		const struct pp_access_line *line = &set->lines[i];
		const struct pp_access_line *got =
		    part ? pp_access_set_line(part, line->address) : NULL;

		CHECK_INT(got ? got->read : 0,
			  expected(line->read, thread, since_ns, line->address));
		CHECK_INT(got ? got->written : 0,
			  expected(line->written, thread, since_ns, line->address));
		CHECK(!got || got->first_site == 7);
	}
	pp_access_set_unref(part);
	pp_access_set_unref(set);
}

int main(void)
{
	struct pp_access_sets *sets = pp_access_sets_new();

	processes = g_new0(struct pp_process, 2);
	threads = g_new0(struct pp_thread, N_THREADS);
	for (unsigned run = 0; run < N_RUNS; run++) {
		GRand *rand = g_rand_new_with_seed(run);
		struct pp_replay_frees *of = pp_replay_frees_new();

		make_frees(rand, of);
		for (unsigned i = 0; i < 10; i++)
			check_part(rand, sets, of);
		pp_replay_frees_free(of);
		g_rand_free(rand);
	}
	CHECK_INT(pp_access_sets_count(sets), 0);
	pp_access_sets_free(sets);
	g_free(processes);
	g_free(threads);
	return 0;
}
