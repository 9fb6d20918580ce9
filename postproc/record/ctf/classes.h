/* SPDX-License-Identifier: MIT */
/*
 * Event classes of system calls, declared in the metadata when the first of them comes.
 *
 * One class for each call and for each set of widths that its values need: an argument takes 4, 6
 * (most addresses) or 8 bytes, and yet is a plain integer to every reader.  A class stands in the
 * file before the packet that holds the first event of it does.
 */
#ifndef PP_RECORD_CTF_CLASSES_H
#define PP_RECORD_CTF_CLASSES_H

#include <stdbool.h>
#include <sys/types.h>

#include "record/ctf/kevent.h"
#include "record/ctf/syscalls.h"

struct pp_kernel_classes {
	const struct pp_syscalls *syscalls;
	int metadata_fd; /* at its end */
	off_t metadata_bytes;
	GHashTable *ids; /* what it is of, and its widths -> id */
	unsigned next;	 /* id */
};

/* How to write an event of a class. */
struct pp_kernel_layout {
	uint16_t id;
	bool has_number; /* before the values: a call that we have no name for */
	unsigned n_values;
	uint8_t bytes[PP_SYSCALL_ARGUMENTS];
};

/* Takes the descriptor.  Ids from first_id on are free. */
void pp_kernel_classes_init(struct pp_kernel_classes *classes, const struct pp_syscalls *syscalls,
			    int metadata_fd, unsigned first_id);
void pp_kernel_classes_done(struct pp_kernel_classes *classes);

/* 0, or -errno: no room for another class. */
int pp_kernel_class(struct pp_kernel_classes *classes, const struct pp_kevent *event,
		    struct pp_kernel_layout *ret);

#endif
