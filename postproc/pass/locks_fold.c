/* SPDX-License-Identifier: MIT */
/* Figures of objects that no longer exist (analysis/state/object_fold.h). */
#include "pass/locks.h"

#include "analysis/select.h"

static void waits_free(struct pp_lock_waits *waits)
{
	if (!waits)
		return;
	pp_spread_done(&waits->spread);
	pp_site_set_done(&waits->holders);
	pp_idle_sums_done(&waits->idle);
	g_free(waits);
}

void pp_lock_free(void *data)
{
	struct pp_lock *lock = data;

	for (unsigned i = 0; i < lock->sites.n; i++) {
		struct pp_lock_site *site = PP_SITE_SET_AT(&lock->sites, struct pp_lock_site, i);

		pp_spread_done(&site->holds);
		waits_free(site->waits);
	}
	pp_site_set_done(&lock->sites);
	g_clear_pointer(&lock->waits, g_array_unref);
	g_free(lock->parts_ns);
	pp_idle_object_free(lock->idle);
	g_free(lock);
}

static void fold_holders(struct pp_site_set *to, const struct pp_site_set *from)
{
	for (unsigned i = 0; i < from->n; i++) {
		const struct pp_lock_holder *holder =
		    PP_SITE_SET_AT(from, struct pp_lock_holder, i);
		struct pp_lock_holder *sum = pp_site_set_get(to, sizeof(*sum), &holder->key);

		sum->contended += holder->contended;
		sum->wait_ns += holder->wait_ns;
		sum->wait_max_ns = MAX(sum->wait_max_ns, holder->wait_max_ns);
		sum->spin_ns += holder->spin_ns;
	}
}

static void fold_tries(struct pp_lock_tries *to, const struct pp_lock_tries *from)
{
	to->n_failed += from->n_failed;
	to->n_spins += from->n_spins;
	to->spin_ns += from->spin_ns;
	to->spin_max_ns = MAX(to->spin_max_ns, from->spin_max_ns);
}

static void fold_waits(struct pp_lock_site *to, const struct pp_lock_waits *from)
{
	if (!to->waits)
		to->waits = g_new0(struct pp_lock_waits, 1);
	to->waits->contended += from->contended;
	to->waits->wait_ns += from->wait_ns;
	pp_spread_merge(&to->waits->spread, &from->spread);
	pp_idle_total_add(&to->waits->idle_folded, &from->idle_total);
	fold_tries(&to->waits->tries, &from->tries);
	fold_holders(&to->waits->holders, &from->holders);
}

static void fold_site(struct pp_lock *to, const struct pp_lock_site *from)
{
	struct pp_lock_site *site = pp_site_set_get(&to->sites, sizeof(*site), &from->key);

	site->calls += from->calls;
	site->hold_ns += from->hold_ns;
	pp_spread_merge(&site->holds, &from->holds);
	site->n_counted += from->n_counted;
	site->counted_max_ns = MAX(site->counted_max_ns, from->counted_max_ns);
	if (from->waits)
		fold_waits(site, from->waits);
}

/* The waits by window of the selection. */
static void fold_parts(struct pp_lock *to, const struct pp_lock *from,
		       const struct pp_windows *windows)
{
	if (!to->parts_ns)
		to->parts_ns = g_new0(int64_t, windows->n);
	for (unsigned i = 0; i < windows->n; i++)
		to->parts_ns[i] += from->parts_ns[i];
}

bool pp_lock_fold(void *data, struct pp_object *object, struct pp_object *group)
{
	struct pp_locks *self = data;
	const struct pp_lock *lock = object->data;
	struct pp_lock *to = group->data;
	bool is_used = lock && lock->sites.n;

	pp_idle_forget(&self->idle, object);
	if (!lock)
		return false;
	(void)pp_lock_settle_idle(object);
	if (!to)
		to = group->data = g_new0(struct pp_lock, 1);
	to->acquired += lock->acquired;
	to->contended += lock->contended;
	to->timed_out += lock->timed_out;
	to->wait_ns += lock->wait_ns;
	to->hold_ns += lock->hold_ns;
	to->runnable_ns += lock->runnable_ns;
	for (unsigned i = 0; i < lock->sites.n; i++)
		fold_site(to, PP_SITE_SET_AT(&lock->sites, struct pp_lock_site, i));
	if (lock->parts_ns)
		fold_parts(to, lock, self->context->selection->windows);
	pp_lock_free(g_steal_pointer(&object->data));
	return is_used;
}

bool pp_lock_is_brief(const struct pp_object *object)
{
	const struct pp_lock *lock = object->data;

	return lock && lock->idle && lock->idle->owners;
}

/* Waits that were not idle, and spins. */
static int64_t wait_of(const struct pp_object *object)
{
	const struct pp_lock *lock = object->data;

	return lock ? lock->wait_ns - pp_lock_settle_idle(object) + pp_lock_tries(lock).spin_ns : 0;
}

int pp_lock_compare(const struct pp_object *a, const struct pp_object *b)
{
	int64_t x = wait_of(a), y = wait_of(b);

	if (x == y) {
		x = a->data ? ((const struct pp_lock *)a->data)->hold_ns : 0;
		y = b->data ? ((const struct pp_lock *)b->data)->hold_ns : 0;
	}
	return pp_object_compare(a, x, b, y);
}
