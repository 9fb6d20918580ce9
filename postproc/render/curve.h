/* SPDX-License-Identifier: MIT */
/* A plot of lines as SVG, for pages: without scripts, and with the page's colors. */
#ifndef PP_RENDER_CURVE_H
#define PP_RENDER_CURVE_H

#include <glib.h>

struct pp_curve_point {
	double x, y; /* above 0 */
};

struct pp_curve_line {
	const char *name;
	const struct pp_curve_point *points; /* of rising x */
	unsigned n;
};

struct pp_curve {
	const char *x_title, *y_title;
	const struct pp_curve_line *lines;
	unsigned n_lines; /* up to 3 */
};

/* Both axes begin at 0.  Appends nothing if no line has a point. */
void pp_render_curve(GString *to, const struct pp_curve *curve);

#endif
