/* SPDX-License-Identifier: MIT */
/*
 * Tables as JSON, in json-glib's layout, but written directly from the tables: a part can be output
 * before the rest is written.
 */
#include "render/render.h"

#include "core/text/json_writer.h"
#include "core/text/printable.h"

/* The "schema" member of each document: the version of the keys. */
#define JSON_SCHEMA 1

#define PART_BYTES (1u << 20)

struct json {
	struct pp_json_writer *writer;
	bool is_shown; /* text is made printable */
	/* Consumes the text so far; returns false to stop. */
	bool (*take)(void *data, GString *part);
	void *data;
	bool stopped;
};

static void add_rows(struct json *json, const char *key, const struct pp_table *table);

static void add_text(const struct json *json, const char *key, const char *text)
{
	g_autofree char *shown = text && json->is_shown ? pp_printable(g_strdup(text)) : NULL;

	pp_json_write_text(json->writer, key, shown ? shown : text);
}

static void add_cell(struct json *json, const char *key, const struct pp_cell *cell,
		     enum pp_type type)
{
	struct pp_json_writer *writer = json->writer;

	if (cell->missing) {
		pp_json_write_null(writer, key);
		return;
	}
	switch (type) {
	case PP_TYPE_TEXT:
		add_text(json, key, cell->text);
		break;
	case PP_TYPE_COUNT:
		pp_json_write_count(writer, key, cell->count);
		break;
	case PP_TYPE_INTEGER:
		pp_json_write_int(writer, key, cell->integer);
		break;
	case PP_TYPE_TIME_NS:
		pp_json_write_int(writer, key, cell->time_ns);
		break;
	case PP_TYPE_SECONDS:
	case PP_TYPE_PERCENT:
	case PP_TYPE_RATIO:
		pp_json_write_double(writer, key, cell->number);
		break;
	case PP_TYPE_ADDRESS:
		pp_json_write_address(writer, key, cell->count);
		break;
	case PP_TYPE_BOOL:
		pp_json_write_bool(writer, key, cell->truth);
		break;
	case PP_TYPE_TABLE:
		add_rows(json, key, cell->table);
		break;
	}
}

static void add_row(struct json *json, const struct pp_table *table, unsigned at)
{
	const struct pp_cell *row = table->rows->pdata[at];

	pp_json_write_open(json->writer, NULL, '{');
	for (unsigned c = 0; c < table->n_columns; c++)
		if (!(table->columns[c].flags & PP_COLUMN_TEXT_ONLY))
			add_cell(json, table->columns[c].key, &row[c], table->columns[c].type);
	pp_json_write_close(json->writer, '}');
}

static void hand_over(struct json *json)
{
	if (json->take && json->writer->to->len >= PART_BYTES)
		json->stopped = !json->take(json->data, json->writer->to);
}

static void add_rows(struct json *json, const char *key, const struct pp_table *table)
{
	pp_json_write_open(json->writer, key, '[');
	for (guint r = 0; r < table->rows->len && !json->stopped; r++) {
		add_row(json, table, r);
		hand_over(json);
	}
	pp_json_write_close(json->writer, ']');
}

static void add_notes(const struct json *json, struct pp_table *const *tables, unsigned n_tables)
{
	pp_json_write_open(json->writer, "notes", '[');
	for (unsigned t = 0; t < n_tables; t++)
		for (guint i = 0; i < tables[t]->notes->len; i++) {
			pp_json_write_open(json->writer, NULL, '{');
			pp_json_write_text(json->writer, "section", tables[t]->key);
			add_text(json, "note", tables[t]->notes->pdata[i]);
			pp_json_write_close(json->writer, '}');
		}
	pp_json_write_close(json->writer, ']');
}

static void add_document(struct json *json, const char *key, struct pp_table *const *tables,
			 unsigned n_tables)
{
	pp_json_write_open(json->writer, key, '{');
	pp_json_write_int(json->writer, "schema", JSON_SCHEMA);
	for (unsigned t = 0; t < n_tables; t++)
		if (!tables[t]->is_for_text)
			add_rows(json, tables[t]->key, tables[t]);
	add_notes(json, tables, n_tables);
	pp_json_write_close(json->writer, '}');
}

void pp_render_json_parts(GString *to, struct pp_table *const *tables, unsigned n_tables,
			  bool (*take)(void *data, GString *part), void *data)
{
	struct pp_json_writer writer = {.to = to, .indent = 1};
	struct json json = {.writer = &writer, .take = take, .data = data};

	add_document(&json, NULL, tables, n_tables);
	g_string_append_c(to, '\n');
}

void pp_render_json(GString *to, struct pp_table *const *tables, unsigned n_tables)
{
	pp_render_json_parts(to, tables, n_tables, NULL, NULL);
}

void pp_render_json_member(struct pp_json_writer *writer, const char *key,
			   struct pp_table *const *tables, unsigned n_tables)
{
	struct json json = {.writer = writer, .is_shown = true};

	add_document(&json, key, tables, n_tables);
}

void pp_render_json_row(GString *to, const struct pp_table *table, unsigned at)
{
	struct pp_json_writer writer = {.to = to};
	struct json json = {.writer = &writer};

	add_row(&json, table, at);
}
