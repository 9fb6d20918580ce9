/* SPDX-License-Identifier: MIT */
/*
 * JSON files that may be damaged, and members that may be missing or have an unexpected type,
 * without the messages that json-glib prints in these cases.  A NULL object is treated as an object
 * without members.
 */
#ifndef PP_CORE_TEXT_JSON_H
#define PP_CORE_TEXT_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <json-glib/json-glib.h>

/*
 * True if the text is safe to parse: json-glib's parser recurses, and deep nesting would exhaust
 * its stack.
 */
bool pp_json_is_shallow(const char *text, size_t len);

/*
 * Reads a file of at most 16 MiB that has an object.  The caller unrefs it.  Returns NULL if there
 * is none; *ret_why then tells what the file is.
 */
JsonObject *pp_json_read(const char *path, const char **ret_why);

const char *pp_json_string(JsonObject *object, const char *member); /* NULL: none */
int64_t pp_json_int(JsonObject *object, const char *member, int64_t otherwise);
JsonObject *pp_json_object(JsonObject *object, const char *member); /* NULL: none */
JsonArray *pp_json_array(JsonObject *object, const char *member);   /* NULL: none */

/* The array's element as a string or an object; NULL if it has another type. */
const char *pp_json_element_string(JsonArray *array, unsigned at);
JsonObject *pp_json_element_object(JsonArray *array, unsigned at);

/* The element as a number; `otherwise` if it is missing or has another type. */
int64_t pp_json_element_int(JsonArray *array, unsigned at, int64_t otherwise);

#endif
