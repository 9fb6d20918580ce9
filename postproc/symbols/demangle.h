/* SPDX-License-Identifier: MIT */
#ifndef PP_SYMBOLS_DEMANGLE_H
#define PP_SYMBOLS_DEMANGLE_H

enum pp_demangle {
	PP_DEMANGLE_FULL,   /* space::box<long>::take(int) const */
	PP_DEMANGLE_SIMPLE, /* space::box::take */
	PP_DEMANGLE_NO,	    /* _ZNK5space3boxIlE4takeEi */
};

/* A symbol's display name, without its version (@...), safe to print.  The caller frees it. */
char *pp_demangle(const char *symbol, enum pp_demangle how);

/*
 * Removes parameters, template arguments, and the return type from a demangled name.  The caller
 * frees the result.
 */
char *pp_demangle_simplify(const char *name);

#endif
