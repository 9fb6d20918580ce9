/* SPDX-License-Identifier: MIT */
/* The help screen: a table of keys and what they do. */
#include "tui/browser.h"

/* No line is wider than 80 columns. */
static const char *const text[] = {
    "j k Up Down       the next, the previous",
    "PgDn Space PgUp   the next, the previous screen",
    "Home End G        the first, the last",
    "Left Right        move the cursor to an earlier, a later time",
    "Tab               the next pane",
    "+ - 0             zoom in, zoom out, show all of the time",
    "t                 choose a thread: the list shows its operations",
    "o                 choose an object: the list shows the operations on it",
    "Enter             from a thread or object to its operations, then to the details",
    "[ ]               the previous, the next wait of the thread or object",
    "m %               the matching operation: the unlock of a lock, the post or",
    "                  signal that ended a wait; again: back",
    "w                 from a wait to the call by which the holder took the object",
    "b                 from a wait to the hold to blame for most of it; again: next",
    "Backspace         back to the position before the last jump",
    "c                 only contention: objects with waits, operations that waited",
    "s                 the source lines around the call, in place of the details",
    "g                 who waits for whom",
    "p P               CPU time and waits by call path; bottom-up, from the callees",
    "/ TEXT Enter      search: the next row of the pane that contains the text",
    "n N               the next, the previous such row",
    "h ?               this help",
    "q                 quit, or leave a page",
    "The mouse selects rows and times; its wheel scrolls.",
    "",
    "Each character of a lane shows the state that took most of its time interval;",
};

GPtrArray *pp_browser_help(const struct pp_browser *browser)
{
	GPtrArray *lines = g_ptr_array_new_with_free_func(g_free);
	bool utf8 = browser->screen.utf8;

	for (unsigned i = 0; i < G_N_ELEMENTS(text); i++)
		g_ptr_array_add(lines, g_strdup(text[i]));
	g_ptr_array_add(lines, g_strdup_printf("for an object that was mostly free: %s held for "
					       "a part of it, %s waited for.",
					       utf8 ? "\u2581" : "_", utf8 ? "\u2592" : "~"));
	g_ptr_array_add(lines, g_strdup("runnable: ready to run, without a CPU; "
					"otherwise: blocked for another reason."));
	g_ptr_array_add(lines, g_strdup("Operations that waited are yellow; those that never "
					"returned are red."));
	g_ptr_array_add(lines, g_strdup("wait: time of the wait; held: time of the hold that it "
					"ended; by: the holder."));
	return lines;
}
