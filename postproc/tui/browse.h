/* SPDX-License-Identifier: MIT */
/* The browser: from an index to the keys that a person presses, until it is left. */
#ifndef PP_TUI_BROWSE_H
#define PP_TUI_BROWSE_H

#include "core/namer.h"
#include "index/index.h"
#include "tui/screen.h"

/* While the index is made: how far it is (0..1; less: not known).  False: it was stopped. */
bool pp_browse_progress(struct pp_screen *screen, const char *doing, const char *dir, double share,
			uint64_t n_events);

/* Until it is left.  note: what is to be said first; NULL: nothing. */
void pp_browse(struct pp_screen *screen, const struct pp_index *index, const struct pp_namer *namer,
	       const char *dir, bool is_damaged, const char *note);

#endif
