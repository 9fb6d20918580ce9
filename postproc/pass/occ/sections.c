/* SPDX-License-Identifier: MIT */
/* See sections.h. */
#include "pass/occ/sections.h"

#include "analysis/state/object_name.h"

const struct pp_column pp_occ_place_columns[PP_N_OCC_PLACE_CELLS] = {
    [PP_OCC_PLACE] = {"place", "place", PP_TYPE_TEXT, PP_COLUMN_KEY,
		      "module+offset, the same in each run of one build"},
    [PP_OCC_BUILD_ID] = {"build_id", "build-id", PP_TYPE_TEXT, 0, "of the module"},
    [PP_OCC_PLACE_NAME] = {"name", "name", PP_TYPE_TEXT, 0, "of the variable, or the call site"},
};

const struct pp_column pp_occ_site_columns[1] = {
    {"site", "acquired at", PP_TYPE_TEXT, PP_COLUMN_KEY, "the call site"},
};

static void free_section(void *section)
{
	g_array_unref(section);
}

GPtrArray *pp_occ_sections(struct pp_occ_units *units)
{
	GPtrArray *sections = g_ptr_array_new_with_free_func(free_section);
	g_autoptr(GHashTable) known = g_hash_table_new(NULL, NULL);

	for (unsigned i = 0; i < pp_occ_units_n(units); i++) {
		void *key = GUINT_TO_POINTER(pp_occ_section_of(units, i));
		GArray *section = g_hash_table_lookup(known, key);

		if (!section) {
			section = g_array_new(FALSE, FALSE, sizeof(unsigned));
			g_hash_table_insert(known, key, section);
			g_ptr_array_add(sections, section);
		}
		g_array_append_val(section, i);
	}
	return sections;
}

static char *site_name(const struct pp_namer *namer, const struct pp_process *process,
		       uint64_t site)
{
	return site && namer && namer->site ? namer->site(namer->data, process, site) : NULL;
}

static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Several addresses may be of one line.  The caller unrefs the array. */
static GPtrArray *site_names(const struct pp_occ_units *units, const GArray *section,
			     const struct pp_namer *namer)
{
	GPtrArray *names = g_ptr_array_new_with_free_func(g_free);

	for (guint i = 0; i < section->len; i++) {
		const struct pp_occ_unit *unit =
		    pp_occ_unit(units, g_array_index(section, unsigned, i));
		GHashTableIter iter;
		void *site;

		if (!unit->is_static) {
			char *name = site_name(namer, unit->lock.process, unit->site);

			if (name)
				g_ptr_array_add(names, name);
			continue;
		}
		g_hash_table_iter_init(&iter, unit->sites);
		while (g_hash_table_iter_next(&iter, &site, NULL)) {
			char *name = site_name(namer, unit->lock.process, *(const uint64_t *)site);

			if (name)
				g_ptr_array_add(names, name);
		}
	}
	g_ptr_array_sort(names, compare_texts);
	return names;
}

static void set_sites(struct pp_cell *cell, const struct pp_column *column, const GPtrArray *names)
{
	struct pp_table *table = pp_table_new_nested(column);

	for (guint i = 0; i < names->len; i++)
		if (!i || strcmp(names->pdata[i], names->pdata[i - 1]) != 0)
			pp_cell_set_text(&pp_table_add_row(table)[0], names->pdata[i]);
	pp_cell_set_table(cell, table);
}

static void add_place(struct pp_table *table, const struct pp_occ_unit *unit,
		      const struct pp_namer *namer, const char *lock_name)
{
	const struct pp_object *lock = &unit->lock;
	g_autofree char *build_id = NULL, *place = NULL, *name = NULL;
	uint64_t address = unit->is_static ? lock->address + GM_PLACE(lock->load_id) : unit->site;
	struct pp_cell *row;

	if (address && namer && namer->place)
		place = namer->place(namer->data, lock->process, address, &build_id);
	name = unit->is_static ? g_strdup(lock_name) : site_name(namer, lock->process, unit->site);
	row = pp_table_add_row(table);
	pp_cell_set_text(&row[PP_OCC_PLACE], place);
	pp_cell_set_text(&row[PP_OCC_BUILD_ID], build_id);
	pp_cell_set_text(&row[PP_OCC_PLACE_NAME], name);
}

void pp_occ_set_section(struct pp_cell *row, const struct pp_occ_units *units,
			const GArray *section, const struct pp_namer *namer)
{
	static const struct pp_column columns[] = {PP_OCC_SECTION_COLUMNS};
	const struct pp_occ_unit *first = pp_occ_unit(units, g_array_index(section, unsigned, 0));
	g_autofree char *name = pp_object_group(&first->lock, namer);
	g_autoptr(GPtrArray) sites = site_names(units, section, namer);
	struct pp_table *places = pp_table_new_nested(&columns[PP_OCC_PLACES]);

	pp_cell_set_text(&row[PP_OCC_NAME], name);
	pp_cell_set_text(&row[PP_OCC_TYPE], pp_sync_type_name(first->lock.type));
	pp_cell_set_bool(&row[PP_OCC_STATIC], first->is_static);
	if (first->is_static) {
		row[PP_OCC_ADDRESS].missing = false;
		row[PP_OCC_ADDRESS].count = first->lock.address;
	}
	for (guint i = 0; i < section->len; i++)
		add_place(places, pp_occ_unit(units, g_array_index(section, unsigned, i)), namer,
			  name);
	pp_cell_set_table(&row[PP_OCC_PLACES], places);
	set_sites(&row[PP_OCC_SITES], &columns[PP_OCC_SITES], sites);
}
