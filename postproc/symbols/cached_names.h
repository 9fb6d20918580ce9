/* SPDX-License-Identifier: MIT */
/*
 * The names found for an object's link-time addresses.  They are raw, so the cache does not depend
 * on display options.  The absence of a name is cached, too.  Names are kept in memory, and can be
 * written as bytes; bytes are treated as untrusted data when they are read
 * (symbols/symbol_cache.h).
 */
#ifndef PP_SYMBOLS_CACHED_NAMES_H
#define PP_SYMBOLS_CACHED_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

struct pp_cached_names;

/* PP_SYMBOL_PART: of a variable; its name is as in symbols/variables.h, its start is known. */
enum pp_symbol_kind { PP_SYMBOL_FUNCTION, PP_SYMBOL_VARIABLE, PP_SYMBOL_PART, PP_N_SYMBOL_KINDS };

/* The symbol that contains an address. */
struct pp_symbol {
	uint64_t start;	  /* without a name: by the unwind tables; 0: unknown */
	const char *name; /* as in the symbol table; NULL: there is no symbol */
	bool is_local;
};

/* As in symbols/object_file.h, but with raw names. */
struct pp_raw_frame {
	const char *function; /* NULL: not known */
	const char *file;     /* NULL: not known */
	int line;
	bool is_wrapper;
};

struct pp_cached_names *pp_cached_names_new(void);
void pp_cached_names_free(struct pp_cached_names *cached);

/* NULL if the address was not looked up yet.  All texts are valid as long as `cached`. */
const struct pp_symbol *pp_cached_names_symbol(const struct pp_cached_names *cached,
					       enum pp_symbol_kind kind, uint64_t address);
/* The frames of an address, of struct pp_raw_frame; NULL as above. */
const GArray *pp_cached_names_frames(const struct pp_cached_names *cached, uint64_t address);

/* Add copies, and return what the functions above will return. */
const struct pp_symbol *pp_cached_names_add_symbol(struct pp_cached_names *cached,
						   enum pp_symbol_kind kind, uint64_t address,
						   const struct pp_symbol *symbol);
const GArray *pp_cached_names_add_frames(struct pp_cached_names *cached, uint64_t address,
					 const GArray *frames);

/* True if a name was added since creation or pp_cached_names_read(). */
bool pp_cached_names_have_grown(const struct pp_cached_names *cached);

/* The cached names as bytes.  `key` identifies the object's files. */
GBytes *pp_cached_names_write(const struct pp_cached_names *cached, const char *key);

/*
 * Adds the names in `bytes`. Returns false, without adding any, if they are damaged or have another
 * key.
 */
bool pp_cached_names_read(struct pp_cached_names *cached, GBytes *bytes, const char *key);

#endif
