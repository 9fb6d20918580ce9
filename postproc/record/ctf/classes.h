/* SPDX-License-Identifier: MIT */
/*
 * Event classes of system calls, declared in the metadata when the first event of a class occurs.
 *
 * There is one class for each call and set of value widths: an argument takes 4, 6 (most addresses)
 * or 8 bytes, and is still a plain integer to every reader.  A class is written before the packet
 * with its first event.
 */
#ifndef PP_RECORD_CTF_CLASSES_H
#define PP_RECORD_CTF_CLASSES_H

#include <stdbool.h>
#include <sys/types.h>

#include "record/ctf/kevent.h"
#include "record/ctf/syscalls.h"

struct pp_kernel_classes {
	const struct pp_syscalls *syscalls;
	int metadata_fd; /* positioned at the end of the file */
	off_t metadata_bytes;
	GHashTable *ids; /* key of a class -> id */
	unsigned next;	 /* next id */
};

/* The layout of an event of a class. */
struct pp_kernel_layout {
	uint16_t id;
	bool has_number; /* an unnamed call, whose number comes before the values */
	unsigned n_values;
	uint8_t bytes[PP_SYSCALL_ARGUMENTS];
};

/* Takes ownership of the descriptor.  Ids from first_id on are free. */
void pp_kernel_classes_init(struct pp_kernel_classes *classes, const struct pp_syscalls *syscalls,
			    int metadata_fd, unsigned first_id);
void pp_kernel_classes_done(struct pp_kernel_classes *classes);

/* Returns 0, or -errno if there is no room for another class. */
int pp_kernel_class(struct pp_kernel_classes *classes, const struct pp_kevent *event,
		    struct pp_kernel_layout *ret);

#endif
