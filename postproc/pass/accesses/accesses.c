/* SPDX-License-Identifier: MIT */
/* See accesses.h.  Counts instances, and collects what locations.h finds at the end of lives. */
#include "pass/accesses/accesses.h"

#include "analysis/select.h"
#include "pass/accesses/places.h"
#include "sync-trace/accesses.h"

/* Locations of sections that are listed with their names. */
#define ACCESSED_MAX (1u << 20)

/* --- parts ------------------------------------------------------------------------------------ */

static void part_free(void *data)
{
	struct pp_access_part *part = data;

	part->user->owner = NULL;
	pp_location_user_unref(part->user);
	g_free(part);
}

static void lock_free(void *data)
{
	struct pp_access_lock *lock = data;

	if (!lock)
		return;
	g_ptr_array_unref(lock->parts);
	g_free(lock);
}

static struct pp_access_lock *lock_of(struct pp_object *object)
{
	struct pp_access_lock *lock = object->data;

	if (!lock) {
		lock = object->data = g_new0(struct pp_access_lock, 1);
		lock->parts = g_ptr_array_new_with_free_func(part_free);
	}
	return lock;
}

/* The part found last is put first, since mostly the same one follows. */
static struct pp_access_part *part_of(struct pp_object *object, enum st_event op, uint64_t site)
{
	GPtrArray *parts = lock_of(object)->parts;
	struct pp_access_part *part;

	for (guint i = 0; i < parts->len; i++) {
		part = parts->pdata[i];
		if (part->op != op || part->site != site)
			continue;
		parts->pdata[i] = parts->pdata[0];
		return parts->pdata[0] = part;
	}
	part = g_new0(struct pp_access_part, 1);
	part->process = object->process;
	part->op = op;
	part->site = site;
	part->user = pp_location_user_new(part);
	g_ptr_array_add(parts, part);
	return part;
}

static bool on_fold(void *data, struct pp_object *object, struct pp_object *group)
{
	struct pp_access_lock *lock = g_steal_pointer(&object->data);

	(void)data;
	if (!lock)
		return false;
	for (guint i = 0; i < lock->parts->len; i++) {
		struct pp_access_part *part = lock->parts->pdata[i];
		struct pp_access_part *to = part_of(group, part->op, part->site);

		pp_access_figures_add(&to->figures, &part->figures);
		pp_location_user_merge(part->user, to->user);
	}
	lock_free(lock);
	return true;
}

static uint64_t n_of(const struct pp_object *object)
{
	const struct pp_access_lock *lock = object->data;
	uint64_t n = 0;

	for (guint i = 0; lock && i < lock->parts->len; i++)
		n += ((const struct pp_access_part *)lock->parts->pdata[i])->figures.n;
	return n;
}

static int compare_objects(const struct pp_object *a, const struct pp_object *b)
{
	return pp_object_compare(a, (int64_t)n_of(a), b, (int64_t)n_of(b));
}

/* --- instances -------------------------------------------------------------------------------- */

static void count(struct pp_access_figures *figures, const struct pp_access_instance *instance)
{
	figures->n++;
	figures->known[instance->known]++;
	figures->reads += instance->reads;
	figures->writes += instance->writes;
	figures->left_out += instance->left_out;
	figures->n_inexact += (instance->flags & ST_ACCESS_INEXACT) != 0;
	figures->n_unmapped += (instance->flags & ST_ACCESS_UNMAPPED) != 0;
	figures->n_cut += instance->is_cut;
}

static bool is_selected(const struct pp_access_pass *self,
			const struct pp_access_instance *instance, int64_t time_ns)
{
	return pp_selects_time(self->context, time_ns) &&
	       pp_selects_thread(self->context, instance->thread);
}

