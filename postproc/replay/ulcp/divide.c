/* SPDX-License-Identifier: MIT */
/*
 * The bytes of a lock are numbered. First each line learns which of its bytes need a lock; then
 * each set of accesses joins these bytes (union-find).
 */
#include "replay/ulcp/divide.h"

#define NO_BYTE UINT32_MAX

/* Threads by byte: the first that accessed it; the first that changed it. */
struct line {
	uint64_t accessed, changed;
	uint64_t common;  /* accessed by several threads */
	uint64_t changes; /* changed by several threads */
	uint32_t first;	  /* number of its first byte */
	uint32_t accessors[ST_LINE_BYTES], changers[ST_LINE_BYTES];
};

/* One lock. */
struct divider {
	const GArray *sections, *sets;
	GHashTable *lines;   /* address -> struct line * */
	GArray *parents;     /* of uint32_t: by byte */
	GHashTable *objects; /* byte that stands for a lock -> number of the object + 1 */
	bool has_unknown, has_unknown_reader;
	struct pp_replay_model *model; /* the result */
};

/* The lock that a section needs. */
struct place {
	uint32_t byte; /* one of those that need it; NO_BYTE: none */
	bool changes;
};

static uint32_t root_of(const struct divider *self, uint32_t byte)
{
	uint32_t *parents = (uint32_t *)(void *)self->parents->data;

	while (parents[byte] != byte) {
		parents[byte] = parents[parents[byte]];
		byte = parents[byte];
	}
	return byte;
}

/* --- bytes ------------------------------------------------------------------------------------ */

static struct line *line_of(struct divider *self, const uint64_t *address)
{
	struct line *line = g_hash_table_lookup(self->lines, address);

	if (line)
		return line;
	line = g_new0(struct line, 1);
	line->first = self->parents->len;
	for (uint32_t i = 0; i < ST_LINE_BYTES; i++) {
		uint32_t byte = line->first + i;

		g_array_append_val(self->parents, byte);
	}
	g_hash_table_insert(self->lines, g_memdup2(address, sizeof(*address)), line);
	return line;
}

/* Notes that the thread did so with these bytes. */
static void note_bytes(uint64_t bytes, uint32_t thread, uint64_t *done, uint64_t *done_by_many,
		       uint32_t *threads)
{
	for (uint64_t left = bytes & ~*done_by_many; left; left &= left - 1) {
		unsigned i = (unsigned)__builtin_ctzll(left);
		uint64_t bit = UINT64_C(1) << i;

		if (!(*done & bit))
			threads[i] = thread;
		else if (threads[i] != thread)
			*done_by_many |= bit;
	}
	*done |= bytes;
}

static void note_line(struct divider *self, const struct pp_access_line *accessed, uint32_t thread)
{
	struct line *line = line_of(self, &accessed->address);

	note_bytes(accessed->read | accessed->written, thread, &line->accessed, &line->common,
		   line->accessors);
	note_bytes(accessed->written & accessed->changed, thread, &line->changed, &line->changes,
		   line->changers);
}

/*
 * The bytes that need a lock: the thread changes them, and another one accesses them, or the
 * reverse.
 */
static uint64_t needed(const struct line *line, const struct pp_access_line *accessed,
		       uint32_t thread)
{
	uint64_t bytes = (accessed->written & accessed->changed) & line->common;

	for (uint64_t left = (accessed->read | accessed->written) & line->changed & ~bytes; left;
	     left &= left - 1) {
		unsigned i = (unsigned)__builtin_ctzll(left);
		uint64_t bit = UINT64_C(1) << i;

		if ((line->changes & bit) || line->changers[i] != thread)
			bytes |= bit;
	}
	return bytes;
}

static void note_section(struct divider *self, const struct pp_ulcp_section *section)
{
	const struct pp_access_set *set =
	    pp_replay_find_set(self->sets, section->thread, section->first);

	self->has_unknown |= !set;
	self->has_unknown_reader |= !set && section->shared;
	for (unsigned i = 0; set && i < set->n; i++)
		note_line(self, &set->lines[i], section->thread);
}

static struct place join(struct divider *self, const struct pp_access_set *set, uint32_t thread)
{
	uint32_t *parents = (uint32_t *)(void *)self->parents->data;
	struct place place = {.byte = NO_BYTE};

	for (unsigned i = 0; i < set->n; i++) {
		const struct pp_access_line *accessed = &set->lines[i];
		const struct line *line = line_of(self, &accessed->address);
		uint64_t bytes = needed(line, accessed, thread);

		place.changes |= (accessed->written & accessed->changed & bytes) != 0;
		for (; bytes; bytes &= bytes - 1) {
			uint32_t byte = line->first + (uint32_t)__builtin_ctzll(bytes);

			if (place.byte == NO_BYTE)
				place.byte = byte;
			parents[root_of(self, byte)] = root_of(self, place.byte);
		}
	}
	return place;
}

/* --- locks ------------------------------------------------------------------------------------ */

static struct pp_replay_step *step_of(const struct divider *self, uint32_t thread, uint32_t step)
{
	const struct pp_replay_thread *of = self->model->threads->pdata[thread];

	return &g_array_index(of->steps, struct pp_replay_step, step);
}

