/* SPDX-License-Identifier: MIT */
/*
 * Where a tracepoint's fields lie, read from tracefs.
 *
 * tracefs need not be mounted: with the privilege to mount, it is mounted in a private mount
 * namespace of a child that lives for the reading alone, so that nothing on the machine changes.
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

/* A field to be found in a format: name as the kernel has it, and where to note it. */
struct pp_field_wanted {
	const char *name;
	size_t into; /* offset of a struct pp_field in the caller's structure */
};

/*
 * The text of events/NAME/format for each of `names` (NULL-terminated), as an array of equal
 * length.  -ENOENT: no tracefs, -EACCES: not permitted, or one of the first n_needed events does
 * not exist; of the others that do not the text is empty.
 */
int pp_tracefs_read(const char *const *names, unsigned n_needed, GPtrArray **ret_texts,
		    struct pp_error *err);

/* Is tracefs mounted where one looks for it?  The path, or NULL. */
const char *pp_tracefs_path(void);

/*
 * Takes the event's number and the wanted fields (ended by a NULL name) out of a format text.
 * -EINVAL names the field that is missing.
 */
int pp_tracefs_parse(const char *text, const struct pp_field_wanted *wanted, void *into,
		     uint64_t *ret_id, struct pp_error *err);

#endif
