/* SPDX-License-Identifier: MIT */
/* Asks the terminal and the environment how wide tables may be, and whether in color (terminal.h).
 */
#include "cli/terminal.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/options.h"

/* Narrower tables would have no columns left. */
#define LEAST_WIDTH 40

static bool wants_colour(void)
{
	const char *terminal = getenv("TERM");
	const char *no_colour = getenv("NO_COLOR");

	return terminal && !g_str_equal(terminal, "dumb") && !(no_colour && *no_colour);
}

/* 0: not known. */
static unsigned width(void)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;
	guint64 n;

	if (columns && g_ascii_string_to_unsigned(columns, 10, 1, UINT_MAX, &n, NULL))
		return MAX((unsigned)n, LEAST_WIDTH);
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0 || !size.ws_col)
		return 0;
	return MAX(size.ws_col, LEAST_WIDTH);
}

struct pp_text_style pp_cli_text_style(void)
{
	struct pp_text_style style = {0};

	if (isatty(STDOUT_FILENO)) {
		style.colour = wants_colour();
		style.width = pp_cli_is_wide() ? 0 : width();
	}
	return style;
}