/* The lock of that byte, which is added if it is new. */
static uint32_t object_of(struct divider *self, uint32_t byte, uint32_t before)
{
	void *key = GUINT_TO_POINTER(root_of(self, byte));
	const struct pp_replay_object *old = self->model->objects->pdata[before];
	guint known = GPOINTER_TO_UINT(g_hash_table_lookup(self->objects, key));
	g_autofree char *name = NULL;

	if (known)
		return known - 1;
	name = g_strdup_printf("%s/%u", old->name, g_hash_table_size(self->objects) + 1);
	known = pp_replay_add_object(self->model, PP_REPLAY_OBJECT_LOCK, 0, name) + 1;
	g_hash_table_insert(self->objects, key, GUINT_TO_POINTER(known));
	return known - 1;
}

/* The section has that lock, or none. */
static void set_lock(const struct divider *self, const struct pp_ulcp_section *section,
		     bool has_lock, uint32_t object, bool is_exclusive)
{
	struct pp_replay_step *acquire = step_of(self, section->thread, section->first);
	struct pp_replay_step *release = step_of(self, section->thread, section->last);

	if (!has_lock) {
		acquire->kind = PP_REPLAY_SIGNAL;
		acquire->tries = false;
	} else {
		acquire->object = object;
		if (!is_exclusive)
			acquire->kind = PP_REPLAY_RDLOCK;
	}
	if (release->kind != PP_REPLAY_UNLOCK)
		return; /* it lasts until the end of the thread */
	if (!has_lock)
		release->kind = PP_REPLAY_SIGNAL;
	else
		release->object = object;
}

static void place_section(struct divider *self, const struct pp_ulcp_section *section)
{
	struct pp_access_set *set = pp_replay_find_set(self->sets, section->thread, section->first);
	struct place place = {.byte = NO_BYTE, .changes = true};

	if (set)
		place = join(self, set, section->thread);
	if (self->has_unknown)
		set_lock(self, section, true, section->object, place.changes);
	else if (place.byte == NO_BYTE)
		set_lock(self, section, false, 0, false);
	else
		set_lock(self, section, true, object_of(self, place.byte, section->object),
			 place.changes);
}

static void divide(struct divider *self, guint first, guint n)
{
	g_hash_table_remove_all(self->lines);
	g_hash_table_remove_all(self->objects);
	g_array_set_size(self->parents, 0);
	self->has_unknown = self->has_unknown_reader = false;
	for (guint i = first; i < first + n; i++)
		note_section(self, pp_ulcp_section_at(self->sections, i));
	if (self->has_unknown_reader)
		return;
	for (guint i = first; i < first + n; i++) {
		const struct pp_ulcp_section *section = pp_ulcp_section_at(self->sections, i);
		const struct pp_access_set *set =
		    pp_replay_find_set(self->sets, section->thread, section->first);

		if (set)
			join(self, set, section->thread);
	}
	for (guint i = first; i < first + n; i++)
		place_section(self, pp_ulcp_section_at(self->sections, i));
}

/* Recursive acquisitions, and releases that release nothing, become steps that do nothing. */
static void drop_inner(struct pp_replay_thread *thread, const bool *keeps_order, guint n_objects)
{
	g_autofree uint32_t *depths = g_new0(uint32_t, n_objects + 1);

	for (guint i = 0; i < thread->steps->len; i++) {
		struct pp_replay_step *step =
		    &g_array_index(thread->steps, struct pp_replay_step, i);
		bool is_inner;

		if (step->kind > PP_REPLAY_UNLOCK || keeps_order[step->object])
			continue;
		if (step->kind == PP_REPLAY_UNLOCK) {
			is_inner = depths[step->object] != 1;
			depths[step->object] -= depths[step->object] != 0;
		} else {
			is_inner = depths[step->object]++ != 0;
		}
		if (is_inner)
			step->kind = PP_REPLAY_SIGNAL;
	}
}

void pp_ulcp_same(const struct pp_replay_model *model, struct pp_ulcp_result *ret)
{
	ret->model = pp_replay_model_copy(model);
	ret->n_threads = model->threads->len;
	ret->steps = g_new0(uint32_t *, ret->n_threads);
	for (guint i = 0; i < ret->n_threads; i++) {
		uint32_t n =
		    ((const struct pp_replay_thread *)model->threads->pdata[i])->steps->len;

		ret->steps[i] = g_new(uint32_t, n);
		for (uint32_t k = 0; k < n; k++)
			ret->steps[i][k] = k;
	}
}

void pp_ulcp_divide(const struct pp_replay_model *model, const GArray *sections, const GArray *sets,
		    const bool *keeps_order, struct pp_ulcp_result *ret)
{
	struct divider self = {
	    .sections = sections,
	    .sets = sets,
	    .lines = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free),
	    .objects = g_hash_table_new(NULL, NULL),
	    .parents = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
	};

	pp_ulcp_same(model, ret);
	self.model = ret->model;
	for (guint i = 0; i < ret->n_threads; i++)
		drop_inner(ret->model->threads->pdata[i], keeps_order, model->objects->len);
	for (guint first = 0, n; first < sections->len; first += n) {
		n = pp_ulcp_count_of_lock(sections, first);
		if (!keeps_order[pp_ulcp_section_at(sections, first)->object])
			divide(&self, first, n);
	}
	g_array_set_size(ret->model->accesses, 0);
	g_hash_table_unref(self.lines);
	g_hash_table_unref(self.objects);
	g_array_unref(self.parents);
}
