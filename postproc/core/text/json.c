/* SPDX-License-Identifier: MIT */
/* Checks files, and the types of members, before json-glib is asked for a value. */
#include "core/text/json.h"

#include <string.h>
#include <sys/stat.h>

#define MAX_BYTES (16 << 20)

/* The maximum nesting depth. json-glib's parser is recursive. */
#define MAX_DEPTH 64

/* Returns the end of the string whose opening quote is at `at`. */
static const char *skip_string(const char *at, const char *end)
{
	while (at < end && *at != '"')
		at += *at == '\\' && end - at > 1 ? 2 : 1;
	return MIN(at + 1, end);
}

bool pp_json_is_shallow(const char *text, size_t len)
{
	const char *end = text + len;
	unsigned depth = 0;

	for (const char *at = text; at < end;) {
		char c = *at++;

		if (c == '"')
			at = skip_string(at, end);
		else if ((c == '[' || c == '{') && ++depth > MAX_DEPTH)
			return false;
		else if ((c == ']' || c == '}') && depth > 0)
			depth--;
		/* The parser also accepts comments, in which a quote would not begin a string. */
		else if (!g_ascii_isalnum(c) && !strchr(" \t\r\n[]{},:.+-", c))
			return false;
	}
	return true;
}

static JsonNode *get_member(JsonObject *object, const char *member)
{
	return object ? json_object_get_member(object, member) : NULL;
}

static const char *as_string(JsonNode *node)
{
	return node && JSON_NODE_HOLDS_VALUE(node) &&
		       json_node_get_value_type(node) == G_TYPE_STRING
		   ? json_node_get_string(node)
		   : NULL;
}

static JsonObject *as_object(JsonNode *node)
{
	return node && JSON_NODE_HOLDS_OBJECT(node) ? json_node_get_object(node) : NULL;
}

JsonObject *pp_json_read(const char *path, const char **ret_why)
{
	g_autoptr(JsonParser) parser = json_parser_new();
	g_autofree char *text = NULL;
	struct stat st;
	JsonNode *root;
	gsize len;

	*ret_why = "invalid JSON";
	if (stat(path, &st) < 0 || st.st_size > MAX_BYTES ||
	    !g_file_get_contents(path, &text, &len, NULL) || !pp_json_is_shallow(text, len) ||
	    !json_parser_load_from_data(parser, text, (gssize)len, NULL))
		return NULL;
	*ret_why = "not a JSON object";
	root = json_parser_get_root(parser);
	return root && JSON_NODE_HOLDS_OBJECT(root) ? json_node_dup_object(root) : NULL;
}

const char *pp_json_string(JsonObject *object, const char *member)
{
	return as_string(get_member(object, member));
}

static int64_t as_int(JsonNode *node, int64_t otherwise)
{
	return node && JSON_NODE_HOLDS_VALUE(node) && json_node_get_value_type(node) == G_TYPE_INT64
		   ? json_node_get_int(node)
		   : otherwise;
}

int64_t pp_json_int(JsonObject *object, const char *member, int64_t otherwise)
{
	return as_int(get_member(object, member), otherwise);
}

JsonObject *pp_json_object(JsonObject *object, const char *member)
{
	return as_object(get_member(object, member));
}

JsonArray *pp_json_array(JsonObject *object, const char *member)
{
	JsonNode *node = get_member(object, member);

	return node && JSON_NODE_HOLDS_ARRAY(node) ? json_node_get_array(node) : NULL;
}

static JsonNode *get_element(JsonArray *array, unsigned at)
{
	return at < json_array_get_length(array) ? json_array_get_element(array, at) : NULL;
}

const char *pp_json_element_string(JsonArray *array, unsigned at)
{
	return as_string(get_element(array, at));
}

JsonObject *pp_json_element_object(JsonArray *array, unsigned at)
{
	return as_object(get_element(array, at));
}

int64_t pp_json_element_int(JsonArray *array, unsigned at, int64_t otherwise)
{
	return as_int(get_element(array, at), otherwise);
}
