/* SPDX-License-Identifier: MIT */
#ifndef PP_CORE_TEXT_TEMPORARY_FILE_H
#define PP_CORE_TEXT_TEMPORARY_FILE_H

/*
 * Opens an empty file without a name, in the folder for temporary files ($TMPDIR, else /tmp).
 * Returns its descriptor, or -errno.
 */
int pp_temporary_file(void);

#endif
