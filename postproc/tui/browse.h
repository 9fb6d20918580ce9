/* SPDX-License-Identifier: MIT */
/* The browser: shows an index and processes keys until the user quits. */
#ifndef PP_TUI_BROWSE_H
#define PP_TUI_BROWSE_H

#include "core/namer.h"
#include "index/index.h"
#include "tui/screen.h"

/*
 * Shows the progress of making the index: share is 0 to 1, negative: unknown.  Returns false if the
 * user stopped it.
 */
bool pp_browse_progress(struct pp_screen *screen, const char *doing, const char *dir, double share,
			uint64_t n_events);

/* Runs until the user quits.  note: a message shown first; NULL: none. */
void pp_browse(struct pp_screen *screen, const struct pp_index *index, const struct pp_namer *namer,
	       const char *dir, bool is_damaged, const char *note);

#endif
