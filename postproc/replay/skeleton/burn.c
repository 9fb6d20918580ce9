/* SPDX-License-Identifier: MIT */
/*
 * The loop is a chain of multiplications, whose speed does not depend on the alignment of the code.
 * Its speed is learned from pieces without operations, the cost of operations from the rest.
 */
#include "replay/skeleton/burn.h"

#include <glib.h>
#include <stdlib.h>
#include <time.h>

#define PIECE_NS	  500000
#define LEAST_PIECE_NS	  20000 /* whose speed is learned */
#define MOST_CALLS	  256	/* without a look at the clock */
#define MOST_OPERATION_NS 20000.0
#define LEARNED		  0.25 /* the weight of a new value */
#define MOST_CHANGE	  2    /* of the speed: jumps of the clock are not learned */
#define N_SPEEDS	  21
#define SPEED_LOOPS	  100000

static int64_t cpu_clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static __attribute__((noinline)) void loop(uint64_t n)
{
	uint64_t x = 1;

	for (; n > 0; n--) {
		x *= 0x9E3779B97F4A7C15u;
		__asm__ volatile("" : "+r"(x));
	}
}

static void learn_speed(struct pp_burner *burner, double loops_per_ns)
{
	double known = burner->loops_per_ns;

	burner->loops_per_ns +=
	    LEARNED * (CLAMP(loops_per_ns, known / MOST_CHANGE, known * MOST_CHANGE) - known);
}

static void burn_loops(struct pp_burner *burner, int64_t ns)
{
	loop((uint64_t)((double)ns * burner->loops_per_ns));
	burner->burned_ns += ns;
}

static int compare_speeds(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double pp_burn_calibrate(void)
{
	double speeds[N_SPEEDS];

	for (unsigned i = 0; i < N_SPEEDS; i++) {
		int64_t begin_ns = cpu_clock_ns(), ns;

		loop(SPEED_LOOPS);
		ns = cpu_clock_ns() - begin_ns;
		speeds[i] = SPEED_LOOPS / (double)MAX(ns, 1);
	}
	qsort(speeds, N_SPEEDS, sizeof(speeds[0]), compare_speeds);
	return speeds[N_SPEEDS / 2];
}

void pp_burner_init(struct pp_burner *burner, double loops_per_ns)
{
	*burner = (struct pp_burner){.loops_per_ns = loops_per_ns};
	burner->excluded_ns = burner->read_ns = cpu_clock_ns();
}

/* Reads the clock. Returns the CPU time since it was read last. */
static int64_t correct(struct pp_burner *burner)
{
	int64_t now_ns = cpu_clock_ns(), since_ns = now_ns - burner->read_ns;

	burner->owed_ns = burner->due_ns - (now_ns - burner->excluded_ns);
	burner->read_ns = now_ns;
	burner->burned_ns = 0;
	burner->n_calls = 0;
	return since_ns;
}

void pp_burner_read(struct pp_burner *burner)
{
	unsigned n = burner->n_calls;
	int64_t burned_ns = burner->burned_ns;
	double ns = (double)(correct(burner) - burned_ns);

	if (n >= 8)
		burner->operation_ns +=
		    LEARNED * (CLAMP(ns / n, 0, MOST_OPERATION_NS) - burner->operation_ns);
}

/* Burns what is owed, by the clock. */
static void burn_long(struct pp_burner *burner)
{
	pp_burner_read(burner);
	while (burner->owed_ns > 0) {
		int64_t piece_ns = MIN(burner->owed_ns, PIECE_NS), ns;
		double n = (double)piece_ns * burner->loops_per_ns;

		burn_loops(burner, piece_ns);
		if (piece_ns < LEAST_PIECE_NS) {
			burner->owed_ns -= piece_ns;
			continue;
		}
		ns = correct(burner);
		learn_speed(burner, n / (double)MAX(ns, 1));
	}
}

void pp_burn(struct pp_burner *burner, uint64_t ns)
{
	burner->due_ns += (int64_t)ns;
	burner->owed_ns += (int64_t)ns - (int64_t)burner->operation_ns;
	burner->n_calls++;
	if (burner->owed_ns + burner->burned_ns > PP_BURN_UNREAD_NS ||
	    burner->n_calls >= MOST_CALLS) {
		burn_long(burner);
	} else if (burner->owed_ns > 0) {
		burn_loops(burner, burner->owed_ns);
		burner->owed_ns = 0;
	}
}

void pp_burner_pause(struct pp_burner *burner)
{
	pp_burner_read(burner);
}

void pp_burner_resume(struct pp_burner *burner)
{
	int64_t now_ns = cpu_clock_ns();

	burner->excluded_ns += now_ns - burner->read_ns;
	burner->read_ns = now_ns;
}

void pp_burner_exclude(struct pp_burner *burner, int64_t ns)
{
	burner->excluded_ns += ns;
	burner->read_ns += ns;
}
