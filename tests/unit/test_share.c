/* SPDX-License-Identifier: MIT */
/* Shares in words: no part is rounded to all or nothing. */
#include "check.h"
#include "core/text/share.h"

#include <glib.h>

static void check(uint64_t part, uint64_t all, const char *expected)
{
	g_autofree char *text = pp_share_text(part, all);

	CHECK_STR(text, expected);
}

int main(void)
{
	check(0, 5, "0 %");
	check(5, 5, "100 %");
	check(0, 0, "0 %");
	check(1, 2, "50 %");
	check(126, 1000, "13 %");
	check(10, 1000, "1 %");
	check(990, 1000, "99 %");
	check(998, 1000, "99.8 %");
	check(2, 1000, "0.2 %");
	check(999, 1000, "99.9 %");
	check(9999, 10000, "more than 99.9 %");
	check(1, 10000, "less than 0.1 %");
	check(UINT64_MAX - 1, UINT64_MAX, "more than 99.9 %");
	return 0;
}
