/* SPDX-License-Identifier: MIT */
/* Starts and ends curses with blocked signals, and draws printable text. */
#define NCURSES_WIDECHAR 1

#include "tui/screen.h"

#include <curses.h>
#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

/* --- signals -------------------------------------------------------------------------------- */

static volatile sig_atomic_t ended_by, asked_to_stop;

static void on_end(int signal)
{
	ended_by = signal;
}

static void on_stop(int signal)
{
	(void)signal;
	asked_to_stop = true;
}

/*
 * Called before curses starts, which then leaves SIGTSTP alone: curses would ignore the signal
 * while it draws, and so lose a pending one.  An ignored SIGTSTP stays ignored.
 */
static void catch_stop(void)
{
	struct sigaction action = {.sa_handler = on_stop}, before;

	if (sigaction(SIGTSTP, NULL, &before) == 0 && before.sa_handler == SIG_DFL)
		sigaction(SIGTSTP, &action, NULL);
}

static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

/* Called after curses has set its handlers, which leave the program at any point of its work. */
static void catch_signals(struct pp_screen *screen)
{
	struct sigaction action = {.sa_handler = on_end};
	sigset_t blocked;

	sigemptyset(&blocked);
	sigaddset(&blocked, SIGTSTP);
	sigaddset(&blocked, SIGWINCH);
	for (unsigned i = 0; i < G_N_ELEMENTS(ends); i++) {
		sigaddset(&blocked, ends[i]);
		sigaction(ends[i], &action, NULL);
	}
	sigprocmask(SIG_BLOCK, &blocked, &screen->unblocked);
	for (unsigned i = 0; i < G_N_ELEMENTS(ends); i++)
		sigdelset(&screen->unblocked, ends[i]);
	sigdelset(&screen->unblocked, SIGTSTP);
	sigdelset(&screen->unblocked, SIGWINCH);
}

/* --- starting and stopping ------------------------------------------------------------------ */

/* Runs on every exit that runs atexit() handlers. */
static void restore(void)
{
	if (stdscr && !isendwin())
		endwin();
}

static void start_colours(struct pp_screen *screen)
{
	static const short colours[PP_N_STYLES] = {
	    [PP_STYLE_GREEN] = COLOR_GREEN,
	    [PP_STYLE_YELLOW] = COLOR_YELLOW,
	    [PP_STYLE_RED] = COLOR_RED,
	    [PP_STYLE_CYAN] = COLOR_CYAN,
	};
	const char *no_colour = getenv("NO_COLOR");

	if ((no_colour && *no_colour) || !has_colors() || start_color() == ERR)
		return;
	use_default_colors();
	for (int i = PP_STYLE_GREEN; i < PP_N_STYLES; i++)
		if (init_pair((short)i, colours[i], -1) == ERR)
			return;
	screen->colours = true;
}

int pp_screen_start(struct pp_screen *screen, struct pp_error *err)
{
	const char *name = getenv("TERM");

	*screen = (struct pp_screen){.terminal = NULL};
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return pp_error_add(
		    err, -ENOTTY,
		    "standard input and output must be a terminal; `gprof-mt report`, `gprof-mt "
		    "history` and `gprof-mt top --batch` print without one");
	if (g_strcmp0(name, "dumb") == 0)
		return pp_error_add(
		    err, -ENOTTY,
		    "TERM=dumb: a terminal that can move the cursor is needed; set TERM (for "
		    "example to xterm), or use `gprof-mt report` or `gprof-mt top --batch`");
	setlocale(LC_CTYPE, "");
	screen->utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
	catch_stop();
	screen->terminal = newterm(NULL, stdout, stdin);
	if (!screen->terminal)
		return pp_error_add(
		    err, -ENOTTY,
		    "TERM=%s: unknown terminal type; set TERM to one that `toe` lists",
		    name ? name : "");
	atexit(restore);
	start_colours(screen);
	cbreak();
	noecho();
	nonl();
	curs_set(0);
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	set_escdelay(100);
	mouseinterval(0);
	mousemask(BUTTON1_PRESSED | BUTTON4_PRESSED | BUTTON5_PRESSED, NULL);
	catch_signals(screen);
	getmaxyx(stdscr, screen->rows, screen->columns);
	return 0;
}

