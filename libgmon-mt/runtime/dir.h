/* SPDX-License-Identifier: MIT */
/*
 * Opening directories and files where other users may write: a directory is reached by descriptor,
 * files are opened below it, and a symbolic link counts only if root or this user made it.
 *
 * gm_dir_open() has static buffers: its callers are those of capture.h, one at a time.
 */
#ifndef GM_RUNTIME_DIR_H
#define GM_RUNTIME_DIR_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

/*
 * An O_PATH descriptor of the directory `path`.  Symbolic links on the way are followed if root or
 * the effective user owns them.  -EPERM: another user owns one.
 */
int gm_dir_open(const char *path);

/* May another user rename or replace what this user has in the directory, or one above it? */
bool gm_dir_is_exposed(int dir);

/*
 * Opens `path` below the directory `dir`, through no symbolic link and never above `dir`.  Never
 * waits, for the writer of a FIFO or anything else.  Descriptor or -errno.
 */
int gm_open_below(int dir, const char *path, int flags, int mode);

/*
 * Reads at most size_bytes - 1 bytes of a regular file below `dir` and terminates them.  Returns
 * the length or -errno; -EINVAL: it is no regular file.
 */
long gm_read_below(int dir, const char *path, char *buffer, size_t size_bytes);

/* The same of a file that the kernel provides, or that the user named. */
long gm_read_text(const char *path, char *buffer, size_t size_bytes);

/*
 * Only root and the effective user may write to it: one of them owns it, and neither others nor a
 * group may write.  The group that has its owner's number is the owner's alone.
 */
bool gm_is_trusted(const struct stat *status);

/* The effective user owns it, and gm_is_trusted(). */
bool gm_is_own(const struct stat *status);

#endif
