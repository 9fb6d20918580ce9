/* SPDX-License-Identifier: MIT */
/* Tables as a page for a browser, complete in one file and without scripts. */
#ifndef PP_RENDER_PAGE_H
#define PP_RENDER_PAGE_H

#include "table/table.h"

struct pp_page {
	const char *title;
	const char *words; /* above the tables; NULL: none */
	/* markup behind the words, of this folder (curve.h, card.h, the notes below); NULL: none */
	const char *figure;
};

/*
 * The tables with their notes; nested ones are below the row to which they belong.  Columns for
 * programs only are left out.
 */
void pp_render_page(GString *to, const struct pp_page *page, struct pp_table *const *tables,
		    unsigned n_tables);

/* Markup: the notes of the table as a list, and text of which nothing is markup. */
void pp_render_page_notes(GString *to, const struct pp_table *table);
void pp_render_escaped(GString *to, const char *text);

#endif
