/* SPDX-License-Identifier: MIT */
/* The kernel lists them in /sys. */
#include "record/perf/cpus.h"

#include <stdlib.h>
#include <unistd.h>

GArray *pp_online_cpus(void)
{
	GArray *cpus = g_array_new(FALSE, FALSE, sizeof(int));
	g_autofree char *text = NULL;

	/* A list like "0-3,5". */
	if (g_file_get_contents("/sys/devices/system/cpu/online", &text, NULL, NULL)) {
		const char *p = text;

		while (g_ascii_isdigit(*p)) {
			char *end;
			int first = (int)strtol(p, &end, 10);
			int last = *end == '-' ? (int)strtol(end + 1, &end, 10) : first;

			for (int cpu = first; cpu <= last; cpu++)
				g_array_append_val(cpus, cpu);
			p = *end == ',' ? end + 1 : end;
		}
	}
	for (int cpu = 0; !text && cpu < sysconf(_SC_NPROCESSORS_ONLN); cpu++)
		g_array_append_val(cpus, cpu);
	return cpus;
}
