/* SPDX-License-Identifier: MIT */
/* The processes in packs of short children of fork (children/packed.h). */
#ifndef PP_CAPTURE_PACKS_H
#define PP_CAPTURE_PACKS_H

#include "capture/capture.h"
#include "capture/children/packed.h"

/* A pack that is being read. */
struct pp_open_pack {
	struct pp_pack *pack;
	GPtrArray *processes; /* of struct pp_process *, by number; NULL: not read */
	char *maps_path;      /* the parent's load map; NULL: it leads out of the capture */
	GArray *maps;	      /* the load map of the last child, if others can share it */
	uint64_t maps_bytes;  /* its length in the parent's */
};

/* Returns an array of struct pp_open_pack *, of all packs. */
GPtrArray *pp_packs_open(struct pp_capture *capture);

/* Reads a child into the process. */
void pp_packs_read_process(struct pp_capture *capture, struct pp_open_pack *open, guint number,
			   struct pp_process *process);

/* Adds the traces of the packs whose processes have been read. */
void pp_packs_add_traces(struct pp_capture *capture, const GPtrArray *packs);

#endif
