/* SPDX-License-Identifier: MIT */
/*
 * The handler of SIGTRAP, and the states of a thread (enum step_state).
 *
 * A trap comes before each instruction, with its address. In the program's code its accesses are
 * added. An operation of libsync_trace that always writes an event is executed without the flag:
 * its entry clears it (STEP_PAUSED), the event sets it again. So are functions that write blocks of
 * the heap (step_hold(), step_release()). Other functions of our libraries, and the rest of an
 * operation behind its event, are stepped silently, with all that they call.
 *
 * The kernel clears the flag for a handler of the program, and restores it when the handler
 * returns. If it does not return, the next operation finds a thread that should have trapped
 * before, and abandons the section. So it does if the handler itself has operations.
 *
 * All signals are blocked in the handler, so only what the kernel forces interrupts it.
 */
#include "access/step/step.h"

#include <errno.h>
#include <sys/syscall.h>

#include "access/step/effects.h"

#define TRAP_FLAG    0x100
#define PAGE_BYTES   4096u
#define ROOM_BYTES   16384u /* for the kernel's frame, and the handler with the decoder */
#define FRAMES_BYTES 16384u /* of an operation */

/* --- abandoning ------------------------------------------------------------------------------- */

void step_abandon(enum st_access_why why)
{
	if ((access_self.stepped & ST_ACCESS_ABANDONED) == 0)
		access_self.stepped |= ST_ACCESS_ABANDONED | (uint8_t)(why << ST_ACCESS_WHY_SHIFT);
	step_self.state = STEP_OFF;
	step_self.fix_flags = false;
	step_pay();
}

static void leave(ucontext_t *context, enum st_access_why why)
{
	context->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)TRAP_FLAG;
	step_abandon(why);
}

/* --- memory ----------------------------------------------------------------------------------- */

bool step_is_readable(uintptr_t address)
{
	struct step_memory *memory = step_self.memory;
	uint64_t page = address / PAGE_BYTES;
	uint64_t *known = &memory->pages[page % STEP_PAGES_KNOWN];

	if (*known == page + 1)
		return true;
	/* The kernel reads the set of signals before it finds that there is no such operation. */
	if (step_syscall(SYS_rt_sigprocmask, -1, (long)(page * PAGE_BYTES), 0, 8) == -EFAULT)
		return false;
	*known = page + 1;
	return true;
}

static void forget_pages(void)
{
	__builtin_memset(step_self.memory->pages, 0, sizeof(step_self.memory->pages));
}

/* --- the program's code ----------------------------------------------------------------------- */

/* Returns the number of bytes of the instruction that can be read. */
static unsigned code_bytes(uintptr_t at)
{
	unsigned in_page = PAGE_BYTES - at % PAGE_BYTES;

	if (!step_is_readable(at))
		return 0;
	if (in_page >= STEP_INSTRUCTION_MAX || step_is_readable(at + in_page))
		return STEP_INSTRUCTION_MAX;
	return in_page;
}

static bool has_room(uintptr_t stack)
{
	return stack < access_self.stack_above && stack > ROOM_BYTES &&
	       stack - ROOM_BYTES >= access_self.stack_low;
}

/* A line is copied before its first write. */
static bool can_note(const struct step_effects *effects)
{
	for (unsigned i = 0; i < effects->n; i++) {
		const struct step_touched *touched = &effects->touched[i];

		if (!touched->is_linkage && (touched->kind & ACCESS_WRITE) != 0 &&
		    (!step_is_readable(touched->address) ||
		     !step_is_readable(touched->address + touched->n_bytes - 1)))
			return false;
	}
	return true;
}

/* Accesses have return addresses as their sites, which readers name by the byte before. */
static void note(const struct step_effects *effects, uintptr_t at)
{
	for (unsigned i = 0; i < effects->n; i++)
		if (!effects->touched[i].is_linkage &&
		    !step_is_kernels(effects->touched[i].address))
			access_note(effects->touched[i].address, effects->touched[i].n_bytes,
				    effects->touched[i].kind, at + 1);
}

/* Returns the reason why the instruction must not be stepped; 0: none. */
static enum st_access_why why_not(const struct step_effects *effects)
{
	if (effects->moves_stack && !has_room(effects->stack))
		return ST_ACCESS_WHY_STACK;
	return can_note(effects) ? 0 : ST_ACCESS_WHY_MEMORY;
}

