/* SPDX-License-Identifier: MIT */
/*
 * Causes and the charges of open waits.
 *
 * A charge needs both calls: the one that waited, whose path is known when the wait ends, and the
 * one that is to blame, known when it has been made.  Either may come first.  A wait therefore
 * keeps its charges until it ends, and an instance of a cause keeps those of ended waits until it
 * is resolved.
 */
#include "analysis/blame/internal.h"

/* So many charges of a wait are kept unjoined. */
#define FEW_CHARGES 16

/* --- instances ------------------------------------------------------------------------------ */

void pp_blame_instance_resolve(struct pp_blame_instance *instance,
			       const struct pp_blame_cause *cause)
{
	instance->is_resolved = true;
	instance->is_active = false;
	instance->cause = *cause;
	for (guint i = 0; instance->pending && i < instance->pending->len; i++) {
		const struct pp_blame_pending *pending =
		    &g_array_index(instance->pending, struct pp_blame_pending, i);

		pp_blame_add(instance->place, cause, &pending->waiter, &pending->figures);
	}
	g_clear_pointer(&instance->pending, g_array_unref);
	pp_blame_nested_resolved(instance);
}

static void add_pending(struct pp_blame_instance *instance, const struct pp_blame_call *waiter,
			const struct pp_blame_figures *figures)
{
	struct pp_blame_pending pending = {.waiter = *waiter, .figures = *figures};

	if (!instance->pending)
		instance->pending = g_array_new(FALSE, FALSE, sizeof(pending));
	for (guint i = 0; i < instance->pending->len; i++) {
		struct pp_blame_pending *other =
		    &g_array_index(instance->pending, struct pp_blame_pending, i);

		if (pp_blame_call_equal(&other->waiter, waiter)) {
			pp_blame_figures_add(&other->figures, figures);
			return;
		}
	}
	g_array_append_val(instance->pending, pending);
}

struct pp_blame_cause pp_blame_cause_of(const struct pp_operation *operation)
{
	return (struct pp_blame_cause){
	    .kind = PP_BLAME_CALL,
	    .call = {operation->op, operation->site, operation->path},
	    .acquired = {.op = ST_N_EVENTS},
	};
}

/* --- charges -------------------------------------------------------------------------------- */

static struct pp_blame_charge *charge_at(const struct pp_blame_wait *wait, guint i)
{
	return &g_array_index(wait->charges, struct pp_blame_charge, i);
}

/* The charge of that cause; NULL: none. */
static struct pp_blame_charge *find_charge(const struct pp_blame_wait *wait,
					   const struct pp_blame_cause *cause)
{
	for (guint i = 0; i < wait->charges->len; i++) {
		struct pp_blame_charge *charge = charge_at(wait, i);

		if (!charge->instance && pp_blame_cause_equal(&charge->cause, cause))
			return charge;
	}
	return NULL;
}

/* Joins the charges of instances that have been resolved, so that a long wait has few charges. */
static void join_resolved(struct pp_blame_wait *wait)
{
	for (guint i = 0; i < wait->charges->len;) {
		struct pp_blame_charge *charge = charge_at(wait, i), *same;
		struct pp_blame_instance *instance = charge->instance;

		if (!instance || !instance->is_resolved) {
			i++;
			continue;
		}
		same = find_charge(wait, &instance->cause);
		charge->instance = NULL;
		charge->cause = instance->cause;
		pp_blame_instance_unref(instance);
		if (same) {
			pp_blame_figures_add(&same->figures, &charge->figures);
			g_array_remove_index_fast(wait->charges, i);
		}
	}
}

void pp_blame_charge(struct pp_blame_wait *wait, const struct pp_blame_cause *cause,
		     struct pp_blame_instance *instance, const struct pp_blame_figures *figures)
{
	struct pp_blame_charge charge = {.figures = *figures}, *same;

	if (!figures->ns)
		return;
	if (!wait->charges)
		wait->charges = g_array_new(FALSE, FALSE, sizeof(charge));
	if (!instance) {
		same = find_charge(wait, cause);
		if (same) {
			pp_blame_figures_add(&same->figures, figures);
			return;
		}
		charge.cause = *cause;
	} else {
		/* Each time that their number has doubled, since all are looked at. */
		if (wait->charges->len >= 2 * wait->n_joined + FEW_CHARGES) {
			join_resolved(wait);
			wait->n_joined = wait->charges->len;
		}
		instance->refs++;
		charge.instance = instance;
	}
	g_array_append_val(wait->charges, charge);
}

int64_t pp_blame_settle_charges(struct pp_blame_wait *wait, const struct pp_blame_call *waiter)
{
	int64_t sum_ns = 0;

	if (!wait->charges)
		return 0;
	join_resolved(wait);
	for (guint i = 0; i < wait->charges->len; i++) {
		struct pp_blame_charge *charge = charge_at(wait, i);

		charge->figures.n = wait->counts;
		sum_ns += charge->figures.ns;
		if (charge->instance)
			add_pending(charge->instance, waiter, &charge->figures);
		else
			pp_blame_add(wait->place, &charge->cause, waiter, &charge->figures);
	}
	return sum_ns;
}

void pp_blame_wait_free(struct pp_blame_wait *wait)
{
	for (guint i = 0; wait->charges && i < wait->charges->len; i++)
		g_clear_pointer(&charge_at(wait, i)->instance, pp_blame_instance_unref);
	g_clear_pointer(&wait->nested, g_array_unref);
	g_clear_pointer(&wait->before, pp_blame_instance_unref);
	g_clear_pointer(&wait->rest, pp_blame_instance_unref);
	g_clear_pointer(&wait->charges, g_array_unref);
	g_free(wait);
}

/* --- causes whose call path is known later --------------------------------------------------- */

void pp_blame_resolve(struct pp_blame_thread *of, const struct pp_path *path)
{
	struct pp_blame_instance *instance = g_steal_pointer(&of->unresolved);
	struct pp_blame_cause cause;

	if (!instance)
		return;
	cause = instance->cause;
	cause.call.path = path;
	instance->place->n_unresolved--;
	pp_blame_instance_resolve(instance, &cause);
	pp_blame_instance_unref(instance);
}

void pp_blame_resolve_later(struct pp_blame_thread *of, struct pp_blame_instance *instance)
{
	pp_blame_resolve(of, NULL);
	instance->place->n_unresolved++;
	of->unresolved = instance;
}
