/* SPDX-License-Identifier: MIT */
/*
 * Objects that no longer exist.  A program may create millions of them, one after the other, so
 * they are folded: one object of the same type and group (pp_object_group()) then stands for all of
 * them, and their memory is released.  The most important ones are kept, except brief ones.
 *
 * Objects of threads are not folded, since threads are kept by the model anyway.
 */
#ifndef PP_ANALYSIS_STATE_OBJECT_FOLD_H
#define PP_ANALYSIS_STATE_OBJECT_FOLD_H

#include "analysis/state/object.h"

/* Ended objects that are kept; until pp_folded_finish(), up to twice as many. */
#define PP_OBJECTS_KEPT 1000u

/* Folded addresses whose generations are numbered on; see pp_folded_replace(). */
#define PP_FOLDED_ADDRESSES (1u << 19)

struct pp_folded *pp_folded_new(void);
void pp_folded_free(struct pp_folded *folded);

/*
 * A group for objects like this one, which stands for none yet; and the text that is the same for
 * all objects of a group.
 */
struct pp_object pp_folded_model(const struct pp_object *object);
char *pp_folded_key(const struct pp_object *model, const struct pp_namer *namer);

/* The object no longer exists; it may be folded by the next pp_folded_run(). */
void pp_folded_add(struct pp_objects *objects, struct pp_object *object);

/* Folds ended objects.  Pointers to these become invalid. */
void pp_folded_run(struct pp_objects *objects);

/* Folds all ended objects but the most important ones. */
void pp_folded_finish(struct pp_objects *objects);

/* A free serial of a folded object, or a new one. */
unsigned pp_folded_serial(struct pp_objects *objects);

/*
 * The object is the newest at its address from now on.  After more than PP_FOLDED_ADDRESSES
 * addresses of folded objects, those at which no ended object is kept are forgotten, and numbered
 * from 1 again.
 */
void pp_folded_replace(struct pp_objects *objects, struct pp_object *object);

/* The object that stands for the newest one at the address; NULL: it is not folded, or forgotten.
 */
struct pp_object *pp_folded_group(const struct pp_objects *objects,
				  const struct pp_process *process, uint64_t address);

#endif