/* True if the registers that a system call changes play no part in the accesses. */
static bool is_same_after_call(const uint8_t *code, unsigned n, ucontext_t *context,
			       const struct step_effects *before)
{
	greg_t *values = context->uc_mcontext.gregs;
	greg_t rax = values[REG_RAX], rcx = values[REG_RCX], r11 = values[REG_R11];
	struct step_effects after;
	bool is_same;

	values[REG_RAX] ^= 0x5a5a58;
	values[REG_RCX] ^= 0x5a5a58;
	values[REG_R11] ^= 0x5a5a58;
	is_same = step_effects(code, n, context, &after) && after.n == before->n &&
		  after.moves_stack == before->moves_stack;
	for (unsigned i = 0; is_same && i < after.n; i++)
		is_same = after.touched[i].address == before->touched[i].address;
	values[REG_RAX] = rax;
	values[REG_RCX] = rcx;
	values[REG_R11] = r11;
	return is_same;
}

/*
 * The return from a system call sets the flag, so the instruction behind it is executed before the
 * next trap.
 */
static enum st_access_why behind_call(ucontext_t *context, uintptr_t at)
{
	greg_t *values = context->uc_mcontext.gregs;
	greg_t here = values[REG_RIP];
	struct step_effects effects;
	enum st_access_why why = ST_ACCESS_WHY_INSTRUCTION;
	unsigned n = code_bytes(at);

	values[REG_RIP] = (greg_t)at;
	if (step_effects((const uint8_t *)at, n, context, &effects) && !effects.is_syscall &&
	    !effects.pushes_flags && is_same_after_call((const uint8_t *)at, n, context, &effects))
		why = why_not(&effects);
	values[REG_RIP] = here;
	if (why == 0) {
		note(&effects, at);
		step_self.unseen = at;
	}
	return why;
}

static enum st_access_why system_call(ucontext_t *context, uintptr_t at)
{
	if (!step_call_is_safe(context->uc_mcontext.gregs[REG_RAX]))
		return ST_ACCESS_WHY_CALL;
	/* It may have unmapped any page. */
	forget_pages();
	return behind_call(context, at + 2);
}

/* Returns the reason why the section is abandoned; 0: it is not. */
static enum st_access_why step_program(ucontext_t *context, uintptr_t at)
{
	struct step_effects effects;
	enum st_access_why why;
	unsigned n = code_bytes(at);

	if (n == 0)
		return ST_ACCESS_WHY_MEMORY;
	if (!step_effects((const uint8_t *)at, n, context, &effects))
		return ST_ACCESS_WHY_INSTRUCTION;
	why = why_not(&effects);
	if (why != 0)
		return why;
	if (effects.is_syscall)
		return system_call(context, at);
	step_self.fix_flags = effects.pushes_flags;
	note(&effects, at);
	return 0;
}

/* --- our code --------------------------------------------------------------------------------- */

static bool is_system_call(const uint8_t *code)
{
	return code[0] == 0x0f && code[1] == 0x05;
}

/* Calls that libsync_trace makes itself may block all signals. */
static enum st_access_why step_silently(const ucontext_t *context, uintptr_t at)
{
	const uint8_t *code = (const uint8_t *)at;

	step_self.last = at;
	if (code_bytes(at) < 2)
		return 0;
	if (is_system_call(code)) {
		if (!step_call_is_safe(context->uc_mcontext.gregs[REG_RAX]))
			return ST_ACCESS_WHY_CALL;
		forget_pages();
		step_self.last = at + 2;
	}
	step_self.fix_flags = code[0] == 0x9c;
	return 0;
}

static bool is_return(const uint8_t *code)
{
	return code[0] == 0xc3 || code[0] == 0xc2 || (code[0] == 0xf3 && code[1] == 0xc3);
}

/*
 * The thread has left our code: returned to the program, or called a function for it or by a last
 * jump. Returns true if the program's own code goes on.
 */
static bool is_programs(const ucontext_t *context)
{
	uintptr_t stack = (uintptr_t)context->uc_mcontext.gregs[REG_RSP];

	if (step_self.beyond != 0) {
		if (stack <= step_self.beyond)
			return false;
		step_self.beyond = 0;
		return true;
	}
	if (is_return((const uint8_t *)step_self.last))
		return true;
	step_self.beyond = stack;
	return false;
}

static void enter_operation(ucontext_t *context)
{
	uintptr_t stack = (uintptr_t)context->uc_mcontext.gregs[REG_RSP];

	context->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)TRAP_FLAG;
	step_self.entry = stack;
	step_self.entry_site = *(const uintptr_t *)stack;
	step_self.state = STEP_PAUSED;
}

/* In our code, or in code that it calls: true. */
static bool is_silent(const ucontext_t *context, uintptr_t at)
{
	if (step_is_own(at)) {
		uintptr_t stack = (uintptr_t)context->uc_mcontext.gregs[REG_RSP];

		/* A function that we called has called another one of ours. */
		if (step_self.state == STEP_SILENT && step_self.beyond != 0 &&
		    stack <= step_self.beyond)
			return true;
		step_self.beyond = 0;
		step_self.state = STEP_SILENT;
		return true;
	}
	if (step_self.state != STEP_SILENT)
		return false;
	if (!is_programs(context))
		return true;
	step_self.state = STEP_PROGRAM;
	return false;
}

