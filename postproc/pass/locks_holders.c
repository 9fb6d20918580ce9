/* SPDX-License-Identifier: MIT */
/*
 * Finds the hold that each wait for a lock is for, and the reason if there is none.
 *
 * It is the hold of the owner recorded in the lock, or else of the thread that holds it at the
 * begin of the wait.  Of several readers, it is that of the last one to release the lock during the
 * wait.
 *
 * An acquisition is recorded after it takes effect, a release before it does.  So the event of the
 * hold may come after the begin of the wait: it is that of the next thread that acquires the lock,
 * unless that thread was itself waiting for a holder without events.  Or the hold may seem to end
 * before the wait begins: then its thread did nothing in between, and no other hold is found until
 * the wait ends.
 */
#include "pass/locks.h"

#include <inttypes.h>

static struct pp_lock_found found(const struct pp_hold *hold)
{
	return hold ? (struct pp_lock_found){true, hold->op, hold->site}
		    : (struct pp_lock_found){0};
}

/* The first of the holds to begin; *ret_several: there are others. */
static const struct pp_hold *hold_now(const struct pp_object *object, uint32_t owner_tid,
				      bool *ret_several)
{
	const struct pp_hold *first = NULL;

	*ret_several = false;
	for (guint i = 0; i < pp_object_n_holds(object); i++) {
		const struct pp_hold *hold = &g_array_index(object->holds, struct pp_hold, i);

		if (owner_tid ? hold->thread->tid != owner_tid
			      : hold->superseded_ns != PP_TIME_UNKNOWN)
			continue;
		*ret_several = first != NULL;
		if (!first || hold->since_ns < first->since_ns)
			first = hold;
	}
	return first;
}

/* --- ended holds ---------------------------------------------------------------------------- */

void pp_lock_hold_ended(struct pp_locks *self, struct pp_lock *lock, const struct pp_hold *hold,
			int64_t end_ns)
{
	struct pp_lock_former *formers = lock->formers;

	if (formers[0].thread && formers[0].thread != hold->thread)
		formers[1] = formers[0];
	formers[0] = (struct pp_lock_former){
	    hold->thread, end_ns, pp_objects_n_done(&self->objects, hold->thread), found(hold)};
	for (guint i = 0; lock->waits && i < lock->waits->len; i++) {
		struct pp_lock_wait *wait = &g_array_index(lock->waits, struct pp_lock_wait, i);

		if (wait->has_readers && hold->since_ns <= wait->begin_ns)
			wait->hold = found(hold);
	}
}

/* The last ended hold that the operation may have found; not found if there is none. */
static struct pp_lock_found former_hold(const struct pp_locks *self, const struct pp_lock *lock,
					const struct pp_operation *operation)
{
	for (unsigned i = 0; i < G_N_ELEMENTS(lock->formers); i++) {
		const struct pp_lock_former *former = &lock->formers[i];

		if (!former->thread || former->thread == operation->thread)
			continue;
		if (operation->holder
			? former->thread->tid == operation->holder
			: former->n_done == pp_objects_n_done(&self->objects, former->thread))
			return former->hold;
	}
	return (struct pp_lock_found){0};
}

static struct pp_site_key key_of(const struct pp_locks *self, const struct pp_object *object,
				 const struct pp_lock_found *hold, uint32_t owner_tid,
				 int64_t begin_ns)
{
	if (hold->is_found)
		return (struct pp_site_key){.address = hold->site, .op = hold->op};
	return (struct pp_site_key){
	    .detail = pp_hold_why(self->context->model, &self->lost, object, owner_tid, begin_ns)};
}

/* --- waits ---------------------------------------------------------------------------------- */

/* Removes the thread's wait; false: it has none. */
static bool take_wait(struct pp_lock *lock, const struct pp_thread *thread,
		      struct pp_lock_wait *ret)
{
	for (guint i = 0; lock->waits && i < lock->waits->len; i++) {
		*ret = g_array_index(lock->waits, struct pp_lock_wait, i);
		if (ret->thread != thread)
			continue;
		g_array_remove_index_fast(lock->waits, i);
		return true;
	}
	return false;
}

void pp_lock_wait_begins(struct pp_locks *self, struct pp_object *object,
			 const struct pp_operation *operation)
{
	struct pp_lock *lock = object->data;
	struct pp_lock_wait wait =
				{
				    .thread = operation->thread,
				    .op = operation->op,
				    .owner_tid = operation->holder,
				    .begin_ns = operation->begin_ns,
				    .former = former_hold(self, lock, operation),
				},
			    before;

	wait.hold = found(hold_now(object, operation->holder, &wait.has_readers));
	/* A wait whose end was lost. */
	(void)take_wait(lock, operation->thread, &before);
	if (!lock->waits)
		lock->waits = g_array_new(FALSE, FALSE, sizeof(wait));
	g_array_append_val(lock->waits, wait);
}

/*
 * True if the thread that acquires the lock now may have held it when the wait began.  A thread
 * that waits has the lock from its release on, before it runs again.
 */
