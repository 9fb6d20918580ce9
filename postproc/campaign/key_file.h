/* SPDX-License-Identifier: MIT */
/*
 * Key files without the leniency of GKeyFile, which joins groups of the same name, takes the last
 * of several values, and has none for a value that is not UTF-8.
 */
#ifndef PP_CAMPAIGN_KEY_FILE_H
#define PP_CAMPAIGN_KEY_FILE_H

#include "core/error.h"

#include <glib.h>

/* Reads a file in which each group, and each key of a group, occurs once.  Returns 0 or -errno. */
int pp_key_file_read(const char *path, GKeyFile **ret, struct pp_error *err);

#endif
