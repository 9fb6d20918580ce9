/* SPDX-License-Identifier: MIT */
/* The functions of a call path: those of its return addresses, and those inlined there. */
#ifndef PP_ANALYSIS_PATHS_FRAMES_H
#define PP_ANALYSIS_PATHS_FRAMES_H

#include "analysis/pass.h"

/* A frame of a path; each inlined function has one of its own, with the same address. */
struct pp_path_frame {
	char *function, *site;
	uint64_t address;
	bool is_library;
};

/* An array of struct pp_path_frame, innermost first.  The caller unrefs it. */
GArray *pp_path_frames(const struct pp_path *path, const struct pp_process *process,
		       const struct pp_namer *namer);

static inline const struct pp_path_frame *pp_path_frame_at(const GArray *frames, guint i)
{
	return &g_array_index(frames, struct pp_path_frame, i);
}

/* "function (file:line)"; without a line the function, since offsets do not tell readers more. */
const char *pp_path_frame_line(const struct pp_path_frame *frame);

/* False if all functions belong to the C++ library, or only start a thread or main(). */
bool pp_path_frames_have_program(const GArray *frames);

/*
 * The functions, with their lines where `with_line` has a true element; NULL: nowhere.  Those of
 * the C++ library are left out, unless the program has none there.  A recursion reads "f
 * x37".
 */
char *pp_path_frames_text(const GArray *frames, const bool *with_line);

#endif