/*
 * At the entry of a function of libsync_trace. Returns true if the thread is not stepped in it.
 * Otherwise libc's function takes its place.
 */
static bool passes_operation(ucontext_t *context)
{
	uintptr_t real;

	if (step_self.state != STEP_PROGRAM || access_self.may_skip ||
	    !step_is_entry((uintptr_t)context->uc_mcontext.gregs[REG_RIP], &real))
		return false;
	if (real == 0) {
		enter_operation(context);
		return true;
	}
	access_self.n_calls++;
	context->uc_mcontext.gregs[REG_RIP] = (greg_t)real;
	return false;
}

/* The instruction before this one may have pushed the flag. */
static void fix_flags(const ucontext_t *context)
{
	if (step_self.fix_flags)
		*(uint64_t *)context->uc_mcontext.gregs[REG_RSP] &= ~(uint64_t)TRAP_FLAG;
	step_self.fix_flags = false;
}

static void step(ucontext_t *context)
{
	uintptr_t at, unseen = step_self.unseen;
	enum st_access_why why = 0;

	step_self.unseen = 0;
	fix_flags(context);
	if (passes_operation(context))
		return;
	at = (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
	if (++step_self.n_steps > step_steps_max)
		why = ST_ACCESS_WHY_LENGTH;
	else if (!has_room((uintptr_t)context->uc_mcontext.gregs[REG_RSP]))
		why = ST_ACCESS_WHY_STACK;
	else if (is_silent(context, at))
		why = step_silently(context, at);
	else if (at != unseen)
		why = step_program(context, at);
	if (why != 0)
		leave(context, why);
	else
		context->uc_mcontext.gregs[REG_EFL] |= TRAP_FLAG;
}

void step_handle(int signal, siginfo_t *info, void *context)
{
	if (info->si_code != TRAP_TRACE) {
		step_signal_pass(signal, info, context);
		return;
	}
	if (step_self.state == STEP_PROGRAM || step_self.state == STEP_SILENT)
		step(context);
	else
		/* The last one, or one of a section that an operation has abandoned. */
		((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)TRAP_FLAG;
}

/* --- operations ------------------------------------------------------------------------------- */

static void set_flag(uintptr_t beyond)
{
	step_self.state = STEP_SILENT;
	step_self.beyond = beyond;
	step_self.last = (uintptr_t)__builtin_return_address(0);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	__asm__ volatile("leaq -128(%%rsp), %%rsp\n\t" /* past the red zone */
			 "pushfq\n\t"
			 "orq %0, (%%rsp)\n\t"
			 "popfq\n\t"
			 "leaq 128(%%rsp), %%rsp"
			 :
			 : "i"(TRAP_FLAG)
			 : "memory", "cc");
}

void step_start(void)
{
	step_self.n_steps = 0;
	step_self.unseen = 0;
	forget_pages();
}

/* True if the operation in which this runs is the one that the thread entered. */
static bool is_entered(void)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);

	return here < step_self.entry && step_self.entry - here < FRAMES_BYTES &&
	       *(const uintptr_t *)step_self.entry == step_self.entry_site;
}

void step_pause(void)
{
	switch (step_self.state) {
	case STEP_PROGRAM: /* no trap told of this operation */
		step_abandon(ST_ACCESS_WHY_LEFT);
		break;
	case STEP_PAUSED:
		if (!is_entered())
			step_abandon(ST_ACCESS_WHY_LEFT);
		break;
	default:
		break;
	}
}

/* waits: the event begins a wait, and the next one ends it. */
void step_go_on(unsigned event, bool waits)
{
	if (step_self.state == STEP_SILENT)
		return;
	if (step_self.state == STEP_WAITING && event != step_self.waits) {
		step_abandon(ST_ACCESS_WHY_LEFT);
		return;
	}
	if (waits) {
		step_self.waits = (uint16_t)(event + 1);
		step_self.state = STEP_WAITING;
		return;
	}
	set_flag(0);
}

/* --- other functions of libsync_trace --------------------------------------------------------- */

bool step_hold(uintptr_t entry)
{
	if (step_self.state != STEP_SILENT)
		return false;
	step_self.entry = entry;
	step_self.entry_site = *(const uintptr_t *)entry;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	step_self.state = STEP_PAUSED; /* the next trap clears the flag */
	return true;
}

void step_release(void)
{
	if (step_self.state == STEP_PAUSED && is_entered())
		set_flag(step_self.beyond);
}
