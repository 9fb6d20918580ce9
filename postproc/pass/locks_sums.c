/* SPDX-License-Identifier: MIT */
/* Sums over the call sites of an object. */
#include "pass/locks.h"

const struct pp_lock_waits *pp_lock_waits_of(const struct pp_lock_site *site)
{
	static const struct pp_lock_waits none;

	return site->waits ? site->waits : &none;
}

struct pp_lock_tries pp_lock_tries(const struct pp_lock *lock)
{
	struct pp_lock_tries sum = {0};

	for (unsigned i = 0; i < lock->sites.n; i++) {
		const struct pp_lock_tries *tries =
		    &pp_lock_waits_of(PP_SITE_SET_AT(&lock->sites, struct pp_lock_site, i))->tries;

		sum.n_failed += tries->n_failed;
		sum.n_spins += tries->n_spins;
		sum.spin_ns += tries->spin_ns;
		sum.spin_max_ns = MAX(sum.spin_max_ns, tries->spin_max_ns);
	}
	return sum;
}

int64_t pp_lock_settle_idle(const struct pp_object *object)
{
	const struct pp_lock *lock = object->data;
	int64_t sum_ns = 0;

	for (unsigned i = 0; i < lock->sites.n; i++) {
		const struct pp_lock_site *site =
		    PP_SITE_SET_AT(&lock->sites, struct pp_lock_site, i);

		if (!site->waits)
			continue;
		site->waits->idle_total = site->waits->idle_folded;
		pp_idle_get(lock->idle, object, &site->waits->idle, site->key.address,
			    &site->waits->idle_total);
		sum_ns += site->waits->idle_total.ns;
	}
	return sum_ns;
}
