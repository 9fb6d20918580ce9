/* SPDX-License-Identifier: MIT */
/* A digest of a capture's files, by which caches detect that the capture has changed. */
#ifndef PP_CAPTURE_IDENTITY_H
#define PP_CAPTURE_IDENTITY_H

#include <stdint.h>

#include <glib.h>

/*
 * Adds to the checksum the path, size and time of modification of each file below the directory.
 * Symlinks are not followed.  Top-level entries whose name begins with `except` are skipped.
 * *ret_bytes is the total size of all files.
 */
void pp_capture_identify(const char *dir, const char *except, GChecksum *sum, uint64_t *ret_bytes);

#endif
