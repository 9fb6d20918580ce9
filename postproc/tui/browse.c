/* SPDX-License-Identifier: MIT */
/* Shows the progress of indexing, then runs the main loop of the browser. */
#include "tui/browse.h"

#include "core/text/printable.h"
#include "tui/browser.h"

bool pp_browse_progress(struct pp_screen *screen, const char *doing, const char *dir, double share,
			uint64_t n_events)
{
	g_autofree char *shown = pp_printable(g_strdup(dir));
	g_autofree char *text =
	    share >= 0
		? g_strdup_printf("%s %s: %2.0f %%, %" G_GUINT64_FORMAT " events", doing, shown,
				  MIN(share, 1) * 100, n_events)
		: g_strdup_printf("%s %s: %" G_GUINT64_FORMAT " events", doing, shown, n_events);
	unsigned key;

	pp_screen_clear(screen);
	pp_screen_put(screen, 0, 0, screen->columns, PP_STYLE_PLAIN, false, text);
	pp_screen_put(screen, 1, 0, screen->columns, PP_STYLE_PLAIN, false, "q quits");
	pp_screen_show(screen);
	do
		key = pp_screen_key(screen, false);
	while (key != PP_KEY_NONE && key != 'q' && key != PP_KEY_SIGNAL);
	return key == PP_KEY_NONE;
}

void pp_browse(struct pp_screen *screen, const struct pp_index *index, const struct pp_namer *namer,
	       const char *dir, bool is_damaged, const char *note)
{
	g_autofree char *shown = pp_printable(g_strdup(dir));
	struct pp_browser browser;

	pp_browser_init(&browser, index, namer, shown);
	browser.screen = *screen;
	browser.is_damaged = is_damaged;
	if (note)
		pp_browser_say(&browser, "%s", note);
	while (!browser.is_over) {
		unsigned key;

		pp_browser_draw(&browser);
		/* Process all keys that were typed meanwhile before redrawing. */
		key = pp_screen_key(&browser.screen, true);
		for (; key != PP_KEY_NONE && !browser.is_over;
		     key = pp_screen_key(&browser.screen, false))
			pp_browser_key(&browser, key);
	}
	*screen = browser.screen;
	pp_browser_done(&browser);
}
