/* SPDX-License-Identifier: MIT */
/*
 * Indexes the variables of all units by address when the first one is looked up, and follows the
 * type of a variable from its outermost part to the innermost one.  Variables in functions are only
 * indexed if an address is not found among the others, since they take most of the time to find.
 */
#include "symbols/variables.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <string.h>

#include <glib.h>

/* No compiler nests deeper; damaged data may contain cycles. */
#define MAX_DEPTH 64

struct pp_variables {
	Dwfl_Module *module;
	Dwarf_Addr bias;
	GHashTable *found; /* address -> Dwarf_Die * */
	bool is_open, is_deep, has_split;
};

struct pp_variables *pp_variables_new(Dwfl_Module *module)
{
	struct pp_variables *variables = g_new0(struct pp_variables, 1);

	variables->module = module;
	variables->found = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
	return variables;
}

void pp_variables_free(struct pp_variables *variables)
{
	if (!variables)
		return;
	g_hash_table_unref(variables->found);
	g_free(variables);
}

bool pp_variables_are_whole(const struct pp_variables *variables)
{
	return !variables->has_split;
}

/* --- variables by address -------------------------------------------------------------------- */

/* The variable's fixed address.  Returns false if it has none. */
static bool address_of(Dwarf_Die *die, Dwarf_Addr *ret_address)
{
	Dwarf_Attribute location, address;
	Dwarf_Op *ops;
	size_t n;

	if (!dwarf_attr(die, DW_AT_location, &location) ||
	    dwarf_getlocation(&location, &ops, &n) != 0 || n != 1)
		return false;
	if (ops[0].atom == DW_OP_addr) {
		*ret_address = ops[0].number;
		return true;
	}
	return (ops[0].atom == DW_OP_addrx || ops[0].atom == DW_OP_GNU_addr_index) &&
	       dwarf_getlocation_attr(&location, ops, &address) == 0 &&
	       dwarf_formaddr(&address, ret_address) == 0;
}

static bool may_hold_variables(int tag, bool is_deep)
{
	switch (tag) {
	case DW_TAG_namespace:
	case DW_TAG_module:
		return true;
	case DW_TAG_subprogram:
	case DW_TAG_lexical_block:
	case DW_TAG_inlined_subroutine:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
		return is_deep;
	default:
		return false;
	}
}

static void add_variable(struct pp_variables *variables, Dwarf_Die *die)
{
	Dwarf_Addr address;

	if (address_of(die, &address) && !g_hash_table_contains(variables->found, &address))
		g_hash_table_insert(variables->found, g_memdup2(&address, sizeof(address)),
				    g_memdup2(die, sizeof(*die)));
}

static void walk(struct pp_variables *variables, Dwarf_Die *parent, unsigned depth)
{
	Dwarf_Die die;
	int more = depth < MAX_DEPTH ? dwarf_child(parent, &die) : 1;

	for (; more == 0; more = dwarf_siblingof(&die, &die)) {
		int tag = dwarf_tag(&die);

		if (tag == DW_TAG_variable)
			add_variable(variables, &die);
		else if (may_hold_variables(tag, variables->is_deep))
			walk(variables, &die, depth + 1);
	}
}

static void find_all(struct pp_variables *variables, bool is_deep)
{
	Dwarf *dwarf = dwfl_module_getdwarf(variables->module, &variables->bias);
	Dwarf_CU *cu = NULL;
	Dwarf_Die die, split;
	uint8_t kind;

	variables->is_open = true;
	variables->is_deep = is_deep;
	while (dwarf && dwarf_get_units(dwarf, cu, &cu, NULL, &kind, &die, &split) == 0) {
		if (kind == DW_UT_skeleton) {
			variables->has_split = true;
			if (split.addr)
				walk(variables, &split, 0);
		} else if (kind == DW_UT_compile) {
			walk(variables, &die, 0);
		}
	}
}

static Dwarf_Die *find_variable(struct pp_variables *variables, uint64_t start)
{
	uint64_t address;
	Dwarf_Die *die;

	if (!variables->is_open)
		find_all(variables, false);
	address = start - variables->bias;
	die = g_hash_table_lookup(variables->found, &address);
	if (die || variables->is_deep)
		return die;
	find_all(variables, true);
	return g_hash_table_lookup(variables->found, &address);
}

/* --- parts of a type ------------------------------------------------------------------------- */

/* A part of a variable: its type, and the offset in it of what is looked for. */
struct part {
	Dwarf_Die type;
	Dwarf_Word offset;
};

/* Replaces a DIE by its type, without qualifiers. */
static bool to_type(Dwarf_Die *die)
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
static bool enter_array(struct part *part, GString *text)
{
	Dwarf_Die element = part->type, range;
	Dwarf_Word stride, lengths[8], n = 0;

	if (!to_type(&element) || dwarf_aggregate_size(&element, &stride) != 0 || stride == 0)
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
static bool is_inside(struct part *part, const Dwarf_Die *member, bool is_union)
{
	Dwarf_Die type = *member;
	Dwarf_Word start = 0, size;

	if (!number_of(&type, DW_AT_data_member_location, &start) && !is_union)
		return false;
	if (start > part->offset || !to_type(&type) || dwarf_aggregate_size(&type, &size) != 0 ||
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
static bool enter_struct(struct part *part, GString *text)
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

static bool enter(struct part *part, GString *text)
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

char *pp_variables_part(struct pp_variables *variables, uint64_t start, uint64_t offset,
			uint64_t *ret_rest)
{
	Dwarf_Die *die = find_variable(variables, start);
	struct part part = {.offset = offset};
	GString *text;
	Dwarf_Word size;

	if (!die)
		return NULL;
	part.type = *die;
	if (!to_type(&part.type) || dwarf_aggregate_size(&part.type, &size) != 0 || offset >= size)
		return NULL;
	text = g_string_new(NULL);
	for (unsigned depth = 0; depth < MAX_DEPTH && enter(&part, text); depth++)
		;
	*ret_rest = part.offset;
	return g_string_free(text, FALSE);
}
