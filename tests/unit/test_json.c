/* SPDX-License-Identifier: MIT */
/* json-glib reads the output of the JSON writer, and formats the same data the same way. */
#include <math.h>

#include "check.h"
#include "core/text/json_writer.h"

static JsonNode *read_back(const char *text)
{
	JsonNode *node = json_from_string(text, NULL);

	CHECK(node);
	return node;
}

/* Each byte alone and between others; bytes that are not UTF-8 are replaced. */
static void check_strings(void)
{
	for (unsigned c = 1; c < 256; c++) {
		char text[] = {'a', (char)c, 'b', '\0'};
		g_autoptr(GString) to = g_string_new(NULL);
		g_autofree char *valid = g_utf8_make_valid(text, -1);
		g_autoptr(JsonNode) node = NULL;

		pp_json_write_string(to, text);
		CHECK(g_utf8_validate(to->str, -1, NULL));
		for (gsize i = 0; i < to->len; i++)
			CHECK((unsigned char)to->str[i] >= ' ');
		node = read_back(to->str);
		CHECK_STR(json_node_get_string(node), valid);
	}
}

static char *text_of(const char *json, unsigned indent)
{
	struct pp_json_writer writer = {.to = g_string_new(NULL), .indent = indent};
	g_autoptr(JsonNode) node = read_back(json);

	pp_json_write_node(&writer, NULL, node);
	return g_string_free(writer.to, FALSE);
}

static void check_documents(void)
{
	static const char *const documents[] = {
	    "{\"a\":1,\"b\":[true,false,null,\"x\\\"y\\\\z\\n\",-5,1.5]}",
	    "{\"c\":{\"d\":[[],[{\"e\":2}]]}}",
	    "[]",
	    "[9223372036854775807,-9223372036854775807,0.5,\"\303\266\"]",
	    "\"text\"",
	    "{\"z\":1,\"a\":2}",
	};

	for (unsigned i = 0; i < G_N_ELEMENTS(documents); i++) {
		g_autoptr(JsonNode) node = read_back(documents[i]);
		g_autofree char *compact = text_of(documents[i], 0),
				*pretty = text_of(documents[i], 2);
		g_autofree char *theirs = json_to_string(node, TRUE);

		CHECK_STR(compact, documents[i]);
		CHECK_STR(pretty, theirs);
	}
}

static void check_numbers(void)
{
	g_autoptr(GString) to = g_string_new(NULL);
	struct pp_json_writer json = {.to = to};

	pp_json_write_open(&json, NULL, '[');
	pp_json_write_double(&json, NULL, NAN);
	pp_json_write_double(&json, NULL, -INFINITY);
	pp_json_write_double(&json, NULL, 3);
	pp_json_write_double(&json, NULL, 0x1p70);
	pp_json_write_count(&json, NULL, INT64_MAX);
	pp_json_write_count(&json, NULL, UINT64_MAX);
	pp_json_write_int(&json, NULL, INT64_MIN);
	pp_json_write_address(&json, NULL, 0x401000);
	pp_json_write_text(&json, NULL, NULL);
	pp_json_write_close(&json, ']');
	CHECK_STR(
	    to->str,
	    "[null,null,3.0,1.1805916207174113e+21,9223372036854775807,1.8446744073709552e+19,"
	    "-9223372036854775808,\"0x401000\",null]");
}

int main(void)
{
	check_strings();
	check_documents();
	check_numbers();
	return 0;
}
