/* SPDX-License-Identifier: MIT */
/* Which thread waited for which: the waits of an index, summed by waiter and holder. */
#ifndef PP_INDEX_EDGES_H
#define PP_INDEX_EDGES_H

#include "index/index.h"

/*
 * Call it for a new index with all its operations.  go_on() is called at each wait.  Returns false
 * if go_on() stopped it.
 */
bool pp_index_add_edges(struct pp_index *index, bool (*go_on)(void *data), void *data);

#endif
