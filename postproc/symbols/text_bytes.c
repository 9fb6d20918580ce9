/* SPDX-License-Identifier: MIT */
/* See text_bytes.h. */
#include "symbols/text_bytes.h"

static bool is_x86_64(Elf *elf)
{
	GElf_Ehdr header;

	return gelf_getehdr(elf, &header) && header.e_machine == EM_X86_64;
}

bool pp_text_bytes_find(Dwfl_Module *module, uint64_t linked, struct pp_text_bytes *ret)
{
	GElf_Addr bias;
	Elf *elf = dwfl_module_getelf(module, &bias);
	Elf_Scn *section = NULL;

	if (!elf || !is_x86_64(elf))
		return false;
	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		Elf_Data *data;

		if (!gelf_getshdr(section, &header) || !(header.sh_flags & SHF_EXECINSTR) ||
		    header.sh_type != SHT_PROGBITS ||
		    linked - bias - header.sh_addr >= header.sh_size)
			continue;
		data = elf_rawdata(section, NULL);
		if (!data || !data->d_buf)
			return false;
		*ret = (struct pp_text_bytes){data->d_buf, header.sh_addr + bias, data->d_size};
		return true;
	}
	return false;
}
