/* SPDX-License-Identifier: MIT */
/*
 * The lines of memory that sections access, by address, each with a list of its uses.  A use stands
 * for all instances of a user in a thread; it counts them by word.
 *
 * Sets that hardly ever repeat make a use of each of their lines a visit to memory that no cache
 * has.  So a line is found in its place in the table, a use takes two cache lines, and both can be
 * prefetched for several lines at once.
 */
#ifndef PP_ANALYSIS_ACCESSES_LINE_USES_H
#define PP_ANALYSIS_ACCESSES_LINE_USES_H

#include <stdbool.h>
#include <stdint.h>

#include "sync-trace/accesses.h"

struct pp_location_user;
struct pp_process;
struct pp_thread;

#define PP_LINE_WORDS (ST_LINE_BYTES / 8)

struct pp_line_use {
	struct pp_location_user *user; /* a reference */
	const struct pp_thread *thread;
	uint64_t read, written, only_read; /* by any instance; only_read: and not written by it */
	uint64_t site;			   /* of the first access of an instance; 0: not known */
	uint32_t n;			   /* instances */
	uint32_t n_lines[2];		   /* ... that do not write the line, and that do */
	uint32_t next;			   /* number of the line's next use; 0: none */
	/* ... with bytes of the word that are only read, or written */
	uint32_t n_words[2][PP_LINE_WORDS];
};
_Static_assert(sizeof(struct pp_line_use) == 2 * ST_LINE_BYTES, "two cache lines");

struct pp_used_line {
	const struct pp_process *process; /* NULL: an empty place of the table */
	uint64_t address;
	uint32_t uses;	  /* number of its latest use; 0: none */
	bool is_reported; /* its false sharing */
};

struct pp_line_uses;

struct pp_line_uses *pp_line_uses_new(void);
void pp_line_uses_free(struct pp_line_uses *uses);

/* Number of lines. */
uint64_t pp_line_uses_count(const struct pp_line_uses *uses);

/* Returns the line; NULL: there is none. */
struct pp_used_line *pp_line_uses_find(const struct pp_line_uses *uses,
				       const struct pp_process *process, uint64_t address);

/* The same, and adds the line if there is none.  Pointers to other lines end. */
struct pp_used_line *pp_line_uses_get(struct pp_line_uses *uses, const struct pp_process *process,
				      uint64_t address);

/* Removes a line that has no uses.  Pointers to other lines end. */
void pp_line_uses_remove(struct pp_line_uses *uses, struct pp_used_line *line);

/* Returns the line at or after that place, 0 at first, and sets *place behind it; NULL: none. */
struct pp_used_line *pp_line_uses_each(const struct pp_line_uses *uses, uint64_t *place);

/* The use of that number; NULL for 0.  It stays where it is until it is removed. */
struct pp_line_use *pp_line_use_at(const struct pp_line_uses *uses, uint32_t number);

/*
 * Returns a use of the line that has room for n more instances.  If its counts would overflow, the
 * same user and thread get a further use.
 */
struct pp_line_use *pp_line_use_of(struct pp_line_uses *uses, struct pp_used_line *line,
				   struct pp_location_user *user, const struct pp_thread *thread,
				   uint32_t n);

/* Removes the use whose number is at *link, which gets that of the next one. */
void pp_line_use_remove(struct pp_line_uses *uses, uint32_t *link);

/* Prefetch the place of a line; later its latest use; and later the use before that. */
void pp_line_uses_prefetch_line(const struct pp_line_uses *uses, const struct pp_process *process,
				uint64_t address);
void pp_line_uses_prefetch_use(const struct pp_line_uses *uses, const struct pp_process *process,
			       uint64_t address);
void pp_line_uses_prefetch_next(const struct pp_line_uses *uses, const struct pp_process *process,
				uint64_t address);

#endif