void pp_screen_stop(struct pp_screen *screen)
{
	if (!screen->terminal)
		return;
	endwin();
	delscreen(screen->terminal);
	screen->terminal = NULL;
	for (unsigned i = 0; i < G_N_ELEMENTS(ends); i++)
		signal(ends[i], SIG_DFL);
	signal(SIGTSTP, SIG_DFL);
	sigprocmask(SIG_SETMASK, &screen->unblocked, NULL);
}

/* --- drawing -------------------------------------------------------------------------------- */

void pp_screen_clear(struct pp_screen *screen)
{
	getmaxyx(stdscr, screen->rows, screen->columns);
	erase();
}

void pp_screen_show(struct pp_screen *screen)
{
	(void)screen;
	refresh();
}

static void set_style(const struct pp_screen *screen, enum pp_style style, bool reverse)
{
	attr_t attributes = A_NORMAL;

	if (style == PP_STYLE_BOLD || (style == PP_STYLE_CYAN && !screen->colours))
		attributes |= A_BOLD;
	if (style == PP_STYLE_REVERSE || reverse)
		attributes |= A_REVERSE;
	if (style >= PP_STYLE_GREEN && screen->colours)
		attributes |= (attr_t)COLOR_PAIR(style);
	attrset(attributes);
}

/* Returns a character that the terminal can show, and its width in columns. */
static wchar_t shown(const struct pp_screen *screen, gunichar c, int *ret_width)
{
	wchar_t wide = screen->utf8 || c < 0x80 ? (wchar_t)c : L'?';

	*ret_width = wcwidth(wide);
	if (*ret_width >= 0)
		return wide;
	*ret_width = 1;
	return L'?';
}

int pp_screen_width(const struct pp_screen *screen, const char *text)
{
	int used = 0, wide;

	for (; *text; text = g_utf8_next_char(text)) {
		(void)shown(screen, g_utf8_get_char(text), &wide);
		used += wide;
	}
	return used;
}

const char *pp_screen_fit(const struct pp_screen *screen, const char *text, int columns)
{
	const char *at = text;
	int wide;

	for (; *at; at = g_utf8_next_char(at), columns -= wide) {
		(void)shown(screen, g_utf8_get_char(at), &wide);
		if (wide > columns && at != text)
			break;
	}
	return at;
}

void pp_screen_put(struct pp_screen *screen, int row, int column, int width, enum pp_style style,
		   bool reverse, const char *text)
{
	wchar_t line[512];
	unsigned n = 0;
	int used = 0, wide;

	width = MIN(width, screen->columns - column);
	if (row < 0 || row >= screen->rows || width <= 0)
		return;
	for (const char *at = text; *at && n + 2 < G_N_ELEMENTS(line); at = g_utf8_next_char(at)) {
		wchar_t c = shown(screen, g_utf8_get_char(at), &wide);

		if (used + wide > width)
			break;
		line[n++] = c;
		used += wide;
	}
	set_style(screen, style, reverse);
	mvaddnwstr(row, column, line, (int)n);
	if (used < width)
		mvhline(row, column + used, ' ' | (getattrs(stdscr) & A_ATTRIBUTES), width - used);
	attrset(A_NORMAL);
}

void pp_screen_glyph(struct pp_screen *screen, int row, int column, enum pp_style style,
		     bool reverse, unsigned glyph)
{
	wchar_t text[2] = {(wchar_t)glyph, 0};

	if (row < 0 || row >= screen->rows || column < 0 || column >= screen->columns)
		return;
	set_style(screen, style, reverse);
	mvaddnwstr(row, column, text, 1);
	attrset(A_NORMAL);
}

/* --- keys ----------------------------------------------------------------------------------- */

