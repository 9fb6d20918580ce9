/* SPDX-License-Identifier: MIT */
/* An ELF object file: its symbols and source lines, by link-time address. */
#ifndef PP_SYMBOLS_OBJECT_FILE_H
#define PP_SYMBOLS_OBJECT_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "symbols/demangle.h"
#include "symbols/text_bytes.h"

struct pp_object_file;

struct pp_symbols_options {
	enum pp_demangle demangle;
	bool no_inline; /* omit inlined functions */
	bool no_cache;	/* neither read nor write cached names */
};

/*
 * Opens the file if its build-id matches (NULL: the object had none).  Never returns NULL; see
 * pp_object_file_fault().
 */
struct pp_object_file *pp_object_file_new(const char *path, const char *build_id,
					  const struct pp_symbols_options *options);
/* Saves new names for later runs. */
void pp_object_file_free(struct pp_object_file *object);

/* The reason why the object has no names, "build-id differs"; NULL if it has. */
const char *pp_object_file_fault(const struct pp_object_file *object);

/* The base name of the path. */
const char *pp_object_file_name(const struct pp_object_file *object);

/* True if the code at the address is of gprof-mt's libraries, also if it was linked statically. */
bool pp_object_file_is_own(struct pp_object_file *object, uint64_t address);

/*
 * The demangled function that contains the address, and its start; NULL if there is no symbol, with
 * the start by the unwind tables, or 0 if that is unknown, too.  Not to be called if there is a
 * fault.
 */
const char *pp_object_file_function(struct pp_object_file *object, uint64_t address,
				    uint64_t *ret_start);

/*
 * The start of the function of which the compiler made a part into the function that contains the
 * address, for OpenMP; 0: it is not such a function.  Not to be called if there is a fault.
 */
uint64_t pp_object_file_outlined_from(struct pp_object_file *object, uint64_t address);

/*
 * The part of a variable that contains the address, "queue.not_full" or "locks[3]", by its type in
 * DWARF; or else the offset in bytes, "queue+88".  NULL if there is no variable.  The caller frees
 * it.
 */
char *pp_object_file_variable(struct pp_object_file *object, uint64_t address);

/* See symbols/text_bytes.h.  Not to be called if there is a fault. */
bool pp_object_file_text(struct pp_object_file *object, uint64_t address,
			 struct pp_text_bytes *ret);

/* See symbols/imports.h.  Not to be called if there is a fault. */
char *pp_object_file_import(struct pp_object_file *object, uint64_t address);

/* A function that contains the address, and the position in it. */
struct pp_source_frame {
	char *function;
	const char *symbol; /* its linkage name, or the name in the source; NULL: not known */
	char *file;	    /* short; NULL: not known */
	int line;
	bool is_header;	 /* it may contain functions such as std::mutex::lock() */
	bool is_wrapper; /* inlined: its only purpose is the call before the address */
};

/*
 * An array of struct pp_source_frame: the functions inlined at the address, innermost first, then
 * the containing function.  Empty if nothing is known.  The caller unrefs it.
 */
GArray *pp_object_file_frames(struct pp_object_file *object, uint64_t address);

/* See symbols/function_search.h.  Not to be called if there is a fault. */
void pp_object_file_search(struct pp_object_file *object, const char *list, bool *found,
			   unsigned n_names);

/*
 * See symbols/instrumented.h; true also for gprof-mt's own libraries, which record nothing of
 * themselves.  Not to be called if there is a fault.
 */
bool pp_object_file_is_instrumented(struct pp_object_file *object);
void pp_object_file_plain_units(struct pp_object_file *object, GPtrArray *names);

/*
 * The path of a frame's file, by the frame's position; absolute if the compiler's directory is
 * known.  NULL if there is none.  The caller frees it.
 */
char *pp_object_file_path(struct pp_object_file *object, uint64_t address, guint frame);

/* The same as pp_allocated_part(), printable.  The object must have no fault. */
char *pp_object_file_allocated(struct pp_object_file *object, uint64_t site, uint64_t n_bytes,
			       uint64_t offset);

#endif
