/* SPDX-License-Identifier: MIT */
/* Cells that the tables of the critical path share. */
#include "pass/critical_path/critical_path.h"

void pp_critical_set_share(struct pp_cell *cell, int64_t ns, const struct pp_critical_sums *path)
{
	int64_t inside_ns = path->length_ns - path->outside_ns;

	if (inside_ns > 0)
		pp_cell_set_number(cell, 100.0 * (double)ns / (double)inside_ns);
}

void pp_critical_add_time(struct pp_cell *cell, int64_t ns)
{
	pp_cell_set_time(cell, (cell->missing ? 0 : cell->time_ns) + ns);
}

/* The duration in that column of the row; 0 if missing. */
static int64_t time_of(const struct pp_cell *row, unsigned column)
{
	return row[column].missing ? 0 : row[column].time_ns;
}

gint pp_critical_compare(const struct pp_cell *a, const struct pp_cell *b, unsigned column)
{
	int64_t x = time_of(a, column), y = time_of(b, column);

	return x < y ? 1 : x > y ? -1 : 0;
}

gint pp_critical_compare_inside(const struct pp_cell *a, const struct pp_cell *b, unsigned path,
				unsigned outside)
{
	int64_t x = time_of(a, path) - time_of(a, outside);
	int64_t y = time_of(b, path) - time_of(b, outside);

	return x != y ? (x < y ? 1 : -1) : pp_critical_compare(a, b, path);
}
