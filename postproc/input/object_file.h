/* SPDX-License-Identifier: MIT */
/* One ELF object on disk: its symbols and source lines, by link-time address. */
#ifndef PP_INPUT_OBJECT_FILE_H
#define PP_INPUT_OBJECT_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "input/demangle.h"

struct pp_object_file;

/*
 * Opens the file, if it is still the one with that build-id (NULL: the object that ran had none).
 * Never NULL; see pp_object_file_fault().
 */
struct pp_object_file *pp_object_file_new(const char *path, const char *build_id,
					  enum pp_demangle demangle);
void pp_object_file_free(struct pp_object_file *object);

/* Why it has no names to give: "build-id differs"; NULL: nothing is wrong with it. */
const char *pp_object_file_fault(const struct pp_object_file *object);

/* Base name of the path. */
const char *pp_object_file_name(const struct pp_object_file *object);

/* The function that holds the address, demangled, and where it begins; NULL: no symbol. */
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

#endif
