/* SPDX-License-Identifier: MIT */
/*
 * Functions that the user names as wrappers: [names] wrappers.
 *
 * Their symbols are read from the file of the object whose code makes a call, at the first use of
 * that call's return address, since the loader maps only the dynamic ones. Async-signal-safe.
 */
#ifndef ST_NAMED_FUNCTIONS_H
#define ST_NAMED_FUNCTIONS_H

#include <stdbool.h>
#include <stdint.h>

struct gm_running;

/* `list`: "a,b"; it stays valid. Returns false if it is the one of before. */
bool st_named_open(const char *list);

/* False if no function is named. */
bool st_named_exist(void);

/* An object was unloaded: another may be mapped at its addresses. */
void st_named_forget(void);

/*
 * True if a named function begins at `start`. False, too, if the object's file has no symbols or is
 * another one by now, and in a thread that must not make system calls.
 */
bool st_named_is(const struct gm_running *module, uintptr_t start);

#endif
