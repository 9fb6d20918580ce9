/* SPDX-License-Identifier: MIT */
/*
 * Indexes the variables of all units by address when the first one is looked up.  Variables in
 * functions are only indexed if an address is not found among the others, since they take most of
 * the time to find.
 */
#include "symbols/variables.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <glib.h>

#include "symbols/type_parts.h"

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

bool pp_variables_type(struct pp_variables *variables, uint64_t start, Dwarf_Die *ret_type)
{
	const Dwarf_Die *die = find_variable(variables, start);

	if (!die)
		return false;
	*ret_type = *die;
	return pp_type_of(ret_type);
}

char *pp_variables_part(struct pp_variables *variables, uint64_t start, uint64_t offset,
			uint64_t *ret_rest)
{
	struct pp_type_part part = {.offset = offset};
	GString *text;
	Dwarf_Word size;

	if (!pp_variables_type(variables, start, &part.type) ||
	    dwarf_aggregate_size(&part.type, &size) != 0 || offset >= size)
		return NULL;
	text = g_string_new(NULL);
	pp_type_enter(&part, text);
	*ret_rest = part.offset;
	return g_string_free(text, FALSE);
}