static void on_ended(void *data, const struct pp_access_instance *instance)
{
	struct pp_access_pass *self = data;
	struct pp_location_user *user = self->unselected;

	if (is_selected(self, instance, instance->end_ns)) {
		struct pp_access_part *part =
		    part_of(instance->object, instance->op, instance->site);

		count(&part->figures, instance);
		count(&self->all, instance);
		user = part->user;
	}
	pp_locations_add(self->locations, user, instance->thread, instance->set);
}

static void on_freed_within(void *data, const struct pp_access_instance *instance)
{
	struct pp_access_pass *self = data;
	struct pp_location_user *user = self->unselected;

	/* In sampled mode it is not known yet whether the instance counts. */
	if (instance->thread->process->accesses != PP_ACCESSES_COMPILED)
		return;
	if (is_selected(self, instance, instance->begin_ns))
		user = part_of(instance->object, instance->op, instance->site)->user;
	pp_locations_add(self->locations, user, instance->thread, instance->set);
}

static void on_block(void *data, const struct pp_process *process, uint64_t address, uint64_t size,
		     uint64_t site)
{
	struct pp_access_pass *self = data;

	pp_locations_block(self->locations, process, address, size, site);
}

static void on_freed(void *data, const struct pp_process *process, uint64_t address, uint64_t size)
{
	struct pp_access_pass *self = data;

	pp_locations_freed(self->locations, process, address, size);
}

/* --- locations -------------------------------------------------------------------------------- */

static guint accessed_hash(const void *data)
{
	const struct pp_accessed *accessed = data;

	return pp_memory_place_hash(&accessed->place) ^ (guint)((uintptr_t)accessed->user >> 4);
}

static gboolean accessed_equal(const void *a, const void *b)
{
	const struct pp_accessed *x = a, *y = b;

	return x->user == y->user && pp_memory_place_equal(&x->place, &y->place);
}

static void accessed_free(void *data)
{
	struct pp_accessed *accessed = data;

	pp_location_user_unref(accessed->user);
	g_free(accessed);
}

static struct pp_accessed *accessed_at(struct pp_access_pass *self, struct pp_location_user *user,
				       const struct pp_memory_place *place)
{
	const struct pp_accessed key = {.user = user, .place = *place};
	struct pp_accessed *accessed = g_hash_table_lookup(self->accessed, &key);

	if (accessed)
		return accessed;
	if (g_hash_table_size(self->accessed) >= ACCESSED_MAX)
		return NULL;
	accessed = g_memdup2(&key, sizeof(key));
	user->n_refs++;
	g_hash_table_add(self->accessed, accessed);
	return accessed;
}

static void on_location(void *data, struct pp_location_user *user,
			const struct pp_memory_place *place, bool is_written, bool is_shared,
			uint64_t n)
{
	struct pp_access_pass *self = data;
	struct pp_accessed *accessed;

	if (user == self->unselected)
		return;
	accessed = accessed_at(self, user, place);
	if (!accessed) {
		self->n_not_listed++;
		return;
	}
	if (is_written)
		accessed->n_written += n;
	else
		accessed->n_read += n;
	accessed->n_shared += is_shared ? n : 0;
}

static guint false_line_hash(const void *data)
{
	return pp_memory_place_hash(&((const struct pp_false_line *)data)->line);
}

static gboolean false_line_equal(const void *a, const void *b)
{
	return pp_memory_place_equal(&((const struct pp_false_line *)a)->line,
				     &((const struct pp_false_line *)b)->line);
}

static void false_line_free(void *data)
{
	struct pp_false_line *found = data;

	for (unsigned i = 0; i < 2; i++)
		pp_location_user_unref(found->sides[i].user);
	g_free(found);
}

