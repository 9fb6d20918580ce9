/* SPDX-License-Identifier: MIT */
/*
 * The page of export --format html, built from the sources in this folder and held in the program.
 * PP_PAGE_MARKER is in it once; the exporter replaces it by base64 of the data (FORMAT.md).
 */
#ifndef PP_EXPORT_HTML_PAGE_PAGE_H
#define PP_EXPORT_HTML_PAGE_PAGE_H

#include <stddef.h>

#define PP_PAGE_MARKER "<!--gprof-mt-data-->"

/* Ends in a zero. Empty (pp_page_size is 0) where node or npm were missing when this was built. */
extern const char pp_page[];
extern const size_t pp_page_size;

#endif
