/* SPDX-License-Identifier: MIT */
/* The index that `browse` looks at: one that was kept, or a new one, which is kept if it can be. */
#ifndef PP_CLI_BROWSE_INDEX_H
#define PP_CLI_BROWSE_INDEX_H

#include "cli/view.h"
#include "index/index.h"
#include "tui/screen.h"

/*
 * While one is made, the screen shows how far it is; -ECANCELED: that was stopped there.
 * *ret_note: why it was not kept, for the user, who frees it; NULL: it was, or there is no need.
 */
int pp_browse_index(struct pp_screen *screen, struct pp_view *view, struct pp_index **ret,
		    char **ret_note, struct pp_error *err);

#endif