static void on_false_sharing(void *data, const struct pp_memory_place *line,
			     const struct pp_line_side sides[2], unsigned n_threads,
			     bool is_contended)
{
	struct pp_access_pass *self = data;
	struct pp_false_line key = {.line = *line}, *found;

	if (sides[0].user == self->unselected && sides[1].user == self->unselected)
		return;
	found = g_hash_table_lookup(self->false_lines, &key);
	if (!found) {
		found = g_memdup2(&key, sizeof(key));
		for (unsigned i = 0; i < 2; i++) {
			found->sides[i] = sides[i];
			found->sides[i].n = 0;
			found->sides[i].user->n_refs++;
		}
		g_hash_table_add(self->false_lines, found);
	}
	for (unsigned i = 0; i < 2; i++) {
		found->sides[i].n += sides[i].n;
		found->n += sides[i].n;
	}
	found->n_threads = MAX(found->n_threads, n_threads);
	found->is_contended |= is_contended;
}

static bool on_is_reused(void *data, const struct pp_process *process, uint64_t address)
{
	return pp_place_is_nameless(((struct pp_access_pass *)data)->context, process, address);
}

/* --- the pass --------------------------------------------------------------------------------- */

static void row_free(void *data)
{
	struct pp_access_row *row = data;

	g_free(row->entry);
	g_free(row->lock);
	g_free(row);
}

static void *accesses_start(const struct pp_pass_context *context)
{
	struct pp_access_pass *self = g_new0(struct pp_access_pass, 1);

	self->context = context;
	self->listener = (struct pp_access_listener){
	    .data = self,
	    .ended = on_ended,
	    .block = on_block,
	    .freed_within = on_freed_within,
	    .freed = on_freed,
	    .fold = on_fold,
	    .compare = compare_objects,
	};
	self->locations_listener = (struct pp_locations_listener){
	    .data = self,
	    .location = on_location,
	    .false_sharing = on_false_sharing,
	    .is_reused = on_is_reused,
	};
	self->sections = pp_access_sections_new(context, &self->listener);
	self->locations = pp_locations_new(&self->locations_listener);
	self->unselected = pp_location_user_new(NULL);
	self->accessed = g_hash_table_new_full(accessed_hash, accessed_equal, accessed_free, NULL);
	self->false_lines =
	    g_hash_table_new_full(false_line_hash, false_line_equal, false_line_free, NULL);
	self->rows = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, row_free);
	self->row_of = g_hash_table_new(NULL, NULL);
	return self;
}

static void accesses_event(void *state, const struct pp_event *event)
{
	struct pp_access_pass *self = state;

	pp_access_sections_event(self->sections, event);
}

static void accesses_finish(void *state, int64_t end_ns, GPtrArray *tables)
{
	struct pp_access_pass *self = state;
	struct pp_table *variables, *false_sharing, *words, *sections;

	pp_access_sections_finish(self->sections, end_ns);
	pp_locations_finish(self->locations);
	pp_access_rows_make(self);
	sections = pp_access_sections_table(self);
	variables = pp_access_variables_table(self);
	false_sharing = pp_access_false_sharing_table(self);
	words = pp_access_words_table(self, variables, false_sharing);
	if (words)
		g_ptr_array_add(tables, words);
	pp_access_notes(sections, self->context, &self->all);
	g_ptr_array_add(tables, sections);
	g_ptr_array_add(tables, pp_access_locks_table(self));
	g_ptr_array_add(tables, variables);
	g_ptr_array_add(tables, false_sharing);
}

static void accesses_free(void *state)
{
	struct pp_access_pass *self = state;

	pp_access_sections_free(self->sections, lock_free);
	pp_locations_free(self->locations);
	g_hash_table_unref(self->accessed);
	g_hash_table_unref(self->false_lines);
	g_hash_table_unref(self->rows);
	g_hash_table_unref(self->row_of);
	pp_location_user_unref(self->unselected);
	g_free(self);
}

const struct pp_pass pp_pass_accesses = {
    .name = "accesses",
    .summary = "memory in sections",
    .kinds = PP_ACCESS_SECTIONS_KINDS,
    .selects = PP_SELECT_TIME | PP_SELECT_THREAD | PP_SELECT_OBJECT,
    .has_operations = true,
    .start = accesses_start,
    .event = accesses_event,
    .finish = accesses_finish,
    .free = accesses_free,
};
