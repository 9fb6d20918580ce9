/* SPDX-License-Identifier: MIT */
/* Reads the auxiliary vector of the process (auxv.c).  Calls nothing; async-signal-safe. */
#ifndef GM_RUNTIME_AUXV_H
#define GM_RUNTIME_AUXV_H

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>

/* An entry of the auxiliary vector, AT_...; 0: it has none. */
uint64_t gm_auxv(unsigned long type);

/* A function of a loaded object, by where its ELF header is; NULL: there is none.  No lock. */
void *gm_object_function(const void *elf, const char *name);

/* A function of the vDSO; NULL: there is none. */
void *gm_vdso_function(const char *name);

#endif
