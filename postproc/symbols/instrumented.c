/* SPDX-License-Identifier: MIT */
/* Looks for the names of the functions, and for the switches in DW_AT_producer. */
#include "symbols/instrumented.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <gelf.h>
#include <string.h>

#define FUNCTIONS "__tsan_"
#define SWITCH	  "-fsanitize=thread"

static bool has_function(Elf *elf, Elf_Scn *section, const GElf_Shdr *header)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t n = header->sh_entsize ? header->sh_size / header->sh_entsize : 0;

	for (size_t i = 0; data && i < n; i++) {
		GElf_Sym symbol;
		const char *name = gelf_getsym(data, (int)i, &symbol)
				       ? elf_strptr(elf, header->sh_link, symbol.st_name)
				       : NULL;

		if (name && strncmp(name, FUNCTIONS, strlen(FUNCTIONS)) == 0)
			return true;
	}
	return false;
}

bool pp_module_is_instrumented(Dwfl_Module *module)
{
	GElf_Addr bias;
	Elf *elf = dwfl_module_getelf(module, &bias);
	Elf_Scn *section = NULL;

	while (elf && (section = elf_nextscn(elf, section))) {
		GElf_Shdr header;

		if (gelf_getshdr(section, &header) &&
		    (header.sh_type == SHT_DYNSYM || header.sh_type == SHT_SYMTAB) &&
		    has_function(elf, section, &header))
			return true;
	}
	return false;
}

/* --- units ------------------------------------------------------------------------------------ */

static const char *text_of(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attribute;

	return dwarf_formstring(dwarf_attr(die, name, &attribute));
}

/* Files of gprof-mt's own static libraries. */
static bool is_own(const char *name)
{
	return g_str_has_prefix(name, "libsync-trace/") || g_str_has_prefix(name, "libgmon-mt/");
}

void pp_module_plain_units(Dwfl_Module *module, GPtrArray *names)
{
	Dwarf_Addr bias;
	Dwarf *dwarf = dwfl_module_getdwarf(module, &bias);
	guint n_before = names->len;
	bool is_mixed = false;
	Dwarf_CU *cu = NULL;
	Dwarf_Die die;
	uint8_t kind;

	while (dwarf && dwarf_get_units(dwarf, cu, &cu, NULL, &kind, &die, NULL) == 0) {
		const char *producer = text_of(&die, DW_AT_producer);
		const char *name = dwarf_diename(&die);

		if ((kind != DW_UT_compile && kind != DW_UT_skeleton) || !producer || !name ||
		    !g_str_has_prefix(producer, "GNU C"))
			continue;
		if (strstr(producer, SWITCH))
			is_mixed = true;
		else if (!is_own(name))
			g_ptr_array_add(names, g_path_get_basename(name));
	}
	if (!is_mixed)
		g_ptr_array_set_size(names, (gint)n_before);
}
