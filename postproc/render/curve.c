/* SPDX-License-Identifier: MIT */
/*
 * Coordinates are computed here; the page scales the drawing.  Numbers are written with one digit
 * behind the point, and independent of the locale.
 */
#include "render/curve.h"

#include <math.h>

#define WIDTH  640.0
#define HEIGHT 320.0
#define LEFT   60.0
#define RIGHT  20.0
#define TOP    20.0
#define BOTTOM 45.0

#define MAX_TICKS 6

static const char *const dashes[] = {"", "6 4", "1 5"};

struct plot {
	double max_x, max_y;
};

static double left_of(const struct plot *plot, double x)
{
	return LEFT + x / plot->max_x * (WIDTH - LEFT - RIGHT);
}

static double top_of(const struct plot *plot, double y)
{
	return HEIGHT - BOTTOM - y / plot->max_y * (HEIGHT - TOP - BOTTOM);
}

static void append_number(GString *to, const char *format, double number)
{
	char text[G_ASCII_DTOSTR_BUF_SIZE];

	g_string_append(to, g_ascii_formatd(text, sizeof(text), format, number));
}

static void append_attribute(GString *to, const char *name, double number)
{
	g_string_append_printf(to, " %s=\"", name);
	append_number(to, "%.1f", number);
	g_string_append_c(to, '"');
}

static void append_line(GString *to, double x1, double y1, double x2, double y2,
			const char *attributes)
{
	g_string_append(to, "<line");
	append_attribute(to, "x1", x1);
	append_attribute(to, "y1", y1);
	append_attribute(to, "x2", x2);
	append_attribute(to, "y2", y2);
	g_string_append_printf(to, " stroke=\"currentColor\"%s/>\n", attributes);
}

static void append_text(GString *to, double x, double y, const char *anchor, const char *text)
{
	g_autofree char *escaped = g_markup_escape_text(text, -1);

	g_string_append(to, "<text fill=\"currentColor\" font-size=\"12\"");
	append_attribute(to, "x", x);
	append_attribute(to, "y", y);
	g_string_append_printf(to, " text-anchor=\"%s\">%s</text>\n", anchor, escaped);
}

/* A step of 1, 2 or 5 times a power of 10, so that there are few ticks. */
static double tick_step(double max)
{
	double power = pow(10, floor(log10(max / MAX_TICKS)));
	static const double factors[] = {1, 2, 5, 10};

	for (unsigned i = 0; i < G_N_ELEMENTS(factors); i++)
		if (max / (factors[i] * power) <= MAX_TICKS)
			return factors[i] * power;
	return 10 * power;
}

static void append_axes(GString *to, const struct plot *plot, const struct pp_curve *curve)
{
	double step_x = tick_step(plot->max_x), step_y = tick_step(plot->max_y);
	double bottom = HEIGHT - BOTTOM;
	char text[G_ASCII_DTOSTR_BUF_SIZE];

	append_line(to, LEFT, bottom, WIDTH - RIGHT, bottom, "");
	append_line(to, LEFT, TOP, LEFT, bottom, "");
	for (int i = 1; i * step_x <= plot->max_x * 1.001; i++) {
		g_ascii_formatd(text, sizeof(text), "%g", i * step_x);
		append_text(to, left_of(plot, i * step_x), bottom + 16, "middle", text);
	}
	for (int i = 1; i * step_y <= plot->max_y * 1.001; i++) {
		double y = top_of(plot, i * step_y);

		g_ascii_formatd(text, sizeof(text), "%g", i * step_y);
		append_line(to, LEFT, y, WIDTH - RIGHT, y, " stroke-opacity=\"0.2\"");
		append_text(to, LEFT - 6, y + 4, "end", text);
	}
	append_text(to, WIDTH - RIGHT, HEIGHT - 8, "end", curve->x_title);
	append_text(to, LEFT + 6, TOP - 6, "start", curve->y_title);
}

static void append_curve(GString *to, const struct plot *plot, const struct pp_curve_line *line,
			 unsigned number)
{
	const struct pp_curve_point *last = &line->points[line->n - 1];

	g_string_append_printf(to,
			       "<polyline fill=\"none\" stroke=\"currentColor\" stroke-width=\"2\" "
			       "stroke-dasharray=\"%s\" points=\"",
			       dashes[number % G_N_ELEMENTS(dashes)]);
	for (unsigned i = 0; i < line->n; i++) {
		append_number(to, "%.1f", left_of(plot, line->points[i].x));
		g_string_append_c(to, ',');
		append_number(to, "%.1f ", top_of(plot, line->points[i].y));
	}
	g_string_append(to, "\"/>\n");
	append_text(to, left_of(plot, last->x) - 4, top_of(plot, last->y) - 6, "end", line->name);
}

void pp_render_curve(GString *to, const struct pp_curve *curve)
{
	struct plot plot = {0};

	for (unsigned i = 0; i < curve->n_lines; i++)
		for (unsigned k = 0; k < curve->lines[i].n; k++) {
			plot.max_x = fmax(plot.max_x, curve->lines[i].points[k].x);
			plot.max_y = fmax(plot.max_y, curve->lines[i].points[k].y);
		}
	if (plot.max_x <= 0 || plot.max_y <= 0)
		return;
	g_string_append_printf(to,
			       "<svg viewBox=\"0 0 %d %d\" width=\"%d\" role=\"img\" "
			       "aria-label=\"plot\">\n",
			       (int)WIDTH, (int)HEIGHT, (int)WIDTH);
	append_axes(to, &plot, curve);
	for (unsigned i = 0; i < curve->n_lines; i++)
		if (curve->lines[i].n)
			append_curve(to, &plot, &curve->lines[i], i);
	g_string_append(to, "</svg>\n");
}
