/* SPDX-License-Identifier: MIT */
/*
 * Reads the field offsets of tracepoints from tracefs.
 *
 * tracefs need not be mounted: with the privilege to mount, it is mounted without a mount point
 * while it is read, so nothing on the machine changes.
 */
#ifndef PP_RECORD_PERF_TRACEFS_H
#define PP_RECORD_PERF_TRACEFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/error.h"

struct pp_field {
	uint16_t offset;
	uint16_t size;
};

/* A field to look up in a format: its kernel name, and where to store its position. */
struct pp_field_wanted {
	const char *name;
	size_t into; /* offset of a struct pp_field in the caller's structure */
};

/*
 * Reads events/NAME/format for each of `names` (NULL-terminated) into an array of the same length.
 * Returns 0 or -errno; -ENOENT: no tracefs; -EACCES: not permitted.  Events after the first
 * n_needed may be missing; their text is then empty.
 */
int pp_tracefs_read(const char *const *names, unsigned n_needed, GPtrArray **ret_texts,
		    struct pp_error *err);

/* Returns the usual mount point where tracefs is mounted, or NULL. */
const char *pp_tracefs_path(void);

/*
 * Returns a descriptor (O_PATH) of the root of tracefs, or -errno; -ENOENT: it is not mounted, and
 * this process may not mount it.  Its files may still be closed to this process.
 */
int pp_tracefs_open(struct pp_error *err);

/*
 * Extracts the event's id and the wanted fields (terminated by a NULL name) from a format text.
 * Returns 0 or -EINVAL; the error names the missing field.
 */
int pp_tracefs_parse(const char *text, const struct pp_field_wanted *wanted, void *into,
		     uint64_t *ret_id, struct pp_error *err);

#endif
