/* SPDX-License-Identifier: MIT */
/*
 * stepper LIBRARY: single-steps stepped(), a function of the library, and all that it
 * calls, in a child process. Before each instruction it compares the call path that gm_unwind()
 * finds with an account of the calls and returns executed so far (shadow.h).
 *
 * Once the library has called step_signals(), a signal interrupts each execution of each of its
 * instructions, and its handler is stepped, too: SIGUSR1 and SIGUSR2 in turn.
 *
 * Where a function replaces %rsp (longjmp(), swapcontext(), the unwinder of exceptions), its unwind
 * table describes its caller before that, or the place to which it jumps, or neither. A path there
 * is counted as "jumps" if all of its frames are those of one of these. "replaced" are paths that
 * differ first in a return address that the code has overwritten, as the unwinder of exceptions
 * does; "no table" are those in code without one; for "aligned ends" see below. Other paths that
 * end early are "short". Any other difference is wrong: exit status 1.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "look.h"
#include "shadow.h"

#define STEPS_MAX    4000000u
#define SHOWN_MAX    5u
#define PLACES_MAX   64u
#define PENDING_MAX  1024u
#define JUMP_STEPS   1000u /* from the first difference to the jump */
#define CODE_BYTES   16u
#define SIGRETURN    15u
#define TRAP_FLAG    0x100u
#define DIRECTION    0x400u
#define SKIPPED_TEST 77

enum instruction { OTHER, CALL, RETURN, SYSCALL };

struct range {
	uint64_t start, end;
};

/* Where paths are shorter, by function and reason. */
struct place {
	char name[128];
	enum gm_unwind_end end;
	unsigned long n;
};

static pid_t child;
static struct user_regs_struct now;
static struct range library, ours;
static int postponed; /* a signal */

static unsigned long n_steps, n_equal, n_short, n_jumps, n_replaced, n_aligned, n_untabled, n_wrong,
    n_signals, n_skipped;
static struct place places[PLACES_MAX];
static unsigned n_places;

/* Paths that differ; a jump may explain them. */
static struct difference {
	unsigned long step;
	struct look found;
	struct path wanted;
	unsigned n_common; /* equal addresses */
	bool replaced;	   /* the first return address that differs is not on the stack any more */
} pending[PENDING_MAX];
static unsigned n_pending;
static struct range looked_in; /* the function of the last look */
static struct range jumped_in; /* the function that is replacing %rsp; 0: none */

/* --- the child ---------------------------------------------------------------------------------
 */

static _Noreturn void give_up(const char *what)
{
	fprintf(stderr, "%s: %s, after %lu instructions, at %#llx\n", what, strerror(errno),
		n_steps, now.rip);
	if (child > 0)
		kill(child, SIGKILL);
	exit(1);
}

/* Returns false at the end of the memory. */
static bool peek(uint64_t address, void *into, size_t n_bytes)
{
	struct iovec local = {into, n_bytes}, remote = {(void *)address, n_bytes};

	return process_vm_readv(child, &local, 1, &remote, 1, 0) == (ssize_t)n_bytes;
}

static uint64_t word_at(uint64_t address)
{
	uint64_t word = 0;

	peek(address, &word, sizeof(word));
	return word;
}

/* Continues the child, and returns the signal with which it stops; 0: it has ended. */
static int resume(int request, int number)
{
	int status;

	if (ptrace(request, child, 0, number) != 0 || waitpid(child, &status, 0) != child)
		give_up("resume");
	if (!WIFSTOPPED(status)) {
		fprintf(stderr, "the stepped program has ended: status %#x\n", status);
		return 0;
	}
	if (ptrace(PTRACE_GETREGS, child, 0, &now) != 0)
		give_up("registers");
	return WSTOPSIG(status);
}

