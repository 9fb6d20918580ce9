/* SPDX-License-Identifier: MIT */
/* Chooses the unit by magnitude, and reads durations with a unit. */
#include "core/text/duration.h"

#include <math.h>
#include <string.h>

#include <glib.h>

static const struct {
	double ns;
	const char *unit;
} units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}};

bool pp_duration_read(const char *text, const char *default_unit, int64_t *ret_ns)
{
	char *unit;
	double number = g_ascii_strtod(text, &unit);

	/* strtod() also accepts signs, hexadecimal, "inf" and leading blanks; refuse these. */
	if (strspn(text, "0123456789.") != (size_t)(unit - text) || unit == text)
		return false;
	for (unsigned i = 0; i < G_N_ELEMENTS(units); i++) {
		if (g_strcmp0(*unit ? unit : default_unit, units[i].unit) != 0)
			continue;
		if (number * units[i].ns >= 0x1p62)
			return false;
		*ret_ns = llround(number * units[i].ns);
		return true;
	}
	return false;
}

char *pp_duration_text(int64_t time_ns)
{
	double ns = fabs((double)time_ns);
	const char *sign = time_ns < 0 ? "-" : "";

	if (time_ns == 0)
		return g_strdup("0");
	for (unsigned i = 0; i < G_N_ELEMENTS(units); i++) {
		double value = ns / units[i].ns;
		int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;

		/* 999.6 us would be printed as "1000 us". */
		if (value >= 1 || (i + 1 < G_N_ELEMENTS(units) && value >= 0.9995))
			return g_strdup_printf("%s%.*f %s", sign, units[i].ns == 1 ? 0 : decimals,
					       value, units[i].unit);
	}
	return g_strdup_printf("%s%.0f ns", sign, ns);
}
