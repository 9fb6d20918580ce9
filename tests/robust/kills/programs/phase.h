/* SPDX-License-Identifier: MIT */
/* Lets threads wait for one another by functions that are neither profiled nor recorded. */
#ifndef TESTS_ROBUST_KILLS_PHASE_H
#define TESTS_ROBUST_KILLS_PHASE_H

#include <linux/futex.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

static uint32_t phase; /* grows */

__attribute__((noinline, noipa, no_instrument_function)) static void set_phase(uint32_t to)
{
	__atomic_store_n(&phase, to, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, &phase, FUTEX_WAKE, 9);
}

__attribute__((noinline, noipa, no_instrument_function)) static void wait_phase(uint32_t least)
{
	uint32_t seen;

	while ((seen = __atomic_load_n(&phase, __ATOMIC_SEQ_CST)) < least)
		syscall(SYS_futex, &phase, FUTEX_WAIT, seen, NULL);
}

#endif
