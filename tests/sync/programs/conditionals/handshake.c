/* SPDX-License-Identifier: MIT */
/* See handshake.h. With DELAY, each call of an instrumented function also takes DELAY ns. */
#include "handshake.h"

#include <stdatomic.h>
#include <time.h>

#include "sync/programs/wait_blocked.h"

static atomic_int tid, turn; /* turn: 1: held, 2: the waiter is about to wait, 0: it went */

void handshake_waiter(void)
{
	tid = gettid();
}

void handshake_held(void)
{
	turn = 1;
	while (turn != 2)
		usleep(50);
	until_asleep(tid);
}

void handshake_done(void)
{
	while (turn != 0)
		usleep(50);
}

void handshake_come(void)
{
	while (turn != 1)
		usleep(50);
	turn = 2;
}

void handshake_went(void)
{
	turn = 0;
}

#ifdef DELAY
static void delay(void)
{
	struct timespec start, now;

	clock_gettime(CLOCK_MONOTONIC, &start);
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while ((now.tv_sec - start.tv_sec) * 1000000000L + now.tv_nsec - start.tv_nsec < DELAY);
}

void __cyg_profile_func_enter(void *self, void *from);
void __cyg_profile_func_exit(void *self, void *from);

void __cyg_profile_func_enter(void *self, void *from)
{
	(void)self;
	(void)from;
	delay();
}

void __cyg_profile_func_exit(void *self, void *from)
{
	(void)self;
	(void)from;
}
#endif
