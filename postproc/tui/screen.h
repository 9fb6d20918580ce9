/* SPDX-License-Identifier: MIT */
/*
 * The terminal: the parts of curses that the browser needs.  Text may be any UTF-8 that
 * pp_printable() returned; if the locale is not UTF-8, other characters than ASCII are shown as
 * '?'.
 *
 * Signals are blocked except while waiting for a key, so that no signal interrupts drawing.
 */
#ifndef PP_TUI_SCREEN_H
#define PP_TUI_SCREEN_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

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

/* Keys that are not characters: above all code points. */
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
	PP_KEY_SIGNAL, /* a signal, or the loss of the terminal: quit */
};

struct pp_screen {
	void *terminal; /* SCREEN *; NULL: not started */
	bool utf8, colours;
	int rows, columns;
	int mouse_row, mouse_column; /* of the last click */
	int signal;		     /* the signal that ended it; 0: none */
	sigset_t unblocked;
};

int pp_screen_start(struct pp_screen *screen, struct pp_error *err);

/* Restores the terminal.  Does nothing if it was not started. */
void pp_screen_stop(struct pp_screen *screen);

void pp_screen_clear(struct pp_screen *screen);
void pp_screen_show(struct pp_screen *screen);

/* Returns the number of columns that the text takes. */
int pp_screen_width(const struct pp_screen *screen, const char *text);

/* Returns the end of the part that fits into `columns`: at least one character. */
const char *pp_screen_fit(const struct pp_screen *screen, const char *text, int columns);

/* Draws text into `width` columns, truncated or padded with blanks. */
void pp_screen_put(struct pp_screen *screen, int row, int column, int width, enum pp_style style,
		   bool reverse, const char *text);

/* Draws a single character. */
void pp_screen_glyph(struct pp_screen *screen, int row, int column, enum pp_style style,
		     bool reverse, unsigned glyph);

/* Returns a character, or an enum pp_key.  PP_KEY_NONE: none, and `wait` was false. */
unsigned pp_screen_key(struct pp_screen *screen, bool wait);

/* The same, but waits for so many milliseconds at most. */
unsigned pp_screen_key_within(struct pp_screen *screen, int64_t ms);

#endif
