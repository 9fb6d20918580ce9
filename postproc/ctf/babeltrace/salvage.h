/* SPDX-License-Identifier: MIT */
/*
 * A trace directory that Babeltrace cannot read, made readable: a temporary directory with the same
 * metadata and the streams that are whole, and copies of the others that end where their last
 * packet does.  The capture itself is never changed.
 */
#ifndef PP_CTF_BABELTRACE_SALVAGE_H
#define PP_CTF_BABELTRACE_SALVAGE_H

#include "capture/capture.h"

struct pp_salvage;

/*
 * Whether the packets of every stream follow each other to its end.  Babeltrace must not see one
 * where they do not: of sizes that make no sense it says so by aborting.
 */
bool pp_salvage_is_needless(const char *trace_dir);

/* With the metadata alone. */
int pp_salvage_new(struct pp_capture *capture, const char *trace_dir,
		   struct pp_salvage **ret_salvage);

/* Each stream that loses something becomes damage of the capture. */
void pp_salvage_take_streams(struct pp_salvage *salvage);

/* The temporary directory. */
const char *pp_salvage_dir(const struct pp_salvage *salvage);

/*
 * Keeps only the streams that can be read alone, as `is_readable` finds out for a directory with
 * the metadata and one of them.
 */
void pp_salvage_sift(struct pp_salvage *salvage, bool (*is_readable)(void *data, const char *dir),
		     void *data);

/* Removes the directory. */
void pp_salvage_free(struct pp_salvage *salvage);

#endif
