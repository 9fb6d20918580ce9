/* SPDX-License-Identifier: MIT */
#ifndef PP_CORE_TEXT_PRINTABLE_H
#define PP_CORE_TEXT_PRINTABLE_H

/*
 * Makes any bytes safe to print on a terminal, in place, and returns the text.  Invalid UTF-8 and
 * characters that move the cursor, change colors or reverse the direction of text become '?'.
 */
char *pp_printable(char *text);

#endif
