/* SPDX-License-Identifier: MIT */
#ifndef PP_RECORD_MANIFEST_H
#define PP_RECORD_MANIFEST_H

#include "core/model.h"

/* Writes the list of the capture's files.  Returns 0 or -errno; readers do without it. */
int pp_manifest_write(int dir_fd, const struct pp_model *model);

#endif