/* Lets the child find the call path at its registers. */
static const struct look *look(void)
{
	struct user_regs_struct saved = now, there = now;
	struct look *look = &shared->look;
	int number;

	look->at =
	    (struct gm_registers){.value = {now.rax, now.rdx, now.rcx, now.rbx, now.rsi, now.rdi,
					    now.rbp, now.rsp, now.r8, now.r9, now.r10, now.r11,
					    now.r12, now.r13, now.r14, now.r15, now.rip},
				  .known = (1u << GM_N_REGISTERS) - 1,
				  .interrupted = true};
	there.rip = (uint64_t)look_begin;
	there.rsp = (uint64_t)look_stack_end;
	there.eflags &= ~(unsigned long long)(TRAP_FLAG | DIRECTION);
	there.orig_rax = UINT64_MAX; /* no system call is restarted */
	if (ptrace(PTRACE_SETREGS, child, 0, &there) != 0)
		give_up("registers");
	number = resume(PTRACE_CONT, 0);
	/* A signal that the program has sent itself; it is for the next instruction. */
	if (number != 0 && number != SIGTRAP && now.rip == (uint64_t)look_begin) {
		postponed = number;
		number = resume(PTRACE_CONT, 0);
	}
	if (number != SIGTRAP || now.rip != (uint64_t)look_done)
		give_up("gm_unwind() crashes");
	now = saved;
	if (ptrace(PTRACE_SETREGS, child, 0, &saved) != 0)
		give_up("registers");
	return look;
}

/* --- instructions ------------------------------------------------------------------------------
 */

static bool is_prefix(uint8_t byte)
{
	return byte == 0x66 || byte == 0x67 || byte == 0xf2 || byte == 0xf3 || byte == 0x2e ||
	       byte == 0x36 || byte == 0x3e || byte == 0x26 || byte == 0x64 || byte == 0x65;
}

/* See Intel's manual, volume 2: CALL, RET, SYSCALL, and the prefixes. */
static enum instruction kind_at(uint64_t address)
{
	uint8_t code[CODE_BYTES] = {0};
	unsigned i = 0, n = (unsigned)(4096 - address % 4096);

	peek(address, code, n < CODE_BYTES ? n : CODE_BYTES);
	while (i < 8 && is_prefix(code[i]))
		i++;
	if ((code[i] & 0xf0) == 0x40)
		i++;
	if (code[i] == 0xe8 || (code[i] == 0xff && (code[i + 1] >> 3 & 7) == 2))
		return CALL;
	if (code[i] == 0xc3 || code[i] == 0xc2)
		return RETURN;
	return code[i] == 0x0f && code[i + 1] == 0x05 ? SYSCALL : OTHER;
}

static bool in(struct range range, uint64_t address)
{
	return address >= range.start && address < range.end;
}

/* --- comparison --------------------------------------------------------------------------------
 */

static void name_of(uint64_t address, char *into, size_t n_bytes)
{
	Dl_info info = {0};

	if (dladdr((void *)(address - 1), &info) == 0)
		snprintf(into, n_bytes, "?");
	else
		snprintf(into, n_bytes, "%s:%s", strrchr(info.dli_fname, '/') + 1,
			 info.dli_sname != NULL ? info.dli_sname : "");
}

static void print_path(const char *whose, const uint64_t *addresses, unsigned n)
{
	char name[128];

	fprintf(stderr, "  %s:\n", whose);
	for (unsigned i = 0; i < n && i < 24; i++) {
		Dl_info info = {0};

		dladdr((void *)(addresses[i] - 1), &info);
		name_of(addresses[i], name, sizeof(name));
		fprintf(stderr, "    %2u %#lx %s (%#lx)\n", i, addresses[i], name,
			addresses[i] - (uint64_t)info.dli_fbase);
	}
}

static void count_short(const struct look *found)
{
	struct place *place = places;
	char name[128];

	n_short++;
	name_of(found->addresses[0], name, sizeof(name));
	while (place < places + n_places &&
	       (strcmp(place->name, name) != 0 || place->end != found->end))
		place++;
	if (place == places + n_places) {
		if (n_places == PLACES_MAX)
			return;
		n_places++;
		strcpy(place->name, name);
		place->end = found->end;
	}
	place->n++;
}

