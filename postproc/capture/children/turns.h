/* SPDX-License-Identifier: MIT */
/* Locks between the readers of one capture (turns.c). */
#ifndef PP_CAPTURE_CHILDREN_TURNS_H
#define PP_CAPTURE_CHILDREN_TURNS_H

#include <stdbool.h>
#include <stdint.h>

/* The turn of a reader that moves children. */
struct pp_turn {
	int fd; /* of `session`; -1: not open */
	int64_t shown_us;
};

/*
 * Waits for the turn; turn->fd is open for writing.  Returns 0; or -ETIMEDOUT: another reader has
 * it, and has not shown any progress for 5 s.
 */
int pp_turn_take(struct pp_turn *turn);

/* Shows the waiting readers that this one makes progress.  Costs little; call it at each step. */
void pp_turn_show(struct pp_turn *turn);

/*
 * Returns true if a reader is in the capture.  Otherwise none can begin until
 * pp_turn_let_in().
 */
bool pp_turn_keep_out(const struct pp_turn *turn);
void pp_turn_let_in(const struct pp_turn *turn);

/*
 * From now until the descriptor *ret_fd is closed no folder is removed from the capture in the
 * directory `dir`.  Returns 0; -ETIMEDOUT: another reader has been removing one for 5 s; or -errno,
 * with *ret_fd = -1: the file or its file system cannot be locked.
 */
int pp_turn_read(int dir, int *ret_fd);

#endif
