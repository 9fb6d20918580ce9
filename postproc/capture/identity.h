/* SPDX-License-Identifier: MIT */
/* What a capture's files are, so that who has kept something of them sees that they are others. */
#ifndef PP_CAPTURE_IDENTITY_H
#define PP_CAPTURE_IDENTITY_H

#include <stdint.h>

#include <glib.h>

/*
 * Adds to the sum: of each file below the directory its path, size and time of last change.  Links
 * are not followed, and files and folders right in it that begin with `except` left out.
 * *ret_bytes: of all of them.
 */
void pp_capture_identify(const char *dir, const char *except, GChecksum *sum, uint64_t *ret_bytes);

#endif
