/* SPDX-License-Identifier: MIT */
/*
 * Each function of code with unwind tables has an entry (FDE) in .eh_frame with its first address
 * and its length, encoded as the common entry (CIE) says.  Compilers and linkers for x86-64 write
 * addresses that are absolute or relative to their own place, with 4 or 8 bytes; entries with
 * another encoding are left out.  The file is untrusted: libdw checks the lengths of entries.
 */
#include "symbols/unwind_ranges.h"

#include <string.h>

#include <elfutils/libdw.h>
#include <gelf.h>

#include "symbols/ranges.h"

/* DW_EH_PE_*: the low half is the format, the high half says what an address is relative to. */
enum { EH_FORMAT = 0x0f, EH_RELATIVE = 0x70, EH_ABSOLUTE = 0, EH_TO_ITS_PLACE = 0x10 };

struct function {
	uint64_t start, end;
};

struct pp_unwind_ranges {
	struct pp_ranges ranges; /* numbers: positions in `functions` */
	GArray *functions;	 /* of struct function */
};

struct section {
	const unsigned char *ident;
	Elf_Data *data;
	uint64_t address;
};

/* The number of bytes of that format; 0: not supported. */
static unsigned format_bytes(unsigned encoding)
{
	switch (encoding & EH_FORMAT) {
	case 0x03: /* udata4 */
	case 0x0b: /* sdata4 */
		return 4;
	case 0x00: /* absptr */
	case 0x04: /* udata8 */
	case 0x0c: /* sdata8 */
		return 8;
	default:
		return 0;
	}
}

/* The encoding of addresses in the FDEs of a CIE.  Returns false if it is not supported. */
static bool encoding_of(const Dwarf_CIE *cie, unsigned *ret_encoding)
{
	const uint8_t *at = cie->augmentation_data;
	const uint8_t *end = at ? at + cie->augmentation_data_size : NULL;

	*ret_encoding = 0;
	if (cie->augmentation[0] != 'z')
		return cie->augmentation[0] == '\0';
	for (const char *letter = cie->augmentation + 1; *letter; letter++) {
		if (*letter == 'S' || *letter == 'B')
			continue;
		if (!at || at >= end)
			return false;
		if (*letter == 'R') {
			*ret_encoding = *at;
			return true;
		}
		if (*letter == 'P' && format_bytes(*at))
			at += format_bytes(*at);
		else if (*letter != 'L')
			return false;
		at++;
	}
	return true;
}

static uint64_t read_number(const uint8_t *at, unsigned encoding)
{
	uint64_t wide;
	uint32_t narrow;

	if (format_bytes(encoding) == 8) {
		memcpy(&wide, at, sizeof(wide));
		return wide;
	}
	memcpy(&narrow, at, sizeof(narrow));
	return (encoding & EH_FORMAT) == 0x0b ? (uint64_t)(int64_t)(int32_t)narrow : narrow;
}

static void add_fde(struct pp_unwind_ranges *ranges, const struct section *section,
		    const Dwarf_FDE *fde, unsigned encoding)
{
	unsigned bytes = format_bytes(encoding), relative = encoding & EH_RELATIVE;
	struct function function;
	uint64_t start, length;

	if (!bytes || (encoding & 0x80) || (size_t)(fde->end - fde->start) < 2 * (size_t)bytes ||
	    (relative != EH_ABSOLUTE && relative != EH_TO_ITS_PLACE))
		return;
	start = read_number(fde->start, encoding);
	if (relative == EH_TO_ITS_PLACE)
		start += section->address +
			 (uint64_t)(fde->start - (const uint8_t *)section->data->d_buf);
	length = read_number(fde->start + bytes, bytes == 4 ? 0x03 : 0x04);
	if (start + length < start)
		return;
	function = (struct function){start, start + length};
	pp_ranges_add(&ranges->ranges, function.start, function.end, ranges->functions->len);
	g_array_append_val(ranges->functions, function);
}

static void read_section(struct pp_unwind_ranges *ranges, const struct section *section)
{
	Dwarf_Off offset = 0, next = 0, cie_at = 0;
	Dwarf_CFI_Entry entry;
	unsigned encoding = 0;
	bool is_known = false;

	for (;; offset = next) {
		/* After an error, `next` may be unchanged. */
		int ret =
		    dwarf_next_cfi(section->ident, section->data, true, offset, &next, &entry);

		if (ret == 1 || next <= offset)
			return;
		if (ret != 0)
			continue;
		if (dwarf_cfi_cie_p(&entry)) {
			is_known = encoding_of(&entry.cie, &encoding);
			cie_at = offset;
			continue;
		}
		if (entry.fde.CIE_pointer != cie_at) {
			Dwarf_CFI_Entry cie;
			Dwarf_Off after;

			cie_at = entry.fde.CIE_pointer;
			is_known = dwarf_next_cfi(section->ident, section->data, true, cie_at,
						  &after, &cie) == 0 &&
				   dwarf_cfi_cie_p(&cie) && encoding_of(&cie.cie, &encoding);
		}
		if (is_known)
			add_fde(ranges, section, &entry.fde, encoding);
	}
}

static void find_section(struct pp_unwind_ranges *ranges, Elf *elf)
{
	Elf_Scn *found = NULL;
	size_t names;

	if (gelf_getclass(elf) != ELFCLASS64 || elf_getshdrstrndx(elf, &names))
		return;
	while ((found = elf_nextscn(elf, found))) {
		struct section section = {.ident = (const unsigned char *)elf_getident(elf, NULL)};
		const char *name;
		GElf_Shdr header;

		if (!gelf_getshdr(found, &header) || header.sh_type == SHT_NOBITS)
			continue;
		name = elf_strptr(elf, names, header.sh_name);
		if (!name || strcmp(name, ".eh_frame") != 0)
			continue;
		section.data = elf_getdata(found, NULL);
		section.address = header.sh_addr;
		if (section.data && section.data->d_buf)
			read_section(ranges, &section);
	}
}

struct pp_unwind_ranges *pp_unwind_ranges_new(Dwfl_Module *module)
{
	struct pp_unwind_ranges *ranges = g_new0(struct pp_unwind_ranges, 1);
	GElf_Addr bias;
	Elf *elf = dwfl_module_getelf(module, &bias);

	pp_ranges_init(&ranges->ranges);
	ranges->functions = g_array_new(FALSE, FALSE, sizeof(struct function));
	if (elf)
		find_section(ranges, elf);
	pp_ranges_sort(&ranges->ranges);
	return ranges;
}

void pp_unwind_ranges_free(struct pp_unwind_ranges *ranges)
{
	if (!ranges)
		return;
	pp_ranges_done(&ranges->ranges);
	g_array_unref(ranges->functions);
	g_free(ranges);
}

bool pp_unwind_ranges_find(const struct pp_unwind_ranges *ranges, uint64_t address,
			   uint64_t *ret_start)
{
	uint32_t number;

	if (!pp_ranges_find(&ranges->ranges, address, &number))
		return false;
	*ret_start = g_array_index(ranges->functions, struct function, number).start;
	return true;
}

void pp_unwind_ranges_each(const struct pp_unwind_ranges *ranges,
			   void (*each)(void *arg, uint64_t start, uint64_t end), void *arg)
{
	for (guint i = 0; i < ranges->functions->len; i++) {
		const struct function *function =
		    &g_array_index(ranges->functions, struct function, i);

		each(arg, function->start, function->end);
	}
}