/* The addresses are the path's from number `from` on, or its begin if our path ends for a reason.
 */
static bool begins(const struct look *found, unsigned skipped, const struct path *path,
		   unsigned from)
{
	unsigned n = found->n - skipped, n_wanted = path->n - from;

	return n <= n_wanted && (n == n_wanted || found->end != GM_END_OUTERMOST) &&
	       memcmp(found->addresses + skipped, path->addresses + from, n * sizeof(uint64_t)) ==
		   0;
}

static void show_wrong(const struct difference *wrong)
{
	if (n_wrong++ >= SHOWN_MAX)
		return;
	fprintf(stderr, "wrong path before instruction %lu, end %d\n", wrong->step,
		(int)wrong->found.end);
	print_path("gm_unwind()", wrong->found.addresses, wrong->found.n);
	print_path("expected", wrong->wanted.addresses, wrong->wanted.n);
}

/* The path has the frames after the jump, with or without the function to which it leads. */
static bool leads_to(const struct look *found, const struct path *after)
{
	return begins(found, 1, after, 1) ||
	       (found->n >= 2 && found->addresses[1] + 1 == after->addresses[0] &&
		begins(found, 2, after, 1));
}

static bool is_short(const struct difference *difference)
{
	return begins(&difference->found, 0, &difference->wanted, 0);
}

/* In the function that jumps, or where it has called one that prepares that. */
static bool is_jump(const struct difference *difference, const struct path *after)
{
	const struct look *found = &difference->found;

	if (in(jumped_in, found->addresses[0] - 1))
		return is_short(difference) || found->n == 1 || leads_to(found, after);
	for (unsigned i = 1; i < difference->n_common; i++)
		if (in(jumped_in, found->addresses[i] - 1))
			return true;
	return false;
}

/*
 * gcc 12 restores %rbp, and then %rsp from %r10, at the end of a function with an aligned stack,
 * but its table says that %rbp is still saved where it points to. So the path of its caller is
 * wrong if that needs %rbp. True at the last two instructions.
 */
static bool is_at_aligned_end(const struct difference *difference)
{
	static const uint8_t end[] = {0x49, 0x8d, 0x62, 0xf8}; /* lea -8(%r10), %rsp */
	uint8_t code[sizeof(end)];

	for (unsigned i = 0; i < difference->n_common; i++) {
		uint64_t ip = difference->found.addresses[i] - 1;

		if ((peek(ip, code, sizeof(code)) && memcmp(code, end, sizeof(end)) == 0) ||
		    (peek(ip - sizeof(end), code, sizeof(code)) &&
		     memcmp(code, end, sizeof(end)) == 0))
			return true;
	}
	return false;
}

/* `after`: the path after a jump; NULL: there was none. */
static void decide_pending(const struct path *after)
{
	for (unsigned i = 0; i < n_pending; i++)
		if (pending[i].replaced)
			n_replaced++;
		else if (pending[i].found.function_end == 0)
			n_untabled++;
		else if (after != NULL && is_jump(&pending[i], after))
			n_jumps++;
		else if (is_short(&pending[i]))
			count_short(&pending[i].found);
		else if (is_at_aligned_end(&pending[i]))
			n_aligned++;
		else
			show_wrong(&pending[i]);
	n_pending = 0;
}

static void add_pending(const struct look *found, const struct path *wanted)
{
	struct difference *difference = &pending[n_pending];
	unsigned i = 0;

	while (i < found->n && i < wanted->n && found->addresses[i] == wanted->addresses[i])
		i++;
	*difference = (struct difference){n_steps, *found, *wanted, i, false};
	difference->replaced = i < wanted->n && wanted->slots[i] != 0 &&
			       word_at(wanted->slots[i]) != wanted->addresses[i];
	if (++n_pending == PENDING_MAX)
		decide_pending(NULL);
}

