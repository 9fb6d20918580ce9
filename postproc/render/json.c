/* SPDX-License-Identifier: MIT */
/*
 * Written as json-glib writes it, but from the tables, without a tree of nodes of the whole
 * document: that took ten times the document's memory.  json-glib still quotes text that is
 * not plain.
 */
#include "render/render.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include <json-glib/json-glib.h>

/* The "schema" of every document: what the keys mean. */
#define JSON_SCHEMA 1

#define PART_BYTES (1u << 20)

struct json {
	GString *to;
	bool is_pretty;
	unsigned depth;
	bool is_empty; /* the object or array that is open has nothing in it so far */
	/* Takes what `to` has; false: no more is wanted. */
	bool (*take)(void *data, GString *part);
	void *data;
	bool stopped;
};

/* --- objects and arrays --------------------------------------------------------------------- */

/* A line of its own, indented by a space a level. */
static void add_line(struct json *json)
{
	if (!json->is_pretty)
		return;
	g_string_append_c(json->to, '\n');
	for (unsigned i = 0; i < json->depth; i++)
		g_string_append_c(json->to, ' ');
}

/* Before each element and member. */
static void begin_item(struct json *json)
{
	if (!json->is_empty)
		g_string_append_c(json->to, ',');
	json->is_empty = false;
	add_line(json);
}

static void open_bracket(struct json *json, char bracket)
{
	g_string_append_c(json->to, bracket);
	json->is_empty = true;
	json->depth++;
}

static void close_bracket(struct json *json, char bracket)
{
	json->depth--;
	if (!json->is_empty)
		add_line(json);
	g_string_append_c(json->to, bracket);
	json->is_empty = false;
}

/* Keys are words of ours. */
static void begin_member(struct json *json, const char *key)
{
	begin_item(json);
	g_string_append_printf(json->to, json->is_pretty ? "\"%s\" : " : "\"%s\":", key);
}

/* --- values --------------------------------------------------------------------------------- */

static bool is_plain(const char *text)
{
	for (; *text; text++)
		if (*text < ' ' || *text > '~' || *text == '"' || *text == '\\')
			return false;
	return true;
}

static void add_text(struct json *json, const char *text)
{
	if (is_plain(text)) {
		g_string_append_c(json->to, '"');
		g_string_append(json->to, text);
		g_string_append_c(json->to, '"');
	} else {
		g_autofree char *valid = g_utf8_make_valid(text, -1);
		g_autoptr(JsonNode) node = json_node_init_string(json_node_alloc(), valid);
		g_autofree char *quoted = json_to_string(node, FALSE);

		g_string_append(json->to, quoted);
	}
}

static void add_number(struct json *json, double number)
{
	char text[G_ASCII_DTOSTR_BUF_SIZE];

	if (!isfinite(number)) {
		g_string_append(json->to, "null");
		return;
	}
	g_string_append(json->to, g_ascii_dtostr(text, sizeof(text), number));
	/* json-glib puts that behind 1e-300 as well, which is no number then. */
	if (!strpbrk(text, ".e"))
		g_string_append(json->to, ".0");
}

static void add_rows(struct json *json, const struct pp_table *table);

static void add_cell(struct json *json, const struct pp_cell *cell, enum pp_type type)
{
	if (cell->missing) {
		g_string_append(json->to, "null");
		return;
	}
	switch (type) {
	case PP_TYPE_TEXT:
		add_text(json, cell->text);
		break;
	case PP_TYPE_COUNT:
		/* Readers have no unsigned 64 bits; beyond them a double is the nearest. */
		if (cell->count <= INT64_MAX)
			g_string_append_printf(json->to, "%" PRIu64, cell->count);
		else
			add_number(json, (double)cell->count);
		break;
	case PP_TYPE_INTEGER:
		g_string_append_printf(json->to, "%" PRId64, cell->integer);
		break;
	case PP_TYPE_TIME_NS:
		g_string_append_printf(json->to, "%" PRId64, cell->time_ns);
		break;
	case PP_TYPE_SECONDS:
	case PP_TYPE_PERCENT:
	case PP_TYPE_RATIO:
		add_number(json, cell->number);
		break;
	case PP_TYPE_ADDRESS:
		g_string_append_printf(json->to, "\"0x%" PRIx64 "\"", cell->count);
		break;
	case PP_TYPE_BOOL:
		g_string_append(json->to, cell->truth ? "true" : "false");
		break;
	case PP_TYPE_TABLE:
		add_rows(json, cell->table);
		break;
	}
}

/* --- tables --------------------------------------------------------------------------------- */

static void add_row(struct json *json, const struct pp_table *table, unsigned at)
{
	const struct pp_cell *row = table->rows->pdata[at];

	open_bracket(json, '{');
	for (unsigned c = 0; c < table->n_columns; c++) {
		if (table->columns[c].flags & PP_COLUMN_TEXT_ONLY)
			continue;
		begin_member(json, table->columns[c].key);
		add_cell(json, &row[c], table->columns[c].type);
	}
	close_bracket(json, '}');
}

static void hand_over(struct json *json)
{
	if (json->take && json->to->len >= PART_BYTES)
		json->stopped = !json->take(json->data, json->to);
}

static void add_rows(struct json *json, const struct pp_table *table)
{
	open_bracket(json, '[');
	for (guint r = 0; r < table->rows->len && !json->stopped; r++) {
		begin_item(json);
		add_row(json, table, r);
		hand_over(json);
	}
	close_bracket(json, ']');
}

static void add_notes(struct json *json, struct pp_table *const *tables, unsigned n_tables)
{
	begin_member(json, "notes");
	open_bracket(json, '[');
	for (unsigned t = 0; t < n_tables; t++)
		for (guint i = 0; i < tables[t]->notes->len; i++) {
			begin_item(json);
			open_bracket(json, '{');
			begin_member(json, "section");
			add_text(json, tables[t]->key);
			begin_member(json, "note");
			add_text(json, tables[t]->notes->pdata[i]);
			close_bracket(json, '}');
		}
	close_bracket(json, ']');
}

void pp_render_json_parts(GString *to, struct pp_table *const *tables, unsigned n_tables,
			  bool (*take)(void *data, GString *part), void *data)
{
	struct json json = {.to = to, .is_pretty = true, .take = take, .data = data};

	open_bracket(&json, '{');
	begin_member(&json, "schema");
	g_string_append_printf(to, "%d", JSON_SCHEMA);
	for (unsigned t = 0; t < n_tables; t++) {
		if (tables[t]->is_for_text)
			continue;
		begin_member(&json, tables[t]->key);
		add_rows(&json, tables[t]);
	}
	add_notes(&json, tables, n_tables);
	close_bracket(&json, '}');
	g_string_append_c(to, '\n');
}

void pp_render_json(GString *to, struct pp_table *const *tables, unsigned n_tables)
{
	pp_render_json_parts(to, tables, n_tables, NULL, NULL);
}

void pp_render_json_row(GString *to, const struct pp_table *table, unsigned at)
{
	struct json json = {.to = to};

	add_row(&json, table, at);
}
