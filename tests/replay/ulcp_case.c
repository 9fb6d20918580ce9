/* SPDX-License-Identifier: MIT */
/* Accesses are of a few bytes in two lines, so that many sections conflict, and many do not. */
#include "ulcp_case.h"

#include "check.h"
#include "random_model.h"
#include "replay/ulcp/waits.h"
#include "untimed.h"

#define N_LINES 2

static struct pp_replay_step *step_of(const struct pp_replay_model *model, uint32_t thread,
				      uint32_t step)
{
	const struct pp_replay_thread *of = model->threads->pdata[thread];

	return &g_array_index(of->steps, struct pp_replay_step, step);
}

static void take_order(struct pp_replay_model *model, GRand *random)
{
	g_autoptr(GArray) log = untimed_run(model, random);

	CHECK_INT(log->len, pp_replay_n_steps(model));
	for (guint i = 0; i < log->len; i++) {
		const struct untimed_entry *entry = &g_array_index(log, struct untimed_entry, i);

		step_of(model, entry->thread, entry->step)->rank = i + 1;
	}
}

/* One to three of the bytes 0 to 7. */
static uint64_t random_bytes(GRand *random)
{
	uint64_t mask = 0;

	for (int i = g_rand_int_range(random, 1, 4); i > 0; i--)
		mask |= UINT64_C(1) << g_rand_int_range(random, 0, 8);
	return mask;
}

static struct pp_access_set *random_set(struct pp_access_sets *interned, GRand *random,
					bool changes)
{
	struct pp_access_line lines[N_LINES] = {0};

	for (unsigned i = 0; i < N_LINES; i++) {
		lines[i].address = 64 * (i + 1);
		if (g_rand_int_range(random, 0, 3) == 0)
			lines[i].read = random_bytes(random);
		if (g_rand_int_range(random, 0, 4) == 0)
			lines[i].written = random_bytes(random);
		if (changes)
			lines[i].changed = lines[i].written & g_rand_int(random);
	}
	return pp_access_set_get(interned, lines, N_LINES);
}

static void set_done(void *data)
{
	pp_access_set_unref(((struct pp_replay_set *)data)->set);
}

/* Most sections are known. Some models lack all accesses of a lock. */
static void add_sets(struct ulcp_case *self, GRand *random)
{
	uint32_t without = (uint32_t)g_rand_int_range(random, 0, 12);
	bool readers_change = g_rand_int_range(random, 0, 4) == 0;

	for (uint32_t i = 0; i < self->model->threads->len; i++) {
		const struct pp_replay_thread *thread = self->model->threads->pdata[i];

		for (uint32_t k = 0; k < thread->steps->len; k++) {
			const struct pp_replay_step *step = step_of(self->model, i, k);
			struct pp_replay_set set = {.thread = i, .step = k};

			if (!pp_replay_acquires(step->kind))
				continue;
			set.is_inexact = g_rand_int_range(random, 0, 40) == 0;
			if (step->object != without && g_rand_int_range(random, 0, 20) != 0)
				set.set =
				    random_set(self->interned, random,
					       step->kind != PP_REPLAY_RDLOCK || readers_change);
			g_array_append_val(self->sets, set);
		}
	}
}

static bool lines_conflict(const struct pp_access_line *a, const struct pp_access_line *b)
{
	for (unsigned i = 0; a->address == b->address && i < 64; i++) {
		bool a_accesses = (a->read | a->written) >> i & 1, a_changes = a->changed >> i & 1;
		bool b_accesses = (b->read | b->written) >> i & 1, b_changes = b->changed >> i & 1;

		if ((a_accesses && b_changes) || (a_changes && b_accesses))
			return true;
	}
	return false;
}

bool ulcp_case_conflict(const struct ulcp_case *self, const struct pp_ulcp_section *a,
			const struct pp_ulcp_section *b)
{
	const struct pp_access_set *x = pp_replay_find_set(self->sets, a->thread, a->first);
	const struct pp_access_set *y = pp_replay_find_set(self->sets, b->thread, b->first);

	if (a->object != b->object || a->thread == b->thread || (a->shared && b->shared))
		return false;
	if (!x || !y)
		return true;
	for (unsigned i = 0; i < x->n; i++)
		for (unsigned k = 0; k < y->n; k++)
			if (lines_conflict(&x->lines[i], &y->lines[k]))
				return true;
	return false;
}

static void add_edges(struct ulcp_case *self)
{
	for (guint i = 0; i < self->sections->len; i++) {
		const struct pp_ulcp_section *source = pp_ulcp_section_at(self->sections, i);
		g_autofree bool *found = g_new0(bool, self->model->threads->len);

		for (guint k = i + 1; k < self->sections->len; k++) {
			const struct pp_ulcp_section *target =
			    pp_ulcp_section_at(self->sections, k);
			struct pp_ulcp_edge edge = {i, k};

			if (found[target->thread] || !ulcp_case_conflict(self, source, target))
				continue;
			found[target->thread] = true;
			g_array_append_val(self->edges, edge);
		}
	}
}

struct ulcp_case ulcp_case_random(uint32_t seed, GRand *random)
{
	struct pp_error err = PP_ERROR_INIT;
	struct ulcp_case self = {
	    .model = random_model(seed),
	    .interned = pp_access_sets_new(),
	    .sets = g_array_new(FALSE, FALSE, sizeof(struct pp_replay_set)),
	    .edges = g_array_new(FALSE, FALSE, sizeof(struct pp_ulcp_edge)),
	};

	g_array_set_clear_func(self.sets, set_done);
	CHECK(!pp_replay_check(self.model));
	take_order(self.model, random);
	add_sets(&self, random);
	self.sections = pp_ulcp_find_sections(self.model, &err);
	CHECK(self.sections);
	add_edges(&self);
	return self;
}

void ulcp_case_done(struct ulcp_case *self)
{
	pp_replay_model_free(self->model);
	g_array_unref(self->sets);
	g_array_unref(self->sections);
	g_array_unref(self->edges);
	pp_access_sets_free(self->interned);
}
