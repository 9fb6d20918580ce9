/* SPDX-License-Identifier: MIT */
/* What files for speedscope have in common: profiles by thread, and the frames of all of them. */
#ifndef PP_EXPORT_STACKS_SPEEDSCOPE_H
#define PP_EXPORT_STACKS_SPEEDSCOPE_H

#include "export/out.h"
#include "export/stacks/stacks.h"

struct pp_speedscope {
	struct pp_out *out;
	GHashTable *frames; /* name -> 1, 2, ... */
	GPtrArray *names;   /* the same, in order */
	unsigned n_profiles;
};

void pp_speedscope_init(struct pp_speedscope *file, struct pp_out *out);
void pp_speedscope_done(struct pp_speedscope *file);

/* Its number in the file. */
unsigned pp_speedscope_frame(struct pp_speedscope *file, const char *name);

/* From "{" to the comma before what is in it. */
void pp_speedscope_begin_profile(struct pp_speedscope *file, const char *type, const char *name,
				 const char *unit, int64_t start, int64_t end);

/* The frames, and the end of the file. */
void pp_speedscope_finish(struct pp_speedscope *file);

/* All stacks with a number, a profile for each outermost frame; false: none has. */
bool pp_speedscope_write_stacks(const struct pp_stacks *stacks, const char *unit,
				struct pp_out *out);

#endif
