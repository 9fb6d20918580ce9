/* SPDX-License-Identifier: MIT */
/*
 * The helper task of helper_task.h.
 *
 * The helper is a thread of this process that ends up without CLONE_FILES: it is made with the
 * shared table and leaves that by close_range(CLOSE_RANGE_UNSHARE), which copies no descriptors
 * (before Linux 6.12: at most 64, closed at once). So its cost does not depend on the number of
 * open descriptors, and it keeps no file, lock or socket of the program open.
 *
 * It is a thread and not a child process: it need not be waited for, sends no signal, and adds no
 * CPU time to that of children. Its end is awaited on the word that the kernel clears, not by
 * CLONE_VFORK, which would keep this thread from stopping with the process (SIGSTOP). It uses the
 * caller's thread-local storage, since the caller does nothing meanwhile.
 *
 * A process with one thread needs no helper, unless it has no descriptor left. There a helper could
 * even be noticed: unshare() and setns() require a process with one thread.
 */
#include <errno.h>
#include <linux/close_range.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "runtime/files/file.h"
#include "runtime/files/helper_task.h"
#include "runtime/files/warn.h"
#include "runtime/sys/kernel.h"
#include "runtime/sys/sys.h"

#define STACK_BYTES    32768u
#define N_STACKS       4u
#define WARNINGS_BYTES 2048u
#define FREE_MIN       16
#define ROUNDS_MAX     100
#define TASK_LINKS     3 /* of /proc/self/task with one thread: ".", ".." and the thread */

#define HELPER_FLAGS                                                                               \
	(CLONE_VM | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |                   \
	 CLONE_CHILD_CLEARTID)

/* The memory of a helper: its stack grows down towards the warnings. */
struct area {
	uint32_t n_warning_bytes;
	char warnings[WARNINGS_BYTES];
	char stack[STACK_BYTES - WARNINGS_BYTES - 64];
	_Alignas(64) char stack_end[0];
};

struct job {
	long (*step)(void *);
	void *arg;
	long result;
	uint32_t running; /* not 0 until the kernel has ended the helper */
	uint64_t begin_ns;
};

static struct area areas[N_STACKS];
static uint32_t areas_taken; /* one bit per area */

/* The area of the helper that this thread waits for; NULL: none. */
static __thread struct area *current;
static __thread bool is_here; /* in a step that this thread runs itself */

void gm_files_forget(void)
{
	areas_taken = 0;
	current = NULL;
	is_here = false;
}

static struct area *area_take(void)
{
	uint32_t taken = __atomic_load_n(&areas_taken, __ATOMIC_RELAXED);
	struct area *area;

