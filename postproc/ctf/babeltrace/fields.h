/* SPDX-License-Identifier: MIT */
/* Fields of Babeltrace's events and contexts, by position, and their names and types. */
#ifndef PP_CTF_BABELTRACE_FIELDS_H
#define PP_CTF_BABELTRACE_FIELDS_H

#include <babeltrace2/babeltrace.h>

#include "ctf/event_class.h"

/* Returns the value of an integer field, signed or unsigned. */
int64_t pp_bt_integer(const bt_field *field);

/* Returns a member of a structure. */
const bt_field *pp_bt_member(const bt_field *structure, int index);

/* Reads a field of type PP_MEMBER_LINES into an array of struct st_access_line. Returns their
 * number. */
uint32_t pp_bt_lines(const bt_field *field, GArray *to);

/* The same for PP_MEMBER_PLACES and uint16_t. */
uint32_t pp_bt_places(const bt_field *field, GArray *to);

/* Returns the position of a member of that type; -1: none.  `structure` may be NULL. */
int pp_bt_member_index(const bt_field_class *structure, const char *name, enum pp_member_type type);

/* Describes all members of a structure, which may be NULL.  Free it with pp_bt_members_free(). */
struct pp_members pp_bt_members(const bt_field_class *structure);
void pp_bt_members_free(struct pp_members members);

#endif
