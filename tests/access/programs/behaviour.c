/* SPDX-License-Identifier: MIT */
/*
 * Critical sections with everything that may happen in them: handlers, jumps, forks, ends of
 * threads, waits, nested and overlapping locks, memory that is unmapped or protected. Prints what
 * happened, and ends with status 7.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t recursive, robust;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static volatile long counter, in_handler;
static long shared[256];
static sigjmp_buf back;
static int is_ready;

static void touch(long n)
{
	for (long i = 0; i < n; i++)
		shared[i % 256] += i;
	counter += n;
}

static void locks(void)
{
	pthread_mutexattr_t attributes;

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&recursive, &attributes);
	pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_NORMAL);
	pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&robust, &attributes);
	pthread_spin_init(&spin, 0);
	for (int i = 0; i < 3; i++) {
		pthread_mutex_lock(&recursive);
		touch(3);
	}
	for (int i = 0; i < 3; i++) {
		touch(2);
		pthread_mutex_unlock(&recursive);
	}
	pthread_mutex_lock(&mutex);
	touch(1);
	pthread_mutex_lock(&other);
	touch(2);
	pthread_mutex_unlock(&mutex);
	touch(3);
	printf("busy: %d\n", pthread_mutex_trylock(&other) == EBUSY);
	pthread_mutex_unlock(&other);
	pthread_rwlock_rdlock(&rwlock);
	pthread_rwlock_rdlock(&rwlock);
	touch(1);
	pthread_rwlock_unlock(&rwlock);
	pthread_rwlock_unlock(&rwlock);
	pthread_rwlock_wrlock(&rwlock);
	pthread_spin_lock(&spin);
	touch(4);
	pthread_spin_unlock(&spin);
	pthread_rwlock_unlock(&rwlock);
	printf("locks: %ld\n", counter);
}

static void errors(void)
{
	char text[8];

	pthread_mutex_lock(&mutex);
	errno = 0;
	touch(100);
	printf("errno: %d", errno);
	printf(" %d", open("/nowhere/at/all", O_RDONLY));
	touch(100);
	memcpy(text, "abcdefg", 8);
	printf(" %d %s\n", errno, text);
	errno = EXDEV;
	pthread_mutex_unlock(&mutex);
	printf("errno after the unlock: %d\n", errno);
}

static void on_timer(int number)
{
	int saved_errno = errno;

	(void)number;
	in_handler++;
	shared[255] += in_handler;
	pthread_mutex_trylock(&other);
	shared[254]++;
	pthread_mutex_unlock(&other);
	errno = saved_errno;
}

static void on_timer_jump(int number)
{
	(void)number;
	shared[253]++;
	siglongjmp(back, 1);
}

static void timer(void (*handler)(int), long us)
{
	struct sigaction action = {.sa_handler = handler};
	struct itimerval value = {{0, us}, {0, us}};

	sigaction(SIGVTALRM, &action, NULL);
	setitimer(ITIMER_VIRTUAL, &value, NULL);
}

/* Handlers interrupt accesses and locks at any instruction. */
static void handlers(void)
{
	volatile int n = 0;

	timer(on_timer, 100);
	while (in_handler < 25) {
		pthread_mutex_lock(&mutex);
		touch(200);
		pthread_mutex_unlock(&mutex);
	}
	timer(SIG_IGN, 0);
	printf("handlers: %d\n", shared[254] > 0);
	pthread_mutex_lock(&mutex);
	while (n < 40) {
		n++;
		if (sigsetjmp(back, 1) == 0) {
			timer(on_timer_jump, 100);
			for (;;)
				touch(50);
		}
	}
	timer(SIG_IGN, 0);
	touch(1);
	pthread_mutex_unlock(&mutex);
	printf("jumps: %d\n", shared[253] >= 40);
}

