/* SPDX-License-Identifier: MIT */
/* Sets of code addresses, as uint64_t *. */
#ifndef PP_CLI_SUGGEST_ADDRESSES_H
#define PP_CLI_SUGGEST_ADDRESSES_H

#include <stdint.h>

#include <glib.h>

GHashTable *pp_suggest_addresses_new(void);

/* 0 is no address. */
void pp_suggest_addresses_add(GHashTable *set, uint64_t address);
void pp_suggest_addresses_add_all(GHashTable *set, GHashTable *others);

#endif
