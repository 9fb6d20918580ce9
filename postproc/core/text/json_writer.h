/* SPDX-License-Identifier: MIT */
/*
 * Appends JSON to a string, value by value, without a tree of nodes: json-glib's tree takes ten
 * times the document's memory.  Between two values, the owner of the string may remove its content.
 */
#ifndef PP_CORE_TEXT_JSON_WRITER_H
#define PP_CORE_TEXT_JSON_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>
#include <json-glib/json-glib.h>

struct pp_json_writer {
	GString *to;
	unsigned indent; /* spaces per level; 0: neither spaces nor newlines */
	unsigned depth;
	bool after_value; /* a comma is needed before the next value */
	bool new_line;	  /* the next value begins a line; pp_json_write_newline() */
};

/* Writes the text in quotes.  Invalid UTF-8 becomes U+FFFD. */
void pp_json_write_string(GString *to, const char *text);

/* key: the member's name; NULL for an array's element or the document. */
void pp_json_write_open(struct pp_json_writer *json, const char *key, char bracket); /* { or [ */
void pp_json_write_close(struct pp_json_writer *json, char bracket);		     /* } or ] */
/* Begins a line before the next value, for long documents without indentation. */
void pp_json_write_newline(struct pp_json_writer *json);
/* A NULL text is written as null. */
void pp_json_write_text(struct pp_json_writer *json, const char *key, const char *text);
void pp_json_write_int(struct pp_json_writer *json, const char *key, int64_t number);
/*
 * Most readers have no unsigned 64-bit type: a number above INT64_MAX is written as the nearest
 * double.
 */
void pp_json_write_count(struct pp_json_writer *json, const char *key, uint64_t number);
/* "0x401000" */
void pp_json_write_address(struct pp_json_writer *json, const char *key, uint64_t address);
/* Writes a decimal point or an exponent.  Infinity and NaN are written as null. */
void pp_json_write_double(struct pp_json_writer *json, const char *key, double number);
void pp_json_write_bool(struct pp_json_writer *json, const char *key, bool value);
void pp_json_write_null(struct pp_json_writer *json, const char *key);

/* Writes how a process ended, as wait(2) tells it: the member `exit_status` or `signal`. */
void pp_json_write_exit(struct pp_json_writer *json, int status);

/* Writes a whole json-glib tree; NULL is written as null. */
void pp_json_write_node(struct pp_json_writer *json, const char *key, JsonNode *node);

#endif
