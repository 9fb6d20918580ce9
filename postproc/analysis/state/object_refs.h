/* SPDX-License-Identifier: MIT */
/*
 * The objects that a pass's figures refer to, by number.  For passes that need no object after its
 * end, except to name it in a row: an ended object is kept only if a figure refers to it.
 *
 * A pass with figures of every object folds the ended ones when they are many: those with the
 * smallest figures share one number per type and call site of initialization.
 */
#ifndef PP_ANALYSIS_STATE_OBJECT_REFS_H
#define PP_ANALYSIS_STATE_OBJECT_REFS_H

#include "analysis/state/object.h"

#define PP_OBJECT_REFS_NONE UINT32_MAX

/* The number of ended objects from which on they are folded. */
#define PP_OBJECT_REFS_MANY 16384u

struct pp_object_refs {
	GHashTable *known;  /* number -> struct ref * */
	GPtrArray *ended;   /* of struct ref *, in order of their end */
	GHashTable *groups; /* text -> struct ref * */
};

void pp_object_refs_init(struct pp_object_refs *refs);
void pp_object_refs_done(struct pp_object_refs *refs);

/* A figure refers to the object by this number, which follows the order of appearance. */
static inline uint32_t pp_object_number(const struct pp_object *object)
{
	return (uint32_t)object->order;
}

/* To be called for each object that a figure refers to.  Returns its number. */
uint32_t pp_object_refs_add(struct pp_object_refs *refs, struct pp_object *object);

/* To be called from `fold` of struct pp_object_listener.  Returns false if nothing refers to it. */
bool pp_object_refs_end(struct pp_object_refs *refs, const struct pp_object *object);

/* The object, or a copy of it; NULL: nothing refers to it, or it was folded. */
struct pp_object *pp_object_refs_at(const struct pp_object_refs *refs, uint32_t number);

/* All numbers, ascending, of uint32_t.  The caller unrefs the array. */
GArray *pp_object_refs_numbers(const struct pp_object_refs *refs);

/* --- folding -------------------------------------------------------------------------------- */

/* Begins to weigh ended objects; pp_object_refs_weigh() then adds to the weight of one. */
void pp_object_refs_begin(struct pp_object_refs *refs);
void pp_object_refs_weigh(struct pp_object_refs *refs, uint32_t number, int64_t weight);

/*
 * Folds ended objects except the PP_OBJECTS_KEPT heaviest.  The caller then replaces all numbers by
 * pp_object_refs_now(), and calls pp_object_refs_forget().
 */
void pp_object_refs_fold(struct pp_object_refs *refs, struct pp_objects *objects);
uint32_t pp_object_refs_now(const struct pp_object_refs *refs, uint32_t number);
void pp_object_refs_forget(struct pp_object_refs *refs);

#endif
