/* SPDX-License-Identifier: MIT */
/*
 * Several types may be found for a call: that of the block, and those of pointers to its beginning,
 * such as a base class.  One that has the size of the block is preferred; if two remain, the type
 * is not known.
 */
#include "symbols/allocated.h"

#include <dwarf.h>
#include <gelf.h>
#include <inttypes.h>

#include "symbols/returned.h"
#include "symbols/text_bytes.h"
#include "symbols/type_parts.h"
#include "symbols/variables.h"

/* No compiler nests deeper; damaged data may contain cycles. */
#define MAX_DEPTH 64

struct pp_allocated {
	Dwfl_Module *module;
	struct pp_code *code;
	struct pp_allocated_variables variables;
	Dwarf_Addr bias;
	GHashTable *sites; /* link-time address -> GArray of Dwarf_Die */
	/* of the last block, since many of its parts are asked for */
	uint64_t last_site, last_bytes;
	bool has_last;
	Dwarf_Die last;
};

struct pp_allocated *pp_allocated_new(Dwfl_Module *module, struct pp_code *code,
				      const struct pp_allocated_variables *variables)
{
	struct pp_allocated *allocated = g_new0(struct pp_allocated, 1);

	allocated->module = module;
	allocated->code = code;
	allocated->variables = *variables;
	allocated->sites = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free,
						 (GDestroyNotify)g_array_unref);
	return allocated;
}

void pp_allocated_free(struct pp_allocated *allocated)
{
	if (!allocated)
		return;
	g_hash_table_unref(allocated->sites);
	g_free(allocated);
}

/* --- types of a call -------------------------------------------------------------------------- */

/* With a name, or that of a typedef. */
static bool is_same(const Dwarf_Die *a, const Dwarf_Die *b)
{
	Dwarf_Die x = *a, y = *b;
	Dwarf_Word n_x, n_y;

	if (dwarf_peel_type(&x, &x) != 0 || dwarf_peel_type(&y, &y) != 0)
		return false;
	if (x.addr == y.addr)
		return true;
	if (dwarf_tag(&x) != dwarf_tag(&y) || dwarf_aggregate_size(&x, &n_x) != 0 ||
	    dwarf_aggregate_size(&y, &n_y) != 0 || n_x != n_y)
		return false;
	if (dwarf_tag(&x) == DW_TAG_pointer_type)
		return true;
	return dwarf_diename(&x) && g_strcmp0(dwarf_diename(&x), dwarf_diename(&y)) == 0;
}

/* Storage, or text: a block of bytes has no type. */
static bool is_untyped(const Dwarf_Die *type, Dwarf_Word *ret_bytes)
{
	Dwarf_Die peeled = *type;

	return dwarf_peel_type(&peeled, &peeled) != 0 ||
	       dwarf_aggregate_size(&peeled, ret_bytes) != 0 || *ret_bytes == 0 ||
	       (dwarf_tag(&peeled) == DW_TAG_base_type && *ret_bytes == 1);
}

struct search {
	struct pp_allocated *allocated;
	GArray *types;
};

static void on_found(void *data, const Dwarf_Die *type)
{
	const struct search *search = data;
	Dwarf_Word n_bytes;

	if (is_untyped(type, &n_bytes))
		return;
	for (guint i = 0; i < search->types->len; i++)
		if (is_same(&g_array_index(search->types, Dwarf_Die, i), type))
			return;
	g_array_append_val(search->types, *type);
}

static bool on_variable(void *data, Dwarf_Addr address, Dwarf_Die *ret_type, uint64_t *ret_offset)
{
	const struct search *search = data;
	struct pp_allocated *self = search->allocated;
	uint64_t linked = address + self->bias;
	uint64_t start = self->variables.start(self->variables.data, linked);

	*ret_offset = linked - start;
	return start && pp_variables_type(self->variables.variables, start, ret_type);
}

static bool on_function(void *data, Dwarf_Addr address, Dwarf_Die *ret_function)
{
	const struct search *search = data;
	struct pp_allocated *self = search->allocated;
	Dwarf_Addr bias, start;

	return pp_code_function(self->code, address + self->bias, ret_function, &bias) &&
	       dwarf_entrypc(ret_function, &start) == 0 && start == address;
}

