/* SPDX-License-Identifier: MIT */
/* Writes packs (packed.h): children of fork that have ended and made no folder. */
#ifndef PP_CAPTURE_CHILDREN_PACK_H
#define PP_CAPTURE_CHILDREN_PACK_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "capture/children/fill.h"

/* The next pack of a folder, in memory. */
struct pp_packing {
	GArray *places;	     /* of uint32_t: their numbers in the file of places */
	GByteArray *table;   /* of struct pp_pack_record, with the calls behind each */
	GByteArray *packets; /* of all children */
	GArray *spans;	     /* of struct span: the children that have packets */
};

struct pp_packing *pp_packing_new(void);
void pp_packing_free(struct pp_packing *packing);

/*
 * Adds the child in the place `number`.  Returns false if it needs a folder: its data is damaged or
 * unusual, or the parent has no metadata yet.
 */
bool pp_packing_add(struct pp_packing *packing, struct pp_child_parent *parent,
		    const struct pp_child_place *place, uint32_t number);

/*
 * Writes the pack, if it has children.  Returns 0 or -errno; after an error the folder is as
 * before.
 */
int pp_packing_write(struct pp_packing *packing, struct pp_child_parent *parent);

/* Returns a set of the images, uint64_t *, of all children in the packs of the folder. */
GHashTable *pp_packs_images(int capture_fd, const char *folder);

#endif
