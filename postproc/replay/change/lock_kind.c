/* SPDX-License-Identifier: MIT */
/*
 * Changes of how a lock is taken: never, on the CPU, or shared. Steps keep their numbers: one that
 * does not operate on a lock any more does nothing.
 */
#include <errno.h>

#include "replay/change/internal.h"
#include "replay/change/names.h"
#include "replay/sections.h"

/* Calls take() for each step that operates on one of these objects. */
static void each_operation(struct pp_replay_model *model, const bool *objects,
			   void (*take)(struct pp_replay_step *step))
{
	for (guint i = 0; i < model->threads->len; i++) {
		const struct pp_replay_thread *thread = model->threads->pdata[i];

		for (guint k = 0; k < thread->steps->len; k++) {
			struct pp_replay_step *step =
			    &g_array_index(thread->steps, struct pp_replay_step, k);

			if (step->kind <= PP_REPLAY_UNLOCK && objects[step->object])
				take(step);
		}
	}
}

static void drop_step(struct pp_replay_step *step)
{
	step->kind = PP_REPLAY_SIGNAL;
}

int pp_change_drop(const struct pp_change *change, struct pp_replay_model *model, GPtrArray *notes,
		   struct pp_error *err)
{
	g_autofree bool *objects = pp_change_find_locks(model, change->subject, err);

	if (!objects)
		return -ENOENT;
	each_operation(model, objects, drop_step);
	pp_change_note(notes,
		       "without %s the program does the same as before: whether it is still "
		       "correct is not known",
		       change->subject);
	return 0;
}

static void spin_step(struct pp_replay_step *step)
{
	if (step->kind == PP_REPLAY_LOCK)
		step->kind = PP_REPLAY_LOCK_SPIN;
}

int pp_change_spin(const struct pp_change *change, struct pp_replay_model *model, GPtrArray *notes,
		   struct pp_error *err)
{
	g_autofree bool *objects = pp_change_find_locks(model, change->subject, err);

	if (!objects)
		return -ENOENT;
	each_operation(model, objects, spin_step);
	pp_change_note(notes, "a spin lock's waiters keep their CPUs from other programs, too");
	return 0;
}

/* --- readers ---------------------------------------------------------------------------------- */

struct rwlock {
	const bool *objects, *readers; /* by number */
	GHashTable *conditions;	       /* pp_replay_condition_sites() */
	const uint32_t *joined;	       /* pp_replay_join_sites() */
	uint64_t n_shared, n_conditions;
};

static void share_step(void *data, struct pp_replay_step *step, bool is_inside)
{
	const struct pp_replay_section *section = data;

	(void)is_inside;
	if (pp_replay_is_on(step, section->object) && step->kind != PP_REPLAY_UNLOCK)
		step->kind = PP_REPLAY_RDLOCK;
}

static void share_section(void *data, const struct pp_replay_section *section)
{
	struct rwlock *rwlock = data;

	if (!rwlock->objects[section->object] || !rwlock->readers[section->site])
		return;
	if (pp_replay_has_condition(rwlock->conditions, rwlock->joined, section)) {
		rwlock->n_conditions++;
		return;
	}
	rwlock->n_shared++;
	pp_replay_each_step(section, share_step, (void *)section);
}

/* Sets the call sites that match. Returns 0 or -ENOENT. */
static int find_named(const struct pp_replay_model *model, const GPtrArray *patterns, bool *readers,
		      struct pp_error *err)
{
	for (guint i = 0; i < patterns->len; i++) {
		g_autofree bool *sites = pp_change_find_sites(model, patterns->pdata[i], err);

		if (!sites)
			return -ENOENT;
		for (guint k = 0; k <= model->sites->len; k++)
			readers[k] |= sites[k];
	}
	return 0;
}

/* Call sites of the lock's sections: some are known, and none writes shared data. */
struct reading {
	const struct pp_replay_model *model;
	const bool *objects;
	bool *known, *writes; /* by call site */
};

static void note_access(void *data, const struct pp_replay_section *section)
{
	struct reading *reading = data;
	const struct pp_replay_access *access =
	    pp_replay_find_access(reading->model, section->number, section->first);

	if (!access || !reading->objects[section->object])
		return;
	reading->known[section->site] = true;
	reading->writes[section->site] |= access->writes;
}

/* Sets the call sites whose sections do not write shared data. Returns 0 or -ENODATA. */
static int find_reading(struct pp_replay_model *model, const bool *objects, const char *lock,
			bool *readers, struct pp_error *err)
{
	guint n = model->sites->len + 1;
	g_autofree bool *known = g_new0(bool, n), *writes = g_new0(bool, n);
	struct reading reading = {model, objects, known, writes};
	bool has_any = false;

	pp_replay_each_section(model, note_access, &reading);
	for (guint i = 0; i < n; i++) {
		readers[i] = known[i] && !writes[i];
		has_any |= known[i];
	}
	return has_any ? 0
		       : pp_error_add(err, -ENODATA,
				      "which sections of %s write shared data is not known: name "
				      "the readers (readers=SITES), or record accesses",
				      lock);
}

static void note_rwlock(const struct pp_change *change, const struct rwlock *rwlock,
			GPtrArray *notes)
{
	if (rwlock->n_conditions)
		pp_change_note(notes,
			       "sections of %s that use a condition, or are entered where others "
			       "do, stay exclusive: %" G_GUINT64_FORMAT,
			       change->subject, rwlock->n_conditions);
	if (change->groups)
		pp_change_note(notes, "whether the readers of %s write shared data is not known",
			       change->subject);
	else
		pp_change_note(notes,
			       "readers of %s are the call sites whose recorded sections write no "
			       "shared data: %" G_GUINT64_FORMAT " sections",
			       change->subject, rwlock->n_shared);
}

int pp_change_rwlock(const struct pp_change *change, struct pp_replay_model *model,
		     GPtrArray *notes, struct pp_error *err)
{
	g_autofree bool *objects = pp_change_find_locks(model, change->subject, err);
	g_autofree bool *readers = g_new0(bool, model->sites->len + 1);
	g_autofree uint32_t *joined = pp_replay_join_sites(model);
	g_autoptr(GHashTable) conditions = pp_replay_condition_sites(model, joined);
	struct rwlock rwlock = {objects, readers, conditions, joined, 0, 0};
	int rc;

	if (!objects)
		return -ENOENT;
	rc = change->groups ? find_named(model, change->groups->pdata[0], readers, err)
			    : find_reading(model, objects, change->subject, readers, err);
	if (rc)
		return rc;
	pp_replay_each_section(model, share_section, &rwlock);
	if (!rwlock.n_shared)
		return pp_error_add(err, -EINVAL,
				    "'%s' changes nothing: no sections of %s are readers, or they "
				    "use a condition, which needs a mutex",
				    change->text, change->subject);
	note_rwlock(change, &rwlock, notes);
	return 0;
}
