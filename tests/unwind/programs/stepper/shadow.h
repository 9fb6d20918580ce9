/* SPDX-License-Identifier: MIT */
/*
 * The calls that a process has not returned from, by the call and ret instructions that it has
 * executed: an exact account that uses no unwind table.
 *
 * Each stack has a list. An entry is a return address with its place on the stack, or a frame that
 * the kernel made for a signal handler. What is below %rsp has been left, however that happened.
 */
#ifndef STEPPER_SHADOW_H
#define STEPPER_SHADOW_H

#include <stdbool.h>
#include <stdint.h>

#include "look.h"

struct path {
	unsigned n;
	uint64_t addresses[FRAMES_MAX];
	uint64_t slots[FRAMES_MAX]; /* where return addresses are; 0: it is none */
};

/* The frames in which stepping begins, innermost first. They are never left. */
void shadow_begin(const uint64_t *addresses, unsigned n);

/* Adds a stack, `end` exclusive. All other addresses belong to the first one. */
void shadow_add_stack(uint64_t start, uint64_t end);

/* A call has stored `address` at `slot`. */
void shadow_call(uint64_t slot, uint64_t address);

/* The kernel has interrupted the instruction at `ip` for a handler; its frame is at `slot`. */
void shadow_signal(uint64_t slot, uint64_t ip, uint64_t sp);

/*
 * %rsp has changed. Returns how many entries this leaves, and the return address of the last one
 * and its place.
 */
unsigned shadow_move(uint64_t sp, uint64_t *ret_slot, uint64_t *ret_address);

bool shadow_same_stack(uint64_t sp, uint64_t other);

/* True if nothing has been called yet on the stack with this address. */
bool shadow_is_new(uint64_t sp);

/*
 * The call path, in the form of gm_unwind(), at most FRAMES_MAX frames. *ret_in_handler: it has
 * the frame of a signal handler.
 */
void shadow_path(uint64_t ip, uint64_t sp, struct path *ret, bool *ret_in_handler);

#endif
