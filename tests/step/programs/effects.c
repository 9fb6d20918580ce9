/* SPDX-License-Identifier: MIT */
/*
 * Compares step_effects() for instructions of Debian's binaries with what the CPU touches.
 *
 * Reads instructions as hexadecimal bytes, one a line. Each is executed in single steps with random
 * registers. The witness is the protection of pages: for each operand in memory, a page of the
 * operand without access, or without writes, must raise SIGSEGV at an address in the operand, and
 * pages that begin where the operand ends must not. Base registers are set so that the operand's
 * first or last byte is at the end of a page.
 *
 * Prints how many instructions were compared, and how many were left out, with the reasons.
 */
#include <assert.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <Zydis/Zydis.h>

#include "access/access.h"
#include "access/step/effects.h"

#define PAGE	   4096u
#define N_PAGES	   5u
#define TRAP_FLAG  0x100
#define CODE_BYTES 4096u

/* area: five pages; operands are placed around the edges of the middle one. */
static uint8_t *area, *code;
static ucontext_t start;
static volatile int caught;
static volatile uintptr_t fault_address;
static volatile long long fault_error;
static volatile int n_traps;
static uint64_t random_state = 88172645463325252u;

static uint64_t draw(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

/* --- executing one instruction ---------------------------------------------------------------- */

static ucontext_t saved;
static volatile int phase; /* 1: the next trap starts the instruction; 2: it has been executed */

/*
 * The first signal replaces the registers by the instruction's, and the trap behind the
 * instruction, or the fault in it, puts them back.
 */
static void on_signal(int signal, siginfo_t *info, void *context)
{
	ucontext_t *own = context;

	if (phase == 1 && signal == SIGUSR1) {
		memcpy(saved.uc_mcontext.gregs, own->uc_mcontext.gregs,
		       sizeof(saved.uc_mcontext.gregs));
		memcpy(own->uc_mcontext.gregs, start.uc_mcontext.gregs,
		       sizeof(saved.uc_mcontext.gregs));
		/* Segments and the signal mask are those of the frame. */
		own->uc_mcontext.gregs[REG_CSGSFS] = saved.uc_mcontext.gregs[REG_CSGSFS];
		own->uc_mcontext.gregs[REG_EFL] = 0x202 | TRAP_FLAG;
		phase = 2;
		return;
	}
	assert(phase == 2);
	caught = signal;
	fault_address = (uintptr_t)info->si_addr;
	fault_error = own->uc_mcontext.gregs[REG_ERR];
	if (signal == SIGSEGV && own->uc_mcontext.gregs[REG_TRAPNO] != 14)
		caught = SIGBUS; /* no page fault: not canonical, or not aligned */
	memcpy(own->uc_mcontext.gregs, saved.uc_mcontext.gregs, sizeof(saved.uc_mcontext.gregs));
	phase = 0;
}

/* Returns the signal: SIGTRAP if the instruction was executed. */
static int execute(void)
{
	caught = 0;
	phase = 1;
	raise(SIGUSR1);
	return caught;
}

/* --- placing its operands --------------------------------------------------------------------- */

static const uint8_t places[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
				   REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
				   REG_R12, REG_R13, REG_R14, REG_R15};

static ZydisDecodedInstruction instruction;
static ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];

/* The general register that holds the base of the operand; -1: none of 64 bits. */
static int base_of(const ZydisDecodedOperand *operand)
{
	ZydisRegister base = operand->mem.base;

	return base >= ZYDIS_REGISTER_RAX && base <= ZYDIS_REGISTER_R15
		   ? places[base - ZYDIS_REGISTER_RAX]
		   : -1;
}

/* Registers that select what is touched keep small values; all others are in the area. */
static void set_registers(void)
{
	greg_t *values = start.uc_mcontext.gregs;

	for (unsigned i = 0; i < 16; i++)
		values[places[i]] =
		    (greg_t)(area + PAGE * 2 + draw() % (PAGE / 2) / 64 * 64 + 1024);
	for (unsigned i = 0; i < instruction.operand_count; i++)
		if (operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
		    operands[i].mem.index >= ZYDIS_REGISTER_RAX &&
		    operands[i].mem.index <= ZYDIS_REGISTER_R15 &&
		    operands[i].mem.index != operands[i].mem.base)
			values[places[operands[i].mem.index - ZYDIS_REGISTER_RAX]] =
			    (greg_t)(draw() % 32) - 16;
	values[REG_RIP] = (greg_t)code;
	/* Bit offsets, counts of strings, divisors. */
	for (unsigned i = 0; i < instruction.operand_count_visible; i++)
		if (i == 1 && operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    operands[0].type == ZYDIS_OPERAND_TYPE_MEMORY)
			for (unsigned k = 0; k < 16; k++)
				if (ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64,
								     operands[1].reg.value) ==
					ZYDIS_REGISTER_RAX + k &&
				    base_of(&operands[0]) != places[k] &&
				    operands[0].mem.index != ZYDIS_REGISTER_RAX + k && k != 4)
					values[places[k]] = (greg_t)(draw() % 1024) - 512;
}

