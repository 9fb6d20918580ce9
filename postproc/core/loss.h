/* SPDX-License-Identifier: MIT */
/*
 * Why something is missing, in words.
 */
#ifndef PP_CORE_LOSS_H
#define PP_CORE_LOSS_H

#include <glib.h>

/*
 * WHAT, and behind it the reasons (enum gm_loss), if any: "calls not counted: no room on the disk".
 */
char *pp_loss_text(const char *what, unsigned whys);

#endif
