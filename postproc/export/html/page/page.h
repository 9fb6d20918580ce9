/* SPDX-License-Identifier: MIT */
/*
 * The page of export --format html, as postproc/page builds it, held in the program. PP_PAGE_MARKER
 * is in it once: what stands for it is base64 of the data (FORMAT.md).
 */
#ifndef PP_EXPORT_HTML_PAGE_PAGE_H
#define PP_EXPORT_HTML_PAGE_PAGE_H

#include <stddef.h>

#define PP_PAGE_MARKER "<!--gprof-mt-data-->"

/* Ends in a zero. Empty (pp_page_size is 0) where node or npm were missing when this was built. */
extern const char pp_page[];
extern const size_t pp_page_size;

#endif
