/* SPDX-License-Identifier: MIT */
/*
 * Waits in a function without an unwind table whose %rbp points to memory that was readable at an
 * earlier wait, and is unmapped: a buffer behind the thread's stack, or the upper half of a
 * coroutine's stack below it.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>

#define HALF_BYTES   (32 * 1024) /* of the coroutine's stack */
#define STACK_BYTES  (64 * 1024)
#define BUFFER_BYTES (128 * 1024)

static sem_t sem;
static char *stack;
static ucontext_t outside;

/* Calls the function, with %rbp pointing to the data. */
void call_with_rbp(void (*function)(void), void *data);
__asm__(".globl call_with_rbp\n"
	".type call_with_rbp, @function\n"
	"call_with_rbp:\n"
	"	push %rbp\n"
	"	mov %rsi, %rbp\n"
	"	call *%rdi\n"
	"	pop %rbp\n"
	"	ret\n"
	".size call_with_rbp, . - call_with_rbp");

static void wait_in_vain(void)
{
	struct timespec past = {1, 0};

	sem_timedwait(&sem, &past);
	__asm__ volatile(""); /* no jump to sem_timedwait() */
}

static void wait_deeply(void)
{
	volatile char frame[HALF_BYTES + HALF_BYTES / 2];

	frame[0] = frame[sizeof(frame) - 1] = 0;
	wait_in_vain();
}

static void wait_above(void)
{
	call_with_rbp(wait_in_vain, stack - HALF_BYTES / 2);
}

static void run(void (*function)(void), size_t n_bytes)
{
	ucontext_t inside;

	getcontext(&inside);
	inside.uc_stack.ss_sp = stack - 2 * HALF_BYTES;
	inside.uc_stack.ss_size = n_bytes;
	inside.uc_link = &outside;
	makecontext(&inside, function, 0);
	swapcontext(&outside, &inside);
}

static void *thread(void *unused)
{
	char *buffer = stack + STACK_BYTES;

	memset(buffer, 0, BUFFER_BYTES);
	wait_in_vain();
	call_with_rbp(wait_in_vain, buffer + BUFFER_BYTES / 2);
	munmap(buffer, BUFFER_BYTES);
	call_with_rbp(wait_in_vain, buffer + BUFFER_BYTES / 2);

	run(wait_deeply, (size_t)2 * HALF_BYTES);
	munmap(stack - HALF_BYTES, HALF_BYTES);
	run(wait_above, HALF_BYTES);
	return unused;
}

int main(void)
{
	pthread_attr_t attributes;
	pthread_t id;

	sem_init(&sem, 0, 0);
	stack = mmap(NULL, 2 * HALF_BYTES + STACK_BYTES + BUFFER_BYTES, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (stack == MAP_FAILED)
		return 1;
	stack += 2 * HALF_BYTES;
	pthread_attr_init(&attributes);
	if (pthread_attr_setstack(&attributes, stack, STACK_BYTES) != 0 ||
	    pthread_create(&id, &attributes, thread, NULL) != 0)
		return 2;
	pthread_join(id, NULL);
	puts("done");
	return 0;
}
