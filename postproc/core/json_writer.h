/* SPDX-License-Identifier: MIT */
/*
 * Writes JSON to the end of a string, value by value, without a tree of nodes: json-glib's tree
 * takes ten times the document's memory.  The owner of the string may take away what it contains
 * between two values.
 */
#ifndef PP_CORE_JSON_WRITER_H
#define PP_CORE_JSON_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>
#include <json-glib/json-glib.h>

struct pp_json_writer {
	GString *to;
	unsigned indent; /* blanks a level; 0: no blanks and no lines at all */
	unsigned depth;
	bool after_value; /* what comes next needs a comma before it */
};

/* The text in quotes.  What is not UTF-8 becomes U+FFFD. */
void pp_json_write_string(GString *to, const char *text);

/* key: of the member; NULL: an element of an array, or the document. */
void pp_json_write_open(struct pp_json_writer *json, const char *key, char bracket); /* { or [ */
void pp_json_write_close(struct pp_json_writer *json, char bracket);		     /* } or ] */
/* NULL: null. */
void pp_json_write_text(struct pp_json_writer *json, const char *key, const char *text);
void pp_json_write_int(struct pp_json_writer *json, const char *key, int64_t number);
/* Readers have no unsigned 64 bits: beyond INT64_MAX it is the nearest double. */
void pp_json_write_count(struct pp_json_writer *json, const char *key, uint64_t number);
/* "0x401000" */
void pp_json_write_address(struct pp_json_writer *json, const char *key, uint64_t address);
/* With a point or an exponent; null where it is infinite, or no number. */
void pp_json_write_double(struct pp_json_writer *json, const char *key, double number);
void pp_json_write_bool(struct pp_json_writer *json, const char *key, bool value);
void pp_json_write_null(struct pp_json_writer *json, const char *key);

/* All that json-glib has read there; NULL: null. */
void pp_json_write_node(struct pp_json_writer *json, const char *key, JsonNode *node);

#endif
