/* SPDX-License-Identifier: MIT */
/*
 * Another number of threads of one kind. The work of the old threads is laid out on a line, on
 * which each of them has the length 1, and the line is cut into as many equal parts as there are
 * new threads. CPU time outside of sections can be cut anywhere; a section belongs to the part in
 * which its middle is. Between two barriers, the parts of several old threads that one new thread
 * executes alternate. With as many threads as before, nothing changes.
 */
#include <errno.h>
#include <stdlib.h>

#include "replay/change/internal.h"
#include "replay/change/kind.h"
#include "replay/sections.h"

/* Steps of an old thread that are executed in one piece. */
struct piece {
	double at; /* in the old thread, 0 to 1 */
	uint32_t old, first, n;
	uint64_t cpu_ns; /* before the first step */
};

struct sharing {
	struct pp_replay_model *model;
	const struct pp_change_kind_of *kind;
	uint32_t n_old, n_new;
	bool **inside;	  /* by old thread and step: in a section, which is not to be cut */
	GArray **pieces;  /* of struct piece, by new thread, of one phase */
	GArray **steps;	  /* of struct pp_replay_step, by new thread */
	uint64_t *cpu_ns; /* by new thread, not yet part of a step */
	struct pp_change_place **places; /* by old thread and step */
};

static const GArray *steps_of(const struct sharing *self, uint32_t old)
{
	return pp_change_thread(self->model, self->kind, old)->steps;
}

static const struct pp_replay_step *step_of(const struct sharing *self, uint32_t old, uint32_t at)
{
	return &g_array_index(steps_of(self, old), struct pp_replay_step, at);
}

/* The length of the step's operation on the line; it is never 0. */
static uint64_t operation_ns(const struct pp_replay_step *step)
{
	return 1 + (step->kind == PP_REPLAY_SLEEP ? step->sleep_ns : 0);
}

/* --- cutting ---------------------------------------------------------------------------------- */

static uint32_t part_at(const struct sharing *self, uint32_t old, double at)
{
	double line = (double)old + MIN(at, 1 - 1e-9);

	return MIN((uint32_t)(line * self->n_new / self->n_old), self->n_new - 1);
}

static void add_piece(struct sharing *self, uint32_t new, struct piece piece)
{
	g_array_append_val(self->pieces[new], piece);
}

/*
 * Adds CPU time that can be cut, from x to x + ns of `all`, and the steps behind it, of the length
 * body_ns.
 */
static void cut(struct sharing *self, struct piece piece, uint64_t x, uint64_t ns, uint64_t body_ns,
		double all)
{
	double begin = (double)x / all, middle = ((double)(x + ns) + (double)body_ns / 2) / all;
	uint32_t first = part_at(self, piece.old, begin), last = part_at(self, piece.old, middle);
	uint64_t done_ns = 0;

	for (uint32_t new = first; new < last; new ++) {
		double border = (double)(new + 1) * self->n_old / self->n_new - piece.old;
		uint64_t until_ns =
		    (uint64_t)CLAMP(border * all - (double)x, (double)done_ns, (double)ns);
		struct piece part = {.at = begin + (double)done_ns / all,
				     .old = piece.old,
				     .cpu_ns = until_ns - done_ns};

		add_piece(self, new, part);
		done_ns = until_ns;
	}
	piece.at = (double)(x + ns) / all;
	piece.cpu_ns = ns - done_ns;
	add_piece(self, last, piece);
}

/* The steps that are executed in one piece from there on. */
static uint32_t piece_end(const struct sharing *self, uint32_t old, uint32_t at, uint32_t end)
{
	uint32_t i = at + 1;

	while (i < end && self->inside[old][i])
		i++;
	return i;
}

/* Cuts the steps from `at` to `end`, where a barrier or the exit is, which has CPU time, too. */
static void cut_phase(struct sharing *self, uint32_t old, uint32_t at, uint32_t end)
{
	uint64_t x = 0, all = step_of(self, old, end)->cpu_ns + 1;

	for (uint32_t i = at; i < end; i++)
		all += step_of(self, old, i)->cpu_ns + operation_ns(step_of(self, old, i));
	while (at < end) {
		struct piece piece = {.old = old, .first = at};
		uint32_t next = piece_end(self, old, at, end);
		uint64_t cpu_ns = step_of(self, old, at)->cpu_ns, body_ns = 0;

		piece.n = next - at;
		for (uint32_t i = at; i < next; i++)
			body_ns += operation_ns(step_of(self, old, i)) +
				   (i > at ? step_of(self, old, i)->cpu_ns : 0);
		cut(self, piece, x, cpu_ns, body_ns, (double)all);
		x += cpu_ns + body_ns;
		at = next;
	}
	cut(self, (struct piece){.old = old}, x, step_of(self, old, end)->cpu_ns, 0, (double)all);
}

