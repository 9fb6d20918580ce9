/* SPDX-License-Identifier: MIT */
/*
 * Members of a JSON object that may not be there or be of another type than expected, without the
 * complaints json-glib prints then.  Each takes a NULL object for one without members.
 */
#ifndef PP_CORE_JSON_H
#define PP_CORE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <json-glib/json-glib.h>

/* Whether the text can be given to the parser: JSON that it does not run out of stack on. */
bool pp_json_is_shallow(const char *text, size_t len);

const char *pp_json_string(JsonObject *object, const char *member); /* NULL: none */
int64_t pp_json_int(JsonObject *object, const char *member, int64_t otherwise);
JsonObject *pp_json_object(JsonObject *object, const char *member); /* NULL: none */
JsonArray *pp_json_array(JsonObject *object, const char *member);   /* NULL: none */

/* An array's element as a string, an object; NULL: it is of another type. */
const char *pp_json_element_string(JsonArray *array, unsigned at);
JsonObject *pp_json_element_object(JsonArray *array, unsigned at);

/* The same as a number; `otherwise` also if it has no such element. */
int64_t pp_json_element_int(JsonArray *array, unsigned at, int64_t otherwise);

#endif
