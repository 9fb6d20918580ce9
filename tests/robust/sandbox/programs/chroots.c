/* SPDX-License-Identifier: MIT */
/*
 * Calls chroot("/") with an LD_PRELOAD in read-only memory.  Prints the LD_PRELOAD that programs
 * executed by it would get, before and after.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char *const values[] = {
    "LD_PRELOAD=/none/some_lib.so",
    "LD_PRELOAD=/none/some_lib.so:/none/libsync_trace.so",
    "LD_PRELOAD=/none/libgmon_mt.so:/none/libsync_trace.so /none/other_lib.so:",
    "LD_PRELOAD= /none/some_lib.so:/none/libgmon_mt.so: /none/other_lib.so",
    "LD_PRELOAD=/none/libgmon_mt.so",
    "LD_PRELOAD=",
};

int main(void)
{
	for (unsigned i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		const char *after;

		putenv((char *)values[i]);
		if (chroot("/") != 0)
			return 77;
		after = getenv("LD_PRELOAD");
		printf("%s -> [%s]\n", values[i], after != NULL ? after : "none");
	}
	return 0;
}