static void forks(void)
{
	int status;
	pid_t pid;

	pthread_mutex_lock(&mutex);
	touch(5);
	pid = fork();
	touch(6);
	if (pid == 0) {
		pthread_mutex_unlock(&mutex);
		pthread_mutex_lock(&mutex);
		touch(7);
		pthread_mutex_unlock(&mutex);
		_exit(counter % 100);
	}
	pthread_mutex_unlock(&mutex);
	waitpid(pid, &status, 0);
	printf("child: %d\n", WEXITSTATUS(status) == (counter + 7) % 100);
}

static void clean(void *unused)
{
	(void)unused;
	touch(3);
	pthread_mutex_unlock(&mutex);
}

static void *cancelled(void *unused)
{
	pthread_mutex_lock(&mutex);
	pthread_cleanup_push(clean, NULL);
	touch(9);
	is_ready = 1;
	for (;;)
		pthread_cond_wait(&cond, &mutex);
	pthread_cleanup_pop(1);
	return unused;
}

static void *exits(void *unused)
{
	pthread_mutex_lock(&robust);
	touch(4);
	pthread_exit(unused);
}

static void *waits(void *unused)
{
	pthread_mutex_lock(&mutex);
	touch(2);
	is_ready = 2;
	while (is_ready == 2)
		pthread_cond_wait(&cond, &mutex);
	touch(2);
	pthread_mutex_unlock(&mutex);
	return unused;
}

static int state_is(int state)
{
	int result;

	pthread_mutex_lock(&mutex);
	result = is_ready == state;
	pthread_mutex_unlock(&mutex);
	return result;
}

static void threads(void)
{
	pthread_t thread;
	void *result;
	int locked;

	pthread_create(&thread, NULL, cancelled, NULL);
	while (!state_is(1))
		usleep(100);
	pthread_cancel(thread);
	pthread_join(thread, &result);
	printf("cancelled: %d\n", result == PTHREAD_CANCELED);
	pthread_create(&thread, NULL, exits, NULL);
	pthread_join(thread, NULL);
	locked = pthread_mutex_lock(&robust);
	touch(1);
	pthread_mutex_consistent(&robust);
	pthread_mutex_unlock(&robust);
	printf("robust: %d\n", locked == EOWNERDEAD);
	pthread_create(&thread, NULL, waits, NULL);
	while (!state_is(2))
		usleep(100);
	pthread_mutex_lock(&mutex);
	is_ready = 3;
	pthread_cond_signal(&cond);
	pthread_mutex_unlock(&mutex);
	pthread_join(thread, NULL);
	printf("threads: %ld\n", counter);
}

static char *mapped;

static void on_fault(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)context;
	if ((char *)info->si_addr != mapped + 100)
		_exit(99);
	mprotect(mapped, PAGE, PROT_READ | PROT_WRITE);
}

static void memory(void)
{
	struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
	char *large;

	pthread_mutex_lock(&mutex);
	large = malloc(1 << 20);
	memset(large, 1, 1 << 20);
	touch(large[77]);
	free(large); /* unmapped */
	mapped = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mapped[5] = 6;
	munmap(mapped, PAGE);
	mapped = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mapped[7] = 8;
	syscall(SYS_munmap, mapped, PAGE); /* unnoticed until the section ends */
	pthread_mutex_unlock(&mutex);
	mapped = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	sigaction(SIGSEGV, &action, NULL);
	pthread_mutex_lock(&mutex);
	mapped[100] = 5;
	pthread_mutex_unlock(&mutex);
	printf("memory: %d\n", mapped[100]);
}

__attribute__((constructor)) static void early(void)
{
	pthread_mutex_lock(&mutex);
	touch(1);
	pthread_mutex_unlock(&mutex);
}

__attribute__((destructor)) static void late(void)
{
	pthread_mutex_lock(&other);
	touch(1);
	pthread_mutex_unlock(&other);
	printf("late\n");
}

int main(void)
{
	setvbuf(stdout, NULL, _IONBF, 0);
	locks();
	errors();
	forks();
	threads();
	memory();
	handlers();
	pthread_mutex_lock(&mutex);
	touch(1);
	exit(7);
}
