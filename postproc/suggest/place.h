/* SPDX-License-Identifier: MIT */
/* The parts of a call site's name, "function (file:line)". */
#ifndef PP_SUGGEST_PLACE_H
#define PP_SUGGEST_PLACE_H

#include <stdbool.h>

struct pp_suggest_code {
	char *function, *file;
	int line;
};

/* Returns false if the name has no line.  The caller calls pp_suggest_code_done() in both cases. */
bool pp_suggest_code_read(const char *name, struct pp_suggest_code *ret);
void pp_suggest_code_done(struct pp_suggest_code *code);

/* "work (a.c)" of "work (a.c:12)"; other names as they are.  The caller frees it. */
char *pp_suggest_function_of(const char *name);

#endif
