/* SPDX-License-Identifier: MIT */
/*
 * own_thread_files N: makes N threads, one after the other, each of which has files of its own in
 * the capture, and a child after each eighth thread.  Prints the locks of its threads, 3 for each.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "robust/programs/three_rounds.h"

static void *thread(void *unused)
{
	three_rounds();
	return unused;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 1;

	for (int i = 0; i < n; i++) {
		pthread_t id;

		if (pthread_create(&id, NULL, thread, NULL) != 0)
			return 1;
		pthread_join(id, NULL);
		if (i % 8 == 0 && fork() == 0) {
			three_rounds();
			_exit(0);
		}
	}
	while (wait(NULL) > 0)
		;
	printf("%d\n", n_locks);
	return 7;
}
