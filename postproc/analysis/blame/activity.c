/* SPDX-License-Identifier: MIT */
/* The modes of a thread while others waited for it: now, and in its last intervals. */
#include "analysis/blame/internal.h"

#include "analysis/select.h"

struct pp_blame_thread *pp_blame_thread(struct pp_blame *blame, const struct pp_thread *thread)
{
	struct pp_blame_thread *of;

	pp_by_serial_reach(blame->threads, thread->serial);
	of = blame->threads->pdata[thread->serial];
	if (!of) {
		of = blame->threads->pdata[thread->serial] = g_new0(struct pp_blame_thread, 1);
		of->held = g_ptr_array_new();
		of->waits = g_array_new(FALSE, FALSE, sizeof(struct pp_blame_wait *));
	}
	return of;
}

void pp_blame_thread_free(void *data)
{
	struct pp_blame_thread *of = data;

	if (!of)
		return;
	for (guint i = 0; i < of->waits->len; i++) {
		struct pp_blame_wait *wait = g_array_index(of->waits, struct pp_blame_wait *, i);

		g_clear_pointer(&wait->second, pp_blame_wait_free);
		pp_blame_wait_free(wait);
	}
	g_clear_pointer(&of->unresolved, pp_blame_instance_unref);
	g_ptr_array_unref(of->held);
	g_array_unref(of->waits);
	g_free(of);
}

enum pp_mode pp_blame_mode(const struct pp_blame *blame, const struct pp_thread *thread)
{
	const struct pp_thread_state *state = pp_thread_state(blame->states, thread);

	return state && state->begun && !state->over ? state->mode : PP_MODE_UNKNOWN;
}

void pp_blame_remember(struct pp_blame_thread *of, const struct pp_interval *interval)
{
	struct pp_blame_interval *last =
	    of->n_recent ? &of->recent[(of->n_recent - 1) % PP_BLAME_RECENT] : NULL;

	if (last && last->mode == interval->mode && last->end_ns == interval->start_ns) {
		last->end_ns = interval->end_ns;
		return;
	}
	of->recent[of->n_recent++ % PP_BLAME_RECENT] =
	    (struct pp_blame_interval){interval->start_ns, interval->end_ns, interval->mode};
}

static void add_part(struct pp_blame *blame, const struct pp_blame_interval *interval,
		     int64_t from_ns, int64_t to_ns, struct pp_blame_figures *ret)
{
	int64_t start_ns = MAX(interval->start_ns, from_ns), end_ns = MIN(interval->end_ns, to_ns);

	if (end_ns > start_ns)
		ret->mode_ns[interval->mode] += pp_selected_ns(blame->context, start_ns, end_ns);
}

void pp_blame_activity(struct pp_blame *blame, const struct pp_thread *thread, int64_t from_ns,
		       int64_t to_ns, struct pp_blame_figures *ret)
{
	const struct pp_blame_thread *of = pp_blame_thread(blame, thread);
	const struct pp_thread_state *state = pp_thread_state(blame->states, thread);
	int64_t known_ns = 0;

	*ret = (struct pp_blame_figures){.ns = pp_selected_ns(blame->context, from_ns, to_ns)};
	if (state && state->begun && !state->over) {
		const struct pp_blame_interval now = {state->since_ns, to_ns, state->mode};

		add_part(blame, &now, from_ns, to_ns, ret);
	}
	for (unsigned i = 0; i < MIN(of->n_recent, PP_BLAME_RECENT); i++)
		add_part(blame, &of->recent[i], from_ns, to_ns, ret);
	for (unsigned mode = 0; mode < PP_N_MODES; mode++)
		known_ns += ret->mode_ns[mode];
	ret->mode_ns[PP_MODE_UNKNOWN] += ret->ns - known_ns;
}
