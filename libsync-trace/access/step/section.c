/* SPDX-License-Identifier: MIT */
/* The beginning and the end of a section that is stepped. */
#include <errno.h>
#include <sys/mman.h>

#include "access/step/step.h"

bool step_choose(uintptr_t site, unsigned *ret_barred)
{
	*ret_barred = 0;
	if (step_self.memory == NULL)
		step_self.memory = step_memory_new();
	if (step_self.memory == NULL || !step_is_turn(site))
		return false;
	step_end();
	*ret_barred = step_signals_begin();
	if (*ret_barred != 0)
		return false;
	step_self.is_chosen = true;
	step_spend();
	step_start();
	return true;
}

void step_end(void)
{
	step_pay();
	step_self.state = STEP_OFF;
	if (step_self.is_chosen)
		step_signals_end();
	step_self.is_chosen = false;
}

void step_thread_end(void)
{
	struct step_memory *memory = step_self.memory;
	int saved = errno;

	step_end();
	step_earn();
	step_self.memory = NULL;
	if (memory != NULL)
		munmap(memory, sizeof(*memory));
	errno = saved;
}
