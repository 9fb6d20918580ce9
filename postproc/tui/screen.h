/* SPDX-License-Identifier: MIT */
/*
 * The terminal: what of curses the browser needs.  Text may be any UTF-8 that pp_printable() let
 * through; where the locale has none, what is not ASCII is shown as '?'.
 *
 * Signals are blocked but while a key is waited for, so that none comes in the midst of drawing.
 */
#ifndef PP_TUI_SCREEN_H
#define PP_TUI_SCREEN_H

#include <stdbool.h>
#include <signal.h>

#include "core/error.h"

enum pp_style {
	PP_STYLE_PLAIN,
	PP_STYLE_BOLD,
	PP_STYLE_REVERSE,
	PP_STYLE_GREEN,
	PP_STYLE_YELLOW,
	PP_STYLE_RED,
	PP_STYLE_CYAN,
	PP_N_STYLES
};

/* Keys that are no characters: above all of those. */
enum pp_key {
	PP_KEY_NONE = 0x200000,
	PP_KEY_UP,
	PP_KEY_DOWN,
	PP_KEY_LEFT,
	PP_KEY_RIGHT,
	PP_KEY_PAGE_UP,
	PP_KEY_PAGE_DOWN,
	PP_KEY_HOME,
	PP_KEY_END,
	PP_KEY_ENTER,
	PP_KEY_ESCAPE,
	PP_KEY_BACKSPACE,
	PP_KEY_BACKTAB,
	PP_KEY_RESIZE,
	PP_KEY_CLICK,
	PP_KEY_WHEEL_UP,
	PP_KEY_WHEEL_DOWN,
	PP_KEY_SIGNAL, /* or the terminal is gone: the end */
};

struct pp_screen {
	void *terminal; /* SCREEN *; NULL: not begun */
	bool utf8, colours;
	int rows, columns;
	int mouse_row, mouse_column; /* of the last click */
	int signal;		     /* that ended it; 0: none */
	sigset_t unblocked;
};

int pp_screen_start(struct pp_screen *screen, struct pp_error *err);

/* The terminal is as it was.  Nothing, if it was not begun. */
void pp_screen_stop(struct pp_screen *screen);

void pp_screen_clear(struct pp_screen *screen);
void pp_screen_show(struct pp_screen *screen);

/* How many columns text takes. */
int pp_screen_width(const struct pp_screen *screen, const char *text);

/* Where what fits into so many columns ends: after the first character at least. */
const char *pp_screen_fit(const struct pp_screen *screen, const char *text, int columns);

/* Puts text into `width` columns, cut or filled with blanks. */
void pp_screen_put(struct pp_screen *screen, int row, int column, int width, enum pp_style style,
		   bool reverse, const char *text);

/* A single character. */
void pp_screen_glyph(struct pp_screen *screen, int row, int column, enum pp_style style,
		     bool reverse, unsigned glyph);

/* A character, or an enum pp_key.  PP_KEY_NONE: none came, and wait was false. */
unsigned pp_screen_key(struct pp_screen *screen, bool wait);

#endif