/* --- putting together ------------------------------------------------------------------------- */

static int compare_pieces(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;

	if (x->at < y->at || x->at > y->at)
		return x->at < y->at ? -1 : 1;
	if (x->old != y->old)
		return x->old < y->old ? -1 : 1;
	/* CPU time before the steps at its end */
	return (x->n > y->n) - (x->n < y->n);
}

static void put_step(struct sharing *self, uint32_t new, uint32_t old, uint32_t at, uint64_t cpu_ns)
{
	struct pp_replay_step step = *step_of(self, old, at);

	self->places[old][at] = (struct pp_change_place){new, self->steps[new]->len};
	step.cpu_ns = cpu_ns;
	step.rank = PP_REPLAY_NO_RANK; /* the recorded order is that of the old threads */
	g_array_append_val(self->steps[new], step);
}

static void put_pieces(struct sharing *self, uint32_t new)
{
	GArray *pieces = self->pieces[new];

	if (pieces->len)
		qsort(pieces->data, pieces->len, sizeof(struct piece), compare_pieces);
	for (guint i = 0; i < pieces->len; i++) {
		const struct piece *piece = &g_array_index(pieces, struct piece, i);

		self->cpu_ns[new] += piece->cpu_ns;
		for (uint32_t k = piece->first; k < piece->first + piece->n; k++) {
			bool is_first = k == piece->first;

			put_step(self, new, piece->old, k,
				 is_first ? self->cpu_ns[new]
					  : step_of(self, piece->old, k)->cpu_ns);
			if (is_first)
				self->cpu_ns[new] = 0;
		}
	}
	g_array_set_size(pieces, 0);
}

/* Each new thread passes the barrier, or ends, as the old ones do there. */
static void put_ends(struct sharing *self, const uint32_t *ends)
{
	for (uint32_t new = 0; new < self->n_new; new ++) {
		uint32_t old = new * self->n_old / self->n_new;

		put_step(self, new, old, ends[old], self->cpu_ns[new]);
		self->cpu_ns[new] = 0;
	}
	for (uint32_t old = 0; old < self->n_old; old++) {
		uint32_t new = part_at(self, old, 1);

		self->places[old][ends[old]] =
		    (struct pp_change_place){new, self->steps[new]->len - 1};
	}
}

/* --- phases ----------------------------------------------------------------------------------- */

static uint32_t phase_end(const struct sharing *self, uint32_t old, uint32_t at)
{
	while (step_of(self, old, at)->kind != PP_REPLAY_BARRIER &&
	       step_of(self, old, at)->kind != PP_REPLAY_EXIT)
		at++;
	return at;
}

/* True if all phases end alike: at the same barrier, or at the exit. */
static bool end_alike(const struct sharing *self, const uint32_t *ends)
{
	const struct pp_replay_step *first = step_of(self, 0, ends[0]);

	for (uint32_t old = 1; old < self->n_old; old++) {
		const struct pp_replay_step *step = step_of(self, old, ends[old]);

		if (step->kind != first->kind ||
		    (step->kind == PP_REPLAY_BARRIER && step->object != first->object))
			return false;
	}
	return true;
}

static void share_phase(struct sharing *self, const uint32_t *begins, const uint32_t *ends)
{
	for (uint32_t old = 0; old < self->n_old; old++)
		cut_phase(self, old, begins[old], ends[old]);
	for (uint32_t new = 0; new < self->n_new; new ++)
		put_pieces(self, new);
	put_ends(self, ends);
}