/* --- code ------------------------------------------------------------------------------------- */

static GArray *find_types(struct pp_allocated *self, uint64_t site)
{
	GArray *types = g_array_new(FALSE, FALSE, sizeof(Dwarf_Die));
	struct search search = {self, types};
	struct pp_text_bytes text;
	struct pp_returned returned = {
	    .data = &search,
	    .variable = on_variable,
	    .function = on_function,
	    .found = on_found,
	};

	/* The call itself is one byte back: the function may end behind it. */
	if (!pp_code_function(self->code, site - 1, &returned.code.function, &self->bias) ||
	    !pp_text_bytes_find(self->module, site, &text))
		return types;
	returned.bytes = text.bytes;
	returned.n_bytes = text.n;
	returned.bytes_start = text.start - self->bias;
	returned.code.cfi = dwfl_module_eh_cfi(self->module, &returned.code.cfi_bias);
	returned.code.cfi_bias -= self->bias;
	pp_returned_follow(&returned, site - self->bias);
	return types;
}

static const GArray *types_of(struct pp_allocated *self, uint64_t site)
{
	GArray *types = g_hash_table_lookup(self->sites, &site);

	if (!types) {
		types = find_types(self, site);
		g_hash_table_insert(self->sites, g_memdup2(&site, sizeof(site)), types);
	}
	return types;
}

