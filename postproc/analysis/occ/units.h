/* SPDX-License-Identifier: MIT */
/*
 * The critical sections of paper 001, section 2.3: all code that is executed while a statically
 * allocated lock is held; for dynamically allocated locks, all that is entered at a call site.
 * Sites that have acquired the same lock belong to one section, since they exclude each other.
 *
 * A unit is a statically allocated lock, or a call site.  Passes have figures by unit, and add up
 * those of each section at the end.  Units have numbers 0, 1, ...
 */
#ifndef PP_ANALYSIS_OCC_UNITS_H
#define PP_ANALYSIS_OCC_UNITS_H

#include "analysis/state/object.h"

struct pp_occ_unit {
	/* The lock that gives the unit its name; for a call site, the first one acquired there. */
	struct pp_object lock;
	bool is_static;
	uint64_t site;	   /* the call site; 0: not known, or a statically allocated lock */
	GHashTable *sites; /* statically allocated: a set of the call sites; else NULL */
	unsigned parent;   /* of the sets of units that are one section */
};

struct pp_occ_units;

/* The unit of a lock, as far as it is known.  Zeroed: nothing is. */
struct pp_occ_lock {
	unsigned unit; /* 1 + that of the lock, or of its first call site; 0: not known */
	bool is_static;
	uint64_t last_site; /* the last one */
	unsigned last_unit; /* 1 + the unit of that call site; 0: none yet */
};

struct pp_occ_units *pp_occ_units_new(const struct pp_pass_context *context);
void pp_occ_units_free(struct pp_occ_units *units);

/* The unit to which an acquisition of the object at the call site belongs. */
unsigned pp_occ_unit_of(struct pp_occ_units *units, struct pp_occ_lock *lock,
			const struct pp_object *object, uint64_t site);

guint pp_occ_units_n(const struct pp_occ_units *units);
const struct pp_occ_unit *pp_occ_unit(const struct pp_occ_units *units, unsigned number);

/* The number of the unit that stands for the section of this one. */
unsigned pp_occ_section_of(struct pp_occ_units *units, unsigned number);

#endif
