/* SPDX-License-Identifier: MIT */
/*
 * Makes the readable parts of a damaged trace available to Babeltrace: a temporary directory with
 * the same metadata, symlinks to the undamaged streams, and copies of the others that end with
 * their last packet.  The capture itself is never changed.
 */
#ifndef PP_CTF_BABELTRACE_SALVAGE_H
#define PP_CTF_BABELTRACE_SALVAGE_H

#include "capture/capture.h"

struct pp_salvage;

/*
 * Do the packets of every stream follow each other up to its end?  Babeltrace must not read any
 * other stream: it aborts on packet sizes that are invalid.
 */
bool pp_salvage_is_needless(const char *trace_dir);

/* Creates the directory with the metadata alone.  Returns 0 or -errno. */
int pp_salvage_new(struct pp_capture *capture, const char *trace_dir,
		   struct pp_salvage **ret_salvage);

/* Adds the streams.  Each stream that loses data becomes damage of the capture. */
void pp_salvage_take_streams(struct pp_salvage *salvage);

/* Returns the path of the temporary directory. */
const char *pp_salvage_dir(const struct pp_salvage *salvage);

/*
 * Keeps only the streams that can be read alone.  `is_readable` decides for a directory with the
 * metadata and one stream.
 */
void pp_salvage_sift(struct pp_salvage *salvage, bool (*is_readable)(void *data, const char *dir),
		     void *data);

/* Removes the directory. */
void pp_salvage_free(struct pp_salvage *salvage);

#endif
