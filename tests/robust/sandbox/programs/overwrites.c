/* SPDX-License-Identifier: MIT */
/*
 * overwrites [exec]: overwrites the memory of its environment, as setproctitle() does, becomes
 * another user, and makes 3 children.  Each takes 3 locks; or, with exec, it executes this program,
 * which takes 1 lock.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define OTHER_USER 12345

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void use(int n)
{
	for (int i = 0; i < n; i++) {
		pthread_mutex_lock(&lock);
		pthread_mutex_unlock(&lock);
	}
}

static void overwrite(void)
{
	char *first = environ[0], *end = first;
	size_t n = 0;
	char **copy;

	while (environ[n] != NULL)
		n++;
	copy = calloc(n + 1, sizeof(*copy));
	if (copy == NULL)
		exit(1);
	for (size_t i = 0; i < n; i++) {
		end = environ[i] + strlen(environ[i]);
		copy[i] = strdup(environ[i]);
	}
	environ = copy;
	memset(first, 'x', (size_t)(end - first));
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";

	if (strcmp(how, "image") == 0) {
		use(1);
		return 0;
	}
	overwrite();
	if (setgid(OTHER_USER) != 0 || setuid(OTHER_USER) != 0)
		return 77;
	for (int i = 0; i < 3; i++) {
		pid_t child = fork();

		if (child < 0)
			return 1;
		if (child > 0)
			continue;
		if (strcmp(how, "exec") == 0)
			execl("/proc/self/exe", argv[0], "image", (char *)NULL);
		else
			use(3);
		_exit(0);
	}
	while (wait(NULL) > 0)
		continue;
	return 0;
}
