/* SPDX-License-Identifier: MIT */
/*
 * Mangles names by the Itanium C++ ABI, without its abbreviations, which demanglers do not need.  A
 * class keeps its template arguments as a part of its name, as DWARF has it: demangled, it reads
 * the same.
 */
#include "symbols/local_name.h"

#include <string.h>

#include <dwarf.h>

#define MAX_DEPTH 32 /* damaged data may contain cycles */

static const struct base {
	const char *name, *mangled;
} bases[] = {
    {"bool", "b"},
    {"char", "c"},
    {"signed char", "a"},
    {"unsigned char", "h"},
    {"short", "s"},
    {"short int", "s"},
    {"unsigned short", "t"},
    {"short unsigned int", "t"},
    {"int", "i"},
    {"unsigned int", "j"},
    {"long", "l"},
    {"long int", "l"},
    {"unsigned long", "m"},
    {"long unsigned int", "m"},
    {"long long", "x"},
    {"long long int", "x"},
    {"unsigned long long", "y"},
    {"long long unsigned int", "y"},
    {"__int128", "n"},
    {"__int128 unsigned", "o"},
    {"unsigned __int128", "o"},
    {"float", "f"},
    {"double", "d"},
    {"long double", "e"},
    {"wchar_t", "w"},
    {"char8_t", "Du"},
    {"char16_t", "Ds"},
    {"char32_t", "Di"},
};

static bool has_flag(Dwarf_Die *die, unsigned attribute)
{
	Dwarf_Attribute found;
	bool value = false;

	return !dwarf_formflag(dwarf_attr_integrate(die, attribute, &found), &value) && value;
}

static bool is_cxx(Dwarf_Die *die)
{
	Dwarf_Die unit;

	if (!dwarf_diecu(die, &unit, NULL, NULL))
		return false;
	switch (dwarf_srclang(&unit)) {
	case DW_LANG_C_plus_plus:
	case DW_LANG_C_plus_plus_03:
	case DW_LANG_C_plus_plus_11:
	case DW_LANG_C_plus_plus_14:
		return true;
	default:
		return false;
	}
}

bool pp_local_name_is_missing(Dwarf_Die *function)
{
	return !dwarf_hasattr_integrate(function, DW_AT_linkage_name) &&
	       !has_flag(function, DW_AT_external) && is_cxx(function);
}

static void add_name(GString *mangled, const char *name)
{
	g_string_append_printf(mangled, "%zu%s", strlen(name), name);
}

bool pp_local_name_add_scope(GString *scope, Dwarf_Die *die)
{
	const char *name = dwarf_diename(die);

	if (!name && dwarf_tag(die) != DW_TAG_namespace)
		return false;
	add_name(scope, name ? name : "_GLOBAL__N_1");
	return true;
}

/* --- types ------------------------------------------------------------------------------------ */

/* Returns false if it has none: void. */
static bool type_of(Dwarf_Die *die, Dwarf_Die *ret)
{
	Dwarf_Attribute found;

	return dwarf_formref_die(dwarf_attr_integrate(die, DW_AT_type, &found), ret);
}

static bool add_base(GString *mangled, Dwarf_Die *type)
{
	const char *name = dwarf_diename(type);

	for (unsigned i = 0; name && i < G_N_ELEMENTS(bases); i++)
		if (strcmp(name, bases[i].name) == 0) {
			g_string_append(mangled, bases[i].mangled);
			return true;
		}
	return false;
}

/* A class, union or enumeration, with the namespaces and classes around it; NULL: not named. */
static char *class_name(Dwarf_Die *type)
{
	g_autoptr(GString) mangled = g_string_new(NULL);
	g_autoptr(GString) scope = g_string_new(NULL);
	Dwarf_Die *scopes = NULL;
	int n = dwarf_getscopes_die(type, &scopes);
	bool is_named = n > 0;

	/* The innermost one is the type itself, the outermost one its unit. */
	for (int i = n - 2; i > 0 && is_named; i--)
		is_named = pp_local_name_add_scope(scope, &scopes[i]);
	free(scopes);
	if (!is_named || !dwarf_diename(type))
		return NULL;
	g_string_append(mangled, scope->len ? "N" : "");
	g_string_append(mangled, scope->str);
	add_name(mangled, dwarf_diename(type));
	g_string_append(mangled, scope->len ? "E" : "");
	return g_string_free(g_steal_pointer(&mangled), FALSE);
}

