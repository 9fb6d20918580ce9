/* SPDX-License-Identifier: MIT */
/* Threads whose names are special for a spreadsheet, a CSV reader, or a terminal. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *run(void *name)
{
	if (pthread_setname_np(pthread_self(), name))
		return name;
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
	return NULL;
}

int main(void)
{
	static const char *const names[] = {"=1+1", "+1",      "-1",	     "@x",
					    "'q",   "a,\"b\"", "two\nlines", "\033[2J",
					    "007",  " blank ", "true"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		pthread_t thread;
		void *failed;

		if (pthread_create(&thread, NULL, run, (void *)names[i]) ||
		    pthread_join(thread, &failed) || failed)
			return 1;
	}
	return 0;
}