static void compare(const struct path *wanted)
{
	const struct look *found = look();

	looked_in = (struct range){found->function_start, found->function_end};
	/* The table of setcontext() has two parts. */
	if (jumped_in.end != 0 && now.rip == jumped_in.end)
		jumped_in.end = looked_in.end;
	if (jumped_in.end != 0 && !in(jumped_in, now.rip)) {
		decide_pending(wanted);
		jumped_in = (struct range){0, 0};
	}
	if (n_pending > 0 && n_steps - pending[0].step > JUMP_STEPS)
		decide_pending(NULL);
	if (found->n == wanted->n && begins(found, 0, wanted, 0))
		n_equal++;
	else
		add_pending(found, wanted);
}

/* --- steps -------------------------------------------------------------------------------------
 */

/* True if the kernel has made a frame for a handler at %rsp. */
static bool is_handler(int number)
{
	static const uint8_t restorer[] = {0x48, 0xc7, 0xc0, SIGRETURN, 0, 0, 0, 0x0f, 0x05};
	uint8_t code[sizeof(restorer)];

	return now.rdi == (unsigned)number && peek(word_at(now.rsp), code, sizeof(code)) &&
	       memcmp(code, restorer, sizeof(code)) == 0;
}

static void note_stacks(void)
{
	static unsigned n_known;

	for (; n_known < shared->n_regions; n_known++)
		shadow_add_stack(shared->regions[n_known].start, shared->regions[n_known].end);
}

/* Keeps the account of the instruction at `before`, which has been executed. */
static void account(const struct user_regs_struct *before, enum instruction kind)
{
	uint64_t slot, address;
	unsigned n_left;
	bool returned;

	note_stacks();
	if (kind == CALL && now.rsp == before->rsp - 8) {
		shadow_call(now.rsp, word_at(now.rsp));
		return;
	}
	n_left = shadow_move(now.rsp, &slot, &address);
	returned = kind == RETURN && n_left == 1 && slot == before->rsp && address == now.rip;
	if (returned || (kind == SYSCALL && before->rax == SIGRETURN) ||
	    (kind != RETURN && n_left == 0 && shadow_same_stack(before->rsp, now.rsp)))
		return;
	if (in(looked_in, before->rip) && !in(jumped_in, before->rip))
		jumped_in = looked_in;
	/* makecontext() has put the return address there. */
	if (kind == RETURN && shadow_is_new(now.rsp))
		shadow_call(now.rsp, word_at(now.rsp));
}

/*
 * Executes an instruction, or starts the handler of the signal `number`. Returns the signal that
 * stops the child next; 0: it has ended.
 */
static int step(int number)
{
	struct user_regs_struct before = now;
	enum instruction kind = kind_at(now.rip);
	int stopped = resume(PTRACE_SINGLESTEP, number);

	if (stopped == 0)
		return 0;
	if (number != 0 && is_handler(number)) {
		shadow_move(now.rsp, &(uint64_t){0}, &(uint64_t){0});
		shadow_signal(now.rsp + 8, before.rip, before.rsp);
		shadow_call(now.rsp, word_at(now.rsp));
	} else if (stopped == SIGTRAP) {
		account(&before, kind);
		n_steps++;
	}
	return stopped == SIGTRAP ? -1 : stopped;
}

/* Returns the signal that is to interrupt the next instruction; 0: it is executed. */
static int next_signal(bool in_handler)
{
	static bool was_sent;

	int number = postponed;

	postponed = 0;
	if (number != 0 || !shared->takes_signals || in_handler || !in(library, now.rip))
		return number;
	was_sent = !was_sent;
	return !was_sent ? 0 : n_signals++ % 2 == 0 ? SIGUSR1 : SIGUSR2;
}

/* The code that answers would not look at itself. `n_outer`: the frames in which stepping began. */
static bool is_ours(const struct path *path, unsigned n_outer)
{
	for (unsigned i = 0; i + n_outer < path->n; i++)
		if (in(ours, path->addresses[i] - 1))
			return true;
	return false;
}

