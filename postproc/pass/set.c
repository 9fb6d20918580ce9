/* SPDX-License-Identifier: MIT */
#include "pass/set.h"

#include "pass/select.h"

struct member {
	const struct pp_pass *pass;
	void *state;
	unsigned first_table, n_tables;
};

struct pp_pass_set {
	const struct pp_pass_context *context;
	GArray *members;		  /* of struct member, in the order of the registry */
	GArray *takers[PP_N_EVENT_KINDS]; /* of unsigned: who wants the kind */
	GPtrArray *tables;
};

static bool is_needed(const struct pp_pass *pass, const char *name)
{
	for (const char *const *need = pass->needs; need && *need; need++)
		if (g_str_equal(*need, name))
			return true;
	return false;
}

static unsigned count_passes(void)
{
	unsigned n = 0;

	while (pp_passes[n])
		n++;
	return n;
}

/* A pass comes behind those it needs in the registry: from the back, one sweep marks them all. */
static void mark_wanted(bool *wanted, const char *const *names, unsigned n_names)
{
	for (unsigned p = count_passes(); p-- > 0;) {
		for (unsigned i = 0; i < n_names; i++)
			wanted[p] |= g_str_equal(pp_passes[p]->name, names[i]) != 0;
		for (unsigned earlier = 0; wanted[p] && earlier < p; earlier++)
			wanted[earlier] |= is_needed(pp_passes[p], pp_passes[earlier]->name);
	}
}

struct pp_pass_set *pp_pass_set_new(const struct pp_pass_context *context, const char *const *names,
				    unsigned n_names)
{
	struct pp_pass_set *set = g_new0(struct pp_pass_set, 1);
	g_autofree bool *wanted = g_new0(bool, count_passes());

	set->context = context;
	set->members = g_array_new(FALSE, TRUE, sizeof(struct member));
	set->tables = g_ptr_array_new_with_free_func((GDestroyNotify)pp_table_free);
	for (unsigned kind = 0; kind < PP_N_EVENT_KINDS; kind++)
		set->takers[kind] = g_array_new(FALSE, FALSE, sizeof(unsigned));
	mark_wanted(wanted, names, n_names);
	for (unsigned p = 0; pp_passes[p]; p++) {
		struct member member = {.pass = pp_passes[p]};
		unsigned number = set->members->len;

		if (!wanted[p])
			continue;
		member.state = member.pass->start(context);
		g_array_append_val(set->members, member);
		for (unsigned kind = 0; kind < PP_N_EVENT_KINDS; kind++)
			if (member.pass->event && member.pass->kinds & PP_EVENT_MASK(kind))
				g_array_append_val(set->takers[kind], number);
	}
	return set;
}

unsigned pp_pass_set_kinds(const struct pp_pass_set *set)
{
	unsigned kinds = 0;

	for (guint i = 0; i < set->members->len; i++)
		kinds |= g_array_index(set->members, struct member, i).pass->kinds;
	return kinds;
}

void pp_pass_set_event(void *data, const struct pp_event *event)
{
	struct pp_pass_set *set = data;
	const GArray *takers = set->takers[event->kind];

	for (guint i = 0; i < takers->len; i++) {
		const struct member *member =
		    &g_array_index(set->members, struct member, g_array_index(takers, unsigned, i));

		member->pass->event(member->state, event);
	}
}

/* What was asked for and has no meaning there is said, lest the whole be taken for a part. */
static void note_unheeded(const struct pp_pass_set *set, const struct member *member)
{
	unsigned by = set->context->selection ? set->context->selection->by : 0;
	g_autofree char *names = pp_selection_names(by & ~member->pass->selects);

	if (names && member->n_tables)
		pp_table_note(set->tables->pdata[member->first_table],
			      "%s: no choice here, all is shown", names);
}

void pp_pass_set_finish(struct pp_pass_set *set, int64_t end_ns)
{
	for (guint i = 0; i < set->members->len; i++) {
		struct member *member = &g_array_index(set->members, struct member, i);

		member->first_table = set->tables->len;
		member->pass->finish(member->state, end_ns, set->tables);
		member->n_tables = set->tables->len - member->first_table;
		note_unheeded(set, member);
	}
}

struct pp_table **pp_pass_set_tables(const struct pp_pass_set *set, const char *name,
				     unsigned *ret_n)
{
	for (guint i = 0; i < set->members->len; i++) {
		const struct member *member = &g_array_index(set->members, struct member, i);

		if (g_str_equal(member->pass->name, name)) {
			*ret_n = member->n_tables;
			return (struct pp_table **)set->tables->pdata + member->first_table;
		}
	}
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
