/* SPDX-License-Identifier: MIT */
/* The causes of waits in the page, for the files that write them. */
#ifndef PP_EXPORT_HTML_CAUSE_H
#define PP_EXPORT_HTML_CAUSE_H

#include "analysis/blame/blame.h"
#include "export/html/html.h"

/* The objects that the page lists; the caller unrefs the table. */
GHashTable *pp_html_shown(const struct pp_html *html);
/* The object's position among them; PP_HTML_NONE: it is not listed. */
uint32_t pp_html_position(GHashTable *shown, const struct pp_object *object);

/*
 * The name of the object at that position.  For one that is not listed: of the group of objects,
 * or if that is NULL "other objects".  The caller frees it.
 */
char *pp_html_blamed_name(struct pp_html *html, uint32_t position, const struct pp_object *group);

/* "holder", "hand-over", "unknown: ..."; the caller frees it. */
char *pp_html_cause_text(const struct pp_blame_cause *cause);

/* The causes one step further: nested.c. */
void pp_html_put_nested(struct pp_html *html, GHashTable *shown);

#endif
