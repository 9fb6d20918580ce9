/* SPDX-License-Identifier: MIT */
/* Wrappers of Babeltrace's accessors for fields and their classes. */
#include "ctf/babeltrace/fields.h"

#include "sync-trace/accesses.h"

const bt_field *pp_bt_member(const bt_field *structure, int index)
{
	return bt_field_structure_borrow_member_field_by_index_const(structure, (uint64_t)index);
}

int64_t pp_bt_integer(const bt_field *field)
{
	return bt_field_class_type_is(bt_field_get_class_type(field),
				      BT_FIELD_CLASS_TYPE_SIGNED_INTEGER)
		   ? bt_field_integer_signed_get_value(field)
		   : (int64_t)bt_field_integer_unsigned_get_value(field);
}

static bool is_unsigned(const bt_field_class *class)
{
	return bt_field_class_type_is(bt_field_class_get_type(class),
				      BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER);
}

/* The type of an array. */
static enum pp_member_type sequence_of(const bt_field_class *class)
{
	const bt_field_class *element;
	g_autoptr(GString) text = g_string_new(NULL);
	uint64_t n;

	element = bt_field_class_array_borrow_element_field_class_const(class);
	if (!bt_field_class_type_is(bt_field_class_get_type(element),
				    BT_FIELD_CLASS_TYPE_STRUCTURE))
		return PP_MEMBER_OTHER;
	n = bt_field_class_structure_get_member_count(element);
	for (uint64_t i = 0; i < n; i++) {
		const bt_field_class_structure_member *member =
		    bt_field_class_structure_borrow_member_by_index_const(element, i);
		const bt_field_class *part =
		    bt_field_class_structure_member_borrow_field_class_const(member);

		if (is_unsigned(part))
			pp_member_append(
			    text, bt_field_class_structure_member_get_name(member),
			    (unsigned)bt_field_class_integer_get_field_value_range(part));
	}
	return pp_member_sequence(text->str);
}

static struct pp_member describe(const char *name, const bt_field_class *class)
{
	bt_field_class_type type = bt_field_class_get_type(class);
	struct pp_member member = {.name = name, .type = PP_MEMBER_OTHER};

	member.is_signed = bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER);
	if (member.is_signed || is_unsigned(class))
		member.type = PP_MEMBER_INTEGER;
	else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_STRING))
		member.type = PP_MEMBER_STRING;
	else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_ARRAY))
		member.type = sequence_of(class);
	return member;
}

static uint64_t part_of(const bt_field *structure, uint64_t at)
{
	return bt_field_integer_unsigned_get_value(
	    bt_field_structure_borrow_member_field_by_index_const(structure, at));
}

uint32_t pp_bt_lines(const bt_field *field, GArray *to)
{
	uint64_t n = bt_field_array_get_length(field);

	g_array_set_size(to, 0);
	for (uint64_t i = 0; i < MIN(n, ST_ACCESS_LINES_MAX); i++) {
		const bt_field *at = bt_field_array_borrow_element_field_by_index_const(field, i);
		struct st_access_line line = {
		    .address = part_of(at, 0),
		    .read = part_of(at, 1),
		    .written = part_of(at, 2),
		    .changed = part_of(at, 3),
		    .first = (uint32_t)part_of(at, 4),
		    .last = (uint32_t)part_of(at, 5),
		    .first_site = part_of(at, 6),
		    .last_site = part_of(at, 7),
		};

		g_array_append_val(to, line);
	}
	return to->len;
}

uint32_t pp_bt_places(const bt_field *field, GArray *to)
{
	uint64_t n = bt_field_array_get_length(field);

	g_array_set_size(to, 0);
	for (uint64_t i = 0; i < MIN(n, ST_ACCESS_LINES_MAX); i++) {
		const bt_field *at = bt_field_array_borrow_element_field_by_index_const(field, i);
		uint16_t place = (uint16_t)part_of(at, 0);

		g_array_append_val(to, place);
	}
	return to->len;
}

struct pp_members pp_bt_members(const bt_field_class *structure)
{
	uint64_t n = structure ? bt_field_class_structure_get_member_count(structure) : 0;
	struct pp_member *members = g_new(struct pp_member, n + 1);

	for (uint64_t i = 0; i < n; i++) {
		const bt_field_class_structure_member *member =
		    bt_field_class_structure_borrow_member_by_index_const(structure, i);

		members[i] =
		    describe(bt_field_class_structure_member_get_name(member),
			     bt_field_class_structure_member_borrow_field_class_const(member));
	}
	return (struct pp_members){members, (unsigned)n};
}

void pp_bt_members_free(struct pp_members members)
{
	g_free((void *)members.at);
}

int pp_bt_member_index(const bt_field_class *structure, const char *name, enum pp_member_type type)
{
	struct pp_members members = pp_bt_members(structure);
	int index = pp_member_find(members, name, type);

	pp_bt_members_free(members);
	return index;
}
