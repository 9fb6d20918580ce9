/* SPDX-License-Identifier: MIT */
/* The numbers of processes in an index: their positions in the model, to which a sweep may add. */
#ifndef PP_INDEX_PROCESS_NUMBERS_H
#define PP_INDEX_PROCESS_NUMBERS_H

#include "index/index.h"

struct pp_process_numbers {
	struct pp_index *index; /* borrowed */
	GHashTable *of;		/* const struct pp_process * -> number + 1 */
};

void pp_process_numbers_init(struct pp_process_numbers *numbers, struct pp_index *index);
void pp_process_numbers_done(struct pp_process_numbers *numbers);

/* Adds processes that are new in the model to the index. */
void pp_process_numbers_add(struct pp_process_numbers *numbers);

/* The number of a process of the model, which is in the index then. */
uint32_t pp_process_number(struct pp_process_numbers *numbers, const struct pp_process *process);

#endif
