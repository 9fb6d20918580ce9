/* SPDX-License-Identifier: MIT */
#include "collect/alive.h"

#include <time.h>
#include <unistd.h>

#include "runtime/capture.h"

#define NS_PER_S UINT64_C(1000000000)

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

bool pp_process_runs(pid_t pid, uint64_t since_ns)
{
	uint64_t start = gm_proc_start(pid);
	uint64_t tick_ns = NS_PER_S / (uint64_t)sysconf(_SC_CLK_TCK);
	/* Start times count suspended time, too.  With what was suspended since they are earlier.
	 */
	uint64_t suspended_ns = clock_ns(CLOCK_BOOTTIME) - clock_ns(CLOCK_MONOTONIC);

	if (since_ns && start * tick_ns > since_ns + suspended_ns + tick_ns)
		return false;
	return gm_proc_runs(pid, start);
}
