/* SPDX-License-Identifier: MIT */
/* Threads: created, joined, detached, and what they find on their stacks; processes by _Fork(). */
#define _GNU_SOURCE
#include "behaviour.h"

#include <execinfo.h>
#include <limits.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *nothing(void *arg)
{
	return arg;
}

static void *depth(void *arg)
{
	void *frames[32];

	(void)arg;
	return (void *)(long)backtrace(frames, 32);
}

static char stack_text[80]; /* the creator says it: two threads' lines would come in any order */

static void *stack(void *arg)
{
	pthread_attr_t attributes;
	size_t size_bytes, guard_bytes;
	void *low;
	char *here = (char *)&low;

	pthread_getattr_np(pthread_self(), &attributes);
	pthread_attr_getstack(&attributes, &low, &size_bytes);
	pthread_attr_getguardsize(&attributes, &guard_bytes);
	pthread_attr_destroy(&attributes);
	snprintf(stack_text, sizeof(stack_text), "stack %zu, guard %zu, inside %d", size_bytes,
		 guard_bytes, here > (char *)low && here < (char *)low + size_bytes);
	return arg;
}

static void *uses_little(void *arg)
{
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	return arg;
}

/* --- creation ------------------------------------------------------------------------------- */

/* Runs without root privileges and without the permission for real-time scheduling. */
static void without_privilege(void)
{
	struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct data[2];
	struct sched_param parameter = {.sched_priority = 5};
	struct rlimit none = {0, 0};
	pthread_attr_t attributes;
	pthread_t thread;

	setrlimit(RLIMIT_RTPRIO, &none);
	syscall(SYS_capget, &header, data);
	data[0].effective &= ~(1u << CAP_SYS_NICE);
	if (syscall(SYS_capset, &header, data) != 0)
		SAY("cannot give up CAP_SYS_NICE");
	pthread_attr_init(&attributes);
	pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
	pthread_attr_setschedpolicy(&attributes, SCHED_FIFO);
	pthread_attr_setschedparam(&attributes, &parameter);
	CALL(pthread_create(&thread, &attributes, nothing, NULL));
}

static void without_memory(void)
{
	struct rlimit none = {0, 0};
	pthread_attr_t attributes;
	pthread_t thread;
	thrd_t c11_thread;

	pthread_attr_init(&attributes);
	CALL(pthread_attr_setstacksize(&attributes,
				       (size_t)1 << 30)); /* no cached stack is as large */
	uses_little(NULL); /* what a library makes for a process, it has made */
	setrlimit(RLIMIT_AS, &none);
	CALL(pthread_create(&thread, &attributes, nothing, NULL));
	CALL(thrd_create(&c11_thread, (thrd_start_t)(void *)nothing, NULL));
}

/* One process more, or thread, than its user may have; root may have any number. */
static void without_processes(void)
{
	struct rlimit none = {0, 0};
	pthread_t thread;
	thrd_t c11_thread;

	uses_little(NULL);
	setrlimit(RLIMIT_NPROC, &none);
	if (getuid() == 0 && setresuid(65534, 65534, 65534) != 0)
		SAY("cannot be another user");
	CALL(_Fork());
	CALL(pthread_create(&thread, NULL, nothing, NULL));
	CALL(thrd_create(&c11_thread, (thrd_start_t)(void *)nothing, NULL));
}

static void creation(void)
{
	struct sched_param parameter = {.sched_priority = 10};
	pthread_attr_t attributes;
	pthread_t thread;

	IN_CHILD(without_memory());
	IN_CHILD(without_privilege());
	IN_CHILD(without_processes());
	SAY("frames %ld", (long)join(start(depth, NULL)));
	pthread_attr_init(&attributes);
	CALL(pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN));
	CALL(pthread_create(&thread, &attributes, uses_little, (void *)9));
	SAY("value %ld", (long)join(thread));
	CALL(pthread_attr_setstacksize(&attributes, 256 * 1024));
	CALL(pthread_create(&thread, &attributes, stack, NULL));
	join(thread);
	SAY("%s", stack_text);
	CALL(pthread_attr_setstacksize(&attributes, (size_t)1 << 50));
	CALL(pthread_create(&thread, &attributes, stack, NULL)); /* no memory */
	CALL(pthread_attr_setstacksize(&attributes, 256 * 1024));
	/* A priority that its policy does not have. */
	pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
	pthread_attr_setschedpolicy(&attributes, SCHED_FIFO);
	pthread_attr_setschedparam(&attributes, &parameter);
	pthread_attr_setschedpolicy(&attributes, SCHED_OTHER);
	CALL(pthread_create(&thread, &attributes, nothing, NULL));
	pthread_attr_destroy(&attributes);
}

