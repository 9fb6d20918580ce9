/* SPDX-License-Identifier: MIT */
/* See cause.h. */
#include "export/html/cause.h"

#include "analysis/state/object_name.h"

/* An object, as it is identified in both the index and the state of blame. */
struct identity {
	const struct pp_process *process;
	uint64_t address;
	unsigned generation;
	uint32_t at; /* its position among those shown */
};

static guint identity_hash(const void *data)
{
	const struct identity *identity = data;

	return g_int64_hash(&identity->address) * 31 + identity->generation;
}

static gboolean identity_equal(const void *a, const void *b)
{
	const struct identity *x = a, *y = b;

	return x->process == y->process && x->address == y->address &&
	       x->generation == y->generation;
}

GHashTable *pp_html_shown(const struct pp_html *html)
{
	GHashTable *shown = g_hash_table_new_full(identity_hash, identity_equal, g_free, NULL);

	for (guint i = 0; i < html->objects->len; i++) {
		const struct pp_index_object *object =
		    pp_index_object(html->index, g_array_index(html->objects, uint32_t, i));
		struct identity identity = {pp_index_process(html->index, object->process),
					    object->address, object->generation, i};

		g_hash_table_add(shown, g_memdup2(&identity, sizeof(identity)));
	}
	return shown;
}

uint32_t pp_html_position(GHashTable *shown, const struct pp_object *object)
{
	struct identity key = {object->process, object->address, object->generation, 0};
	const struct identity *found = g_hash_table_lookup(shown, &key);

	return found ? found->at : PP_HTML_NONE;
}

char *pp_html_blamed_name(struct pp_html *html, uint32_t position, const struct pp_object *group)
{
	if (group)
		return pp_object_name(group, html->export->context->namer);
	if (position == PP_HTML_NONE)
		return g_strdup("other objects");
	return g_strdup(
	    pp_html_object_name(html, g_array_index(html->objects, uint32_t, position)));
}

char *pp_html_cause_text(const struct pp_blame_cause *cause)
{
	static const char *const kinds[PP_N_BLAME_KINDS] = {
	    [PP_BLAME_HOLD] = "holder",
	    [PP_BLAME_CALL] = "caller",
	    [PP_BLAME_HANDOVER] = "hand-over",
	};

	return cause->kind == PP_BLAME_UNKNOWN
		   ? g_strdup_printf("unknown: %s", pp_blame_why_text(cause->why))
		   : g_strdup(kinds[cause->kind]);
}