/* Steps from stepping_begins to stepping_ends. */
static void run(unsigned n_outer)
{
	static struct path path;
	int number = -1;
	bool in_handler = false;

	while (now.rip != (uint64_t)stepping_ends && n_steps < STEPS_MAX) {
		if (now.rip == (uint64_t)look_skip_begins &&
		    (resume(PTRACE_CONT, 0) != SIGTRAP || now.rip != (uint64_t)look_skip_ends))
			give_up("skipped code does not return");
		if (number < 0) {
			shadow_path(now.rip, now.rsp, &path, &in_handler);
			if (is_ours(&path, n_outer))
				n_skipped++;
			else
				compare(&path);
			number = next_signal(in_handler);
		}
		/* A signal that stops the child, a fault for example, is for its handler. */
		number = step(number);
		if (number == 0)
			exit(1);
	}
}

/* --- setup -------------------------------------------------------------------------------------
 */

/* The mapping with the address. */
static struct range mapping_of(const void *address)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	struct range range = {0, 0};
	char line[512];

	while (maps != NULL && fgets(line, sizeof(line), maps) != NULL)
		if (sscanf(line, "%lx-%lx", &range.start, &range.end) == 2 &&
		    in(range, (uint64_t)address))
			break;
	if (maps != NULL)
		fclose(maps);
	return range;
}

/*
 * Both processes run in turn, four times for each instruction: on one CPU, and ahead of others if
 * that is permitted, whose time slices they would wait for.
 */
static void use_one_cpu(void)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	sched_setaffinity(0, sizeof(one), &one);
	setpriority(PRIO_PROCESS, 0, -10);
}

static void start(void (*stepped)(void))
{
	int status;

	child = fork();
	if (child == 0) {
		if (ptrace(PTRACE_TRACEME, 0, 0, 0) != 0)
			_exit(SKIPPED_TEST);
		look_run(stepped);
		_exit(0);
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		give_up("fork");
	if (WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED_TEST) {
		puts("ptrace() is not permitted here");
		exit(SKIPPED_TEST);
	}
	if (!WIFSTOPPED(status) || ptrace(PTRACE_SETOPTIONS, child, 0, PTRACE_O_EXITKILL) != 0 ||
	    ptrace(PTRACE_GETREGS, child, 0, &now) != 0 || now.rip != (uint64_t)stepping_begins)
		give_up("the child does not stop at its begin");
}

int main(int argc, char **argv)
{
	void *module = argc > 1 ? dlopen(argv[1], RTLD_LAZY) : NULL;
	void (*stepped)(void);
	const struct look *first;

	if (module == NULL) {
		fprintf(stderr, "stepper: %s\n", argc > 1 ? dlerror() : "no library is given");
		return 2;
	}
	*(void **)&stepped = dlsym(module, "stepped");
	if (stepped == NULL)
		return 2;
	library = mapping_of(*(void **)&stepped);
	ours = mapping_of(look_begin);
	shared =
	    mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		return 2;
	use_one_cpu();
	start(stepped);
	first = look();
	if (first->end != GM_END_OUTERMOST)
		give_up("main() has no complete path");
	shadow_begin(first->addresses + 1, first->n - 1);
	run(first->n);
	kill(child, SIGKILL);
	decide_pending(NULL);
	printf("steps %lu, signals %lu, equal %lu, short %lu, jumps %lu, replaced %lu, "
	       "aligned ends %lu, no table %lu, skipped "
	       "%lu, wrong %lu\n",
	       n_steps, n_signals, n_equal, n_short, n_jumps, n_replaced, n_aligned, n_untabled,
	       n_skipped, n_wrong);
	for (unsigned i = 0; i < n_places; i++)
		printf("short %lu %s: end %d\n", places[i].n, places[i].name, (int)places[i].end);
	return n_wrong == 0 && n_steps < STEPS_MAX ? 0 : 1;
}
