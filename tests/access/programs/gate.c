/* SPDX-License-Identifier: MIT */
/*
 * Each function enters its critical section in another way, ROUNDS times: in a callee, a loop,
 * after a jump, a computed goto, assembly, or with a lock that is tried. It writes its cell `in`
 * once in each section, and its cell `out` outside. main() prints the cells' address and number.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline, noclone))
#define ROUNDS	 10

struct cell {
	_Alignas(64) long in;
	_Alignas(64) long out;
};

static struct cell cells[16];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static jmp_buf again;

static NOINLINE void enter(void)
{
	pthread_mutex_lock(&mutex);
}

static NOINLINE void leave(void)
{
	pthread_mutex_unlock(&mutex);
}

/* Its accesses are in the section of its caller, or in none. */
static NOINLINE void add(long *place, long n)
{
	for (long i = 0; i < n; i++)
		*place += i;
}

static NOINLINE void plain(struct cell *cell)
{
	cell->out++;
	pthread_mutex_lock(&mutex);
	cell->in++;
	pthread_mutex_unlock(&mutex);
	cell->out++;
}

static NOINLINE void by_callees(struct cell *cell)
{
	cell->out++;
	enter();
	cell->in++;
	leave();
	cell->out++;
}

static NOINLINE void in_callee(struct cell *cell)
{
	add(&cell->out, 3);
	enter();
	add(&cell->in, 3);
	leave();
	add(&cell->out, 3);
}

static NOINLINE void in_loop(struct cell *cell, int n)
{
	for (int i = 0; i < n; i++) {
		bool is_locked = i % 3 == 2;

		if (is_locked)
			enter();
		if (is_locked)
			cell->in++;
		else
			cell->out++;
		if (is_locked)
			leave();
	}
}

static NOINLINE void if_tried(struct cell *cell, bool is_free)
{
	if (!is_free)
		enter();
	if (pthread_mutex_trylock(&mutex) == 0)
		cell->in++;
	else
		leave();
	if (is_free)
		leave();
	cell->out++;
}

static NOINLINE void lock_and_jump(void)
{
	enter();
	longjmp(again, 1);
}

static NOINLINE void after_jump(struct cell *cell)
{
	if (setjmp(again) == 0) {
		cell->out++;
		lock_and_jump();
	}
	cell->in++;
	leave();
	cell->out++;
}

static NOINLINE void by_goto(struct cell *cell)
{
	static const void *const steps[] = {&&before, &&lock, &&write, &&unlock, &&end};
	int step = 0;

	goto *steps[step++];
before:
	cell->out++;
	goto *steps[step++];
lock:
	enter();
	goto *steps[step++];
write:
	cell->in++;
	goto *steps[step++];
unlock:
	leave();
	goto *steps[step++];
end:
	cell->out++;
}

static NOINLINE void by_assembly(struct cell *cell)
{
	void (*volatile functions[])(void) = {enter, leave};

	cell->out++;
	functions[0]();
	__asm__ volatile("" : : : "memory");
	cell->in++;
	__asm__ goto("jmp %l0" : : : "memory" : done);
	cell->in += 100;
done:
	functions[1]();
	cell->out++;
}

static NOINLINE void nested(struct cell *cell)
{
	void write(long *place)
	{
		enter();
		*place += 1;
		leave();
		cell->out++;
	}

	cell->out++;
	write(&cell->in);
}

static NOINLINE void fail_if(bool is_wrong)
{
	if (is_wrong)
		abort();
}

static NOINLINE void checked(struct cell *cell)
{
	fail_if(cell->out < 0);
	enter();
	fail_if(cell->in < 0);
	cell->in++;
	leave();
	cell->out++;
}

int main(void)
{
	long sum = 0;
	int n = 0;

	for (int i = 0; i < ROUNDS; i++) {
		n = 0;
		plain(&cells[n++]);
		by_callees(&cells[n++]);
		in_callee(&cells[n++]);
		in_loop(&cells[n++], 5);
		if_tried(&cells[n++], true);
		after_jump(&cells[n++]);
		by_goto(&cells[n++]);
		by_assembly(&cells[n++]);
		nested(&cells[n++]);
		checked(&cells[n++]);
		if_tried(&cells[15], false);
	}
	for (int i = 0; i < 16; i++)
		sum += cells[i].in * 1000 + cells[i].out;
	fprintf(stderr, "%ld\n", sum);
	printf("%lu %d %d\n", (unsigned long)cells, n, ROUNDS);
	return 0;
}
