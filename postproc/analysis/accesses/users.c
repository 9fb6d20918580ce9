/* SPDX-License-Identifier: MIT */
/* A user that was merged into another one exists until its last reference. */
#include "analysis/accesses/users.h"

#include <glib.h>

struct pp_location_user *pp_location_user_new(void *owner)
{
	struct pp_location_user *user = g_new0(struct pp_location_user, 1);

	user->owner = owner;
	user->n_refs = 1;
	return user;
}

void pp_location_user_unref(struct pp_location_user *user)
{
	while (user && --user->n_refs == 0) {
		struct pp_location_user *into = user->into;

		g_free(user);
		user = into;
	}
}

struct pp_location_user *pp_location_user_ref(struct pp_location_user *user)
{
	user->n_refs++;
	return user;
}

struct pp_location_user *pp_location_user_of(struct pp_location_user *user)
{
	while (user->into)
		user = user->into;
	return user;
}

void pp_location_sums_add(struct pp_location_sums *to, const struct pp_location_sums *sums)
{
	for (unsigned i = 0; i < 4; i++) {
		to->locations[i / 2][i % 2] += sums->locations[i / 2][i % 2];
		to->lines[i / 2][i % 2] += sums->lines[i / 2][i % 2];
	}
}

void pp_location_user_merge(struct pp_location_user *from, struct pp_location_user *to)
{
	pp_location_sums_add(&to->sums, &from->sums);
	from->owner = NULL;
	from->into = pp_location_user_ref(to);
}