/* The classes around a type are found by a search through its unit, so each is searched for once.
 */
static bool add_class(GString *mangled, Dwarf_Die *type, GHashTable *classes)
{
	void *name;

	if (!g_hash_table_lookup_extended(classes, type->addr, NULL, &name)) {
		name = class_name(type);
		g_hash_table_insert(classes, type->addr, name);
	}
	g_string_append(mangled, name ? name : "");
	return name != NULL;
}

static const char *prefix_of(int tag)
{
	switch (tag) {
	case DW_TAG_pointer_type:
		return "P";
	case DW_TAG_reference_type:
		return "R";
	case DW_TAG_rvalue_reference_type:
		return "O";
	case DW_TAG_const_type:
		return "K";
	case DW_TAG_volatile_type:
		return "V";
	case DW_TAG_typedef:
		return "";
	default:
		return NULL;
	}
}

/* The type of the die's value. */
static bool add_type(GString *mangled, Dwarf_Die *die, GHashTable *classes)
{
	Dwarf_Die type = *die;

	for (unsigned depth = 0; depth < MAX_DEPTH; depth++) {
		const char *prefix;

		if (!type_of(&type, &type)) {
			g_string_append_c(mangled, 'v');
			return true;
		}
		prefix = prefix_of(dwarf_tag(&type));
		if (!prefix)
			break;
		g_string_append(mangled, prefix);
	}
	switch (dwarf_tag(&type)) {
	case DW_TAG_base_type:
		return add_base(mangled, &type);
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_enumeration_type:
		return add_class(mangled, &type, classes);
	default:
		return false;
	}
}

/* --- functions -------------------------------------------------------------------------------- */

/* The parameter's own const and volatile are not part of the function's type. */
static bool add_parameter(GString *mangled, Dwarf_Die *parameter, GHashTable *classes)
{
	gsize begin = mangled->len;

	if (!add_type(mangled, parameter, classes))
		return false;
	while (mangled->str[begin] == 'K' || mangled->str[begin] == 'V')
		g_string_erase(mangled, (gssize)begin, 1);
	return true;
}

static bool add_parameters(GString *mangled, Dwarf_Die *function, GHashTable *classes)
{
	gsize begin = mangled->len;
	Dwarf_Die die;

	for (int more = dwarf_child(function, &die); more == 0;
	     more = dwarf_siblingof(&die, &die)) {
		int tag = dwarf_tag(&die);

		if (tag == DW_TAG_unspecified_parameters)
			g_string_append_c(mangled, 'z');
		if (tag == DW_TAG_formal_parameter && !has_flag(&die, DW_AT_artificial) &&
		    !add_parameter(mangled, &die, classes))
			return false;
	}
	if (mangled->len == begin)
		g_string_append_c(mangled, 'v');
	return true;
}

/* True if the object that it is called for is const. */
static bool is_const_member(Dwarf_Die *function, GHashTable *classes)
{
	g_autoptr(GString) type = g_string_new(NULL);
	Dwarf_Die die;

	if (dwarf_child(function, &die) || dwarf_tag(&die) != DW_TAG_formal_parameter ||
	    !has_flag(&die, DW_AT_artificial) || !add_parameter(type, &die, classes))
		return false;
	return g_str_has_prefix(type->str, "PK");
}

GHashTable *pp_local_name_classes(void)
{
	return g_hash_table_new_full(NULL, NULL, NULL, g_free);
}

char *pp_local_name(Dwarf_Die *function, const char *scope, GHashTable *classes)
{
	g_autoptr(GString) mangled = g_string_new("_Z");
	const char *name = dwarf_diename(function);

	if (!name || !(g_ascii_isalpha(*name) || *name == '_') || strchr(name, '<') ||
	    strchr(name, ' '))
		return NULL;
	if (*scope)
		g_string_append(mangled, is_const_member(function, classes) ? "NK" : "N");
	else
		g_string_append_c(mangled, 'L');
	g_string_append(mangled, scope);
	add_name(mangled, name);
	g_string_append(mangled, *scope ? "E" : "");
	if (!add_parameters(mangled, function, classes))
		return NULL;
	return g_string_free(g_steal_pointer(&mangled), FALSE);
}
