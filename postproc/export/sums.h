/* SPDX-License-Identifier: MIT */
/*
 * Figures by what they are of: some numbers, the first of which is a part of the time, its bin.
 * Where there are too many, two bins become one.
 */
#ifndef PP_EXPORT_SUMS_H
#define PP_EXPORT_SUMS_H

#include "export/put.h"

#define PP_SUMS_KEYS	  6
#define PP_SUMS_FIGURES	  6
#define PP_SUMS_NONE	  UINT32_MAX /* a key that is not known; of bins, all of them */
#define PP_SUMS_NOT_KNOWN UINT64_MAX /* a figure */

struct pp_sums_kind {
	const char *name;
	const char *keys[PP_SUMS_KEYS + 1]; /* names, the bin's first */
	const char *figures[PP_SUMS_FIGURES + 1];
	unsigned largest; /* bits: figures of which two are the larger, not the sum */
};

struct pp_sums_row {
	uint32_t key[PP_SUMS_KEYS];
	uint64_t figure[PP_SUMS_FIGURES];
};

struct pp_sums {
	const struct pp_sums_kind *kind;
	GArray *rows;	 /* of struct pp_sums_row */
	uint32_t *slots; /* position of a row + 1, by hash; 0: none */
	uint32_t n_slots;
};

void pp_sums_init(struct pp_sums *sums, const struct pp_sums_kind *kind);
void pp_sums_done(struct pp_sums *sums);

/* The figures of that row, which is made if it is not there: valid until the next is made. */
uint64_t *pp_sums_at(struct pp_sums *sums, const uint32_t *key);

/* NULL: there is no such row. */
uint64_t *pp_sums_find(const struct pp_sums *sums, const uint32_t *key);

/* Each two bins, from an even one on, become one. */
void pp_sums_halve(struct pp_sums *sums);

/* As a column table, sorted, the bin last.  No row can be asked for any more. */
void pp_sums_put(struct pp_sums *sums, struct pp_put *put);
void pp_sums_put_columns(struct pp_sums *sums, struct pp_put *put); /* without name and braces */

static inline const struct pp_sums_row *pp_sums_row(const struct pp_sums *sums, guint i)
{
	return &g_array_index(sums->rows, struct pp_sums_row, i);
}

#endif
