/* SPDX-License-Identifier: MIT */
#ifndef PP_CORE_NAMER_H
#define PP_CORE_NAMER_H

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

struct pp_process;

struct pp_frame {
	char *function;
	char *site; /* as below */
};

/* Names for addresses, as callbacks that the caller of the passes sets; see symbols/symbols.h. */
struct pp_namer {
	void *data;
	/*
	 * The name of a code address in the process: "function (file:line)", "function", or
	 * "0x...".  A return address names the call before it.  The caller frees it.
	 */
	char *(*site)(void *data, const struct pp_process *process, uint64_t address);
	/*
	 * An array of struct pp_frame *: the functions inlined at that call, innermost first, then
	 * the function that contains it.  It has at least one element; the caller unrefs it.  The
	 * callback may be NULL.
	 */
	GPtrArray *(*frames)(void *data, const struct pp_process *process, uint64_t address);
	/*
	 * The path of the call site's source file, and the line; NULL if not known.  The caller
	 * frees it.  The callback may be NULL.
	 */
	char *(*source)(void *data, const struct pp_process *process, uint64_t address,
			int *ret_line);
	/* The same for the call itself, which may be in an inlined wrapper. */
	char *(*call_line)(void *data, const struct pp_process *process, uint64_t address,
			   int *ret_line);
	/* The same for the containing function, without inlined ones. */
	char *(*holder)(void *data, const struct pp_process *process, uint64_t address,
			int *ret_line);
	/* The function's name alone. */
	char *(*function)(void *data, const struct pp_process *process, uint64_t address);
	/*
	 * The variable, or the part of one, that holds a data address: "lock", "queue.not_full",
	 * "table[3].lock", or "table+8" where its type is not known; NULL if there is none.
	 */
	char *(*object)(void *data, const struct pp_process *process, uint64_t address);
	/*
	 * The part at an offset of a block of the heap of `n_bytes`, allocated by the call that
	 * returns to `site`: "struct node.left", "struct entry[3].count"; NULL if its type is not
	 * known.  The caller frees it.  The callback may be NULL.
	 */
	char *(*allocated)(void *data, const struct pp_process *process, uint64_t site,
			   uint64_t n_bytes, uint64_t offset);
	/*
	 * The position of an address in the file that was loaded there, the same in each run of
	 * one build: "module+0x1234"; and the file's build-id, NULL if it has none.  NULL if no
	 * file was loaded there.  The caller frees both.  The callback may be NULL.
	 */
	char *(*place)(void *data, const struct pp_process *process, uint64_t address,
		       char **ret_build_id);
	/*
	 * The entry address of the function that contains the return address: it distinguishes
	 * functions with the same name.  0 if not known.  The callback may be NULL.
	 */
	uint64_t (*entry)(void *data, const struct pp_process *process, uint64_t address);
	/*
	 * For a return address in a function that the compiler made of a part of another one, which
	 * OpenMP's threads execute ("main._omp_fn.0"): a return address at the beginning of that
	 * one.  0 if it is not such a function.  The callback may be NULL.
	 */
	uint64_t (*outlined_from)(void *data, const struct pp_process *process, uint64_t address);
	/*
	 * True if the code address belongs to a library of gprof-mt, also if it was linked
	 * statically.  The callback may be NULL.
	 */
	bool (*is_own)(void *data, const struct pp_process *process, uint64_t address);
	/*
	 * Adds names (char *, for the arrays to free) of objects of the process that were not
	 * compiled with -fsanitize=thread, and of such source files in other objects, as far as
	 * that is known; the C library is left out.  The callback may be NULL.
	 */
	void (*uninstrumented)(void *data, const struct pp_process *process, GPtrArray *objects,
			       GPtrArray *files);
};

#endif
