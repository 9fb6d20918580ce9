/* SPDX-License-Identifier: MIT */
/*
 * A section takes the locks of its sources in the order of their numbers, and its own one last. So
 * no two sections wait for each other.
 */
#include "replay/ulcp/locksets.h"

#include <stdlib.h>

#define NO_LOCK UINT32_MAX

/* A section; its waits, and the locks that it takes. */
struct member {
	uint32_t thread, first, last;
	guint section;
	guint first_wait, n_waits;
	uint32_t lock; /* its own; NO_LOCK: no section waits for it */
};

struct locker {
	const GArray *waits;
	GArray *members;     /* of struct member, by thread and first */
	uint32_t *by_number; /* index in `members`, by number of the section */
	guint next_wait;
	GHashTable *by_end; /* thread and last step -> number of the section + 1 */
	GArray *sources;    /* of uint32_t: numbers of sections, of the present one */
};

static uint64_t key_of(uint32_t thread, uint32_t step)
{
	return (uint64_t)thread << 32 | step;
}

static struct member *member_at(const struct locker *self, guint i)
{
	return &g_array_index(self->members, struct member, i);
}

static const struct pp_ulcp_wait *wait_at(const struct locker *self, guint i)
{
	return &g_array_index(self->waits, struct pp_ulcp_wait, i);
}

static int compare_members(const void *a, const void *b)
{
	const struct member *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return (x->first > y->first) - (x->first < y->first);
}

/* The section that ends there; NULL: none. */
static struct member *source_of(const struct locker *self, const struct pp_ulcp_wait *wait)
{
	uint64_t key = key_of(wait->of.thread, wait->of.step);
	guint number = GPOINTER_TO_UINT(g_hash_table_lookup(self->by_end, &key));

	return number ? member_at(self, self->by_number[number - 1]) : NULL;
}

/* True if the section has a release; others last until their threads end, which is awaited. */
static bool has_release(const struct pp_replay_model *model, const struct pp_ulcp_section *section)
{
	const struct pp_replay_thread *thread = model->threads->pdata[section->thread];

	return g_array_index(thread->steps, struct pp_replay_step, section->last).kind ==
	       PP_REPLAY_UNLOCK;
}

static void add_members(struct locker *self, const struct pp_replay_model *model,
			const GArray *sections)
{
	for (guint i = 0; i < sections->len; i++) {
		const struct pp_ulcp_section *section = pp_ulcp_section_at(sections, i);
		struct member member = {.thread = section->thread,
					.first = section->first,
					.last = section->last,
					.section = i,
					.lock = NO_LOCK};
		uint64_t key = key_of(section->thread, section->last);

		g_array_append_val(self->members, member);
		if (has_release(model, section))
			g_hash_table_insert(self->by_end, g_memdup2(&key, sizeof(key)),
					    GUINT_TO_POINTER(i + 1));
	}
	if (sections->len)
		qsort(self->members->data, sections->len, sizeof(struct member), compare_members);
	for (guint i = 0; i < sections->len; i++)
		self->by_number[member_at(self, i)->section] = i;
}

/* Gives sections their waits, and the sources of these a lock. Returns the number of locks. */
static uint32_t link_waits(struct locker *self, uint32_t first_lock)
{
	uint32_t n_locks = 0;
	guint at = 0;

	for (guint i = 0; i < self->members->len; i++) {
		struct member *member = member_at(self, i);

		while (at < self->waits->len &&
		       key_of(wait_at(self, at)->thread, wait_at(self, at)->step) <
			   key_of(member->thread, member->first))
			at++;
		member->first_wait = at;
		for (; at < self->waits->len && wait_at(self, at)->thread == member->thread &&
		       wait_at(self, at)->step == member->first;
		     at++) {
			struct member *source = source_of(self, wait_at(self, at));

			member->n_waits++;
			if (source && source->lock == NO_LOCK)
				source->lock = first_lock + n_locks++;
		}
	}
	return n_locks;
}

