/* SPDX-License-Identifier: MIT */
/*
 * Deletes DIR.old, whose name the previous capture takes, after the program has ended instead of
 * before it starts.  Deleting takes long, and on ext4 every file created within seconds afterwards
 * costs the program 100 us or more, because recently deleted inodes are not reused.
 *
 * Until then the directory is .NAME.discarded.PID beside DIR, and locked (flock), since processes
 * in other PID namespaces cannot look up the number.  If `record` dies, the directory is kept, and
 * the next `record` to DIR deletes it.
 */
#ifndef PP_RECORD_DISCARD_H
#define PP_RECORD_DISCARD_H

#include <stdbool.h>

struct pp_discard {
	char *parent; /* NULL: nothing to delete */
	char *prefix; /* prefix of names in it: ".gprof-mt.data.discarded." */
	char *old, *aside;
	int lock_fd; /* of the directory that was moved; -1: none */
	bool is_aside;
};

/* Call before the capture `dir` is created: renames DIR.old if both are finished captures. */
void pp_discard_begin(struct pp_discard *discard, const char *dir);

/* Call if the capture was not created: restores DIR.old. */
void pp_discard_undo(struct pp_discard *discard);

/* Deletes it and those that `record` processes left when they died; frees *discard's members. */
void pp_discard_end(struct pp_discard *discard);

#endif
