/* SPDX-License-Identifier: MIT */
#include "render/render.h"

#include <inttypes.h>
#include <math.h>

#include <json-glib/json-glib.h>

/* The "schema" of every document: what the keys mean. */
#define JSON_SCHEMA 1

static void add_rows(JsonBuilder *json, const struct pp_table *table);

static void add_number(JsonBuilder *json, double number)
{
	if (isfinite(number))
		json_builder_add_double_value(json, number);
	else
		json_builder_add_null_value(json);
}

static void add_cell(JsonBuilder *json, const struct pp_cell *cell, enum pp_type type)
{
	g_autofree char *text = NULL;

	if (cell->missing) {
		json_builder_add_null_value(json);
		return;
	}
	switch (type) {
	case PP_TYPE_TEXT:
		text = g_utf8_make_valid(cell->text, -1);
		json_builder_add_string_value(json, text);
		break;
	case PP_TYPE_COUNT:
		/* json-glib has no unsigned 64 bits; beyond them a double is the nearest. */
		if (cell->count <= INT64_MAX)
			json_builder_add_int_value(json, (gint64)cell->count);
		else
			json_builder_add_double_value(json, (double)cell->count);
		break;
	case PP_TYPE_INTEGER:
		json_builder_add_int_value(json, cell->integer);
		break;
	case PP_TYPE_TIME_NS:
		json_builder_add_int_value(json, cell->time_ns);
		break;
	case PP_TYPE_SECONDS:
	case PP_TYPE_PERCENT:
	case PP_TYPE_RATIO:
		add_number(json, cell->number);
		break;
	case PP_TYPE_ADDRESS:
		text = g_strdup_printf("0x%" PRIx64, cell->count);
		json_builder_add_string_value(json, text);
		break;
	case PP_TYPE_BOOL:
		json_builder_add_boolean_value(json, cell->truth);
		break;
	case PP_TYPE_TABLE:
		add_rows(json, cell->table);
		break;
	}
}

static void add_row(JsonBuilder *json, const struct pp_table *table, unsigned at)
{
	const struct pp_cell *row = table->rows->pdata[at];

	json_builder_begin_object(json);
	for (unsigned c = 0; c < table->n_columns; c++) {
		if (table->columns[c].flags & PP_COLUMN_TEXT_ONLY)
			continue;
		json_builder_set_member_name(json, table->columns[c].key);
		add_cell(json, &row[c], table->columns[c].type);
	}
	json_builder_end_object(json);
}

static void add_rows(JsonBuilder *json, const struct pp_table *table)
{
	json_builder_begin_array(json);
	for (guint r = 0; r < table->rows->len; r++)
		add_row(json, table, r);
	json_builder_end_array(json);
}

static void add_notes(JsonBuilder *json, struct pp_table *const *tables, unsigned n_tables)
{
	json_builder_set_member_name(json, "notes");
	json_builder_begin_array(json);
	for (unsigned t = 0; t < n_tables; t++)
		for (guint i = 0; i < tables[t]->notes->len; i++) {
			g_autofree char *note = g_utf8_make_valid(tables[t]->notes->pdata[i], -1);

			json_builder_begin_object(json);
			json_builder_set_member_name(json, "section");
			json_builder_add_string_value(json, tables[t]->key);
			json_builder_set_member_name(json, "note");
			json_builder_add_string_value(json, note);
			json_builder_end_object(json);
		}
	json_builder_end_array(json);
}

void pp_render_json(GString *to, struct pp_table *const *tables, unsigned n_tables)
{
	g_autoptr(JsonBuilder) json = json_builder_new();
	g_autoptr(JsonGenerator) generator = json_generator_new();
	g_autoptr(JsonNode) root = NULL;

	json_builder_begin_object(json);
	json_builder_set_member_name(json, "schema");
	json_builder_add_int_value(json, JSON_SCHEMA);
	for (unsigned t = 0; t < n_tables; t++) {
		if (tables[t]->is_for_text)
			continue;
		json_builder_set_member_name(json, tables[t]->key);
		add_rows(json, tables[t]);
	}
	add_notes(json, tables, n_tables);
	json_builder_end_object(json);
	root = json_builder_get_root(json);
	json_generator_set_root(generator, root);
	json_generator_set_pretty(generator, TRUE);
	json_generator_set_indent(generator, 1);
	json_generator_to_gstring(generator, to);
	g_string_append_c(to, '\n');
}

void pp_render_json_row(GString *to, const struct pp_table *table, unsigned at)
{
	g_autoptr(JsonBuilder) json = json_builder_new();
	g_autoptr(JsonGenerator) generator = json_generator_new();
	g_autoptr(JsonNode) root = NULL;

	add_row(json, table, at);
	root = json_builder_get_root(json);
	json_generator_set_root(generator, root);
	json_generator_to_gstring(generator, to);
}
