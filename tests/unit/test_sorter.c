/* SPDX-License-Identifier: MIT */
/* Items that do not fit into the memory of a sorter come back in order, each once. */
#include <signal.h>
#include <sys/resource.h>

#include "check.h"
#include "core/sorter.h"

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* The numbers below n, each once: the multiplier and n have no common divisor. */
static void sorts(uint64_t n, size_t run_bytes)
{
	struct pp_sorter *sorter = pp_sorter_new(sizeof(uint64_t), compare, run_bytes);
	struct pp_error err = PP_ERROR_INIT;

	for (uint64_t i = 0; i < n; i++) {
		uint64_t item = i * 7919 % n;

		pp_sorter_add(sorter, &item);
	}
	CHECK_INT(pp_sorter_finish(sorter, &err), 0);
	for (uint64_t i = 0; i < n; i++) {
		const uint64_t *item = pp_sorter_peek(sorter);

		CHECK(item);
		CHECK_INT(*item, i);
		pp_sorter_pop(sorter);
	}
	CHECK(!pp_sorter_peek(sorter));
	CHECK_INT(pp_sorter_check(sorter, &err), 0);
	pp_sorter_free(sorter);
}

/* What the disk does not take is an error. */
static void fails(void)
{
	struct rlimit none = {0, 0};
	struct pp_sorter *sorter = pp_sorter_new(sizeof(uint64_t), compare, 800);
	struct pp_error err = PP_ERROR_INIT;

	signal(SIGXFSZ, SIG_IGN);
	CHECK_INT(setrlimit(RLIMIT_FSIZE, &none), 0);
	for (uint64_t i = 0; i < 1000; i++)
		pp_sorter_add(sorter, &i);
	CHECK(pp_sorter_finish(sorter, &err) < 0);
	pp_error_done(&err);
	CHECK(!pp_sorter_peek(sorter));
	pp_sorter_free(sorter);
}

int main(void)
{
	sorts(0, 800);
	sorts(1, 800);
	sorts(100, 800);
	sorts(101, 800);
	sorts(64 * 100, 800);
	sorts(64 * 100 + 1, 800);
	/* Runs of three levels. */
	sorts(64 * 64 * 10 + 637, 80);
	sorts(5000, 1);
	fails();
	return 0;
}
