/* SPDX-License-Identifier: MIT */
/* Takes a lock ten times. */
#include <pthread.h>

static pthread_mutex_t few = PTHREAD_MUTEX_INITIALIZER;

int main(void)
{
	for (int i = 0; i < 10; i++) {
		pthread_mutex_lock(&few);
		pthread_mutex_unlock(&few);
	}
	return 5;
}
