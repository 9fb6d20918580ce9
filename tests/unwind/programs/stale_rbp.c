/* SPDX-License-Identifier: MIT */
/*
 * Waits in a function without an unwind table whose %rbp points to a buffer behind the thread's
 * stack, before and after the buffer is unmapped.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define STACK_BYTES  (256 * 1024)
#define BUFFER_BYTES (128 * 1024)

static sem_t sem;
static char *memory;

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

static void *thread(void *unused)
{
	char *buffer = memory + STACK_BYTES;

	memset(buffer, 0, BUFFER_BYTES);
	wait_in_vain();
	call_with_rbp(wait_in_vain, buffer + BUFFER_BYTES / 2);
	munmap(buffer, BUFFER_BYTES);
	call_with_rbp(wait_in_vain, buffer + BUFFER_BYTES / 2);
	return unused;
}

int main(void)
{
	pthread_attr_t attributes;
	pthread_t id;

	sem_init(&sem, 0, 0);
	memory = mmap(NULL, STACK_BYTES + BUFFER_BYTES, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return 1;
	pthread_attr_init(&attributes);
	if (pthread_attr_setstack(&attributes, memory, STACK_BYTES) != 0 ||
	    pthread_create(&id, &attributes, thread, NULL) != 0)
		return 2;
	pthread_join(id, NULL);
	puts("done");
	return 0;
}
