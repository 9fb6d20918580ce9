/* SPDX-License-Identifier: MIT */
/* Fits the columns of a text table into the width of a line, and wraps lines of prose. */
#ifndef PP_RENDER_FIT_H
#define PP_RENDER_FIT_H

#include <stdbool.h>

#include <glib.h>

struct pp_fit_column {
	unsigned width;	   /* of its widest cell; 0: not shown */
	unsigned least;	   /* it is never cut below this width: that of its title, or all of it */
	unsigned readable; /* ... nor below this one while another column can be left out */
	int weight;	   /* INT_MAX: stays */
};

/*
 * Reduces widths until all columns, each after `gap` blanks, fit into `limit` characters.  Texts
 * are cut to a readable width first, then columns are left out (width 0), those of the lowest
 * weight and the rightmost first; each of these returns if there is room for it.  If those that
 * stay are too wide, they are cut further.
 */
void pp_fit_columns(struct pp_fit_column *columns, unsigned n, unsigned gap, unsigned limit);

/*
 * "begin...end" of that width, or "begin...", if the text is longer.  Takes ownership; the caller
 * frees the result.
 */
char *pp_fit_cut(char *text, unsigned width, bool at_end);

/* Appends the line, broken between words, with continuations indented; 0: unbroken. */
void pp_fit_wrap(GString *to, const char *line, unsigned width, unsigned indent);

#endif
