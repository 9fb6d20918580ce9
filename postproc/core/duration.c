/* SPDX-License-Identifier: MIT */
#include "core/duration.h"

#include <math.h>

#include <glib.h>

char *pp_duration_text(int64_t time_ns)
{
	static const struct {
		double ns;
		const char *unit;
	} units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}};
	double ns = fabs((double)time_ns);
	const char *sign = time_ns < 0 ? "-" : "";

	if (time_ns == 0)
		return g_strdup("0");
	for (unsigned i = 0; i < G_N_ELEMENTS(units); i++) {
		double value = ns / units[i].ns;
		int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;

		/* 999.6 us would show as "1000 us". */
		if (value >= 1 || (i + 1 < G_N_ELEMENTS(units) && value >= 0.9995))
			return g_strdup_printf("%s%.*f %s", sign, units[i].ns == 1 ? 0 : decimals,
					       value, units[i].unit);
	}
	return g_strdup_printf("%s%.0f ns", sign, ns);
}
