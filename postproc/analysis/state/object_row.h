/* SPDX-License-Identifier: MIT */
/* The cells that identify a synchronization object, at the beginning of a table's rows. */
#ifndef PP_ANALYSIS_STATE_OBJECT_ROW_H
#define PP_ANALYSIS_STATE_OBJECT_ROW_H

#include "analysis/state/object_state.h"

enum {
	PP_OBJECT_PID,
	PP_OBJECT_IMAGE,
	PP_OBJECT_ADDRESS,
	PP_OBJECT_GENERATION,
	PP_OBJECT_GROUP,
	PP_OBJECT_TYPE,
	PP_OBJECT_NAME,
	PP_OBJECT_CELLS,
};

/* Their columns, first in the initializer of a table's columns. */
#define PP_OBJECT_COLUMNS                                                                          \
	[PP_OBJECT_PID] = {"pid", "pid", PP_TYPE_COUNT, PP_COLUMN_IF_SEVERAL | PP_COLUMN_ID,       \
			   "process"},                                                             \
	[PP_OBJECT_IMAGE] =                                                                        \
	    {"image", "image", PP_TYPE_COUNT, PP_COLUMN_JSON_ONLY | PP_COLUMN_ID,                  \
	     "0, 1, ...: number of the process's image, one more after each exec"},                \
	[PP_OBJECT_ADDRESS] = {"object", "address", PP_TYPE_ADDRESS,                               \
			       PP_COLUMN_ID | PP_COLUMN_REPEATED, "address"},                      \
	[PP_OBJECT_GENERATION] =                                                                   \
	    {"generation", "generation", PP_TYPE_COUNT, PP_COLUMN_JSON_ONLY | PP_COLUMN_ID,        \
	     "1, 2, ...: numbers the objects that had this address one after "                     \
	     "the other; none: a row for several"},                                                \
	[PP_OBJECT_GROUP] = {"group", "object", PP_TYPE_TEXT, PP_COLUMN_JSON_ONLY | PP_COLUMN_KEY, \
			     "common to similar objects, in every run: the variable, or the "      \
			     "call site of initialization or first use"},                          \
	[PP_OBJECT_TYPE] = {"type", "type", PP_TYPE_TEXT, PP_COLUMN_KEY | PP_COLUMN_REPEATED,      \
			    PP_SYNC_TYPES},                                                        \
	[PP_OBJECT_NAME] = {"name", "object", PP_TYPE_TEXT, PP_COLUMN_ID,                          \
			    "name, with a number or tid if it is not unique"}

void pp_object_row(struct pp_cell *row, const struct pp_object *object,
		   const struct pp_namer *namer);

#endif
