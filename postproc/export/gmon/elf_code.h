/* SPDX-License-Identifier: MIT */
/* What a gmon file says of the object it is about, from the ELF file on disk. */
#ifndef PP_EXPORT_GMON_ELF_CODE_H
#define PP_EXPORT_GMON_ELF_CODE_H

#include <stdint.h>

struct pp_elf_code {
	uint64_t start, end; /* link-time addresses of all executable segments, end exclusive */
	uint64_t entry;	     /* entry point or, for want of one, DT_INIT; 0: neither */
};

/*
 * Reads it if the file is still the one with that build-id (NULL: the object that ran had none).
 * NULL, or why not, in few words.
 */
const char *pp_elf_code_read(const char *path, const char *build_id, struct pp_elf_code *ret);

#endif