static bool may_have_held(const struct pp_lock *lock, const struct pp_lock_wait *wait,
			  const struct pp_operation *operation)
{
	if (wait->owner_tid)
		return wait->owner_tid == operation->thread->tid;
	return !operation->waited ||
	       (operation->begin_ns <= wait->begin_ns && lock->formers[0].thread &&
		lock->formers[0].end_ns >= operation->begin_ns);
}

/* The holds of waits that the operation begins, whose event comes after the begin of the wait. */
static void find_late_hold(const struct pp_lock *lock, const struct pp_operation *operation)
{
	for (guint i = 0; i < lock->waits->len; i++) {
		struct pp_lock_wait *wait = &g_array_index(lock->waits, struct pp_lock_wait, i);

		if (!wait->hold.is_found && may_have_held(lock, wait, operation))
			wait->hold = (struct pp_lock_found){true, operation->op, operation->site};
	}
}

void pp_lock_wait_operation(struct pp_locks *self, struct pp_object *object,
			    const struct pp_operation *operation, bool acquired,
			    struct pp_site_key *ret)
{
	struct pp_lock *lock = object->data;
	struct pp_lock_wait wait;

	/* The mutex of a condition wait has another type; that is no wait for it. */
	if (operation->waited && object->type == pp_sync_type(operation->op) &&
	    take_wait(lock, operation->thread, &wait))
		*ret = key_of(self, object, wait.hold.is_found ? &wait.hold : &wait.former,
			      wait.owner_tid, wait.begin_ns);
	if (acquired)
		find_late_hold(lock, operation);
}

/* The clocks of two CPUs of a virtual machine may differ by this much. */
#define CLOCKS_DIFFER_NS 1000

/*
 * A try failed, so some thread held the lock: by the clock of the other CPU, the one whose hold has
 * just ended.
 */
static struct pp_lock_found just_ended(const struct pp_lock *lock,
				       const struct pp_operation *operation)
{
	for (unsigned i = 0; i < G_N_ELEMENTS(lock->formers); i++) {
		const struct pp_lock_former *former = &lock->formers[i];

		if (former->thread && former->thread != operation->thread &&
		    operation->begin_ns - former->end_ns <= CLOCKS_DIFFER_NS)
			return former->hold;
	}
	return (struct pp_lock_found){0};
}

struct pp_site_key pp_lock_hold_at_try(struct pp_locks *self, const struct pp_object *object,
				       const struct pp_operation *operation)
{
	const struct pp_lock *lock = object->data;
	bool several;
	const struct pp_hold *hold = hold_now(object, operation->holder, &several);
	struct pp_lock_found at = found(hold && hold->thread != operation->thread ? hold : NULL);

	if (!at.is_found && lock)
		at = former_hold(self, lock, operation);
	if (!at.is_found && lock && !operation->holder)
		at = just_ended(lock, operation);
	return key_of(self, object, &at, operation->holder, operation->begin_ns);
}

void pp_lock_find_late_hold(const struct pp_lock *lock, const struct pp_thread *thread,
			    int64_t since_ns, struct pp_site_key *holder)
{
	for (unsigned i = 0; holder->detail != PP_HOLD_KNOWN && i < G_N_ELEMENTS(lock->formers);
	     i++) {
		const struct pp_lock_former *former = &lock->formers[i];

		if (former->hold.is_found && former->thread != thread && former->end_ns >= since_ns)
			*holder = (struct pp_site_key){.address = former->hold.site,
						       .op = former->hold.op};
	}
}

/* --- the note ------------------------------------------------------------------------------- */

/* Counts the waits for locks, by the reason why their holder is unknown. */
static void count_whys(const struct pp_lock *lock, uint64_t *n_by_why)
{
	for (unsigned s = 0; s < lock->sites.n; s++) {
		const struct pp_lock_waits *waits =
		    pp_lock_waits_of(PP_SITE_SET_AT(&lock->sites, struct pp_lock_site, s));

		for (unsigned h = 0; h < waits->holders.n; h++) {
			const struct pp_lock_holder *holder =
			    PP_SITE_SET_AT(&waits->holders, struct pp_lock_holder, h);

			n_by_why[holder->key.detail] += holder->contended;
		}
	}
}

void pp_lock_note_unknown(struct pp_table *table, const GArray *used)
{
	g_autoptr(GString) reasons = g_string_new(NULL);
	uint64_t n_by_why[PP_N_HOLD_WHYS] = {0}, n_unknown = 0;

	for (guint i = 0; i < used->len; i++)
		count_whys(g_array_index(used, struct pp_ranked_lock, i).object->data, n_by_why);
	for (unsigned why = PP_HOLD_KNOWN + 1; why < PP_N_HOLD_WHYS; why++) {
		if (!n_by_why[why])
			continue;
		n_unknown += n_by_why[why];
		g_string_append_printf(reasons, "%s%s (%" PRIu64 ")", reasons->len ? ", " : "",
				       pp_hold_why_text(why), n_by_why[why]);
	}
	if (n_unknown)
		pp_table_note(table,
			      "the holders of %" PRIu64 " of %" PRIu64
			      " waits for locks are unknown: %s",
			      n_unknown, n_unknown + n_by_why[PP_HOLD_KNOWN], reasons->str);
}
