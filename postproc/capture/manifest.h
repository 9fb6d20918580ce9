/* SPDX-License-Identifier: MIT */
#ifndef PP_CAPTURE_MANIFEST_H
#define PP_CAPTURE_MANIFEST_H

#include "capture/capture.h"

/* Notes damage for files that are missing or shorter than `record` left them. */
void pp_manifest_check(struct pp_capture *capture);

#endif
