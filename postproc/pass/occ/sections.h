/* SPDX-License-Identifier: MIT */
/*
 * The first columns of the tables by critical section (analysis/occ/units.h): what identifies the
 * section in this capture and in others.
 */
#ifndef PP_PASS_OCC_SECTIONS_H
#define PP_PASS_OCC_SECTIONS_H

#include "analysis/occ/units.h"

enum {
	PP_OCC_NAME,
	PP_OCC_TYPE,
	PP_OCC_STATIC,
	PP_OCC_ADDRESS,
	PP_OCC_PLACES,
	PP_OCC_SITES,
	PP_N_OCC_CELLS
};

/* The columns of the nested tables of places and sites. */
enum { PP_OCC_PLACE, PP_OCC_BUILD_ID, PP_OCC_PLACE_NAME, PP_N_OCC_PLACE_CELLS };
extern const struct pp_column pp_occ_place_columns[PP_N_OCC_PLACE_CELLS];
extern const struct pp_column pp_occ_site_columns[1];

#define PP_OCC_SECTION_COLUMNS                                                                     \
	[PP_OCC_NAME] = {"name", "lock", PP_TYPE_TEXT, PP_COLUMN_KEY,                              \
			 "the lock's variable; of dynamically allocated ones, where the first "    \
			 "was initialized"},                                                       \
	[PP_OCC_TYPE] = {"type", "type", PP_TYPE_TEXT, PP_COLUMN_KEY | PP_COLUMN_REPEATED,         \
			 "mutex, rwlock or spin"},                                                 \
	[PP_OCC_STATIC] = {"static", "static", PP_TYPE_BOOL, PP_COLUMN_JSON_ONLY,                  \
			   "the lock is statically allocated"},                                    \
	[PP_OCC_ADDRESS] = {"object", "address", PP_TYPE_ADDRESS,                                  \
			    PP_COLUMN_JSON_ONLY | PP_COLUMN_ID, "of a statically allocated lock"}, \
	[PP_OCC_PLACES] = {"places",                                                               \
			   "places",                                                               \
			   PP_TYPE_TABLE,                                                          \
			   0,                                                                      \
			   "what the section is known by in another capture: the lock, or the "    \
			   "call sites that acquire it",                                           \
			   pp_occ_place_columns,                                                   \
			   PP_N_OCC_PLACE_CELLS},                                                  \
	[PP_OCC_SITES] = {"sites",                                                                 \
			  "sites",                                                                 \
			  PP_TYPE_TABLE,                                                           \
			  0,                                                                       \
			  "the call sites that acquire it",                                        \
			  pp_occ_site_columns,                                                     \
			  1}

/* The units of each section, in order: arrays of unsigned.  The caller unrefs the array. */
GPtrArray *pp_occ_sections(struct pp_occ_units *units);

/* Sets these cells from the section's units. */
void pp_occ_set_section(struct pp_cell *row, const struct pp_occ_units *units,
			const GArray *section, const struct pp_namer *namer);

#endif
