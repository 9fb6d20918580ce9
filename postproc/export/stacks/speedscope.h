/* SPDX-License-Identifier: MIT */
/*
 * Common parts of files for speedscope: one profile per thread, and the frames that all profiles
 * share.
 */
#ifndef PP_EXPORT_STACKS_SPEEDSCOPE_H
#define PP_EXPORT_STACKS_SPEEDSCOPE_H

#include "core/text/json_writer.h"
#include "export/out.h"
#include "export/stacks/stacks.h"

struct pp_speedscope {
	struct pp_out *out;
	struct pp_json_writer json; /* into out->text */
	GHashTable *frames;	    /* name -> 1, 2, ... */
	GPtrArray *names;	    /* the names in the same order */
	unsigned n_profiles;
};

void pp_speedscope_init(struct pp_speedscope *file, struct pp_out *out);
void pp_speedscope_done(struct pp_speedscope *file);

/* Returns the frame's number in the file. */
unsigned pp_speedscope_frame(struct pp_speedscope *file, const char *name);

/* Opens a profile and writes the members that all types have; the caller closes it. */
void pp_speedscope_begin_profile(struct pp_speedscope *file, const char *type, const char *name,
				 const char *unit, int64_t start, int64_t end);

/* Writes the frames and ends the file. */
void pp_speedscope_finish(struct pp_speedscope *file);

/* Writes all stacks with a number, one profile for each outermost frame; false: there are none. */
bool pp_speedscope_write_stacks(const struct pp_stacks *stacks, const char *unit,
				struct pp_out *out);

#endif
