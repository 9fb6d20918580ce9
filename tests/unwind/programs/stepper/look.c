/* SPDX-License-Identifier: MIT */
/*
 * The stepped process' side (look.h). It answers between two instructions of any code: on a stack
 * of its own, and with all vector registers saved. The stepper saves and restores the others.
 */
#include "look.h"

#include "runtime/process/loadmap.h"
#include "runtime/unwind/cfi.h"
#include "runtime/unwind/table.h"

struct shared *shared;
static struct gm_stack stack;

/* xsave needs at most 11 KiB, with AMX; its header must be zero. */
__asm__(".local look_vectors\n"
	".comm look_vectors, 16384, 64\n"
	".local look_stack\n"
	".comm look_stack, 65536, 64\n"
	".globl look_stack_end\n"
	".set look_stack_end, look_stack + 65536\n"
	".pushsection .text\n"
	".globl look_begin, look_done\n"
	".type look_begin, @function\n"
	"look_begin:\n"
	"	mov $-1, %eax\n"
	"	mov $-1, %edx\n"
	"	xsave64 look_vectors(%rip)\n"
	"	call look_answer\n"
	"	mov $-1, %eax\n"
	"	mov $-1, %edx\n"
	"	xrstor64 look_vectors(%rip)\n"
	"	int3\n"
	"look_done:\n"
	"	ud2\n"
	".size look_begin, . - look_begin\n"
	".popsection\n");

/* Called by the assembly above. */
void look_answer(void);

void look_answer(void)
{
	struct look *look = &shared->look;
	uint64_t ip = look->at.value[GM_RIP];
	struct gm_tables tables;

	if (stack.end == 0)
		stack = gm_stack_around(look->at.value[GM_RSP]);
	look->n = gm_unwind(&look->at, &stack, look->addresses, FRAMES_MAX, &look->end);
	look->function_start = look->function_end = 0;
	if (gm_tables_find(ip, &tables))
		gm_cfi_function(&tables, ip, &look->function_start, &look->function_end);
}

static uint64_t unloaded;

static void leave(void)
{
	gm_maps_leave(unloaded);
}

/* A library is about to be unloaded: see runtime/process/unload.c. */
void gm_unloads(uint64_t address)
{
	unloaded = address;
	step_skip(leave);
}

__attribute__((visibility("default"))) void step_stack(void *start, size_t n_bytes)
{
	unsigned n = shared->n_regions;

	if (n == REGIONS_MAX)
		__builtin_trap();
	shared->regions[n] = (struct region_of){(uint64_t)start, (uint64_t)start + n_bytes};
	/* release: the stepper may look between these instructions */
	__atomic_store_n(&shared->n_regions, n + 1, __ATOMIC_RELEASE);
}

__attribute__((visibility("default"))) void step_signals(void)
{
	shared->takes_signals = true;
}

__attribute__((visibility("default"), noinline, noclone)) void step_skip(void (*function)(void))
{
	__asm__ volatile(".globl look_skip_begins\n"
			 "look_skip_begins: nop");
	function();
	__asm__ volatile("int3\n"
			 ".globl look_skip_ends\n"
			 "look_skip_ends: nop");
}

__attribute__((noinline, noclone)) void look_run(void (*stepped)(void))
{
	__asm__ volatile("int3\n"
			 ".globl stepping_begins\n"
			 "stepping_begins: nop");
	stepped();
	__asm__ volatile(".globl stepping_ends\n"
			 "stepping_ends: nop; int3");
}