static const struct {
	wint_t curses;
	enum pp_key key;
} special[] = {
    {KEY_UP, PP_KEY_UP},	 {KEY_DOWN, PP_KEY_DOWN},
    {KEY_LEFT, PP_KEY_LEFT},	 {KEY_RIGHT, PP_KEY_RIGHT},
    {KEY_PPAGE, PP_KEY_PAGE_UP}, {KEY_NPAGE, PP_KEY_PAGE_DOWN},
    {KEY_HOME, PP_KEY_HOME},	 {KEY_END, PP_KEY_END},
    {KEY_ENTER, PP_KEY_ENTER},	 {KEY_BACKSPACE, PP_KEY_BACKSPACE},
    {KEY_BTAB, PP_KEY_BACKTAB},	 {KEY_RESIZE, PP_KEY_RESIZE},
    {KEY_DC, PP_KEY_BACKSPACE},
};

static unsigned mouse_key(struct pp_screen *screen)
{
	MEVENT event;

	if (getmouse(&event) == ERR)
		return PP_KEY_NONE;
	screen->mouse_row = event.y;
	screen->mouse_column = event.x;
	if (event.bstate & BUTTON4_PRESSED)
		return PP_KEY_WHEEL_UP;
	if (event.bstate & BUTTON5_PRESSED)
		return PP_KEY_WHEEL_DOWN;
	return event.bstate & BUTTON1_PRESSED ? PP_KEY_CLICK : PP_KEY_NONE;
}

static unsigned special_key(struct pp_screen *screen, wint_t key)
{
	if (key == KEY_MOUSE)
		return mouse_key(screen);
	for (unsigned i = 0; i < G_N_ELEMENTS(special); i++)
		if (special[i].curses == key)
			return special[i].key;
	return PP_KEY_NONE;
}

static unsigned character(wint_t key)
{
	switch (key) {
	case '\r':
	case '\n':
		return PP_KEY_ENTER;
	case '\b':
	case 0x7f:
		return PP_KEY_BACKSPACE;
	case 0x1b:
		return PP_KEY_ESCAPE;
	default:
		return (unsigned)key;
	}
}

/* The shell owns the terminal until the job is continued; its size may have changed by then. */
static void stop(const struct pp_screen *screen)
{
	struct winsize size;
	sigset_t blocked;

	asked_to_stop = false;
	endwin();
	signal(SIGTSTP, SIG_DFL);
	raise(SIGTSTP);
	sigprocmask(SIG_SETMASK, &screen->unblocked, &blocked);
	sigprocmask(SIG_SETMASK, &blocked, NULL);
	catch_stop();
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row && size.ws_col)
		resizeterm(size.ws_row, size.ws_col);
}

/* Delivers pending signals.  limit: NULL: none.  Returns false if the terminal is gone. */
static bool wait_for_input(struct pp_screen *screen, const struct timespec *limit)
{
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
	int n = ppoll(&input, 1, limit, &screen->unblocked);

	return n <= 0 || !(input.revents & (POLLHUP | POLLERR | POLLNVAL));
}

static unsigned key_until(struct pp_screen *screen, const struct timespec *limit)
{
	wint_t key;
	int status = get_wch(&key);

	if (status == ERR) {
		if (!wait_for_input(screen, limit))
			ended_by = SIGHUP;
		if (ended_by) {
			screen->signal = ended_by;
			return PP_KEY_SIGNAL;
		}
		if (asked_to_stop) {
			stop(screen);
			return PP_KEY_RESIZE;
		}
		status = get_wch(&key);
	}
	if (status == ERR)
		return PP_KEY_NONE;
	return status == KEY_CODE_YES ? special_key(screen, key) : character(key);
}

unsigned pp_screen_key(struct pp_screen *screen, bool wait)
{
	static const struct timespec none;

	return key_until(screen, wait ? NULL : &none);
}

unsigned pp_screen_key_within(struct pp_screen *screen, int64_t ms)
{
	struct timespec limit = {ms / 1000, ms % 1000 * 1000000};

	return key_until(screen, &limit);
}
