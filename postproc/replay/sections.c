/* SPDX-License-Identifier: MIT */
/* A thread is followed with the list of its open sections, of which there are few. */
#include "replay/sections.h"

/* Steps between the release of a condition wait and its acquisition: a wait, a sleep. */
#define MAX_WAIT_STEPS 4

struct open_section {
	struct pp_replay_section section;
	uint32_t depth;
	bool is_waiting; /* released by a condition wait */
};

static struct pp_replay_step *step_of(const struct pp_replay_thread *thread, uint32_t at)
{
	return &g_array_index(thread->steps, struct pp_replay_step, at);
}

/* True if the release belongs to a condition wait, which acquires the lock again. */
static bool begins_wait(const struct pp_replay_thread *thread, uint32_t at)
{
	const struct pp_replay_step *release = step_of(thread, at);

	for (uint32_t i = at + 1; i < thread->steps->len && i <= at + MAX_WAIT_STEPS; i++) {
		const struct pp_replay_step *step = step_of(thread, i);

		if (pp_replay_acquires(step->kind))
			return step->object == release->object && release->site &&
			       step->site == release->site;
		if (step->kind == PP_REPLAY_UNLOCK)
			return false;
	}
	return false;
}

/* Returns the number of the thread's open section of the object; -1: none. */
static int find_open(const GArray *open, uint32_t object)
{
	for (guint i = open->len; i-- > 0;)
		if (g_array_index(open, struct open_section, i).section.object == object)
			return (int)i;
	return -1;
}

static void acquire(GArray *open, struct pp_replay_thread *thread, uint32_t number, uint32_t at)
{
	const struct pp_replay_step *step = step_of(thread, at);
	struct open_section new = {
	    .section = {.thread = thread,
			.number = number,
			.object = step->object,
			.site = step->site,
			.first = at,
			.shared = step->kind == PP_REPLAY_RDLOCK},
	    .depth = 1,
	};
	int known = find_open(open, step->object);
	struct open_section *before;

	if (known < 0) {
		g_array_append_val(open, new);
		return;
	}
	before = &g_array_index(open, struct open_section, known);
	if (before->is_waiting)
		before->is_waiting = false;
	else
		before->depth++;
}

struct taker {
	void (*take)(void *data, const struct pp_replay_section *section);
	void *data;
};

static void release(GArray *open, uint32_t at, const struct taker *taker)
{
	struct open_section *section, ended;
	int known = -1;
	const struct pp_replay_thread *thread;

	if (!open->len)
		return;
	thread = g_array_index(open, struct open_section, 0).section.thread;
	known = find_open(open, step_of(thread, at)->object);
	if (known < 0)
		return;
	section = &g_array_index(open, struct open_section, known);
	if (section->depth > 1) {
		section->depth--;
	} else if (begins_wait(thread, at)) {
		section->is_waiting = section->section.waits = true;
	} else {
		section->section.last = at;
		ended = *section;
		g_array_remove_index(open, (guint)known);
		taker->take(taker->data, &ended.section);
	}
}

static void follow(struct pp_replay_thread *thread, uint32_t number, const struct taker *taker)
{
	g_autoptr(GArray) open = g_array_new(FALSE, FALSE, sizeof(struct open_section));

	for (uint32_t i = 0; i < thread->steps->len; i++) {
		const struct pp_replay_step *step = step_of(thread, i);

		if (pp_replay_acquires(step->kind))
			acquire(open, thread, number, i);
		else if (step->kind == PP_REPLAY_UNLOCK)
			release(open, i, taker);
		else if (step->kind == PP_REPLAY_NOTIFY ||
			 (step->kind == PP_REPLAY_SIGNAL && step->awaited))
			for (guint k = 0; k < open->len; k++)
				g_array_index(open, struct open_section, k).section.signals = true;
	}
	for (guint i = open->len; i-- > 0;) {
		struct open_section *section = &g_array_index(open, struct open_section, i);

		section->section.last = thread->steps->len - 1;
		taker->take(taker->data, &section->section);
	}
}

