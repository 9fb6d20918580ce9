/* SPDX-License-Identifier: MIT */
/*
 * The critical sections of a model in the recorded order of each lock. A section is from an
 * acquisition to the next release; recursive acquisitions belong to the outermost one. A condition
 * wait ends a section of its mutex, and begins the next one.
 */
#ifndef PP_REPLAY_ULCP_SECTIONS_H
#define PP_REPLAY_ULCP_SECTIONS_H

#include "core/error.h"
#include "replay/model.h"

struct pp_ulcp_section {
	uint32_t object, thread;
	uint32_t first, last; /* steps: the acquisition; the release, or the thread's EXIT */
	uint32_t rank;	      /* of the acquisition */
	bool shared;	      /* it begins with a RDLOCK */
};

/*
 * Returns the sections (of struct pp_ulcp_section), by object, and then in the order of their
 * ranks. The model is valid (pp_replay_check()). Returns NULL, with an error, if it does not tell
 * the order of the acquisitions of a lock that several threads take, or if that order contradicts
 * the one of a thread's steps. The caller unrefs the array.
 */
GArray *pp_ulcp_find_sections(const struct pp_replay_model *model, struct pp_error *err);

/* The number of sections from `first` on that are of the same lock. */
guint pp_ulcp_count_of_lock(const GArray *sections, guint first);

static inline const struct pp_ulcp_section *pp_ulcp_section_at(const GArray *sections, guint i)
{
	return &g_array_index(sections, struct pp_ulcp_section, i);
}

#endif
