/* SPDX-License-Identifier: MIT */
/*
 * Symbols are searched first, since that is quick.  DWARF has all functions, also those without
 * code of their own, and is read only for names that no symbol has.
 */
#include "symbols/function_search.h"

#include <dwarf.h>
#include <elfutils/libdw.h>

#include "sync-trace/named.h"

struct search {
	const char *list;
	bool *found;
};

static void check(const struct search *search, const char *name)
{
	int at = name ? st_find_named(name, search->list) : -1;

	if (at >= 0)
		search->found[at] = true;
}

static bool is_complete(const struct search *search, unsigned n_names)
{
	for (unsigned i = 0; i < n_names; i++)
		if (!search->found[i])
			return false;
	return true;
}

static void search_symbols(const struct search *search, Dwfl_Module *module)
{
	int n = dwfl_module_getsymtab(module);

	for (int i = 1; i < n; i++) {
		GElf_Sym symbol;
		GElf_Addr address;
		const char *name =
		    dwfl_module_getsym_info(module, i, &symbol, &address, NULL, NULL, NULL);

		if (symbol.st_shndx != SHN_UNDEF && GELF_ST_TYPE(symbol.st_info) == STT_FUNC)
			check(search, name);
	}
}

static int check_function(Dwarf_Die *function, void *data)
{
	Dwarf_Attribute found;

	check(data, dwarf_formstring(dwarf_attr_integrate(function, DW_AT_linkage_name, &found)));
	check(data, dwarf_diename(function));
	return DWARF_CB_OK;
}

static void search_dwarf(struct search *search, Dwfl_Module *module)
{
	Dwarf_Addr bias;
	Dwarf *dwarf = dwfl_module_getdwarf(module, &bias);
	Dwarf_CU *cu = NULL;
	Dwarf_Die die, split;
	uint8_t kind;

	while (dwarf && dwarf_get_units(dwarf, cu, &cu, NULL, &kind, &die, &split) == 0) {
		if (kind == DW_UT_skeleton && split.addr)
			die = split;
		if (dwarf_tag(&die) == DW_TAG_compile_unit)
			(void)dwarf_getfuncs(&die, check_function, search, 0);
	}
}

void pp_function_search(Dwfl_Module *module, const char *list, bool *found, unsigned n_names)
{
	struct search search = {list, found};

	search_symbols(&search, module);
	if (!is_complete(&search, n_names))
		search_dwarf(&search, module);
}