/* --- joining --------------------------------------------------------------------------------- */

static sem_t leave, leave_detached;

static void *stay(void *may_leave)
{
	while (sem_wait(may_leave) != 0)
		;
	return (void *)6;
}

static void *joins_itself(void *arg)
{
	CALL(pthread_join(pthread_self(), NULL));
	CALL(pthread_tryjoin_np(pthread_self(), NULL));
	CALL(pthread_timedjoin_np(pthread_self(), NULL, &past));
	CALL(pthread_clockjoin_np(pthread_self(), NULL, CLOCK_MONOTONIC, &past));
	return arg;
}

static void joins_of_a_living_one(void)
{
	pthread_t thread = start(stay, &leave);
	void *value = NULL;

	CALL(pthread_tryjoin_np(thread, NULL));
	CALL(pthread_timedjoin_np(thread, NULL, &past));
	CALL(pthread_clockjoin_np(thread, NULL, CLOCK_MONOTONIC, &past));
	CALL(pthread_clockjoin_np(thread, NULL, 4711, &past));
	sem_post(&leave);
	CALL(pthread_join(thread, &value));
	SAY("value %ld", (long)value);

	thread = start(stay, &leave_detached);
	CALL(pthread_detach(thread));
	CALL(pthread_detach(thread));
	CALL(pthread_join(thread, NULL));
	CALL(pthread_tryjoin_np(thread, NULL));
	CALL(pthread_timedjoin_np(thread, NULL, &past));
	CALL(pthread_clockjoin_np(thread, NULL, CLOCK_MONOTONIC, &past));
	sem_post(&leave_detached);
}

static void *says_who(void *arg)
{
	atomic_store((atomic_int *)arg, gettid());
	return (void *)7;
}

/* One that the kernel is done with: a join of any kind finds it ended, whatever its time. */
static pthread_t ended(void)
{
	static atomic_int tid;
	pthread_t thread;
	char path[64];

	atomic_store(&tid, 0);
	thread = start(says_who, &tid);
	while (atomic_load(&tid) == 0)
		usleep(50);
	snprintf(path, sizeof(path), "/proc/self/task/%d", atomic_load(&tid));
	while (access(path, F_OK) == 0)
		usleep(50);
	return thread;
}

static void joins_of_ended_ones(void)
{
	void *value = NULL;

	CALL(pthread_tryjoin_np(ended(), &value));
	SAY("value %ld", (long)value);
	CALL(pthread_timedjoin_np(ended(), NULL, &past));
	CALL(pthread_timedjoin_np(ended(), NULL, &crooked));
	CALL(pthread_clockjoin_np(ended(), NULL, CLOCK_MONOTONIC, &past));
	CALL(pthread_join(ended(), &value));
	SAY("value %ld", (long)value);
	CALL(pthread_detach(ended()));
}

/* --- */

static void forked_plainly(void)
{
	pid_t pid;

	fflush(stdout);
	pid = _Fork();
	if (pid == 0) {
		SAY("the child locks: %d", pthread_mutex_lock(&mutex));
		CALL(pthread_mutex_unlock(&mutex));
		fflush(stdout);
		_exit(0);
	}
	await_child(pid);
	CALL(_Fork() != 0 ? 0 : (_exit(0), 1));
	wait(NULL);
}

void threads(void)
{
	sem_init(&leave, 0, 0);
	sem_init(&leave_detached, 0, 0);
	creation();
	join(start(joins_itself, NULL));
	joins_of_a_living_one();
	joins_of_ended_ones();
	forked_plainly();
}
