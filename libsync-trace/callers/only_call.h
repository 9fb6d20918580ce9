/* SPDX-License-Identifier: MIT */
/* Recognizes wrappers by the calls in their code. */
#ifndef ST_ONLY_CALL_H
#define ST_ONLY_CALL_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/unwind/table.h"

struct st_function {
	uintptr_t start, end;
};

/* Finds the bounds of the function at this address by the unwind tables. */
bool st_function_find(const struct gm_running *module, uintptr_t address, struct st_function *ret);

/*
 * True if the call that returns to `site` names its callee, instead of taking it from a variable: a
 * callback or the start routine of a thread has no call site that tells more than its own.
 */
bool st_call_is_direct(const struct gm_running *module, uintptr_t site);

/*
 * True if the function is short and the call that returns to `site` is its only purpose: all its
 * other calls are of the same function, or harmless (reporting an error, profiling, allocating).
 */
bool st_call_is_only(const struct gm_running *module, const struct st_function *function,
		     uintptr_t site);

#endif
