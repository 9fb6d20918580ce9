/* SPDX-License-Identifier: MIT */
/* See json_writer.h.  Newlines and spaces are placed as json-glib places them. */
#include "core/text/json_writer.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/wait.h>

/* --- strings -------------------------------------------------------------------------------- */

static bool is_plain(const char *text)
{
	for (; *text; text++)
		if (*text < ' ' || *text > '~' || *text == '"' || *text == '\\')
			return false;
	return true;
}

static void add_escaped(GString *to, unsigned char c)
{
	static const char escapes[] = "\b\f\n\r\t\"\\", letters[] = "bfnrt\"\\";
	const char *escape = strchr(escapes, c);

	if (escape)
		g_string_append_printf(to, "\\%c", letters[escape - escapes]);
	else if (c < ' ' || c == 0x7f)
		g_string_append_printf(to, "\\u%04x", c);
	else
		g_string_append_c(to, (char)c);
}

void pp_json_write_string(GString *to, const char *text)
{
	g_string_append_c(to, '"');
	if (is_plain(text)) {
		g_string_append(to, text);
	} else {
		g_autofree char *valid = g_utf8_make_valid(text, -1);

		for (const char *at = valid; *at; at++)
			add_escaped(to, (unsigned char)*at);
	}
	g_string_append_c(to, '"');
}

/* --- objects and arrays --------------------------------------------------------------------- */

static void add_line(struct pp_json_writer *json)
{
	if (!json->indent)
		return;
	g_string_append_c(json->to, '\n');
	for (unsigned i = 0; i < json->depth * json->indent; i++)
		g_string_append_c(json->to, ' ');
}

/* Writes the comma, the indentation and the key before a value. */
static void begin(struct pp_json_writer *json, const char *key)
{
	if (json->after_value)
		g_string_append_c(json->to, ',');
	json->after_value = true;
	if (json->new_line)
		g_string_append_c(json->to, '\n');
	json->new_line = false;
	if (json->depth)
		add_line(json);
	if (!key)
		return;
	pp_json_write_string(json->to, key);
	g_string_append(json->to, json->indent ? " : " : ":");
}

void pp_json_write_open(struct pp_json_writer *json, const char *key, char bracket)
{
	begin(json, key);
	g_string_append_c(json->to, bracket);
	json->after_value = false;
	json->depth++;
}

void pp_json_write_close(struct pp_json_writer *json, char bracket)
{
	json->depth--;
	if (json->after_value)
		add_line(json);
	g_string_append_c(json->to, bracket);
	json->after_value = true;
}

void pp_json_write_newline(struct pp_json_writer *json)
{
	json->new_line = true;
}

/* --- values --------------------------------------------------------------------------------- */

void pp_json_write_text(struct pp_json_writer *json, const char *key, const char *text)
{
	if (!text) {
		pp_json_write_null(json, key);
		return;
	}
	begin(json, key);
	pp_json_write_string(json->to, text);
}

void pp_json_write_int(struct pp_json_writer *json, const char *key, int64_t number)
{
	begin(json, key);
	g_string_append_printf(json->to, "%" PRId64, number);
}

void pp_json_write_count(struct pp_json_writer *json, const char *key, uint64_t number)
{
	if (number > INT64_MAX) {
		pp_json_write_double(json, key, (double)number);
		return;
	}
	begin(json, key);
	g_string_append_printf(json->to, "%" PRIu64, number);
}

void pp_json_write_address(struct pp_json_writer *json, const char *key, uint64_t address)
{
	begin(json, key);
	g_string_append_printf(json->to, "\"0x%" PRIx64 "\"", address);
}

void pp_json_write_double(struct pp_json_writer *json, const char *key, double number)
{
	char text[G_ASCII_DTOSTR_BUF_SIZE];

	if (!isfinite(number)) {
		pp_json_write_null(json, key);
		return;
	}
	begin(json, key);
	g_string_append(json->to, g_ascii_dtostr(text, sizeof(text), number));
	/* json-glib appends ".0" to 1e-300, too, which makes it invalid. */
	if (!strpbrk(text, ".e"))
		g_string_append(json->to, ".0");
}

void pp_json_write_bool(struct pp_json_writer *json, const char *key, bool value)
{
	begin(json, key);
	g_string_append(json->to, value ? "true" : "false");
}

void pp_json_write_null(struct pp_json_writer *json, const char *key)
{
	begin(json, key);
	g_string_append(json->to, "null");
}

/* --- json-glib trees ------------------------------------------------------------------------ */

static void write_value(struct pp_json_writer *json, const char *key, JsonNode *node)
{
	GType type = json_node_get_value_type(node);

	if (type == G_TYPE_STRING)
		pp_json_write_text(json, key, json_node_get_string(node));
	else if (type == G_TYPE_BOOLEAN)
		pp_json_write_bool(json, key, json_node_get_boolean(node));
	else if (type == G_TYPE_INT64)
		pp_json_write_int(json, key, json_node_get_int(node));
	else
		pp_json_write_double(json, key, json_node_get_double(node));
}

static void write_object(struct pp_json_writer *json, const char *key, JsonObject *object)
{
	JsonObjectIter iter;
	const char *member;
	JsonNode *node;

	pp_json_write_open(json, key, '{');
	json_object_iter_init_ordered(&iter, object);
	while (json_object_iter_next_ordered(&iter, &member, &node))
		pp_json_write_node(json, member, node);
	pp_json_write_close(json, '}');
}

static void write_array(struct pp_json_writer *json, const char *key, JsonArray *array)
{
	pp_json_write_open(json, key, '[');
	for (guint i = 0; i < json_array_get_length(array); i++)
		pp_json_write_node(json, NULL, json_array_get_element(array, i));
	pp_json_write_close(json, ']');
}

void pp_json_write_exit(struct pp_json_writer *json, int status)
{
	if (WIFSIGNALED(status))
		pp_json_write_int(json, "signal", WTERMSIG(status));
	else
		pp_json_write_int(json, "exit_status", WEXITSTATUS(status));
}

void pp_json_write_node(struct pp_json_writer *json, const char *key, JsonNode *node)
{
	switch (node ? json_node_get_node_type(node) : JSON_NODE_NULL) {
	case JSON_NODE_OBJECT:
		write_object(json, key, json_node_get_object(node));
		break;
	case JSON_NODE_ARRAY:
		write_array(json, key, json_node_get_array(node));
		break;
	case JSON_NODE_VALUE:
		write_value(json, key, node);
		break;
	case JSON_NODE_NULL:
		pp_json_write_null(json, key);
		break;
	}
}
