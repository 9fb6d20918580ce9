/* SPDX-License-Identifier: MIT */
#ifndef PP_CORE_PRINTABLE_H
#define PP_CORE_PRINTABLE_H

/*
 * Makes text of any bytes fit for a terminal, in place, and returns it: valid UTF-8 in which
 * nothing moves the cursor, colours, or turns the order of what is around it.  What does is '?'.
 */
char *pp_printable(char *text);

#endif
