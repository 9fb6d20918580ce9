/* SPDX-License-Identifier: MIT */
/* See type_parts.h.  Each step enters one member, base class or dimension of an array. */
#include "symbols/type_parts.h"

#include <dwarf.h>
#include <string.h>

/* No compiler nests deeper; damaged data may contain cycles. */
#define MAX_DEPTH 64

bool pp_type_of(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;

	for (unsigned depth = 0; depth < MAX_DEPTH; depth++) {
		int tag;

		if (!dwarf_formref_die(dwarf_attr_integrate(die, DW_AT_type, &attribute), die))
			return false;
		tag = dwarf_tag(die);
		if (tag != DW_TAG_const_type && tag != DW_TAG_volatile_type &&
		    tag != DW_TAG_atomic_type)
			return true;
	}
	return false;
}

static bool number_of(Dwarf_Die *die, unsigned name, Dwarf_Word *ret_number)
{
	Dwarf_Attribute attribute;

	return dwarf_formudata(dwarf_attr(die, name, &attribute), ret_number) == 0;
}

/* The number of elements of an array's dimension; 0: not known. */
static Dwarf_Word n_elements(Dwarf_Die *range)
{
	Dwarf_Word n;

	if (number_of(range, DW_AT_count, &n))
		return n;
	return number_of(range, DW_AT_upper_bound, &n) ? n + 1 : 0;
}

/* Appends "[i][j]" and continues with the element.  Returns false if it cannot be determined. */
static bool enter_array(struct pp_type_part *part, GString *text)
{
	Dwarf_Die element = part->type, range;
	Dwarf_Word stride, lengths[8], n = 0;

	if (!pp_type_of(&element) || dwarf_aggregate_size(&element, &stride) != 0 || stride == 0)
		return false;
	/* Storage, or text: the elements have no names. */
	if (dwarf_tag(&element) == DW_TAG_base_type && stride == 1)
		return false;
	if (dwarf_child(&part->type, &range) != 0)
		return false;
	do {
		if (dwarf_tag(&range) != DW_TAG_subrange_type)
			continue;
		if (n == G_N_ELEMENTS(lengths))
			return false;
		lengths[n++] = n_elements(&range);
	} while (dwarf_siblingof(&range, &range) == 0);
	for (Dwarf_Word i = 1; i < n; i++)
		if (lengths[i] == 0 || __builtin_mul_overflow(stride, lengths[i], &stride))
			return false;
	for (Dwarf_Word i = 0; i < n; i++) {
		g_string_append_printf(text, "[%" G_GUINT64_FORMAT "]", part->offset / stride);
		part->offset %= stride;
		if (i + 1 < n)
			stride /= lengths[i + 1];
	}
	part->type = element;
	return n > 0;
}

/* True if the member, or base class, contains the offset; then *part is it. */
static bool is_inside(struct pp_type_part *part, const Dwarf_Die *member, bool is_union)
{
	Dwarf_Die type = *member;
	Dwarf_Word start = 0, size;

	if (!number_of(&type, DW_AT_data_member_location, &start) && !is_union)
		return false;
	if (start > part->offset || !pp_type_of(&type) || dwarf_aggregate_size(&type, &size) != 0 ||
	    part->offset - start >= size)
		return false;
	part->type = type;
	part->offset -= start;
	return true;
}

/* A name that C and C++ reserve for their libraries. */
static bool is_reserved(const char *name)
{
	return name[0] == '_' && (name[1] == '_' || g_ascii_isupper(name[1]));
}

static void append_member(GString *text, Dwarf_Die *member)
{
	const char *name = dwarf_tag(member) == DW_TAG_member ? dwarf_diename(member) : NULL;

	if (name && *name && !is_reserved(name))
		g_string_append_printf(text, ".%s", name);
}

/* Appends the member at the offset, and continues with it.  Returns false if there is none. */
static bool enter_struct(struct pp_type_part *part, GString *text)
{
	bool is_union = dwarf_tag(&part->type) == DW_TAG_union_type;
	Dwarf_Die member;
	int more = dwarf_child(&part->type, &member);

	for (; more == 0; more = dwarf_siblingof(&member, &member)) {
		int tag = dwarf_tag(&member);

		if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) ||
		    !is_inside(part, &member, is_union))
			continue;
		append_member(text, &member);
		return true;
	}
	return false;
}

/* True for the locks of <omp.h>: structures whose members have no reserved names. */
static bool is_openmp_lock(Dwarf_Die *type)
{
	const char *name = dwarf_tag(type) == DW_TAG_typedef ? dwarf_diename(type) : NULL;

	return name && (strcmp(name, "omp_lock_t") == 0 || strcmp(name, "omp_nest_lock_t") == 0);
}

static bool enter(struct pp_type_part *part, GString *text)
{
	Dwarf_Die type;

	if (is_openmp_lock(&part->type))
		return false;
	if (dwarf_peel_type(&part->type, &type) != 0)
		return false;
	part->type = type;
	switch (dwarf_tag(&part->type)) {
	case DW_TAG_array_type:
		return enter_array(part, text);
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
		return enter_struct(part, text);
	default:
		return false;
	}
}

void pp_type_enter(struct pp_type_part *part, GString *text)
{
	for (unsigned depth = 0; depth < MAX_DEPTH && enter(part, text); depth++)
		;
}