static void protect(int left, int middle, int right)
{
	mprotect(area + PAGE, PAGE, left);
	mprotect(area + 2 * PAGE, PAGE, middle);
	mprotect(area + 3 * PAGE, PAGE, right);
}

enum result { EQUAL, UNKNOWN, NO_MEMORY, NOT_PLACED, NOT_EXECUTED, N_RESULTS };
static const char *const result_names[N_RESULTS] = {
    "compared", "refused by step_effects()", "without memory", "operand not movable here",
    "not executed by this CPU with these registers"};

static bool effects_now(struct step_effects *effects)
{
	return step_effects(code, STEP_INSTRUCTION_MAX, &start, effects);
}

static bool is_inside(const struct step_touched *touched)
{
	return touched->address >= (uintptr_t)area + 64 &&
	       touched->address + touched->n_bytes <= (uintptr_t)area + N_PAGES * PAGE - 64;
}

/*
 * Moves all registers that are addresses by the same distance, so that byte `at` of the operand is
 * the first of the middle page's next one, and computes the effects again.
 */
static bool move_to(uintptr_t target, unsigned which, bool its_end, struct step_effects *effects)
{
	greg_t *values = start.uc_mcontext.gregs;
	uintptr_t now =
	    effects->touched[which].address + (its_end ? effects->touched[which].n_bytes : 0);
	greg_t distance = (greg_t)(target - now);
	bool moved = false;

	for (unsigned i = 0; i < instruction.operand_count; i++) {
		int base =
		    operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY ? base_of(&operands[i]) : -1;
		bool again = false;

		for (unsigned k = 0; k < i; k++)
			again |= operands[k].type == ZYDIS_OPERAND_TYPE_MEMORY &&
				 base_of(&operands[k]) == base;
		if (base < 0 || again)
			continue;
		if (operands[i].mem.index == operands[i].mem.base)
			return false;
		values[base] += distance;
		moved = true;
	}
	if (!moved || !effects_now(effects) || which >= effects->n)
		return false;
	return effects->touched[which].address + (its_end ? effects->touched[which].n_bytes : 0) ==
	       target;
}

static bool is_at(const struct step_touched *touched, uintptr_t address)
{
	return address >= touched->address && address < touched->address + touched->n_bytes;
}

static void complain(const char *what, const struct step_effects *effects, unsigned which)
{
	printf("%s: %s operand %u:", what, ZydisMnemonicGetString(instruction.mnemonic), which);
	for (unsigned i = 0; i < instruction.length; i++)
		printf(" %02x", code[i]);
	printf("; said:");
	for (unsigned i = 0; i < effects->n; i++)
		printf(" %td+%u%s%s", (uint8_t *)effects->touched[i].address - area,
		       effects->touched[i].n_bytes,
		       effects->touched[i].kind & ACCESS_READ ? "r" : "",
		       effects->touched[i].kind & ACCESS_WRITE ? "w" : "");
	printf("; signal %d at %td, error %lld\n", caught, (uint8_t *)fault_address - area,
	       fault_error);
}

/* Some string or stack operand is in the pages that are closed, other than `which`. */
static bool others_are_at(const struct step_effects *effects, unsigned which, uintptr_t from,
			  uintptr_t to)
{
	for (unsigned i = 0; i < effects->n; i++)
		if (i != which && effects->touched[i].address < to &&
		    effects->touched[i].address + effects->touched[i].n_bytes > from)
			return true;
	return false;
}

static const int all = PROT_READ | PROT_WRITE;

/* Its end, then its start, is the edge of a page that cannot be accessed; then one byte is in it.
 */
static bool check_edges(unsigned which, struct step_effects *effects, bool *good)
{
	uintptr_t edge = (uintptr_t)area + 3 * PAGE;
	struct step_effects before = *effects;
	struct ucontext_t registers = start;
	int signal;

	/* It ends at the edge: no fault. */
	if (!move_to(edge, which, true, effects) ||
	    others_are_at(effects, which, edge, edge + PAGE))
		return false;
	protect(all, all, PROT_NONE);
	signal = execute();
	protect(all, all, all);
	if (signal != SIGTRAP && signal != SIGSEGV)
		return false;
	if (signal == SIGSEGV) {
		complain("touches more behind", effects, which);
		*good = false;
		return true;
	}
	/* One byte more: a fault at the edge. */
	start = registers;
	*effects = before;
	if (!move_to(edge + 1, which, true, effects))
		return false;
	protect(all, all, PROT_NONE);
	signal = execute();
	protect(all, all, all);
	/* Vectors that must be aligned raise another fault. */
	if (signal != SIGTRAP && signal != SIGSEGV)
		return false;
	if (signal != SIGSEGV || fault_address < edge || fault_address > edge + 1) {
		complain("touches less at the end", effects, which);
		*good = false;
		return true;
	}
	/* It starts at the edge of the middle page, then one byte before. */
	edge = (uintptr_t)area + 2 * PAGE;
	start = registers;
	*effects = before;
	if (!move_to(edge, which, false, effects) ||
	    others_are_at(effects, which, edge - PAGE, edge))
		return false;
	protect(PROT_NONE, all, all);
	signal = execute();
	protect(all, all, all);
	if (signal != SIGTRAP && signal != SIGSEGV)
		return false;
	if (signal != SIGTRAP) {
		complain("touches more before", effects, which);
		*good = false;
		return true;
	}
	start = registers;
	*effects = before;
	if (!move_to(edge - 1, which, false, effects))
		return false;
	protect(PROT_NONE, all, all);
	signal = execute();
	protect(all, all, all);
	if (signal != SIGTRAP && signal != SIGSEGV)
		return false;
	if (signal != SIGSEGV || !is_at(&effects->touched[which], fault_address)) {
		complain("touches less at the start", effects, which);
		*good = false;
		return true;
	}
	start = registers;
	*effects = before;
	return true;
}

