/* SPDX-License-Identifier: MIT */
/*
 * The states of each thread and object over time: every step, or if there are too many, the share
 * of each state in each time cell.
 */
#include "export/html/html.h"

#define STEPS_MAX   300000 /* limit on all lanes' steps, to write every step */
#define ENTRIES_MAX 700000 /* of cells; two entries per cell are typical */
#define CELLS_MAX   2048

static const char *const thread_states[] = {"unknown", "running",  "runnable", "blocked",
					    "io",      "sleeping", "gone",     NULL};
static const char *const object_states[] = {"free", "held", "contended", "waited", "gone", NULL};

static unsigned gone_of(bool is_object)
{
	return (is_object ? G_N_ELEMENTS(object_states) : G_N_ELEMENTS(thread_states)) - 2;
}

static unsigned state_of(uint64_t step, bool is_object)
{
	return MIN((unsigned)(step & 7), gone_of(is_object));
}

/* --- every step ----------------------------------------------------------------------------- */

/* Keeps only the last step of those at the same time, or before the period shown. */
static bool is_last(const struct pp_html *html, const uint64_t *steps, uint64_t n, uint64_t i)
{
	uint64_t from_ns = (uint64_t)html->from_ns;
	uint64_t at_ns = MAX(steps[i] >> 3, from_ns);

	return steps[i] >> 3 <= (uint64_t)html->to_ns &&
	       (i + 1 >= n || MAX(steps[i + 1] >> 3, from_ns) != at_ns);
}

static void put_steps(struct pp_html *html, const uint64_t *steps, uint64_t n, bool is_object)
{
	pp_put_open(&html->put, "t", '[');
	for (uint64_t i = 0; i < n; i++)
		if (is_last(html, steps, n, i))
			pp_put_number(&html->put, NULL,
				      MAX((int64_t)(steps[i] >> 3), html->from_ns) - html->from_ns);
	pp_put_close(&html->put, ']');
	pp_put_open(&html->put, "s", '[');
	for (uint64_t i = 0; i < n; i++)
		if (is_last(html, steps, n, i))
			pp_put_number(&html->put, NULL, state_of(steps[i], is_object));
	pp_put_close(&html->put, ']');
}

/* --- cells ---------------------------------------------------------------------------------- */

static unsigned put_cell(struct pp_html *html, unsigned cell, unsigned state, uint64_t ns,
			 uint64_t cell_ns)
{
	if (!ns)
		return 0;
	pp_put_open(&html->put, NULL, '[');
	pp_put_number(&html->put, NULL, cell);
	pp_put_number(&html->put, NULL, state);
	pp_put_number(&html->put, NULL,
		      CLAMP((int64_t)(255.0 * (double)ns / (double)cell_ns + 0.5), 1, 255));
	pp_put_close(&html->put, ']');
	return 1;
}

/* Returns the number of entries. */
static unsigned put_cells(struct pp_html *html, uint64_t lane, unsigned n_cells, bool is_object)
{
	g_autofree struct pp_index_sum *sums = g_new(struct pp_index_sum, n_cells);
	unsigned n = 0;
	uint64_t cell_ns = MAX((uint64_t)(html->to_ns - html->from_ns) / n_cells, 1);

	pp_index_cells(html->index, lane, html->from_ns, html->to_ns, n_cells, sums);
	pp_put_open(&html->put, "c", '[');
	for (unsigned cell = 0; cell < n_cells; cell++)
		for (unsigned state = 0; state < gone_of(is_object); state++)
			n += put_cell(html, cell, state, sums[cell].ns[state], cell_ns);
	pp_put_close(&html->put, ']');
	return n;
}

/* -------------------------------------------------------------------------------------------- */

struct lanes {
	uint64_t n_lanes, n_steps;
	uint64_t n_exact; /* lanes with at most this many steps are written exactly */
	unsigned n_cells, n_with_cells;
	uint64_t n_entries, n_left_out;
};

/* Threads that are not chosen have no steps. */
static uint64_t steps_of(const struct pp_html *html, uint64_t lane, const uint64_t **ret)
{
	uint64_t n_threads = pp_index_n(html->index, PP_SECTION_THREADS);

	*ret = NULL;
	if (lane < n_threads && !pp_html_has_thread(html, (uint32_t)lane))
		return 0;
	return pp_index_steps(html->index, lane, ret);
}

static uint64_t object_lane(const struct pp_html *html, guint at)
{
	return pp_index_n(html->index, PP_SECTION_THREADS) +
	       g_array_index(html->objects, uint32_t, at);
}

static void count_lane(const struct pp_html *html, struct lanes *lanes, uint64_t lane)
{
	const uint64_t *steps;

	lanes->n_lanes++;
	lanes->n_steps += steps_of(html, lane, &steps);
}

static struct lanes measure(const struct pp_html *html)
{
	struct lanes lanes = {.n_cells = pp_html_bins(html)};

	for (uint64_t i = 0; i < pp_index_n(html->index, PP_SECTION_THREADS); i++)
		count_lane(html, &lanes, i);
	for (guint i = 0; i < html->objects->len; i++)
		count_lane(html, &lanes, object_lane(html, i));
	while (lanes.n_cells < CELLS_MAX && lanes.n_lanes * lanes.n_cells * 2 <= STEPS_MAX)
		lanes.n_cells *= 2;
	lanes.n_exact = lanes.n_steps <= STEPS_MAX ? UINT64_MAX : lanes.n_cells;
	return lanes;
}

static void put_lane(struct pp_html *html, struct lanes *lanes, uint64_t lane, bool is_object)
{
	const uint64_t *steps;
	uint64_t n = steps_of(html, lane, &steps);

	pp_put_open(&html->put, NULL, '{');
	if (n <= lanes->n_exact) {
		put_steps(html, steps, n, is_object);
	} else if (lanes->n_entries < ENTRIES_MAX) {
		lanes->n_entries += put_cells(html, lane, lanes->n_cells, is_object);
		lanes->n_with_cells++;
	} else {
		put_steps(html, steps, 0, is_object);
		lanes->n_left_out++;
	}
	pp_put_close(&html->put, '}');
}

static void put_states(struct pp_html *html, const char *key, const char *const *states)
{
	pp_put_open(&html->put, key, '[');
	for (; *states; states++)
		pp_put_text(&html->put, NULL, *states);
	pp_put_close(&html->put, ']');
}

void pp_html_put_lanes(struct pp_html *html)
{
	struct lanes lanes = measure(html);

	pp_put_number(&html->put, "cells", lanes.n_cells);
	pp_put_open(&html->put, "lanes", '{');
	put_states(html, "thread_states", thread_states);
	put_states(html, "object_states", object_states);
	pp_put_open(&html->put, "threads", '[');
	for (uint64_t i = 0; i < pp_index_n(html->index, PP_SECTION_THREADS); i++)
		put_lane(html, &lanes, i, false);
	pp_put_close(&html->put, ']');
	pp_put_open(&html->put, "objects", '[');
	for (guint i = 0; i < html->objects->len; i++)
		put_lane(html, &lanes, object_lane(html, i), true);
	pp_put_close(&html->put, ']');
	pp_put_close(&html->put, '}');
	if (lanes.n_with_cells)
		pp_html_miss(html, "lanes",
			     "%u of %" G_GUINT64_FORMAT
			     " are drawn in %u time cells, with the share of each state",
			     lanes.n_with_cells, lanes.n_lanes, lanes.n_cells);
	if (lanes.n_left_out)
		pp_html_miss(html, "lanes",
			     "%" G_GUINT64_FORMAT " more are empty: limit of lanes reached",
			     lanes.n_left_out);
}
