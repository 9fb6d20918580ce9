/* SPDX-License-Identifier: MIT */
/*
 * Calls of other objects are `call *x(%rip)`, or they lead to `jmp *x(%rip)` in a stub, where x is
 * the place of a relocation with the symbol.  The file is untrusted: libelf checks its sections.
 */
#include "symbols/imports.h"

#include <limits.h>
#include <string.h>

#include <glib.h>

#include "symbols/text_bytes.h"

/* ff 15 and ff 25, each with 4 bytes of offset; e8 and e9 with the distance. */
#define CALL_OR_JUMP_BYTES 6u
#define CALL_BYTES	   5u

/* Bytes of a stub before its jump: endbr64, and a prefix. */
static size_t skip_prefixes(const uint8_t *bytes, size_t n)
{
	static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
	size_t at = n > sizeof(endbr64) && memcmp(bytes, endbr64, sizeof(endbr64)) == 0
			? sizeof(endbr64)
			: 0;

	while (at < n && (bytes[at] == 0xf2 || bytes[at] == 0x67 || bytes[at] == 0x2e))
		at++;
	return at;
}

static uint64_t relative(const uint8_t *bytes, uint64_t behind)
{
	int32_t distance;

	memcpy(&distance, bytes, sizeof(distance));
	return behind + (uint64_t)(int64_t)distance;
}

enum leads { NOWHERE, THROUGH_POINTER, TO_CODE };

/* Tells where the instruction at the address leads: through the pointer, or to code, at *ret. */
static enum leads follow(Dwfl_Module *module, uint64_t linked, uint64_t *ret)
{
	struct pp_text_bytes text;
	const uint8_t *bytes;
	size_t n, at;

	if (!pp_text_bytes_find(module, linked, &text) || linked - text.start >= text.n)
		return NOWHERE;
	bytes = text.bytes + (linked - text.start);
	n = text.n - (linked - text.start);
	at = skip_prefixes(bytes, n);
	if (n - at >= CALL_OR_JUMP_BYTES && bytes[at] == 0xff &&
	    (bytes[at + 1] == 0x15 || bytes[at + 1] == 0x25)) {
		*ret = relative(bytes + at + 2, linked + at + CALL_OR_JUMP_BYTES);
		return THROUGH_POINTER;
	}
	if (n - at >= CALL_BYTES && (bytes[at] == 0xe8 || bytes[at] == 0xe9)) {
		*ret = relative(bytes + at + 1, linked + at + CALL_BYTES);
		return TO_CODE;
	}
	return NOWHERE;
}

/* --- relocations ------------------------------------------------------------------------------ */

static char *symbol_name(Elf *elf, size_t table, size_t number)
{
	Elf_Scn *section = elf_getscn(elf, table);
	Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
	GElf_Shdr header;
	GElf_Sym symbol;
	const char *name;

	if (!data || !number || number > INT_MAX || !gelf_getshdr(section, &header) ||
	    !gelf_getsym(data, (int)number, &symbol))
		return NULL;
	name = elf_strptr(elf, header.sh_link, symbol.st_name);
	return name && *name ? g_strdup(name) : NULL;
}

static char *find_in(Elf *elf, Elf_Scn *section, const GElf_Shdr *header, uint64_t place)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t n = data && header->sh_entsize ? data->d_size / header->sh_entsize : 0;

	for (size_t i = 0; i < MIN(n, (size_t)INT_MAX); i++) {
		GElf_Rela relocation;

		if (gelf_getrela(data, (int)i, &relocation) && relocation.r_offset == place)
			return symbol_name(elf, header->sh_link, GELF_R_SYM(relocation.r_info));
	}
	return NULL;
}

/* The symbol with whose address the dynamic linker fills the place. */
static char *name_of_place(Dwfl_Module *module, uint64_t place)
{
	GElf_Addr bias;
	Elf *elf = dwfl_module_getelf(module, &bias);
	Elf_Scn *section = NULL;
	char *name = NULL;

	while (elf && !name && (section = elf_nextscn(elf, section))) {
		GElf_Shdr header;

		if (gelf_getshdr(section, &header) && header.sh_type == SHT_RELA &&
		    header.sh_flags & SHF_ALLOC)
			name = find_in(elf, section, &header, place - bias);
	}
	return name;
}

char *pp_import_of_call(Dwfl_Module *module, uint64_t linked)
{
	uint64_t place;
	enum leads leads = follow(module, linked, &place);

	if (leads == TO_CODE)
		leads = follow(module, place, &place);
	return leads == THROUGH_POINTER ? name_of_place(module, place) : NULL;
}
