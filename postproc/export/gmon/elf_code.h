/* SPDX-License-Identifier: MIT */
/* The data on an object that a gmon file needs from the ELF file on disk. */
#ifndef PP_EXPORT_GMON_ELF_CODE_H
#define PP_EXPORT_GMON_ELF_CODE_H

#include <stdint.h>

struct pp_elf_code {
	uint64_t start, end; /* link-time addresses of all executable segments; end is exclusive */
	uint64_t entry;	     /* entry point, or else DT_INIT; 0: neither */
};

/*
 * Reads the file if its build-id still matches (NULL: the object that ran had none).  Returns NULL,
 * or a short reason why not.
 */
const char *pp_elf_code_read(const char *path, const char *build_id, struct pp_elf_code *ret);

#endif
