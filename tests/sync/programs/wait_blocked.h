/* SPDX-License-Identifier: MIT */
/* Waits until that thread of this process sleeps in the kernel. */
#ifndef ASLEEP_H
#define ASLEEP_H

#include <assert.h>
#include <unistd.h>

#include "../../unit/sleeper.h"

static void until_asleep(int tid)
{
	char state;

	while ((state = sleeper_state(tid)) != 'S') {
		assert(state != '\0');
		usleep(50); /* it may need the CPU of this thread */
	}
}

#endif
