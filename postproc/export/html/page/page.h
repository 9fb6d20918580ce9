/* SPDX-License-Identifier: MIT */
/*
 * The page of export --format html, built from the sources in this folder and embedded in the
 * program.  It contains PP_PAGE_MARKER once; the exporter replaces the marker by the base64 of the
 * data (FORMAT.md).
 */
#ifndef PP_EXPORT_HTML_PAGE_PAGE_H
#define PP_EXPORT_HTML_PAGE_PAGE_H

#include <stddef.h>

#define PP_PAGE_MARKER "<!--gprof-mt-data-->"

/* NUL-terminated.  Empty (pp_page_size is 0) if esbuild was missing in the build. */
extern const char pp_page[];
extern const size_t pp_page_size;

#endif
