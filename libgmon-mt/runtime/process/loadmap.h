/* SPDX-License-Identifier: MIT */
/*
 * The load map: which object was mapped where, and what happens to its addresses when it is
 * unloaded.
 */
#ifndef GM_RUNTIME_LOADMAP_H
#define GM_RUNTIME_LOADMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GM_OBJECT_NUMBER_BYTES sizeof("~32767")
#define GM_OBJECT_NAME_BYTES   (59 + GM_OBJECT_NUMBER_BYTES)

struct gm_child;

struct gm_object {
	uint64_t start, end;	       /* run-time addresses of the whole mapping, end exclusive */
	uint64_t text_start, text_end; /* of its code */
	uint64_t bias;		       /* run-time address - link-time address */
	uint64_t entry;	   /* its entry point or, in a library without one, DT_INIT; 0: neither */
	uint64_t file;	   /* equal for mappings of the same file */
	uint64_t build_id; /* a hash of the build-id; 0: none */
	uint64_t line_at;  /* position of its latest line in `maps` */
	uint32_t line_bytes;
	bool executable;		 /* the program itself */
	char name[GM_OBJECT_NAME_BYTES]; /* file name without directory, unique per file */
};

/* Appends to `maps` all mapped objects that are not listed yet. Takes the loader's lock. */
void gm_maps_update(void);

/*
 * Makes sure that the object at `address` is in `maps`; async-signal-safe, does not take the
 * loader's lock. Returns false if no object is known there (JIT code).
 */
bool gm_maps_note(uint64_t address, struct gm_object *ret_object);

/*
 * The same for code that may be executed between an object's gm_maps_unload() and its unmapping, as
 * that of samples: an object that has moved, and is still mapped, is not taken for one that was
 * loaded again. *ret_object has the present addresses. *ret_place: what was added to them; 0: it
 * has not moved.
 */
bool gm_maps_look(uint64_t address, struct gm_object *ret_object, uint64_t *ret_place);

/* Returns the noted object at `address`, valid as long as the process; NULL: none noted. */
const struct gm_object *gm_maps_find(uint64_t address);

/* Returns the number of noted mappings of this object's file, and up to `max` of them. */
unsigned gm_maps_of_file(const struct gm_object *file, const struct gm_object **ret, unsigned max);

/*
 * Called when the object at `address` is about to be unloaded. Another object may be mapped at its
 * addresses, so it moves to one where nothing can be loaded: GM_PLACE_BYTES times its number is
 * added. If the loader maps it at the old address again, it moves back. Returns false if it is not
 * noted.
 */
bool gm_maps_unload(uint64_t address);

/* The same if no load map has the object: what is remembered of its code is discarded. */
void gm_maps_leave(uint64_t address);

/*
 * Returns true if the module was there when the program began, and so is never unloaded. NULL:
 * false.
 */
struct link_map;
bool gm_module_is_permanent(const struct link_map *module)
    __attribute__((weak)); /* not in archives */

/*
 * The last module of the loader's list that is never unloaded; NULL before our constructor, when
 * all are expected to be. In shared libraries only.
 */
const struct link_map *gm_module_last_permanent(void);

/* Defined by each library: handles the unloading of the object at that address. */
void gm_unloads(uint64_t address);

/*
 * For code that keeps addresses; called before any object can move. `move` adds `by` to the
 * addresses in the object, then calls gm_object_move(). It runs in the functions above except
 * gm_maps_find(). Before that, the object is listed in `maps` at its new address. `first`: the
 * first number of this library, so that two libraries of a process never move objects to the same
 * address.
 */
void gm_maps_on_move(void (*move)(struct gm_object *object, uint64_t by), uint64_t first);
void gm_object_move(struct gm_object *object, uint64_t by);

/*
 * If set: called with the addresses of an object that is unloaded or was replaced, for what is
 * remembered of its code.
 */
extern void (*gm_maps_on_leave)(uint64_t start, uint64_t end);

/*
 * The loader's _dl_find_object(); NULL before glibc 2.35. After gm_libc_resolve() it is never a
 * function of the program with that name.
 */
struct dl_find_object;
extern int (*gm_find_object)(void *address, struct dl_find_object *ret);
/* True from then on: it leads to no code of the program. */
extern bool gm_find_object_is_safe;

/*
 * Replaces gm_find_object and gm_set_specific by libc's own functions. Our constructor does this;
 * code that may run before it and while the program holds locks calls it first. Takes no lock of
 * the program. Not in libgmon_mt.a.
 */
void gm_libc_resolve(void);

/* Returns true if the object that the loader found is never unloaded. */
bool gm_found_is_permanent(const struct dl_find_object *found);

/* Run-time address of the executable's entry point. */
uint64_t gm_entry_point(void);

/* Discards the noted objects of another folder's load map. */
void gm_maps_forget(void);

/*
 * For a child of fork that begins in a place: starts its load map with the objects noted in the
 * parent. Returns false if the child's load map does not have all of them.
 */
bool gm_maps_inherit(struct gm_child *child);

#endif
