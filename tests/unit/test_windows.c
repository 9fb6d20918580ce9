/* SPDX-License-Identifier: MIT */
/* Windows of a capture's time: where they are, and the parts of intervals in them. */
#include "check.h"

#include "core/windows.h"

#define FROM_NS 1000000
#define TO_NS	9000000

/* Nanosecond by nanosecond, as pp_windows_part_ns() adds them up. */
static int64_t count(const struct pp_windows *windows, int64_t start_ns, int64_t end_ns)
{
	int64_t sum_ns = 0;

	for (int64_t at = start_ns; at < end_ns; at++)
		for (unsigned i = 0; i < windows->n; i++)
			sum_ns +=
			    at >= windows->from_ns[i] && at < windows->from_ns[i] + windows->len_ns;
	return sum_ns;
}

static void test_places(void)
{
	struct pp_windows windows;

	pp_windows_init(&windows, 8, FROM_NS, TO_NS, 1000);
	for (unsigned i = 0; i < 8; i++) {
		CHECK(windows.from_ns[i] >= FROM_NS + i * 1000000);
		CHECK(windows.from_ns[i] + 1000 <= FROM_NS + (i + 1) * 1000000);
	}
	CHECK(windows.from_ns[1] - windows.from_ns[0] != windows.from_ns[2] - windows.from_ns[1]);
	CHECK_INT(pp_windows_factor(&windows), 1000);
	pp_windows_done(&windows);
}

static void test_parts(void)
{
	struct pp_windows windows;

	pp_windows_init(&windows, 8, FROM_NS, TO_NS, 300);
	for (unsigned i = 0; i < 8; i++) {
		int64_t from_ns = windows.from_ns[i];

		/* In either direction, since the last result is remembered. */
		for (int64_t offset = -310; offset < 310; offset += 31) {
			int64_t start_ns = from_ns + offset, other_ns = from_ns - offset;

			CHECK_INT(pp_windows_part_ns(&windows, start_ns, start_ns + 100),
				  count(&windows, start_ns, start_ns + 100));
			CHECK_INT(pp_windows_part_ns(&windows, other_ns, other_ns + 700),
				  count(&windows, other_ns, other_ns + 700));
		}
		CHECK_INT(pp_windows_after(&windows, from_ns + 299), i);
		CHECK_INT(pp_windows_after(&windows, from_ns + 300), i + 1);
	}
	CHECK_INT(pp_windows_part_ns(&windows, 0, INT64_MAX), 8 * 300);
	CHECK_INT(pp_windows_part_ns(&windows, TO_NS, INT64_MAX), 0);
	pp_windows_done(&windows);
}

/* Whole stretches: nothing is left out, nothing counts twice. */
static void test_all(void)
{
	struct pp_windows windows;

	pp_windows_init(&windows, 8, FROM_NS, TO_NS, 1000000);
	CHECK_INT(pp_windows_part_ns(&windows, FROM_NS, TO_NS), TO_NS - FROM_NS);
	CHECK_INT(pp_windows_factor(&windows), 1);
	pp_windows_done(&windows);
}

static void test_cut(void)
{
	struct pp_windows windows;

	pp_windows_init(&windows, 8, FROM_NS, TO_NS, 1000);
	pp_windows_cut(&windows, FROM_NS, windows.from_ns[3] + 999);
	CHECK_INT(windows.n, 3);
	CHECK_INT(windows.span_ns, windows.from_ns[3] + 999 - FROM_NS);
	CHECK_INT(pp_windows_after(&windows, TO_NS), 3);
	pp_windows_cut(&windows, FROM_NS, FROM_NS);
	CHECK_INT(windows.n, 0);
	CHECK_INT(pp_windows_factor(&windows), 0);
	pp_windows_done(&windows);
}

int main(void)
{
	test_places();
	test_parts();
	test_all();
	test_cut();
	return 0;
}
