/* SPDX-License-Identifier: MIT */
/* Who waited for whom: the waits of an index, summed up by who had them and whom they were for. */
#ifndef PP_INDEX_EDGES_H
#define PP_INDEX_EDGES_H

#include "index/index.h"

/* Of a new index that has its operations.  go_on() is asked at each wait; false: it was stopped. */
bool pp_index_add_edges(struct pp_index *index, bool (*go_on)(void *data), void *data);

#endif
