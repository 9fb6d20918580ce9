/* SPDX-License-Identifier: MIT */
/* The lines that `record` prints, unless it is to be quiet. */
#ifndef PP_CLI_RECORDING_NOTES_H
#define PP_CLI_RECORDING_NOTES_H

#include "record/info.h"

/* Prints "gprof-mt: TEXT". */
void pp_record_note(const char *format, ...) G_GNUC_PRINTF(1, 2);

/* Prints one line on the kernel's events that this capture will lack. */
void pp_record_note_kernel(const struct pp_run *run);

#endif
