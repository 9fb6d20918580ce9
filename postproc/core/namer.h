/* SPDX-License-Identifier: MIT */
#ifndef PP_CORE_NAMER_H
#define PP_CORE_NAMER_H

#include <stdint.h>

#include <glib.h>

struct pp_process;

struct pp_frame {
	char *function;
	char *site; /* as below */
};

/* Names for addresses, given by whoever runs the passes; see symbols/symbols.h. */
struct pp_namer {
	void *data;
	/*
	 * "function (file:line)", or "function", or "0x..." for the code address in that process;
	 * a return address: the call before it is meant.  Caller frees.
	 */
	char *(*site)(void *data, const struct pp_process *process, uint64_t address);
	/*
	 * Of struct pp_frame *: what was inlined at that call, innermost first, and last the
	 * function that holds it; at least one.  Caller unrefs.  May be NULL.
	 */
	GPtrArray *(*frames)(void *data, const struct pp_process *process, uint64_t address);
	/*
	 * The path of the source file of that site, and the line; NULL: not known.  Caller frees.
	 * May be NULL.
	 */
	char *(*source)(void *data, const struct pp_process *process, uint64_t address,
			int *ret_line);
	/* The same of the function that holds it, whatever was inlined there. */
	char *(*holder)(void *data, const struct pp_process *process, uint64_t address,
			int *ret_line);
	/* Function name alone. */
	char *(*function)(void *data, const struct pp_process *process, uint64_t address);
	/* The variable that holds a data address: "lock", "table.lock"+8 as "table+8"; NULL: none.
	 */
	char *(*object)(void *data, const struct pp_process *process, uint64_t address);
	/*
	 * Where the function of that return address begins: tells functions of one name apart.
	 * 0: not known; may be NULL.
	 */
	uint64_t (*entry)(void *data, const struct pp_process *process, uint64_t address);
	/* The file, without directory, that the code at the address is from; NULL: none known. */
	char *(*file)(void *data, const struct pp_process *process, uint64_t address);
};

#endif