static int compare_numbers(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Collects the sections whose locks this one takes, sorted; its own one is the last. */
static void collect(struct locker *self, const struct member *member)
{
	g_array_set_size(self->sources, 0);
	for (guint i = 0; i < member->n_waits; i++) {
		const struct member *source =
		    source_of(self, wait_at(self, member->first_wait + i));

		if (source)
			g_array_append_val(self->sources, source->section);
	}
	if (member->lock != NO_LOCK)
		g_array_append_val(self->sources, member->section);
	g_array_sort(self->sources, compare_numbers);
}

static void add(GArray *steps, const struct pp_replay_step *step, guint *n,
		struct pp_replay_step new)
{
	pp_ulcp_add_step(steps, step, *n == 0, new);
	++*n;
}

static void add_locks(const struct locker *self, GArray *steps, const struct pp_replay_step *step,
		      guint *n, enum pp_replay_kind kind)
{
	for (guint i = 0; i < self->sources->len; i++) {
		guint at = kind == PP_REPLAY_LOCK ? i : self->sources->len - 1 - i;
		guint number = g_array_index(self->sources, uint32_t, at);
		uint32_t lock = member_at(self, self->by_number[number])->lock;

		add(steps, step, n, (struct pp_replay_step){.kind = kind, .object = lock});
	}
}

static const struct member *find_member(const struct locker *self, uint32_t thread, uint32_t first)
{
	const struct member key = {.thread = thread, .first = first};

	return self->members->len ? bsearch(&key, self->members->data, self->members->len,
					    sizeof(key), compare_members)
				  : NULL;
}

/* The acquisition of a source is awaited; what is no section, as a whole. */
static void add_waits(const struct locker *self, GArray *steps, const struct pp_replay_step *step,
		      guint *n, const struct member *member)
{
	for (guint i = 0; i < member->n_waits; i++) {
		const struct pp_ulcp_wait *wait = wait_at(self, member->first_wait + i);
		const struct member *source = source_of(self, wait);

		add(steps, step, n,
		    (struct pp_replay_step){
			.kind = PP_REPLAY_AWAIT,
			.of = {wait->of.thread, source ? source->first : wait->of.step}});
	}
}

static const struct member *ended_member(const struct locker *self, uint32_t thread, uint32_t at)
{
	uint64_t key = key_of(thread, at);
	guint number = GPOINTER_TO_UINT(g_hash_table_lookup(self->by_end, &key));

	return number ? member_at(self, self->by_number[number - 1]) : NULL;
}

static void copy_step(void *data, GArray *steps, uint32_t thread, uint32_t at,
		      const struct pp_replay_step *step)
{
	struct locker *self = data;
	const struct member *member = NULL;
	guint n = 0;

	if (pp_replay_acquires(step->kind)) {
		member = find_member(self, thread, at);
		if (member) {
			collect(self, member);
			add_waits(self, steps, step, &n, member);
			add_locks(self, steps, step, &n, PP_REPLAY_LOCK);
		}
	} else if (step->kind == PP_REPLAY_UNLOCK) {
		member = ended_member(self, thread, at);
		if (member) {
			collect(self, member);
			add_locks(self, steps, step, &n, PP_REPLAY_UNLOCK);
		}
	} else {
		for (; self->next_wait < self->waits->len &&
		       key_of(wait_at(self, self->next_wait)->thread,
			      wait_at(self, self->next_wait)->step) <= key_of(thread, at);
		     self->next_wait++) {
			const struct pp_ulcp_wait *wait = wait_at(self, self->next_wait);

			if (wait->thread == thread && wait->step == at)
				add(steps, step, &n,
				    (struct pp_replay_step){
					.kind = PP_REPLAY_AWAIT,
					.of = {wait->of.thread, wait->of.step}});
		}
		add(steps, step, &n, *step);
	}
	if (n == 0)
		add(steps, step, &n, (struct pp_replay_step){.kind = PP_REPLAY_SIGNAL});
}

static void add_objects(struct pp_replay_model *model, uint32_t n, bool is_dynamic)
{
	for (uint32_t i = 0; i < n; i++)
		pp_replay_add_object(model, PP_REPLAY_OBJECT_LOCK, is_dynamic ? PP_REPLAY_ENDS : 0,
				     "auxiliary lock");
}

uint32_t pp_ulcp_locksets(const struct pp_replay_model *model, const GArray *sections,
			  const GArray *waits, bool is_dynamic, struct pp_ulcp_result *ret)
{
	struct locker self = {
	    .waits = waits,
	    .members = g_array_new(FALSE, FALSE, sizeof(struct member)),
	    .by_number = g_new0(uint32_t, sections->len),
	    .by_end = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL),
	    .sources = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
	};
	struct pp_replay_model *with_locks = pp_replay_model_copy(model);
	uint32_t n_locks;

	add_members(&self, model, sections);
	n_locks = link_waits(&self, model->objects->len);
	add_objects(with_locks, n_locks, is_dynamic);
	pp_ulcp_copy(with_locks, &(struct pp_ulcp_copier){copy_step, &self}, ret);
	pp_replay_model_free(with_locks);
	g_array_unref(self.members);
	g_array_unref(self.sources);
	g_hash_table_unref(self.by_end);
	g_free(self.by_number);
	return n_locks;
}
