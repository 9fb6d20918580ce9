/* SPDX-License-Identifier: MIT */
/*
 * `<pid>/packed.<n>`: children of fork of the process <pid> that did little (gmon-mt/children.h)
 * and have ended, together in one folder, which gprof-mt writes once and never changes:
 *
 *   table          a header, then a record for each child; its number is its position
 *   user/          a CTF trace of their events.  The packets of one child follow each other in a
 *                  stream, and a stream has children that lived one after the other.  In the
 *                  context of a packet, `child` is the child's number, and `tid` its process
 *                  number.
 *   gmon.<number>.<tid>   gmon files of some of the children (export/gmon)
 *
 * A record of `table` is followed by the child's chunks of `calls` (gmon-mt/format.h), without
 * empty slots.
 */
#ifndef PP_CAPTURE_CHILDREN_PACKED_H
#define PP_CAPTURE_CHILDREN_PACKED_H

#include <glib.h>
#include <stdint.h>

#include "gmon-mt/children.h"

#define PP_PACK_MAGIC "GMPACKED"
#define PP_PACK_MAX   GM_CHILDREN_MAX /* children in a pack */

struct pp_pack_header {
	char magic[8];
	uint32_t schema;
	uint32_t header_bytes;
	uint32_t n_children;
	uint32_t unused;
};
_Static_assert(sizeof(struct pp_pack_header) == 24, "on-disk size");

struct pp_pack_record {
	uint32_t record_bytes; /* with the calls; a multiple of 8 */
	uint32_t calls_bytes;
	uint32_t parts; /* enum gm_child_parts: parts that have data */
	uint32_t unused;
	uint64_t maps_bytes; /* as in struct gm_child */
	uint64_t threads[GM_CHILD_THREADS_BYTES / 8];
	struct gm_thread_slot first;
};
_Static_assert(sizeof(struct pp_pack_record) == 280, "on-disk size");

struct pp_pack_child {
	struct pp_pack_record record;
	const uint8_t *calls;
};

/* A pack that has been read. */
struct pp_pack {
	char *parent;	   /* "1234" */
	char *name;	   /* "1234/packed.0" */
	GArray *children;  /* of struct pp_pack_child, by number */
	const char *fault; /* why the other children cannot be read; NULL: there are no others */
	char *bytes;
};

/* Returns the header of the child's thread table, without its buckets. */
struct gm_threads_header pp_pack_threads(const struct pp_pack_record *record);

/* Reads the table of the pack `name` in the folder `parent` of a capture, an open directory. */
struct pp_pack *pp_pack_read(int capture_fd, const char *parent, const char *name);
void pp_pack_free(struct pp_pack *pack);

/* Makes children of the bytes of a table.  Takes `bytes`. */
struct pp_pack *pp_pack_parse(const char *parent, const char *name, char *bytes, gsize n_bytes);

/* Returns an array of struct pp_pack *: all packs of the capture. */
GPtrArray *pp_packs_read(const char *dir);

#endif
