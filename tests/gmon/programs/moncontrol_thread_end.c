/* SPDX-License-Identifier: MIT */
/*
 * A thread ends by a system call that the library does not see, while another runs moncontrol().
 * Its stack with its thread-local storage is unmapped right after moncontrol() has read there which
 * thread it belongs to.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#define NOINLINE    __attribute__((noinline, noipa))
#define UNPROFILED  __attribute__((noinline, noipa, no_instrument_function))
#define TRAP_FLAG   0x100
#define STACK_BYTES 262144

extern void moncontrol(int mode);

static void *stack;
static pthread_t thread;
static int has_called, may_end;

NOINLINE void worker(void)
{
	__asm__ volatile("");
}

UNPROFILED static void *run(void *unused)
{
	worker();
	__atomic_store_n(&has_called, 1, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&may_end, __ATOMIC_ACQUIRE))
		syscall(SYS_sched_yield);
	syscall(SYS_exit, 0);
	return unused;
}

UNPROFILED static void end_thread(void)
{
	__atomic_store_n(&may_end, 1, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	munmap(stack, STACK_BYTES);
	stack = NULL;
}

/*
 * Called after each instruction, by the trap flag: tells whether a system call has just read a
 * pointer.
 */
UNPROFILED static void trapped(int number, siginfo_t *info, void *context)
{
	static const unsigned char *before;
	greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
	int was_call = before != NULL && before[0] == 0x0f && before[1] == 0x05;

	(void)number;
	(void)info;
	before = (const unsigned char *)registers[REG_RIP];
	if (stack == NULL || !was_call || registers[REG_RAX] != sizeof(void *))
		return;
	registers[REG_EFL] &= ~TRAP_FLAG;
	end_thread();
}

UNPROFILED static int begin_thread(void)
{
	pthread_attr_t attributes;

	has_called = may_end = 0;
	stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_attr_init(&attributes);
	if (stack == MAP_FAILED || pthread_attr_setstack(&attributes, stack, STACK_BYTES) != 0 ||
	    pthread_create(&thread, &attributes, run, NULL) != 0)
		return -1;
	while (!__atomic_load_n(&has_called, __ATOMIC_ACQUIRE))
		syscall(SYS_sched_yield);
	return 0;
}

UNPROFILED int main(void)
{
	struct sigaction on_trap = {.sa_sigaction = trapped, .sa_flags = SA_SIGINFO};

	worker();
	sigaction(SIGTRAP, &on_trap, NULL);
	if (begin_thread() != 0)
		return 1;
	__asm__ volatile("pushfq; orq %0, (%%rsp); popfq" : : "i"(TRAP_FLAG) : "memory", "cc");
	moncontrol(0);
	__asm__ volatile("pushfq; andq %0, (%%rsp); popfq" : : "i"(~TRAP_FLAG) : "memory", "cc");
	if (stack != NULL)
		return 2;
	moncontrol(1);
	worker();
	return 0;
}
