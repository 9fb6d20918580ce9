/* SPDX-License-Identifier: MIT */
/* Writes a page: its sources, which are built into this program, with a document in them. */
#ifndef PP_EXPORT_HTML_WRITE_H
#define PP_EXPORT_HTML_WRITE_H

#include <stdbool.h>

#include "export/json_gzip.h"

/* False if esbuild was missing when this program was built. */
bool pp_html_is_built(void);

/*
 * Appends the page to the output; put_document(data) writes the document to `put`, which this
 * function initializes.  The caller calls pp_put_done().  Returns 0 or -errno.
 */
int pp_html_write(struct pp_out *out, struct pp_put *put, void (*put_document)(void *data),
		  void *data, struct pp_error *err);

#endif