void pp_replay_each_section(struct pp_replay_model *model,
			    void (*take)(void *data, const struct pp_replay_section *section),
			    void *data)
{
	const struct taker taker = {take, data};

	for (guint i = 0; i < model->threads->len; i++)
		follow(model->threads->pdata[i], i, &taker);
}

uint32_t *pp_replay_join_sites(const struct pp_replay_model *model)
{
	uint32_t *joined = g_new0(uint32_t, model->sites->len + 1);
	g_autoptr(GHashTable) first = g_hash_table_new(g_str_hash, g_str_equal);

	for (uint32_t site = 1; site <= model->sites->len; site++) {
		void *name = model->sites->pdata[site - 1];
		void *known = g_hash_table_lookup(first, name);

		joined[site] = known ? GPOINTER_TO_UINT(known) : site;
		if (!known)
			g_hash_table_insert(first, name, GUINT_TO_POINTER(site));
	}
	return joined;
}

struct condition_sites {
	GHashTable *keys;
	const uint32_t *joined;
};

static uint64_t site_key(const struct pp_replay_section *section, const uint32_t *joined)
{
	return (uint64_t)section->object << 32 | joined[section->site];
}

static void add_condition_site(void *data, const struct pp_replay_section *section)
{
	const struct condition_sites *sites = data;
	uint64_t key = site_key(section, sites->joined);

	if (section->waits || section->signals)
		g_hash_table_add(sites->keys, g_memdup2(&key, sizeof(key)));
}

GHashTable *pp_replay_condition_sites(struct pp_replay_model *model, const uint32_t *joined)
{
	struct condition_sites sites = {.joined = joined};

	sites.keys = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	pp_replay_each_section(model, add_condition_site, &sites);
	return sites.keys;
}

bool pp_replay_has_condition(GHashTable *sites, const uint32_t *joined,
			     const struct pp_replay_section *section)
{
	uint64_t key = site_key(section, joined);

	return g_hash_table_contains(sites, &key);
}

void pp_replay_each_step(const struct pp_replay_section *section,
			 void (*take)(void *data, struct pp_replay_step *step, bool is_inside),
			 void *data)
{
	uint32_t depth = 0;

	for (uint32_t i = section->first; i <= section->last; i++) {
		struct pp_replay_step *step = step_of(section->thread, i);
		bool is_on = pp_replay_is_on(step, section->object), is_inside = depth > 0;

		if (is_on)
			depth += step->kind == PP_REPLAY_UNLOCK ? -(depth > 0) : 1;
		if (is_on || is_inside)
			take(data, step, is_inside);
	}
}

/* Removes the last acquisition of the object from those that are open. */
static void close_acquisition(GArray *open, const struct pp_replay_thread *thread, uint32_t object)
{
	for (guint i = open->len; i-- > 0;) {
		if (step_of(thread, g_array_index(open, uint32_t, i))->object != object)
			continue;
		g_array_remove_index(open, i);
		return;
	}
}

uint32_t *pp_replay_find_enclosing(const struct pp_replay_thread *thread)
{
	uint32_t *enclosing = g_new(uint32_t, thread->steps->len);
	g_autoptr(GArray) open = g_array_new(FALSE, FALSE, sizeof(uint32_t));

	for (uint32_t i = 0; i < thread->steps->len; i++) {
		const struct pp_replay_step *step = step_of(thread, i);

		enclosing[i] =
		    open->len ? g_array_index(open, uint32_t, open->len - 1) : PP_REPLAY_NO_STEP;
		if (pp_replay_acquires(step->kind))
			g_array_append_val(open, i);
		else if (step->kind == PP_REPLAY_UNLOCK)
			close_acquisition(open, thread, step->object);
	}
	return enclosing;
}
