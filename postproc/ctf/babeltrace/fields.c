/* SPDX-License-Identifier: MIT */
/* Wrappers of Babeltrace's accessors for fields and their classes. */
#include "ctf/babeltrace/fields.h"

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

static struct pp_member describe(const char *name, const bt_field_class *class)
{
	bt_field_class_type type = bt_field_class_get_type(class);
	struct pp_member member = {.name = name, .type = PP_MEMBER_OTHER};

	member.is_signed = bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER);
	if (member.is_signed || is_unsigned(class))
		member.type = PP_MEMBER_INTEGER;
	else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_STRING))
		member.type = PP_MEMBER_STRING;
	return member;
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
