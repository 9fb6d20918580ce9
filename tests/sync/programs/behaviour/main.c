/* SPDX-License-Identifier: MIT */
/* See behaviour.h. Arguments select sections; the default is all of them. */
#define _GNU_SOURCE
#include "behaviour.h"

#include <execinfo.h>
#include <sys/mman.h>
#include <sys/wait.h>

const struct timespec past = {1, 0}, crooked = {1, 2000000000}, minus = {1, -1};

/* Forked children add to it. */
static struct {
	int n;
	char text[1000][64];
} * covered;

static void cover(const char *call, const char *answer)
{
	char text[sizeof(covered->text[0])];

	call += *call == '(';
	snprintf(text, sizeof(text), "%.*s %s", (int)strcspn(call, "("), call, answer);
	for (int i = 0; i < covered->n; i++)
		if (strcmp(covered->text[i], text) == 0)
			return;
	assert(covered->n < 1000);
	strcpy(covered->text[covered->n++], text);
}

static const char *thrd_name(long value)
{
	static const char *const names[] = {
	    [thrd_success] = "thrd_success",   [thrd_busy] = "thrd_busy",
	    [thrd_error] = "thrd_error",       [thrd_nomem] = "thrd_nomem",
	    [thrd_timedout] = "thrd_timedout",
	};

	return value >= 0 && value < 5 ? names[value] : "?";
}

static bool starts(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

static const char *answer_name(const struct answer *answer)
{
	const char *name;

	if (answer->text[0] == '(')
		return "void";
	if (starts(answer->text, "mtx_") || starts(answer->text, "cnd_") ||
	    starts(answer->text, "thrd_"))
		return thrd_name(answer->value);
	if (starts(answer->text, "pthread_") && answer->value == PTHREAD_BARRIER_SERIAL_THREAD)
		return "PTHREAD_BARRIER_SERIAL_THREAD";
	if (starts(answer->text, "pthread_"))
		name = strerrorname_np((int)answer->value);
	else if (answer->value == -1)
		name = strerrorname_np(answer->error);
	else
		return "0";
	return name != NULL ? name : "?";
}

void tell(const struct answer *answer)
{
	SAY("%s = %ld, errno %d", answer->text, answer->value, answer->error);
	cover(answer->text, answer_name(answer));
}

struct timespec far_from_now(clockid_t clock)
{
	struct timespec when;

	clock_gettime(clock, &when);
	when.tv_sec += 10000;
	return when;
}

pthread_t start(void *(*routine)(void *), void *arg)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, routine, arg) != 0)
		abort();
	return thread;
}

void *join(pthread_t thread)
{
	void *value;

	if (pthread_join(thread, &value) != 0)
		abort();
	return value;
}

void await_child(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid)
		abort();
	if (status != 0)
		SAY("child: status %x", status);
}

static const struct section {
	const char *name;
	void (*run)(void);
} sections[] = {
    {"threads", threads}, /* first, before there are stacks to reuse */
    {"mutexes", mutexes},
    {"robust_mutexes", robust_mutexes},
    {"priorities", priorities},
    {"semaphores", semaphores},
    {"rwlocks", rwlocks},
    {"other_locks", other_locks},
    {"conditions", conditions},
    {"signals", signals},
    {"c11", c11},
    {"cancellation", cancellation},
    {"blocked", blocked},
    {"forks", forks},
};

static bool is_selected(const struct section *section, char **names)
{
	if (*names == NULL)
		return true;
	for (; *names != NULL; names++)
		if (strcmp(*names, section->name) == 0)
			return true;
	return false;
}

int main(int argc, char **argv)
{
	void *frames[4];

	(void)argc;
	alarm(100);			  /* if a call blocks that must not */
	setvbuf(stdout, NULL, _IOLBF, 0); /* keeps the output before a failure */
	covered =
	    mmap(NULL, sizeof(*covered), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert(covered != MAP_FAILED);
	backtrace(frames, 4); /* loads libgcc_s now, with and without the library */
	for (unsigned i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
		if (!is_selected(&sections[i], argv + 1))
			continue;
		SAY("== %s", sections[i].name);
		sections[i].run();
	}
	for (int i = 0; i < covered->n; i++)
		SAY("covered %s", covered->text[i]);
	return 17;
}
