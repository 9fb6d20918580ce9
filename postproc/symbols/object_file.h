/* SPDX-License-Identifier: MIT */
/* One ELF object on disk: its symbols and source lines, by link-time address. */
#ifndef PP_SYMBOLS_OBJECT_FILE_H
#define PP_SYMBOLS_OBJECT_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "symbols/demangle.h"

struct pp_object_file;

struct pp_symbols_options {
	enum pp_demangle demangle;
	bool no_inline; /* only the functions that are called as such */
	bool no_cache;	/* cached names of earlier runs are neither read nor written */
};

/*
 * Opens the file, if it is still the one with that build-id (NULL: the object that ran had none).
 * Never NULL; see pp_object_file_fault().
 */
struct pp_object_file *pp_object_file_new(const char *path, const char *build_id,
					  const struct pp_symbols_options *options);
/* What was found out is kept for the next run. */
void pp_object_file_free(struct pp_object_file *object);

/* Why it has no names to give: "build-id differs"; NULL: nothing is wrong with it. */
const char *pp_object_file_fault(const struct pp_object_file *object);

/* Base name of the path. */
const char *pp_object_file_name(const struct pp_object_file *object);

/* The function that holds the address, demangled, and where it begins; NULL: no symbol.  Not with a
 * fault.
 */
const char *pp_object_file_function(struct pp_object_file *object, uint64_t address,
				    uint64_t *ret_start);

/* The variable that holds the address, and how far in; NULL: none. */
const char *pp_object_file_variable(struct pp_object_file *object, uint64_t address,
				    uint64_t *ret_offset);

/* A function that the code of an address is of, and where in it. */
struct pp_source_frame {
	char *function;
	char *file; /* short; NULL: not known */
	int line;
	bool is_header; /* the file is one, where the likes of std::mutex::lock() stand */
};

/*
 * Of struct pp_source_frame: what was inlined there, innermost first, and last the function that
 * holds the address.  Empty: nothing is known of it.  The caller unrefs it.
 */
GArray *pp_object_file_frames(struct pp_object_file *object, uint64_t address);

/*
 * The path of the file of one of these frames, by position; absolute where the compiler's directory
 * is known.  NULL: there is none.  The caller frees it.
 */
char *pp_object_file_path(struct pp_object_file *object, uint64_t address, guint frame);

#endif
