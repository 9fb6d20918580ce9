/* SPDX-License-Identifier: MIT */
/* See numbers.h. */
#include "analysis/occ/numbers.h"

#define MANY 8u

static void make_table(struct pp_occ_numbers *self)
{
	self->position = g_hash_table_new(NULL, NULL);
	for (unsigned i = 0; i < self->n; i++)
		g_hash_table_insert(self->position, GUINT_TO_POINTER(self->numbers[i]),
				    GUINT_TO_POINTER(i));
}

static unsigned add(struct pp_occ_numbers *self, unsigned number)
{
	if (self->n == self->room) {
		self->room = self->room ? 2 * self->room : 2;
		self->numbers = g_renew(unsigned, self->numbers, self->room);
	}
	self->numbers[self->n] = number;
	if (self->position)
		g_hash_table_insert(self->position, GUINT_TO_POINTER(number),
				    GUINT_TO_POINTER(self->n));
	if (++self->n == MANY)
		make_table(self);
	return self->n - 1;
}

unsigned pp_occ_numbers_get(struct pp_occ_numbers *self, unsigned number)
{
	void *position;

	if (!self->position) {
		for (unsigned i = 0; i < self->n; i++)
			if (self->numbers[i] == number)
				return i;
	} else if (g_hash_table_lookup_extended(self->position, GUINT_TO_POINTER(number), NULL,
						&position)) {
		return GPOINTER_TO_UINT(position);
	}
	return add(self, number);
}

void pp_occ_numbers_done(struct pp_occ_numbers *self)
{
	g_free(self->numbers);
	if (self->position)
		g_hash_table_unref(self->position);
	*self = (struct pp_occ_numbers){0};
}
