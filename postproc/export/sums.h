/* SPDX-License-Identifier: MIT */
/*
 * Figures by key: several numbers, the first of which is a time bin.  When there are too many rows,
 * each two bins are joined.
 */
#ifndef PP_EXPORT_SUMS_H
#define PP_EXPORT_SUMS_H

#include "export/json_gzip.h"

#define PP_SUMS_KEYS	  6
#define PP_SUMS_FIGURES	  6
#define PP_SUMS_NONE	  UINT32_MAX /* an unknown key; for bins: the whole time */
#define PP_SUMS_NOT_KNOWN UINT64_MAX /* an unknown figure */

struct pp_sums_kind {
	const char *name;
	const char *keys[PP_SUMS_KEYS + 1]; /* names; the bin's is first */
	const char *figures[PP_SUMS_FIGURES + 1];
	unsigned largest; /* bit set of the figures that are joined by maximum instead of sum */
};

struct pp_sums_row {
	uint32_t key[PP_SUMS_KEYS];
	uint64_t figure[PP_SUMS_FIGURES];
};

struct pp_sums {
	const struct pp_sums_kind *kind;
	GArray *rows;	 /* of struct pp_sums_row */
	uint32_t *slots; /* index of a row + 1, by hash; 0: none */
	uint32_t n_slots;
};

void pp_sums_init(struct pp_sums *sums, const struct pp_sums_kind *kind);
void pp_sums_done(struct pp_sums *sums);

/*
 * Returns the figures of the row, which is created if necessary; valid until the next row is
 * created.
 */
uint64_t *pp_sums_at(struct pp_sums *sums, const uint32_t *key);

/* Returns NULL if there is no such row. */
uint64_t *pp_sums_find(const struct pp_sums *sums, const uint32_t *key);

/* Joins each even bin with the one after it. */
void pp_sums_halve(struct pp_sums *sums);

/* Writes a column table, sorted, with the bin last.  Rows cannot be accessed afterwards. */
void pp_sums_put(struct pp_sums *sums, struct pp_put *put);
void pp_sums_put_columns(struct pp_sums *sums, struct pp_put *put); /* the same without name and
								     * braces */

static inline const struct pp_sums_row *pp_sums_row(const struct pp_sums *sums, guint i)
{
	return &g_array_index(sums->rows, struct pp_sums_row, i);
}

#endif
