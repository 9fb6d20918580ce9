/* SPDX-License-Identifier: MIT */
/* The page of a campaign: the tables of `sweep` or `bottlenecks` for a browser. */
#ifndef PP_CLI_CAMPAIGN_PAGE_H
#define PP_CLI_CAMPAIGN_PAGE_H

#include "cli/ranking.h"
#include "table/table.h"

struct pp_campaign_page {
	const char *path;		/* of the file; "-": standard output */
	const char *program, *command;	/* for the head; NULL: not known */
	const struct pp_origin *origin; /* the same; NULL: not known */
	enum pp_bottleneck_metric metric;
	bool is_counted; /* metrics are numbers of conditionals */
	struct pp_table *const *tables;
	unsigned n_tables;
};

/*
 * Writes the page.  Its links to the captures of table `runs` are relative to its file.  Returns 0
 * or -errno.
 */
int pp_campaign_page_write(const struct pp_campaign_page *page, struct pp_error *err);

/* The file of the page of a capture, to which the page links.  The caller frees it. */
char *pp_campaign_run_page(const char *dir);

#endif
