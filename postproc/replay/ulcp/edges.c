/* SPDX-License-Identifier: MIT */
/*
 * Each lock is searched on its own. Sections that are not known get their edges by thread: from the
 * last section of each other thread, and to the next one.
 */
#include "replay/ulcp/edges.h"

#include "analysis/ulcp/search.h"

/* The last sections of a thread so far (number + 1; 0: none): [0] exclusive, [1] shared. */
struct latest {
	guint any[2], unknown[2];
};

struct finder {
	const GArray *sections, *sets;
	GArray *edges;
	struct latest *latest; /* by thread */
	GArray *threads;       /* of uint32_t: those that took the lock */
};

static void add_edge(struct finder *self, guint source, guint target)
{
	struct pp_ulcp_edge edge = {source, target};

	g_array_append_val(self->edges, edge);
}

/* The last of these sections of one thread: what waits for it waits for the others, too. */
static void on_edges(void *data, const uint64_t *sources, size_t n, uint64_t target)
{
	add_edge(data, (guint)sources[n - 1], (guint)target);
}

static struct pp_access_set *set_of(const struct finder *self,
				    const struct pp_ulcp_section *section)
{
	return pp_replay_find_set(self->sets, section->thread, section->first);
}

/* --- sections that are not known -------------------------------------------------------------- */

static void add_unknown(struct finder *self, guint number, bool is_known)
{
	const struct pp_ulcp_section *section = pp_ulcp_section_at(self->sections, number);

	for (guint i = 0; i < self->threads->len; i++) {
		uint32_t thread = g_array_index(self->threads, uint32_t, i);
		const struct latest *latest = &self->latest[thread];
		const guint *of = is_known ? latest->unknown : latest->any;

		if (thread == section->thread)
			continue;
		if (of[0])
			add_edge(self, of[0] - 1, number);
		if (of[1] && !section->shared)
			add_edge(self, of[1] - 1, number);
	}
}

static void note(struct finder *self, guint number, bool is_known)
{
	const struct pp_ulcp_section *section = pp_ulcp_section_at(self->sections, number);
	struct latest *latest = &self->latest[section->thread];

	if (!latest->any[0] && !latest->any[1])
		g_array_append_val(self->threads, section->thread);
	latest->any[section->shared] = number + 1;
	if (!is_known)
		latest->unknown[section->shared] = number + 1;
}

/* --- locks ------------------------------------------------------------------------------------ */

struct facts {
	guint n_known;
	bool is_written_by_readers;
};

static struct facts facts_of(const struct finder *self, guint first, guint n)
{
	struct facts facts = {0};

	for (guint i = first; i < first + n; i++) {
		const struct pp_ulcp_section *section = pp_ulcp_section_at(self->sections, i);
		const struct pp_access_set *set = set_of(self, section);

		facts.n_known += set != NULL;
		for (unsigned k = 0; set && section->shared && k < set->n; k++)
			facts.is_written_by_readers |= set->lines[k].changed != 0;
	}
	return facts;
}

static void search(struct finder *self, struct pp_ulcp_search *of, guint first, guint n)
{
	struct pp_ulcp_lock *lock = pp_ulcp_lock_new(of);

	for (guint i = first; i < first + n; i++) {
		const struct pp_ulcp_section *section = pp_ulcp_section_at(self->sections, i);
		struct pp_access_set *set = set_of(self, section);

		add_unknown(self, i, set != NULL);
		note(self, i, set != NULL);
		if (set)
			pp_ulcp_search_add(lock, section->thread, i, 0, set);
	}
	pp_ulcp_lock_free(lock);
	for (guint i = 0; i < self->threads->len; i++)
		self->latest[g_array_index(self->threads, uint32_t, i)] = (struct latest){0};
	g_array_set_size(self->threads, 0);
}

static void begin(const struct pp_replay_model *model, struct pp_ulcp_edges *ret)
{
	*ret = (struct pp_ulcp_edges){
	    .edges = g_array_new(FALSE, FALSE, sizeof(struct pp_ulcp_edge)),
	    .keeps_order = g_new0(bool, MAX(model->objects->len, 1)),
	};
}

void pp_ulcp_find_edges(const struct pp_replay_model *model, const GArray *sections,
			const GArray *sets, struct pp_ulcp_edges *ret)
{
	struct finder self = {
	    .sections = sections,
	    .sets = sets,
	    .latest = g_new0(struct latest, model->threads->len),
	    .threads = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
	};
	const struct pp_ulcp_search_listener listener = {.data = &self, .edges = on_edges};
	struct pp_ulcp_search *of = pp_ulcp_search_new(&listener);

	begin(model, ret);
	self.edges = ret->edges;
	for (guint first = 0, n; first < sections->len; first += n) {
		struct facts facts;
		uint32_t object = pp_ulcp_section_at(sections, first)->object;

		n = pp_ulcp_count_of_lock(sections, first);
		facts = facts_of(&self, first, n);
		ret->n_locks++;
		ret->keeps_order[object] = !facts.n_known || facts.is_written_by_readers;
		ret->n_unknown_locks += !facts.n_known;
		ret->n_writing_locks += facts.is_written_by_readers;
		if (ret->keeps_order[object]) {
			pp_ulcp_keep_order(ret->edges, sections, first, n);
			continue;
		}
		ret->n_unknown += n - facts.n_known;
		search(&self, of, first, n);
	}
	pp_ulcp_search_free(of);
	g_free(self.latest);
	g_array_unref(self.threads);
}

void pp_ulcp_all_edges(const struct pp_replay_model *model, const GArray *sections,
		       struct pp_ulcp_edges *ret)
{
	begin(model, ret);
	for (guint first = 0, n; first < sections->len; first += n) {
		n = pp_ulcp_count_of_lock(sections, first);
		ret->n_locks++;
		ret->keeps_order[pp_ulcp_section_at(sections, first)->object] = true;
		pp_ulcp_keep_order(ret->edges, sections, first, n);
	}
}

void pp_ulcp_edges_done(struct pp_ulcp_edges *edges)
{
	g_clear_pointer(&edges->edges, g_array_unref);
	g_clear_pointer(&edges->keeps_order, g_free);
}
