/* SPDX-License-Identifier: MIT */
/* Shares of a whole in words. */
#ifndef PP_CORE_TEXT_SHARE_H
#define PP_CORE_TEXT_SHARE_H

#include <stdint.h>

/*
 * "42 %"; "99.8 %" or "more than 99.9 %" for a part that is not the whole, and "0.2 %" or "less
 * than 0.1 %" for one that is not empty.  Of an empty whole, "0 %".  The caller frees the text.
 */
char *pp_share_text(uint64_t part, uint64_t all);

#endif
