/* SPDX-License-Identifier: MIT */
/*
 * A lock becomes several ones. Sites without a group keep the lock itself; so do sections that
 * use a condition, since all threads must use one mutex with it. A lock that is taken inside
 * another one is so in the same order as before, so no deadlock is new.
 */
#include <errno.h>

#include "replay/change/internal.h"
#include "replay/change/names.h"
#include "replay/sections.h"

#define KEEPS UINT32_MAX

struct split {
	struct pp_replay_model *model;
	const bool *objects;	/* by number of the objects before the change */
	uint32_t *groups;	/* by call site; KEEPS */
	GHashTable *locks;	/* object and group -> number of its lock + 1 */
	GHashTable *before;	/* the objects of these, as a set */
	GHashTable *conditions; /* pp_replay_condition_sites() */
	const uint32_t *joined; /* pp_replay_join_sites() */
	enum pp_change_split_by by;
	uint32_t n; /* PP_CHANGE_AT_RANDOM: locks */
	GRand *random;
	uint64_t n_conditions, n_unknown, n_free; /* sections; of unknown accesses; without data */
};

static uint32_t add_lock(struct split *self, const struct pp_replay_section *section,
			 uint32_t group)
{
	const struct pp_replay_object *object = self->model->objects->pdata[section->object];
	g_autofree char *name = NULL;

	switch (self->by) {
	case PP_CHANGE_BY_OBJECT:
		name = g_strdup_printf("%s of data %u", object->name, group);
		break;
	case PP_CHANGE_BY_THREAD:
		name = g_strdup_printf("%s of thread %u", object->name, group);
		break;
	case PP_CHANGE_AT_RANDOM:
		name = g_strdup_printf("%s, part %u", object->name, group);
		break;
	default:
		name = g_strdup_printf("%s of %s", object->name,
				       pp_change_site_name(self->model, section->site));
	}
	return pp_replay_add_object(self->model, PP_REPLAY_OBJECT_LOCK, 0, name);
}

/* The lock of the group in place of the section's; the same for KEEPS. */
static uint32_t lock_of(struct split *self, const struct pp_replay_section *section, uint32_t group)
{
	uint64_t key = (uint64_t)section->object << 32 | group;
	void *known = g_hash_table_lookup(self->locks, &key);
	uint32_t number;

	if (known)
		return GPOINTER_TO_UINT(known) - 1;
	number = group == KEEPS ? section->object : add_lock(self, section, group);
	g_hash_table_insert(self->locks, g_memdup2(&key, sizeof(key)),
			    GUINT_TO_POINTER(number + 1));
	g_hash_table_add(self->before, GUINT_TO_POINTER(section->object));
	return number;
}

struct renaming {
	uint32_t from, to;
};

static void rename_step(void *data, struct pp_replay_step *step, bool is_inside)
{
	const struct renaming *renaming = data;

	(void)is_inside;
	if (pp_replay_is_on(step, renaming->from))
		step->object = renaming->to;
}

static void free_step(void *data, struct pp_replay_step *step, bool is_inside)
{
	const struct pp_replay_section *section = data;

	(void)is_inside;
	if (pp_replay_is_on(step, section->object))
		step->kind = PP_REPLAY_SIGNAL;
}

/* The unit of data that a section works on, which uses no condition. */
static uint32_t unit_of(struct split *self, const struct pp_replay_section *section)
{
	const struct pp_replay_access *access =
	    pp_replay_find_access(self->model, section->number, section->first);

	self->n_unknown += !access;
	return access ? access->unit : KEEPS;
}

/* The group of a section; by object, PP_REPLAY_NO_UNIT: it needs no lock. */
static uint32_t group_of(struct split *self, const struct pp_replay_section *section)
{
	bool has_condition = pp_replay_has_condition(self->conditions, self->joined, section);

	if (has_condition) {
		self->n_conditions +=
		    self->by != PP_CHANGE_BY_GROUP || self->groups[section->site] != KEEPS;
		return KEEPS;
	}
	switch (self->by) {
	case PP_CHANGE_BY_OBJECT:
		return unit_of(self, section);
	case PP_CHANGE_BY_THREAD:
		return section->number;
	case PP_CHANGE_AT_RANDOM:
		return g_rand_int(self->random) % self->n;
	default:
		return self->groups[section->site];
	}
}

