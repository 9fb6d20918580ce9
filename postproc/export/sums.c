/* SPDX-License-Identifier: MIT */
/*
 * An open-addressing hash table of rows of numbers that halves its resolution in time when it is
 * full.
 */
#include "export/sums.h"

#include <string.h>

#define LEAST_SLOTS 1024

void pp_sums_init(struct pp_sums *sums, const struct pp_sums_kind *kind)
{
	*sums = (struct pp_sums){
	    .kind = kind,
	    .rows = g_array_new(FALSE, TRUE, sizeof(struct pp_sums_row)),
	    .slots = g_new0(uint32_t, LEAST_SLOTS),
	    .n_slots = LEAST_SLOTS,
	};
}

void pp_sums_done(struct pp_sums *sums)
{
	if (sums->rows)
		g_array_unref(sums->rows);
	g_free(sums->slots);
	*sums = (struct pp_sums){.kind = NULL};
}

static struct pp_sums_row *row_at(const struct pp_sums *sums, guint i)
{
	return &g_array_index(sums->rows, struct pp_sums_row, i);
}

/* Keys that a table does not use are zero. */
static uint32_t hash(const uint32_t *key)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < PP_SUMS_KEYS; i++)
		value = (value ^ key[i]) * UINT64_C(0x9e3779b97f4a7c15);
	return (uint32_t)(value >> 32);
}

/* Returns the slot of the row, or the one where it would be. */
static uint32_t *find_slot(const struct pp_sums *sums, const uint32_t *key)
{
	uint32_t at = hash(key) & (sums->n_slots - 1);

	while (sums->slots[at] && memcmp(row_at(sums, sums->slots[at] - 1)->key, key,
					 sizeof(uint32_t) * PP_SUMS_KEYS) != 0)
		at = (at + 1) & (sums->n_slots - 1);
	return &sums->slots[at];
}

static void grow(struct pp_sums *sums)
{
	g_free(sums->slots);
	sums->n_slots *= 2;
	sums->slots = g_new0(uint32_t, sums->n_slots);
	for (guint i = 0; i < sums->rows->len; i++)
		*find_slot(sums, row_at(sums, i)->key) = i + 1;
}

uint64_t *pp_sums_at(struct pp_sums *sums, const uint32_t *key)
{
	uint32_t *slot = find_slot(sums, key);
	struct pp_sums_row *row;

	if (*slot)
		return row_at(sums, *slot - 1)->figure;
	g_array_set_size(sums->rows, sums->rows->len + 1);
	*slot = sums->rows->len;
	row = row_at(sums, sums->rows->len - 1);
	memcpy(row->key, key, sizeof(row->key));
	if (sums->rows->len >= sums->n_slots / 2)
		grow(sums);
	return row->figure;
}

uint64_t *pp_sums_find(const struct pp_sums *sums, const uint32_t *key)
{
	uint32_t slot = *find_slot(sums, key);

	return slot ? row_at(sums, slot - 1)->figure : NULL;
}

static uint64_t join(const struct pp_sums_kind *kind, unsigned figure, uint64_t a, uint64_t b)
{
	if (a == PP_SUMS_NOT_KNOWN || b == PP_SUMS_NOT_KNOWN)
		return PP_SUMS_NOT_KNOWN;
	return kind->largest & 1u << figure ? MAX(a, b) : a + b;
}

void pp_sums_halve(struct pp_sums *sums)
{
	struct pp_sums half;

	pp_sums_init(&half, sums->kind);
	for (guint i = 0; i < sums->rows->len; i++) {
		struct pp_sums_row *row = row_at(sums, i);
		uint64_t *figure;

		if (row->key[0] != PP_SUMS_NONE)
			row->key[0] /= 2;
		figure = pp_sums_at(&half, row->key);
		for (unsigned f = 0; f < PP_SUMS_FIGURES; f++)
			figure[f] = join(sums->kind, f, figure[f], row->figure[f]);
	}
	pp_sums_done(sums);
	*sums = half;
}

static gint compare_rows(gconstpointer a, gconstpointer b)
{
	const struct pp_sums_row *x = a, *y = b;

	for (unsigned i = 1; i < PP_SUMS_KEYS; i++)
		if (x->key[i] != y->key[i])
			return x->key[i] < y->key[i] ? -1 : 1;
	return x->key[0] < y->key[0] ? -1 : x->key[0] > y->key[0];
}

void pp_sums_put_columns(struct pp_sums *sums, struct pp_put *put)
{
	const struct pp_sums_kind *kind = sums->kind;

	g_array_sort(sums->rows, compare_rows);
	pp_put_number(put, "n", sums->rows->len);
	for (unsigned k = 0; kind->keys[k]; k++) {
		pp_put_open(put, kind->keys[k], '[');
		for (guint i = 0; i < sums->rows->len; i++)
			pp_put_reference(put, NULL, row_at(sums, i)->key[k]);
		pp_put_close(put, ']');
	}
	for (unsigned f = 0; kind->figures[f]; f++) {
		pp_put_open(put, kind->figures[f], '[');
		for (guint i = 0; i < sums->rows->len; i++) {
			uint64_t figure = row_at(sums, i)->figure[f];

			if (figure == PP_SUMS_NOT_KNOWN)
				pp_put_null(put, NULL);
			else
				pp_put_number(put, NULL, (int64_t)figure);
		}
		pp_put_close(put, ']');
	}
}

void pp_sums_put(struct pp_sums *sums, struct pp_put *put)
{
	pp_put_open(put, sums->kind->name, '{');
	pp_sums_put_columns(sums, put);
	pp_put_close(put, '}');
}
