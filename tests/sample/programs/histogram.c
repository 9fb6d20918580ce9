/* SPDX-License-Identifier: MIT */
/* histogram [ADDRESS COUNT]...: writes a gmon file with that many samples to stdout. */
#include <stdio.h>
#include <stdlib.h>

#include "gmon-mt/histogram.h"

static void put(void *to, const void *bytes, unsigned n)
{
	fwrite(bytes, 1, n, to);
}

int main(int argc, char **argv)
{
	struct gm_gmon_header header = GM_GMON_HEADER;
	size_t n = (size_t)(argc - 1) / 2;
	struct gm_sample *samples = calloc(n + 1, sizeof(*samples));

	for (size_t i = 0; i < n; i++) {
		samples[i].pc = strtoull(argv[2 * i + 1], NULL, 0);
		samples[i].count = strtoull(argv[2 * i + 2], NULL, 0);
	}
	fwrite(&header, sizeof(header), 1, stdout);
	gm_histogram_put(samples, n, 0x401000, 100, put, stdout);
	free(samples);
	return 0;
}