static void split_section(void *data, const struct pp_replay_section *section)
{
	struct split *self = data;
	struct renaming renaming = {.from = section->object};
	uint32_t group;

	if (!self->objects[section->object])
		return;
	group = group_of(self, section);
	if (self->by == PP_CHANGE_BY_OBJECT && group == PP_REPLAY_NO_UNIT) {
		self->n_free++;
		pp_replay_each_step(section, free_step, (void *)section);
		return;
	}
	renaming.to = lock_of(self, section, group);
	if (renaming.to != renaming.from)
		pp_replay_each_step(section, rename_step, &renaming);
}

/* Sets the group of each call site. Returns 0 or -ENOENT. */
static int find_groups(struct split *self, const struct pp_change *change, struct pp_error *err)
{
	guint n = self->model->sites->len + 1;

	for (guint i = 0; i < n; i++)
		self->groups[i] = change->groups ? KEEPS : self->joined[i];
	for (guint i = 0; change->groups && i < change->groups->len; i++) {
		const GPtrArray *patterns = change->groups->pdata[i];

		for (guint k = 0; k < patterns->len; k++) {
			g_autofree bool *sites =
			    pp_change_find_sites(self->model, patterns->pdata[k], err);

			if (!sites)
				return -ENOENT;
			for (guint site = 0; site < n; site++)
				if (sites[site])
					self->groups[site] = i;
		}
	}
	return 0;
}

static void note_split(const struct split *self, const struct pp_change *change, GPtrArray *notes)
{
	if (self->n_conditions)
		pp_change_note(notes,
			       "sections of %s that use a condition, or are entered where others "
			       "do, keep one lock: %" G_GUINT64_FORMAT,
			       change->subject, self->n_conditions);
	if (self->n_unknown)
		pp_change_note(notes,
			       "sections of %s whose accesses are not known keep one lock: "
			       "%" G_GUINT64_FORMAT,
			       change->subject, self->n_unknown);
	if (self->n_free)
		pp_change_note(notes,
			       "sections of %s that share no written data need no lock: "
			       "%" G_GUINT64_FORMAT,
			       change->subject, self->n_free);
	if (self->by == PP_CHANGE_BY_OBJECT)
		pp_change_note(notes, "other runs may share other data under %s", change->subject);
	else
		pp_change_note(notes,
			       "whether sections of %s that now have different locks share data is "
			       "not known",
			       change->subject);
	if (change->by == PP_CHANGE_BY_OBJECT && self->by != change->by)
		pp_change_note(notes, "no accesses are recorded: %s is split by call site",
			       change->subject);
}

static int split(struct split *self, const struct pp_change *change, GPtrArray *notes,
		 struct pp_error *err)
{
	bool is_same;

	if (change->by == PP_CHANGE_BY_OBJECT && self->model->accesses->len == 0)
		self->by = PP_CHANGE_BY_SITE;
	pp_replay_each_section(self->model, split_section, self);
	is_same = g_hash_table_size(self->locks) == g_hash_table_size(self->before);
	if (is_same && !self->n_free)
		return pp_error_add(err, -EINVAL, "'%s' changes nothing: one lock is left%s",
				    change->text,
				    self->n_conditions ? ", as its sections use a condition" : "");
	note_split(self, change, notes);
	return 0;
}

int pp_change_split(const struct pp_change *change, struct pp_replay_model *model, GPtrArray *notes,
		    struct pp_error *err)
{
	g_autofree bool *objects = pp_change_find_locks(model, change->subject, err);
	g_autofree uint32_t *groups = g_new(uint32_t, model->sites->len + 1);
	g_autofree uint32_t *joined = pp_replay_join_sites(model);
	struct split self = {.model = model,
			     .objects = objects,
			     .groups = groups,
			     .joined = joined,
			     .by = change->by,
			     .n = change->n};
	int rc = objects ? find_groups(&self, change, err) : -ENOENT;

	if (rc)
		return rc;
	self.locks = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	self.before = g_hash_table_new(NULL, NULL);
	self.conditions = pp_replay_condition_sites(model, joined);
	self.random = g_rand_new_with_seed(1);
	rc = split(&self, change, notes, err);
	g_hash_table_unref(self.locks);
	g_hash_table_unref(self.before);
	g_hash_table_unref(self.conditions);
	g_rand_free(self.random);
	return rc;
}
