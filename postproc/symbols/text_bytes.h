/* SPDX-License-Identifier: MIT */
/* The machine code of an object file. */
#ifndef PP_SYMBOLS_TEXT_BYTES_H
#define PP_SYMBOLS_TEXT_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <elfutils/libdwfl.h>

/* Lent as long as the module exists. */
struct pp_text_bytes {
	const uint8_t *bytes;
	uint64_t start; /* address of the first one */
	size_t n;
};

/*
 * The bytes of the section that contains the link-time address.  Returns false if it has no code of
 * x86-64, or if that is not in the file.
 */
bool pp_text_bytes_find(Dwfl_Module *module, uint64_t linked, struct pp_text_bytes *ret);

#endif
