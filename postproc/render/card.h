/* SPDX-License-Identifier: MIT */
/* A result in words, as part of a page (page.h): a headline, and texts with names. */
#ifndef PP_RENDER_CARD_H
#define PP_RENDER_CARD_H

#include <glib.h>

void pp_render_card_begin(GString *to, const char *headline);

/* A text; an empty name: one more of the name before. */
void pp_render_card_text(GString *to, const char *name, const char *text);

/* The same with lines of source code; those that begin with a mark, not a space, are emphasized. */
void pp_render_card_source(GString *to, const char *name, const char *lines);

void pp_render_card_end(GString *to);

#endif
