/* SPDX-License-Identifier: MIT */
/* mostly_io N: N times, 20 short blocking calls, a lock and an unlock. */
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

int main(int argc, char **argv)
{
	for (long n = argc > 1 ? atol(argv[1]) : 1; n > 0; n--) {
		for (int i = 0; i < 20; i++)
			poll(NULL, 0, 0);
		pthread_mutex_lock(&mutex);
		pthread_mutex_unlock(&mutex);
	}
	return 0;
}
