/* SPDX-License-Identifier: MIT */
/* Provides the index for `browse`: a saved one, or a new one, which is saved if possible. */
#ifndef PP_CLI_BROWSE_INDEX_H
#define PP_CLI_BROWSE_INDEX_H

#include "cli/view.h"
#include "index/index.h"
#include "tui/screen.h"

/*
 * Returns 0 or -errno.  While an index is created, the screen shows the progress; -ECANCELED: the
 * user stopped it. *ret_note: the reason why it was not saved, which the caller frees; NULL: it was
 * saved, or is not worth saving.
 */
int pp_browse_index(struct pp_screen *screen, struct pp_view *view, struct pp_index **ret,
		    char **ret_note, struct pp_error *err);

#endif
