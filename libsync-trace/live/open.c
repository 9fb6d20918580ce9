/* SPDX-License-Identifier: MIT */
/* The begin of a replay, and its end in a forked child. */
#include "live/live.h"
#include "record/internal.h"
#include "runtime/sys/kernel.h"
#include "runtime/sys/sys.h"

bool st_live_open(void)
{
	const char *path = gm_environment(ST_SCHEDULE_VARIABLE);

	if (path == NULL || path[0] == '\0' || !st_schedule_take(path))
		return false;
	st_live.page->outcome.pid = (uint32_t)gm_sys_getpid();
	/* release: the command reads the pid after this */
	__atomic_store_n(&st_live.page->outcome.state, ST_SCHEDULE_KEPT, __ATOMIC_RELEASE);
	st_live_begin(1);
	/* release: pairs with the acquire in st_turns_are_on() */
	__atomic_store_n(st_live.is_on, 1, __ATOMIC_RELEASE);
	st_live_interpose();
	return true;
}

void st_live_forget(void)
{
	st_live_begin(0);
	if (st_live.is_on != NULL)
		*st_live.is_on = 0;
}
