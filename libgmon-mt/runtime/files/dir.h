/* SPDX-License-Identifier: MIT */
/*
 * Opens directories and files where other users may write: a directory is held by its descriptor,
 * files are opened below it, and only symlinks of root or this user are followed.
 *
 * gm_dir_open() has static buffers: its callers are those of capture.h, one at a time.
 */
#ifndef GM_RUNTIME_DIR_H
#define GM_RUNTIME_DIR_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

/*
 * Returns an O_PATH descriptor of the directory `path`. Symlinks on the way are followed if root or
 * the effective user owns them. -EPERM: another user owns one.
 */
int gm_dir_open(const char *path);

/*
 * Returns true if another user may rename or replace this user's files in the directory, or one
 * above it.
 */
bool gm_dir_is_exposed(int dir);

/*
 * Opens `path` below the directory `dir`, through no symlink and never above `dir`. Never blocks,
 * for the writer of a FIFO or anything else. Returns a descriptor or -errno.
 */
int gm_open_below(int dir, const char *path, int flags, int mode);

/*
 * Reads at most size_bytes - 1 bytes of a regular file below `dir` and terminates them. Returns the
 * length or -errno; -EINVAL: it is not a regular file.
 */
long gm_read_below(int dir, const char *path, char *buffer, size_t size_bytes);

/* The same for a file of /proc or /sys, or one that the user named. */
long gm_read_text(const char *path, char *buffer, size_t size_bytes);

/*
 * Returns true if only root and the effective user may write to it: one of them owns it, and
 * neither others nor a group may write. A group with the same number as the owner counts as the
 * owner.
 */
bool gm_is_trusted(const struct stat *status);

/* Returns true if the effective user owns it and gm_is_trusted(). */
bool gm_is_own(const struct stat *status);

/* Returns true if it is a regular file, gm_is_own(), and has no other name. */
bool gm_is_own_file(int fd);

#endif
