/* SPDX-License-Identifier: MIT */
/*
 * Orders passes after those that they need, and distributes each event to the passes that subscribe
 * to its kind.
 */
#include "analysis/pass_set.h"

#include "analysis/select.h"
#include "analysis/unrecorded.h"

struct member {
	const struct pp_pass *pass;
	void *state;
	unsigned first_table, n_tables;
};

struct pp_pass_set {
	const struct pp_pass_context *context;
	GArray *members;		  /* of struct member, each after those it needs */
	GArray *takers[PP_N_EVENT_KINDS]; /* positions of the members that subscribe to the kind */
	GPtrArray *tables;
	struct pp_pass_shared shared;
};

static struct member *find_member(const struct pp_pass_set *set, const char *name)
{
	for (guint i = 0; i < set->members->len; i++) {
		struct member *member = &g_array_index(set->members, struct member, i);

		if (g_str_equal(member->pass->name, name))
			return member;
	}
	return NULL;
}

/* Adds the pass after those that it needs, so that they finish first. */
static void add_member(struct pp_pass_set *set, const struct pp_pass *pass)
{
	struct member member = {.pass = pass};

	if (!pass || find_member(set, pass->name))
		return;
	for (const char *const *need = pass->needs; need && *need; need++)
		add_member(set, pp_pass_find(*need));
	member.state = pass->start(set->context);
	for (unsigned kind = 0; kind < PP_N_EVENT_KINDS; kind++)
		if (pass->event && pass->kinds & PP_EVENT_MASK(kind))
			g_array_append_val(set->takers[kind], set->members->len);
	g_array_append_val(set->members, member);
}

struct pp_pass_set *pp_pass_set_new(struct pp_pass_context *context, const char *const *names,
				    unsigned n_names)
{
	struct pp_pass_set *set = g_new0(struct pp_pass_set, 1);

	set->context = context;
	context->set = set;
	context->shared = &set->shared;
	set->members = g_array_new(FALSE, TRUE, sizeof(struct member));
	set->tables = g_ptr_array_new_with_free_func((GDestroyNotify)pp_table_free);
	for (unsigned kind = 0; kind < PP_N_EVENT_KINDS; kind++)
		set->takers[kind] = g_array_new(FALSE, FALSE, sizeof(unsigned));
	for (unsigned i = 0; i < n_names; i++)
		add_member(set, pp_pass_find(names[i]));
	return set;
}

void *pp_pass_set_state(const struct pp_pass_set *set, const char *name)
{
	const struct member *member = find_member(set, name);

	return member ? member->state : NULL;
}

unsigned pp_pass_set_kinds(const struct pp_pass_set *set)
{
	unsigned kinds = 0;

	for (guint i = 0; i < set->members->len; i++)
		kinds |= g_array_index(set->members, struct member, i).pass->kinds;
	return kinds;
}

bool pp_pass_set_calls_apart(const struct pp_pass_set *set)
{
	for (guint i = 0; i < set->members->len; i++) {
		const struct pp_pass *pass = g_array_index(set->members, struct member, i).pass;

		if (pass->event && pass->kinds & PP_CALL_KINDS && !pass->calls_apart)
			return false;
	}
	return true;
}

void pp_pass_set_event(void *data, const struct pp_event *event)
{
	struct pp_pass_set *set = data;
	const GArray *takers = set->takers[event->kind];

	set->shared.n_events++;
	for (guint i = 0; i < takers->len; i++) {
		const struct member *member =
		    &g_array_index(set->members, struct member, g_array_index(takers, unsigned, i));

		member->pass->event(member->state, event);
	}
}

/*
 * Adds a note about filters that the pass does not apply, so that readers do not take the whole for
 * a part.
 */
static void note_unheeded(const struct pp_pass_set *set, const struct member *member)
{
	const struct pp_selection *selection = set->context->selection;
	unsigned by = selection ? selection->by & ~selection->by_ring : 0;
	g_autofree char *names = pp_selection_names(by & ~member->pass->selects);

	if (names && member->n_tables)
		pp_table_note(set->tables->pdata[member->first_table],
			      "%s: not applied here, the whole capture is shown", names);
}

/* On each table: readers may see only one, for example as CSV. */
static void note_unrecorded(const struct pp_pass_set *set, const struct member *member)
{
	for (unsigned i = 0; member->pass->has_operations && i < member->n_tables; i++)
		pp_unrecorded_note(set->tables->pdata[member->first_table + i],
				   set->context->model);
}

void pp_pass_set_finish(struct pp_pass_set *set, int64_t end_ns)
{
	for (guint i = 0; i < set->members->len; i++) {
		struct member *member = &g_array_index(set->members, struct member, i);

		member->first_table = set->tables->len;
		member->pass->finish(member->state, end_ns, set->tables);
		member->n_tables = set->tables->len - member->first_table;
		note_unrecorded(set, member);
		note_unheeded(set, member);
	}
}

struct pp_table **pp_pass_set_tables(const struct pp_pass_set *set, const char *name,
				     unsigned *ret_n)
{
	const struct member *member = find_member(set, name);

	if (!member)
		return NULL;
	*ret_n = member->n_tables;
	return (struct pp_table **)set->tables->pdata + member->first_table;
}

struct pp_table *pp_pass_set_table(const struct pp_pass_set *set, const char *name, const char *key)
{
	unsigned n = 0;
	struct pp_table **tables = pp_pass_set_tables(set, name, &n);

	for (unsigned i = 0; i < n; i++)
		if (g_str_equal(tables[i]->key, key))
			return tables[i];
	return NULL;
}

void pp_pass_set_free(struct pp_pass_set *set)
{
	if (!set)
		return;
	for (guint i = 0; i < set->members->len; i++) {
		const struct member *member = &g_array_index(set->members, struct member, i);

		if (member->pass->free)
			member->pass->free(member->state);
	}
	for (unsigned kind = 0; kind < PP_N_EVENT_KINDS; kind++)
		g_array_unref(set->takers[kind]);
	g_array_unref(set->members);
	g_ptr_array_unref(set->tables);
	g_free(set);
}
