/* SPDX-License-Identifier: MIT */
/* One ELF object on disk: its symbols and source lines, by link-time address. */
#ifndef PP_INPUT_OBJECT_FILE_H
#define PP_INPUT_OBJECT_FILE_H

#include <stdint.h>

#include <glib.h>

struct pp_object_file;

/*
 * Opens the file, if it is still the one with that build-id (NULL: the object that ran had none).
 * Never NULL; see pp_object_file_fault().
 */
struct pp_object_file *pp_object_file_new(const char *path, const char *build_id);
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

/* The source line of the address, the file short; NULL: not known.  What was inlined from a header
 * is on the line that called it.  The caller frees it. */
char *pp_object_file_line(struct pp_object_file *object, uint64_t address, int *ret_line);

#endif