static bool is_structure(Dwarf_Die *type)
{
	int tag = dwarf_tag(type);

	return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

/* True if the structure begins with a member or base class of the type. */
static bool begins_with(Dwarf_Die *structure, const Dwarf_Die *type)
{
	Dwarf_Die member;
	int more = dwarf_child(structure, &member);

	for (; more == 0; more = dwarf_siblingof(&member, &member)) {
		Dwarf_Attribute attribute;
		Dwarf_Word start;
		Dwarf_Die of = member;

		if (dwarf_formudata(dwarf_attr(&member, DW_AT_data_member_location, &attribute),
				    &start) == 0 &&
		    start == 0 && pp_type_of(&of) && is_same(&of, type))
			return true;
	}
	return false;
}

/* True if there is a structure of that size which begins with the type. */
static bool has_larger(Dwarf_Die *parent, const Dwarf_Die *type, uint64_t n_bytes, unsigned depth)
{
	Dwarf_Die die;
	int more = depth < MAX_DEPTH ? dwarf_child(parent, &die) : 1;

	for (; more == 0; more = dwarf_siblingof(&die, &die)) {
		Dwarf_Word n;

		switch (dwarf_tag(&die)) {
		case DW_TAG_structure_type:
		case DW_TAG_class_type:
			if (dwarf_aggregate_size(&die, &n) == 0 && n == n_bytes &&
			    begins_with(&die, type))
				return true;
			/* fall through */
		case DW_TAG_namespace:
			if (has_larger(&die, type, n_bytes, depth + 1))
				return true;
			break;
		default:
			break;
		}
	}
	return false;
}

/* A pointer to the type may be one to the beginning of a larger object. */
static bool may_be_part(const Dwarf_Die *type, uint64_t n_bytes)
{
	Dwarf_Die peeled = *type, unit;

	return dwarf_peel_type(&peeled, &peeled) == 0 && is_structure(&peeled) &&
	       dwarf_diecu(&peeled, &unit, NULL, NULL) && has_larger(&unit, type, n_bytes, 0);
}

/* The type of a block of that size.  Returns false if none fits, or several do. */
static bool choose(const GArray *types, uint64_t n_bytes, Dwarf_Die *ret_type)
{
	unsigned n_exact = 0, n_others = 0;

	for (guint i = 0; i < types->len; i++) {
		const Dwarf_Die *type = &g_array_index(types, Dwarf_Die, i);
		Dwarf_Word n;

		if (is_untyped(type, &n) || n_bytes % n != 0)
			continue;
		if (n == n_bytes ? n_exact++ == 0 : n_exact == 0)
			*ret_type = *type;
		n_others += n != n_bytes;
	}
	return n_exact == 1 || (n_exact == 0 && n_others == 1 && !may_be_part(ret_type, n_bytes));
}

static bool type_of(struct pp_allocated *self, uint64_t site, uint64_t n_bytes, Dwarf_Die *ret_type)
{
	if (site != self->last_site || n_bytes != self->last_bytes) {
		self->last_site = site;
		self->last_bytes = n_bytes;
		self->has_last = choose(types_of(self, site), n_bytes, &self->last);
	}
	*ret_type = self->last;
	return self->has_last;
}

/* --- names ------------------------------------------------------------------------------------ */

static bool is_c(Dwarf_Die *type)
{
	Dwarf_Die unit;
	int language = dwarf_diecu(type, &unit, NULL, NULL) ? dwarf_srclang(&unit) : -1;

	return language == DW_LANG_C || language == DW_LANG_C89 || language == DW_LANG_C99 ||
	       language == DW_LANG_C11;
}

static const char *keyword_of(Dwarf_Die *type)
{
	switch (dwarf_tag(type)) {
	case DW_TAG_structure_type:
		return is_c(type) ? "struct " : "";
	case DW_TAG_union_type:
		return is_c(type) ? "union " : "";
	case DW_TAG_enumeration_type:
		return is_c(type) ? "enum " : "";
	default:
		return "";
	}
}

/* Namespaces and classes around a type. */
static void append_scopes(GString *text, Dwarf_Die *type)
{
	Dwarf_Die *scopes = NULL;
	int n = dwarf_getscopes_die(type, &scopes);

	for (int i = n; i-- > 1;) {
		const char *name = dwarf_diename(&scopes[i]);

		switch (dwarf_tag(&scopes[i])) {
		case DW_TAG_namespace:
		case DW_TAG_class_type:
		case DW_TAG_structure_type:
		case DW_TAG_union_type:
			g_string_append_printf(text, "%s::", name ? name : "(anonymous)");
			break;
		default:
			break;
		}
	}
	free(scopes);
}

/* A structure's own name comes before that of a typedef.  Returns false if the type has no name. */
static bool append_type(GString *text, const Dwarf_Die *named, unsigned depth)
{
	Dwarf_Die type = *named, inner;

	if (depth == MAX_DEPTH || dwarf_peel_type(&type, &inner) != 0)
		return false;
	if (is_structure(&inner) && dwarf_diename(&inner))
		type = inner;
	switch (dwarf_tag(&type)) {
	case DW_TAG_pointer_type:
		inner = type;
		if (!pp_type_of(&inner))
			g_string_append(text, "void");
		else if (!append_type(text, &inner, depth + 1))
			return false;
		g_string_append(text, text->str[text->len - 1] == '*' ? "*" : " *");
		return true;
	case DW_TAG_array_type:
		inner = type;
		return pp_type_of(&inner) && append_type(text, &inner, depth + 1);
	default:
		if (!dwarf_diename(&type))
			return false;
		g_string_append(text, keyword_of(&type));
		append_scopes(text, &type);
		g_string_append(text, dwarf_diename(&type));
		return true;
	}
}

char *pp_allocated_part(struct pp_allocated *allocated, uint64_t site, uint64_t n_bytes,
			uint64_t offset)
{
	g_autoptr(GString) text = g_string_new(NULL);
	struct pp_type_part part = {.offset = offset};
	Dwarf_Word n;

	if (!site || offset >= n_bytes || !type_of(allocated, site, n_bytes, &part.type) ||
	    is_untyped(&part.type, &n) || !append_type(text, &part.type, 0))
		return NULL;
	if (n != n_bytes)
		g_string_append_printf(text, "[%" PRIu64 "]", offset / n);
	part.offset %= n;
	pp_type_enter(&part, text);
	if (part.offset)
		g_string_append_printf(text, "+%" PRIu64, (uint64_t)part.offset);
	return g_string_free(g_steal_pointer(&text), FALSE);
}
