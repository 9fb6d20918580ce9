/* SPDX-License-Identifier: MIT */
/* The pages of the program's own writable data. */
#include <link.h>
#include <stdint.h>

#include "access/access.h"

#define PAGE_BYTES ((uintptr_t)4096)

/* Called for the program itself, which is the first object. */
static int note_data(struct dl_phdr_info *info, size_t n_bytes, void *data)
{
	struct st_access_functions *functions = data;

	(void)n_bytes;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];

		if (part->p_type == PT_LOAD && (part->p_flags & PF_W) != 0) {
			uintptr_t start = info->dlpi_addr + part->p_vaddr;

			functions->data_start = start & -PAGE_BYTES;
			functions->data_end =
			    (start + part->p_memsz + PAGE_BYTES - 1) & -PAGE_BYTES;
		}
	}
	return 1;
}

void access_find_data(struct st_access_functions *functions)
{
	dl_iterate_phdr(note_data, functions);
}
