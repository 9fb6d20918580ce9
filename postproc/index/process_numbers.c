/* SPDX-License-Identifier: MIT */
/* See process_numbers.h. */
#include "index/process_numbers.h"

void pp_process_numbers_init(struct pp_process_numbers *numbers, struct pp_index *index)
{
	*numbers = (struct pp_process_numbers){index, g_hash_table_new(NULL, NULL)};
}

void pp_process_numbers_done(struct pp_process_numbers *numbers)
{
	g_clear_pointer(&numbers->of, g_hash_table_unref);
}

void pp_process_numbers_add(struct pp_process_numbers *numbers)
{
	struct pp_mapped_array *section = &numbers->index->sections[PP_SECTION_PROCESSES];
	const GPtrArray *processes = numbers->index->model->processes;

	for (guint i = (guint)section->n; i < processes->len; i++) {
		const struct pp_process *process = processes->pdata[i];
		struct pp_index_process *new = pp_mapped_array_add(section, 1);

		*new = (struct pp_index_process){process->pid, process->image};
		g_hash_table_insert(numbers->of, (void *)process, GUINT_TO_POINTER(i + 1));
	}
}

uint32_t pp_process_number(struct pp_process_numbers *numbers, const struct pp_process *process)
{
	if (!g_hash_table_contains(numbers->of, process))
		pp_process_numbers_add(numbers);
	return GPOINTER_TO_UINT(g_hash_table_lookup(numbers->of, process)) - 1;
}