	while (taken != (1u << N_STACKS) - 1) {
		unsigned i = (unsigned)__builtin_ctz(~taken);

		/* acquire: pairs with the release in area_free() */
		if (__atomic_compare_exchange_n(&areas_taken, &taken, taken | 1u << i, true,
						__ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
			areas[i].n_warning_bytes = 0;
			return &areas[i];
		}
	}
	area = gm_sys_mmap(sizeof(*area), MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return area;
}

static void area_free(struct area *area)
{
	if (area >= areas && area < areas + N_STACKS)
		__atomic_fetch_and(&areas_taken, ~(1u << (area - areas)), __ATOMIC_RELEASE);
	else
		gm_sys_munmap(area, sizeof(*area));
}

/* Returns the memory of the helper that runs this code, or NULL. */
static struct area *area_of_helper(void)
{
	const char *here = __builtin_frame_address(0);
	struct area *area = current;

	/*
	 * Tasks of a bare clone() may share this variable: the stack pointer identifies the helper.
	 */
	return area != NULL && here >= area->stack && here < area->stack_end ? area : NULL;
}

bool gm_files_have_helper(void)
{
	return current != NULL;
}

static void (*note_helper)(uint64_t begin_ns);

void gm_files_on_helper(void (*note)(uint64_t begin_ns))
{
	note_helper = note;
}

bool gm_files_keep_warning(const char *text)
{
	struct area *area = area_of_helper();
	size_t n = gm_strlen(text) + 1;

	if (area == NULL)
		return false;
	if (n <= WARNINGS_BYTES - area->n_warning_bytes) {
		memcpy(area->warnings + area->n_warning_bytes, text, n);
		area->n_warning_bytes += (uint32_t)n;
	}
	return true;
}

static void say_warnings(const struct area *area)
{
	for (uint32_t at = 0; at < area->n_warning_bytes;) {
		gm_warn(area->warnings + at);
		at += (uint32_t)gm_strlen(area->warnings + at) + 1;
	}
}

/*
 * Valgrind does not support such a task and ends the program; it runs one thread at a time. These
 * instructions have no effect elsewhere; Valgrind interprets them as the request
 * RUNNING_ON_VALGRIND.
 */
static bool is_valgrind(void)
{
	volatile uint64_t question[6] = {0x1001, 0, 0, 0, 0, 0};
	uint64_t answer = 0;

	__asm__ volatile("rol $3, %%rdi; rol $13, %%rdi; rol $61, %%rdi; rol $51, %%rdi\n\t"
			 "xchg %%rbx, %%rbx"
			 : "+d"(answer)
			 : "a"(question)
			 : "cc", "memory");
	return answer != 0;
}

/* Returns true if no other thread shares the descriptor table. */
static bool is_alone(void)
{
	struct stat status;

	return gm_syscall3(SYS_stat, (long)"/proc/self/task", (long)&status, 0) == 0 &&
	       status.st_nlink == TASK_LINKS;
}

/* An estimate by two system calls: steps open up to FREE_MIN descriptors at a time. */
static bool has_descriptors(void)
{
	uint64_t limit[2] = {0, 0};

	gm_syscall6(SYS_prlimit64, 0, RLIMIT_NOFILE, 0, (long)limit, 0, 0);
	return limit[0] > 2 * FREE_MIN &&
	       gm_syscall3(SYS_fcntl, (long)limit[0] - FREE_MIN, F_GETFD, 0) == -EBADF;
}

/* Entry point of the helper. */
static void helper(struct job *job)
{
	long code = gm_syscall3(SYS_close_range, 0, ~0u, CLOSE_RANGE_UNSHARE);

	gm_syscall3(SYS_prctl, PR_SET_NAME, (long)GM_HELPER_NAME, 0);
	if (code < 0) /* before Linux 5.9 */
		code = gm_syscall3(SYS_unshare, CLONE_FILES, 0, 0);
	if (code < 0) {
		job->result = code;
		return;
	}
	job->result = job->step(job->arg);
	if (note_helper != NULL)
		note_helper(job->begin_ns);
}

/* Returns the thread id or -errno. */
static long helper_start(struct job *job, struct area *area)
{
	long result;
	register void (*run)(struct job *) __asm__("r12") = helper;
	register struct job *argument __asm__("r13") = job;
	uint32_t *running = &job->running;
	register uint32_t *word __asm__("r10") = running;
	register long no_tls __asm__("r8") = 0;

	__asm__ volatile(
	    "syscall\n\t"
	    "test %%rax, %%rax\n\t"
	    "jnz 1f\n\t"
	    "xor %%ebp, %%ebp\n\t"
	    "mov %[argument], %%rdi\n\t"
	    "call *%[run]\n\t"
	    "xor %%edi, %%edi\n\t"
	    "mov %[exit], %%eax\n\t"
	    "syscall\n"
	    "1:"
	    : "=a"(result)
	    : "a"(SYS_clone), "D"((long)HELPER_FLAGS), "S"(area->stack_end), "d"(0L), "r"(word),
	      "r"(no_tls), [run] "r"(run), [argument] "r"(argument), [exit] "i"(SYS_exit)
	    : "rcx", "r11", "memory");
	return result;
}

/*
 * The kernel wakes the word as a shared futex, so FUTEX_PRIVATE_FLAG must not be set. acquire:
 * pairs with the kernel's clearing of the word.
 */
static void helper_wait(const uint32_t *word)
{
	uint32_t seen;

	while ((seen = __atomic_load_n(word, __ATOMIC_ACQUIRE)) != 0)
		gm_syscall6(SYS_futex, (long)word, FUTEX_WAIT, seen, 0, 0, 0);
}

long gm_files_run_apart(long (*step)(void *), void *arg)
{
	/* A seccomp filter may kill only the helper. */
	struct job job = {.step = step, .arg = arg, .result = -EPERM, .running = 1};
	struct area *area = area_take(), *outer = current;
	uint64_t mask;
	long code;

	if (area == NULL)
		return -ENOMEM;
	gm_signals_block(&mask);
	current = area;
	job.begin_ns = gm_clock_ns();
	code = helper_start(&job, area);
	if (code >= 0)
		helper_wait(&job.running);
	current = outer;
	gm_signals_restore(mask);
	if (code >= 0)
		say_warnings(area);
	area_free(area);
	return code < 0 ? code : job.result;
}

static long run_here(long (*step)(void *), void *arg)
{
	uint64_t mask;
	long result;

	gm_signals_block(&mask);
	is_here = true;
	result = step(arg);
	is_here = false;
	gm_signals_restore(mask);
	return result;
}

static bool is_in_step(void)
{
	return is_here || area_of_helper() != NULL;
}

long gm_files_run(long (*step)(void *), void *arg)
{
	if (is_in_step())
		return step(arg);
	if ((is_alone() && has_descriptors()) || is_valgrind())
		return run_here(step, arg);
	return gm_files_run_apart(step, arg);
}

long gm_files_run_deep(long (*step)(void *), void *arg)
{
	static const struct timespec nap = {0, 10000};
	bool alone = !is_in_step() && is_alone();
	uint32_t zero = 0;
	long result;

	if (!alone || is_valgrind())
		return gm_files_run(step, arg);
	result = gm_files_run_apart(step, arg);
	/* The helper has cleared its word, but may still be counted: unshare() would fail. */
	for (unsigned i = 0; i < ROUNDS_MAX && !is_alone(); i++)
		gm_syscall6(SYS_futex, (long)&zero, FUTEX_WAIT, 0, (long)&nap, 0, 0);
	return result;
}

struct reading {
	const char *path;
	void *buffer;
	size_t n;
};

static long read_step(void *arg)
{
	const struct reading *reading = arg;
	int fd = gm_sys_open(reading->path, O_RDONLY, 0);
	long n = fd;

	if (fd >= 0) {
		n = gm_sys_read(fd, reading->buffer, reading->n);
		gm_sys_close(fd);
	}
	return n;
}

long gm_files_read(const char *path, void *buffer, size_t n)
{
	struct reading reading = {path, buffer, n};

	return gm_files_run(read_step, &reading);
}
