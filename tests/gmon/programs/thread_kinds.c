/* SPDX-License-Identifier: MIT */
/*
 * thread_kinds HOW: calls `leaf` a known number of times, in threads and on stacks of every kind.
 *
 *	one_by_one N   N threads, one after the other, 3 calls each
 *	at_once N      N threads that are all there before the first ends, 3 calls each
 *	tids N         N threads, one after the other, all of one thread id, 3 calls each
 *	coroutines     contexts with stacks of their own, resumed by whichever thread
 *	altstack       handlers on an alternate stack, one of them left by siglongjmp()
 *	longjmp        out of profiled functions
 *	clone          tasks that clone() makes, with this memory and without being pthreads
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define NOINLINE    __attribute__((noinline, noipa))
#define STACK_BYTES 65536

static pthread_barrier_t barrier;

NOINLINE static void leaf(void)
{
}

NOINLINE static void times(int n)
{
	for (int i = 0; i < n; i++)
		leaf();
}

static void *three(void *wait)
{
	times(3);
	if (wait != NULL)
		pthread_barrier_wait(&barrier);
	return NULL;
}

/* --- threads --- */

static void start(pthread_t *thread, void *(*routine)(void *), void *arg)
{
	pthread_attr_t attributes;
	int code;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	code = pthread_create(thread, &attributes, routine, arg);
	if (code == EAGAIN) /* the limit of threads is reached */
		exit(77);
	if (code != 0)
		exit(1);
}

static void one_by_one(int n)
{
	for (int i = 0; i < n; i++) {
		pthread_t thread;

		start(&thread, three, NULL);
		pthread_join(thread, NULL);
	}
}

static void at_once(int n)
{
	pthread_t *threads = calloc((size_t)n, sizeof(*threads));

	pthread_barrier_init(&barrier, NULL, (unsigned)n + 1);
	for (int i = 0; i < n; i++)
		start(&threads[i], three, &barrier);
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
}

static void *tell_tid(void *ret_tid)
{
	*(pid_t *)ret_tid = gettid();
	times(3);
	return NULL;
}

/*
 * The kernel assigns the id after ns_last_pid, which can be set. Other processes may take it first,
 * so the program continues until N threads had the id.
 */
static void tids(int n)
{
	pid_t first = 0, tid = 0;
	int n_threads = 0;

	while (n > 0 && n_threads < 100000) {
		int fd = open("/proc/sys/kernel/ns_last_pid", O_WRONLY | O_CLOEXEC);
		pthread_t thread;

		if (fd < 0 || (first != 0 && dprintf(fd, "%d", first - 1) < 0))
			exit(77);
		close(fd);
		start(&thread, tell_tid, &tid);
		pthread_join(thread, NULL);
		n_threads++;
		first = first == 0 ? tid : first;
		n -= tid == first;
	}
	printf("%d\n", n_threads);
	exit(n > 0 ? 77 : 0);
}

/* --- stacks --- */

static ucontext_t scheduler, coroutine[2];

static void run_coroutine(int number)
{
	for (int i = 0; i < 5; i++) {
		times(2);
		swapcontext(&coroutine[number], &scheduler);
	}
}

static void *resume_all(void *unused)
{
	for (int i = 0; i < 2; i++)
		swapcontext(&scheduler, &coroutine[i]);
	return unused;
}

static void coroutines(void)
{
	pthread_t thread;

	for (int i = 0; i < 2; i++) {
		getcontext(&coroutine[i]);
		coroutine[i].uc_stack.ss_sp = malloc(STACK_BYTES);
		coroutine[i].uc_stack.ss_size = STACK_BYTES;
		coroutine[i].uc_link = &scheduler;
		makecontext(&coroutine[i], (void (*)(void))run_coroutine, 1, i);
	}
	/* Alternately in this thread and in a new one. */
	for (int i = 0; i < 5; i++) {
		if (i % 2 == 0) {
			resume_all(NULL);
			continue;
		}
		start(&thread, resume_all, NULL);
		pthread_join(thread, NULL);
	}
}

static sigjmp_buf back;

static void handle(int number)
{
	times(4);
	if (number == SIGSEGV)
		siglongjmp(back, 1);
}

NOINLINE static int overflow(int n)
{
	volatile char room[4096];

	room[0] = (char)n;
	return n == 0 ? 0 : overflow(n - 1) + room[0];
}

static void *in_small_stack(void *unused)
{
	stack_t other = {.ss_sp = malloc(STACK_BYTES), .ss_size = STACK_BYTES};

	sigaltstack(&other, NULL);
	for (int i = 0; i < 5; i++)
		raise(SIGUSR1);
	if (sigsetjmp(back, 1) == 0)
		overflow(1000000);
	times(1);
	return unused;
}

static void altstack(void)
{
	struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK};
	pthread_t thread;

	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGSEGV, &action, NULL);
	start(&thread, in_small_stack, NULL);
	pthread_join(thread, NULL);
}

static jmp_buf out;

NOINLINE static void jump(int depth)
{
	leaf();
	if (depth > 0)
		jump(depth - 1);
	longjmp(out, depth + 1);
}

static void jump_out(void)
{
	for (volatile int i = 0; i < 10; i++)
		if (setjmp(out) == 0)
			jump(3);
}

/* --- clone --- */

static int cloned(void *calls)
{
	times(*(int *)calls);
	syscall(SYS_exit, 0);
	return 0;
}

static void clone_tasks(void)
{
	static pid_t alive[2];
	int flags =
	    CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;
	int many = 20000, few = 5, status;
	pid_t child;

	/*
	 * Threads of this process that share this thread's thread-local storage and run at the same
	 * time.
	 */
	times(many);
	for (int i = 0; i < 2; i++) {
		__atomic_store_n(&alive[i], 1, __ATOMIC_SEQ_CST);
		if (clone(cloned, (char *)malloc(STACK_BYTES) + STACK_BYTES,
			  flags | CLONE_CHILD_CLEARTID, &many, NULL, NULL, &alive[i]) < 0)
			exit(1);
	}
	times(many);
	for (int i = 0; i < 2; i++)
		while (__atomic_load_n(&alive[i], __ATOMIC_SEQ_CST) != 0)
			syscall(SYS_futex, &alive[i], FUTEX_WAIT, 1, NULL, NULL, 0);
	/* A process that shares this one's memory, as a child of vfork() does. */
	child = clone(cloned, (char *)malloc(STACK_BYTES) + STACK_BYTES, CLONE_VM | SIGCHLD, &few);
	if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
		exit(1);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	int n = argc > 2 ? atoi(argv[2]) : 0;

	if (strcmp(how, "one_by_one") == 0)
		one_by_one(n);
	else if (strcmp(how, "at_once") == 0)
		at_once(n);
	else if (strcmp(how, "tids") == 0)
		tids(n);
	else if (strcmp(how, "coroutines") == 0)
		coroutines();
	else if (strcmp(how, "altstack") == 0)
		altstack();
	else if (strcmp(how, "longjmp") == 0)
		jump_out();
	else if (strcmp(how, "clone") == 0)
		clone_tasks();
	else
		return 2;
	return 0;
}
