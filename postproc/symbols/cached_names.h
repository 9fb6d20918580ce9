/* SPDX-License-Identifier: MIT */
/*
 * What was found out about addresses of an object: raw names, from which what is shown is made, so
 * that it does not matter how names are to be shown.  Link-time addresses; "nothing is known" is an
 * answer, too.  In memory, and as bytes, which are read as anybody's (symbols/symbol_cache.h).
 */
#ifndef PP_SYMBOLS_CACHED_NAMES_H
#define PP_SYMBOLS_CACHED_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

struct pp_cached_names;

enum pp_symbol_kind { PP_SYMBOL_FUNCTION, PP_SYMBOL_VARIABLE, PP_N_SYMBOL_KINDS };

/* The symbol that holds an address. */
struct pp_symbol {
	uint64_t start;
	const char *name; /* as the linker knows it; NULL: there is none */
	bool is_local;
};

/* As of symbols/object_file.h, but raw. */
struct pp_raw_frame {
	const char *function; /* NULL: not known */
	const char *file;     /* NULL: not known */
	int line;
};

struct pp_cached_names *pp_cached_names_new(void);
void pp_cached_names_free(struct pp_cached_names *cached);

/* NULL: not asked yet.  All texts live as long as `cached`. */
const struct pp_symbol *pp_cached_names_symbol(const struct pp_cached_names *cached,
					       enum pp_symbol_kind kind, uint64_t address);
/* Of struct pp_raw_frame. */
const GArray *pp_cached_names_frames(const struct pp_cached_names *cached, uint64_t address);

/* Copies; return what the above will. */
const struct pp_symbol *pp_cached_names_add_symbol(struct pp_cached_names *cached,
						   enum pp_symbol_kind kind, uint64_t address,
						   const struct pp_symbol *symbol);
const GArray *pp_cached_names_add_frames(struct pp_cached_names *cached, uint64_t address,
					 const GArray *frames);

/* Whether anything was added since they were made or read. */
bool pp_cached_names_have_grown(const struct pp_cached_names *cached);

/* `key` says what the cached names are about. */
GBytes *pp_cached_names_write(const struct pp_cached_names *cached, const char *key);

/* Takes them in; false, and nothing is taken: damaged, or about something else. */
bool pp_cached_names_read(struct pp_cached_names *cached, GBytes *bytes, const char *key);

#endif