/* Without the right to write, it faults if, and only if, it writes. */
static bool check_kind(unsigned which, struct step_effects *effects, bool *good)
{
	bool writes = (effects->touched[which].kind & ACCESS_WRITE) != 0;
	struct ucontext_t registers = start;
	struct step_effects before = *effects;
	uintptr_t middle = (uintptr_t)area + 3 * PAGE + 512;
	int signal;

	if (!move_to(middle, which, false, effects))
		return false;
	for (unsigned i = 0; i < effects->n; i++)
		if (i != which && (effects->touched[i].kind & ACCESS_WRITE) != 0 &&
		    others_are_at(effects, which, (uintptr_t)area + 3 * PAGE,
				  (uintptr_t)area + 4 * PAGE)) {
			start = registers;
			*effects = before;
			return false;
		}
	protect(all, all, PROT_READ);
	signal = execute();
	protect(all, all, all);
	if (signal != SIGTRAP && signal != SIGSEGV) {
		start = registers;
		*effects = before;
		return false;
	}
	if (signal != (writes ? SIGSEGV : SIGTRAP)) {
		complain(writes ? "does not write" : "writes", effects, which);
		*good = false;
	}
	start = registers;
	*effects = before;
	return true;
}

static enum result compare(const uint8_t *bytes, unsigned n, const ZydisDecoder *decoder,
			   bool *good)
{
	struct step_effects effects;
	bool any = false;

	memset(code, 0x90, 64);
	memcpy(code, bytes, n);
	memset(area, 0, N_PAGES * PAGE);
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(decoder, code, n, &instruction, operands)))
		return UNKNOWN;
	set_registers();
	if (!effects_now(&effects))
		return UNKNOWN;
	if (effects.n == 0)
		return NO_MEMORY;
	if (effects.is_syscall)
		return UNKNOWN;
	for (unsigned i = 0; i < effects.n; i++)
		if (!is_inside(&effects.touched[i]))
			return NOT_PLACED;
	if (execute() != SIGTRAP)
		return NOT_EXECUTED;
	for (unsigned i = 0; i < effects.n && *good; i++) {
		struct step_effects copy = effects;
		struct ucontext_t registers = start;

		memset(area, 0, N_PAGES * PAGE);
		any |= check_edges(i, &copy, good);
		start = registers;
		copy = effects;
		if (*good)
			any |= check_kind(i, &copy, good);
		start = registers;
	}
	return any ? EQUAL : NOT_PLACED;
}

int main(void)
{
	struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK};
	static uint8_t stack[65536];
	stack_t alternate = {.ss_sp = stack, .ss_size = sizeof(stack)};
	unsigned long counts[N_RESULTS] = {0}, n_bad = 0;
	char line[128];
	ZydisDecoder decoder;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	assert(step_decoder_prepare());
	area = mmap(NULL, N_PAGES * PAGE, all, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	code = mmap(NULL, CODE_BYTES, all | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert(area != MAP_FAILED && code != MAP_FAILED);
	sigaltstack(&alternate, NULL);
	sigfillset(&action.sa_mask);
	sigaction(SIGUSR1, &action, NULL);
	sigemptyset(&action.sa_mask);
	for (const int *s = (const int[]){SIGTRAP, SIGSEGV, SIGBUS, SIGILL, SIGFPE, 0}; *s != 0;
	     s++)
		sigaction(*s, &action, NULL);
	while (fgets(line, sizeof(line), stdin)) {
		uint8_t bytes[STEP_INSTRUCTION_MAX];
		unsigned n = 0, byte;
		bool good = true;

		for (char *at = line; n < STEP_INSTRUCTION_MAX && sscanf(at, "%2x", &byte) == 1;
		     at += 2)
			bytes[n++] = (uint8_t)byte;
		counts[compare(bytes, n, &decoder, &good)]++;
		n_bad += !good;
	}
	for (unsigned i = 0; i < N_RESULTS; i++)
		printf("%lu %s\n", counts[i], result_names[i]);
	printf("%lu wrong\n", n_bad);
	return n_bad != 0;
}
