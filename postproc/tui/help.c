/* SPDX-License-Identifier: MIT */
/* The help screen: a table of keys and what they do. */
#include "tui/browser.h"

/* No line is wider than 80 columns. */
static const char *const text[] = {
    "j k Up Down       the next, the previous",
    "PgDn Space PgUp   a screen further, back",
    "Home End G        the first, the last",
    "Left Right        earlier, later in the lanes",
    "Tab               the next pane",
    "+ - 0             zoom the time in, out; all of it",
    "t                 choose a thread: the list shows its operations",
    "o                 choose an object: the list shows the operations on it",
    "Enter             from a thread or object to its operations, then to the details",
    "[ ]               the wait before, after this, of the thread or object",
    "m %               what belongs with it: the unlock of a lock, the post or signal",
    "                  that ended a wait; and back",
    "w                 of a wait: the call with which the holder had taken the object",
    "Backspace         back to before the last jump",
    "c                 only what was contended: objects waited for, and waits",
    "s                 the source lines around the call, in place of the details",
    "g                 who waits for whom",
    "/ TEXT Enter      the next in the pane that has the text",
    "n N               the next, the previous such",
    "h ?               this",
    "q                 the end, or out of a page",
    "The mouse selects rows and times; its wheel scrolls.",
    "",
    "Lanes show what a thread or object was in for most of each part of the time;",
};

GPtrArray *pp_browser_help(const struct pp_browser *browser)
{
	GPtrArray *lines = g_ptr_array_new_with_free_func(g_free);
	bool utf8 = browser->screen.utf8;

	for (unsigned i = 0; i < G_N_ELEMENTS(text); i++)
		g_ptr_array_add(lines, g_strdup(text[i]));
	g_ptr_array_add(lines, g_strdup_printf("of an object that was free for most of it: %s held "
					       "in it, %s waited for in it.",
					       utf8 ? "\u2581" : "_", utf8 ? "\u2592" : "~"));
	g_ptr_array_add(lines, g_strdup("A thread's runnable: it could run, and had no CPU.  "
					"Otherwise: it sleeps."));
	g_ptr_array_add(lines, g_strdup("Operations that waited are yellow; those that never "
					"returned red."));
	g_ptr_array_add(lines,
			g_strdup("wait: how long it did; held: how long the hold was that it "
				 "ended; by: for whom."));
	return lines;
}
