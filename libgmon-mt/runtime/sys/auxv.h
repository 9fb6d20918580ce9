/* SPDX-License-Identifier: MIT */
/* Reads the auxiliary vector of the process (auxv.c). Calls no other code; async-signal-safe. */
#ifndef GM_RUNTIME_AUXV_H
#define GM_RUNTIME_AUXV_H

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>

/* Returns the value of an AT_... entry of the auxiliary vector; 0: no such entry. */
uint64_t gm_auxv(unsigned long type);

/*
 * Returns a function of a loaded object, given the address of its ELF header; NULL: no such
 * function. Takes no lock.
 */
void *gm_object_function(const void *elf, const char *name);

/*
 * Returns the name of the function at that address of the object, of several names any one; NULL:
 * it has none for other objects. Takes no lock.
 */
const char *gm_object_name(const void *elf, const void *function);

/* Returns a function of the vDSO; NULL: no such function. */
void *gm_vdso_function(const char *name);

#endif
