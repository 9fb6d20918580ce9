/* SPDX-License-Identifier: MIT */
#ifndef PP_SYMBOLS_DEMANGLE_H
#define PP_SYMBOLS_DEMANGLE_H

enum pp_demangle {
	PP_DEMANGLE_FULL,   /* space::box<long>::take(int) const */
	PP_DEMANGLE_SIMPLE, /* space::box::take */
	PP_DEMANGLE_NO,	    /* _ZNK5space3boxIlE4takeEi */
};

/* A symbol's name as it is shown, without a version (@...), fit to print.  The caller frees it. */
char *pp_demangle(const char *symbol, enum pp_demangle how);

/* A demangled name without parameters, template arguments, and type of the result. */
char *pp_demangle_simplify(const char *name);

#endif
