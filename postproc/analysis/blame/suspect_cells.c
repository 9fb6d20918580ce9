/* SPDX-License-Identifier: MIT */
/* See suspect_cells.h. */
#include "analysis/blame/suspect_cells.h"

static guint cell_hash(const void *data)
{
	const struct pp_suspect *suspect = &((const struct pp_suspect_cell *)data)->suspect;
	uint64_t hash = (uintptr_t)suspect->process ^ (uint64_t)suspect->call.op << 1;

	hash = (hash ^ suspect->call.site) * UINT64_C(0x9e3779b97f4a7c15);
	hash = (hash ^ (uintptr_t)suspect->call.path) * UINT64_C(0x9e3779b97f4a7c15);
	return (guint)(hash >> 32) ^ suspect->kind;
}

static gboolean cell_equal(const void *a, const void *b)
{
	const struct pp_suspect *x = &((const struct pp_suspect_cell *)a)->suspect;
	const struct pp_suspect *y = &((const struct pp_suspect_cell *)b)->suspect;

	return x->kind == y->kind && x->process == y->process && x->call.op == y->call.op &&
	       x->call.site == y->call.site && x->call.path == y->call.path;
}

void pp_suspect_cells_init(struct pp_suspect_cells *cells)
{
	cells->known = g_hash_table_new(cell_hash, cell_equal);
	cells->all = g_ptr_array_new_with_free_func(g_free);
}

void pp_suspect_cells_done(struct pp_suspect_cells *cells)
{
	g_hash_table_unref(cells->known);
	g_ptr_array_unref(cells->all);
}

struct pp_suspect_cell *pp_suspect_cell_of(struct pp_suspect_cells *cells,
					   const struct pp_suspect *suspect)
{
	const struct pp_suspect_cell key = {.suspect = *suspect};
	struct pp_suspect_cell *cell = g_hash_table_lookup(cells->known, &key);

	if (!cell) {
		cell = g_memdup2(&key, sizeof(key));
		g_hash_table_add(cells->known, cell);
		g_ptr_array_add(cells->all, cell);
	}
	return cell;
}

/* A later cell gets the fraction that rounding takes from one. */
void pp_suspect_cells_round(const struct pp_suspect_cells *cells, enum pp_suspect_kind kind,
			    uint64_t rest)
{
	unsigned __int128 units = rest;
	int64_t ns = 0;

	for (guint i = 0; i < cells->all->len; i++) {
		struct pp_suspect_cell *cell = cells->all->pdata[i];

		if (cell->suspect.kind != kind)
			continue;
		units += cell->units;
		cell->suspect.ns = (int64_t)(units >> PP_SUSPECT_UNIT_BITS) - ns;
		ns += cell->suspect.ns;
	}
}
