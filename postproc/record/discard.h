/* SPDX-License-Identifier: MIT */
/*
 * Deletes DIR.old, which the new capture's predecessor takes the name of, after the program has
 * ended and not before it starts: deleting takes long, and on ext4 each file made within seconds
 * after it costs the program 100 us and more, as no inode deleted so recently is handed out.
 *
 * Until then the directory is .NAME.discarded.PID, beside DIR.  If `record` dies it stays, and the
 * next to make a capture DIR deletes it.
 */
#ifndef PP_RECORD_DISCARD_H
#define PP_RECORD_DISCARD_H

#include <stdbool.h>

struct pp_discard {
	char *parent; /* NULL: nothing to do, ever */
	char *prefix; /* of names in it: ".gprof-mt.data.discarded." */
	char *old, *aside;
	bool is_aside;
};

/* Before the capture `dir` is made: renames DIR.old if both are captures that have ended. */
void pp_discard_begin(struct pp_discard *discard, const char *dir);

/* The capture was not made: puts DIR.old back. */
void pp_discard_undo(struct pp_discard *discard);

/* Deletes it, and what others that died have left; frees *discard. */
void pp_discard_end(struct pp_discard *discard);

#endif