/* A barrier within a section is not a phase's end; then, and if threads differ: -ENOTSUP. */
static int share_phases(struct sharing *self, struct pp_error *err)
{
	g_autofree uint32_t *begins = g_new0(uint32_t, self->n_old);
	g_autofree uint32_t *ends = g_new0(uint32_t, self->n_old);
	bool is_last = false;

	while (!is_last) {
		for (uint32_t old = 0; old < self->n_old; old++)
			ends[old] = phase_end(self, old, begins[old]);
		if (!end_alike(self, ends))
			return pp_error_add(err, -ENOTSUP,
					    "threads of this kind do not pass the same barriers");
		share_phase(self, begins, ends);
		is_last = step_of(self, 0, ends[0])->kind == PP_REPLAY_EXIT;
		for (uint32_t old = 0; old < self->n_old; old++)
			begins[old] = ends[old] + 1;
	}
	return 0;
}

/* --- the change ------------------------------------------------------------------------------- */

static void mark_section(void *data, const struct pp_replay_section *section)
{
	struct sharing *self = data;
	int old = pp_change_kind_index(self->kind, section->number);

	for (uint32_t i = section->first + 1; old >= 0 && i <= section->last; i++)
		self->inside[old][i] = true;
}

/* Barriers of the kind's threads are for so many more or fewer. */
static int change_barriers(struct sharing *self, struct pp_error *err)
{
	g_autofree bool *changed = g_new0(bool, self->model->objects->len + 1);
	const GArray *steps = steps_of(self, 0);

	for (guint i = 0; i < steps->len; i++) {
		const struct pp_replay_step *step = &g_array_index(steps, struct pp_replay_step, i);
		struct pp_replay_object *barrier;

		if (step->kind != PP_REPLAY_BARRIER || changed[step->object])
			continue;
		barrier = self->model->objects->pdata[step->object];
		if (barrier->count < self->n_old)
			return pp_error_add(err, -ENOTSUP,
					    "the barrier %s is for fewer threads than pass it",
					    barrier->name);
		barrier->count += self->n_new - self->n_old;
		changed[step->object] = true;
	}
	return 0;
}

static void init(struct sharing *self)
{
	self->inside = g_new0(bool *, self->n_old);
	self->places = g_new0(struct pp_change_place *, self->n_old);
	self->pieces = g_new0(GArray *, self->n_new);
	self->steps = g_new0(GArray *, self->n_new);
	self->cpu_ns = g_new0(uint64_t, self->n_new);
	for (uint32_t i = 0; i < self->n_old; i++) {
		self->inside[i] = g_new0(bool, steps_of(self, i)->len);
		self->places[i] = g_new0(struct pp_change_place, steps_of(self, i)->len);
	}
	for (uint32_t i = 0; i < self->n_new; i++) {
		self->pieces[i] = g_array_new(FALSE, FALSE, sizeof(struct piece));
		self->steps[i] = g_array_new(FALSE, FALSE, sizeof(struct pp_replay_step));
	}
}

static void done(struct sharing *self)
{
	for (uint32_t i = 0; i < self->n_old; i++) {
		g_free(self->inside[i]);
		g_free(self->places[i]);
	}
	for (uint32_t i = 0; i < self->n_new; i++) {
		g_array_unref(self->pieces[i]);
		g_array_unref(self->steps[i]);
	}
	g_free(self->inside);
	g_free(self->places);
	g_free(self->pieces);
	g_free(self->steps);
	g_free(self->cpu_ns);
}

int pp_change_threads(const struct pp_change *change, struct pp_replay_model *model,
		      GPtrArray *notes, struct pp_error *err)
{
	struct pp_change_kind_of kind;
	int rc = pp_change_find_kind(model, change->subject, &kind, err);
	struct sharing self = {.model = model, .kind = &kind, .n_new = change->n};

	if (rc)
		return rc;
	self.n_old = kind.threads->len;
	init(&self);
	pp_replay_each_section(model, mark_section, &self);
	rc = share_phases(&self, err);
	if (!rc)
		rc = change_barriers(&self, err);
	if (!rc)
		pp_change_replace_kind(model, &kind, self.steps, self.n_new, self.places);
	/* steps have other numbers now */
	g_array_set_size(model->accesses, 0);
	if (!rc)
		pp_change_note(notes,
			       "the work of the threads created by %s is divided among %u in place "
			       "of %u: whether the program can do so is not known",
			       pp_change_kind_name(model, &kind), self.n_new, self.n_old);
	done(&self);
	pp_change_kind_done(&kind);
	return rc;
}
