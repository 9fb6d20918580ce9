/* SPDX-License-Identifier: MIT */
/*
 * The last waits of a thread that holds a semaphore.
 *
 * Which thread held up the waiters of a semaphore is known when it posts.  A thread that has
 * acquired one therefore remembers on what it was blocked: a ring of stretches of time, in each of
 * which the causes of its waits did not change.  A thread that does not post what it acquires
 * stops after some waits.
 */
#include "analysis/blame/internal.h"

#include "analysis/select.h"

/* Waits without a post after which a thread remembers no more. */
#define WITHOUT_POST (2 * PP_BLAME_RECENT)

struct stretch {
	int64_t from_ns, to_ns;
	GArray *parts; /* of struct pp_blame_part */
};

struct pp_blame_past {
	struct pp_blame_behind now; /* since the last stretch */
	int64_t from_ns;
	struct stretch stretches[PP_BLAME_RECENT]; /* a ring */
	unsigned n, n_without_post;
};

/* The selected time for which the thread was blocked on objects so far. */
static int64_t blocked_ns(const struct pp_blame *blame, const struct pp_thread *thread,
			  const struct pp_blame_thread *of, int64_t now_ns)
{
	const struct pp_thread_state *state = pp_thread_state(blame->states, thread);

	if (!state || !state->begun || state->over || state->mode != PP_MODE_BLOCKED_SYNC)
		return of->blocked_ns;
	return of->blocked_ns + pp_selected_ns(blame->context, state->since_ns, now_ns);
}

void pp_blame_past_begin(struct pp_blame *blame, const struct pp_thread *thread, int64_t now_ns)
{
	struct pp_blame_thread *of = pp_blame_thread(blame, thread);

	if (!of->past)
		of->past = g_new0(struct pp_blame_past, 1);
	of->past->from_ns = now_ns;
	pp_blame_behind_set_done(&of->past->now, blocked_ns(blame, thread, of, now_ns));
}

void pp_blame_past_waits(struct pp_blame *blame, const struct pp_thread *thread, int64_t now_ns)
{
	if (pp_blame_thread(blame, thread)->past)
		pp_blame_past_begin(blame, thread, now_ns);
}

struct pp_blame_behind *pp_blame_past_now(struct pp_blame *blame, const struct pp_thread *thread,
					  int64_t now_ns, int64_t *ret_blocked_ns)
{
	struct pp_blame_thread *of = pp_blame_thread(blame, thread);

	if (!of->past || of->past->n_without_post >= WITHOUT_POST)
		return NULL;
	*ret_blocked_ns = blocked_ns(blame, thread, of, now_ns);
	return &of->past->now;
}

void pp_blame_past_end(struct pp_blame *blame, const struct pp_thread *thread, int64_t now_ns)
{
	struct pp_blame_past *past = pp_blame_thread(blame, thread)->past;
	struct stretch *stretch = &past->stretches[past->n % PP_BLAME_RECENT];

	if (past->now.parts) {
		g_clear_pointer(&stretch->parts, g_array_unref);
		*stretch =
		    (struct stretch){past->from_ns, now_ns, g_steal_pointer(&past->now.parts)};
		past->n++;
		past->n_without_post++;
	}
	past->from_ns = now_ns;
}

/* Adds what the thread was blocked on in a part of the stretch.  Several causes are not divided. */
static void add_cut(struct pp_blame *blame, const struct pp_thread *thread,
		    const struct stretch *stretch, int64_t from_ns, int64_t to_ns, GArray **parts)
{
	const struct pp_blame_part *part = &g_array_index(stretch->parts, struct pp_blame_part, 0);
	struct pp_blame_figures figures;

	if (stretch->parts->len > 1)
		return;
	pp_blame_activity(blame, thread, from_ns, to_ns, &figures);
	pp_blame_part_add_again(parts, part, MIN(figures.mode_ns[PP_MODE_BLOCKED_SYNC], part->ns));
}

static void add_stretch(struct pp_blame *blame, const struct pp_thread *thread,
			const struct stretch *stretch, int64_t from_ns, int64_t to_ns,
			GArray **parts)
{
	int64_t start_ns = MAX(from_ns, stretch->from_ns), end_ns = MIN(to_ns, stretch->to_ns);

	if (!stretch->parts || start_ns >= end_ns)
		return;
	if (start_ns > stretch->from_ns || end_ns < stretch->to_ns) {
		add_cut(blame, thread, stretch, start_ns, end_ns, parts);
		return;
	}
	for (guint i = 0; i < stretch->parts->len; i++) {
		const struct pp_blame_part *part =
		    &g_array_index(stretch->parts, struct pp_blame_part, i);

		pp_blame_part_add_again(parts, part, part->ns);
	}
}

GArray *pp_blame_past_parts(struct pp_blame *blame, const struct pp_thread *thread, int64_t from_ns,
			    int64_t to_ns)
{
	struct pp_blame_past *past = pp_blame_thread(blame, thread)->past;
	GArray *parts = NULL;

	for (unsigned i = 0; past && i < PP_BLAME_RECENT; i++)
		add_stretch(blame, thread, &past->stretches[i], from_ns, to_ns, &parts);
	return parts;
}

void pp_blame_past_posted(struct pp_blame *blame, const struct pp_thread *thread)
{
	struct pp_blame_past *past = pp_blame_thread(blame, thread)->past;

	if (past)
		past->n_without_post = 0;
}

void pp_blame_past_free(struct pp_blame_past *past)
{
	if (!past)
		return;
	pp_blame_behind_clear(&past->now);
	for (unsigned i = 0; i < PP_BLAME_RECENT; i++)
		g_clear_pointer(&past->stretches[i].parts, g_array_unref);
	g_free(past);
}
