/* SPDX-License-Identifier: MIT */
#include "tui/browser.h"

static const char *const text[] = {
    "j k Up Down        next, previous         PgDn PgUp Space  a screen further, back",
    "Home End G         first, last            Tab              next pane",
    "Left Right         earlier, later in the lanes",
    "+ -                zoom time in, out      0                all of the time",
    "t                  choose a thread: the list shows its operations",
    "o                  choose an object: the list shows its operations",
    "Enter              from a thread or object to its operations, and to the details",
    "[ ]                the wait before, after this, of the thread or object",
    "m %                the unlock of a lock, the post or signal that ended a wait, and back",
    "w                  of a wait: the acquisition by who had it",
    "Backspace          back to before the last jump",
    "c                  only what was contended: objects that were waited for, and waits",
    "s                  the source lines around the call, in place of the details",
    "g                  who waits for whom",
    "/ TEXT Enter       the next in the pane with that text",
    "n N                the next, previous such",
    "h ?                this",
    "q                  the end, or out of a page",
    "",
    "The mouse selects rows and times, and its wheel scrolls.",
    "",
    "Lanes show what a thread or object was in most, for each part of the time.",
    "An object held for a part of it only is _, and ~ if it was waited for.",
};

GPtrArray *pp_browser_help(void)
{
	GPtrArray *lines = g_ptr_array_new_with_free_func(g_free);

	for (unsigned i = 0; i < G_N_ELEMENTS(text); i++)
		g_ptr_array_add(lines, g_strdup(text[i]));
	return lines;
}
