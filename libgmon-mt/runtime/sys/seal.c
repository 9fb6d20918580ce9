/* SPDX-License-Identifier: MIT */
/*
 * Sandboxes that the program makes for itself.
 *
 * A seccomp filter may answer a system call of the runtime, which the program itself never makes,
 * by SIGSYS or a kill; that would change the program. The program installs its filter by prctl()
 * or, like libseccomp, by syscall(); both are interposed. A filter to be installed is evaluated
 * here for each system call that the slow paths make. If one would be neither allowed nor refused
 * with an error, the thread is sealed: the runtime makes no further system call in it. Every thread
 * whose first event comes later is sealed too, since it may have inherited the filter, and every
 * thread if the filter applies to all. Strict mode seals as well (interpose.c).
 *
 * A filter that the program installs by a system call instruction of its own is not detected.
 */
#include <linux/audit.h>
#include <linux/close_range.h>
#include <linux/filter.h>
#include <linux/fs.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "runtime/sys/seal.h"
#include "runtime/sys/sys.h"

enum { SEALS_NOBODY, SEALS_NEWBORN, SEALS_ALL };

__thread bool gm_sealed __attribute__((tls_model("initial-exec")));
static uint32_t seals;
static bool has_filter;

bool gm_seal_exists(void)
{
	return __atomic_load_n(&seals, __ATOMIC_RELAXED) != SEALS_NOBODY;
}

bool gm_seal_newborn(void)
{
	if (gm_seal_exists())
		gm_sealed = true;
	return gm_sealed;
}

bool gm_seal_is_set(void)
{
	if (__atomic_load_n(&seals, __ATOMIC_RELAXED) == SEALS_ALL)
		gm_sealed = true;
	return gm_sealed;
}

/* --- evaluation of a filter, as in the kernel ------------------------------------------------- */

#define FLAGS_PRIVATE (MAP_PRIVATE | MAP_ANONYMOUS)

/*
 * The system calls of the slow paths, with the arguments that a filter can check; test_seccomp
 * compares the sources with this table. Not included: those of the collector and of openmp.c, which
 * are made in a constructor, and those of recorder.c, which are made only if there is no filter.
 */
static const struct seccomp_data calls[] = {
    {.nr = SYS_openat, .args = {(uint64_t)AT_FDCWD, 0, O_RDWR | O_CLOEXEC | O_NOFOLLOW}},
    {.nr = SYS_openat,
     .args = {(uint64_t)AT_FDCWD, 0, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600}},
    {.nr = SYS_close},
    {.nr = SYS_read},
    {.nr = SYS_write},
    {.nr = SYS_pread64},
    {.nr = SYS_pwrite64},
    {.nr = SYS_pwritev},
    {.nr = SYS_ftruncate},
    {.nr = SYS_fallocate},
    {.nr = SYS_openat,
     .args = {(uint64_t)AT_FDCWD, 0, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC}},
    {.nr = SYS_openat, .args = {(uint64_t)AT_FDCWD, 0, O_WRONLY | O_NOFOLLOW | O_CLOEXEC}},
    {.nr = SYS_openat, .args = {(uint64_t)AT_FDCWD, 0, O_RDONLY | O_CLOEXEC}},
    {.nr = SYS_openat2, .args = {3, 0, 0, 24}},
    {.nr = SYS_lseek},
    {.nr = SYS_fstat},
    {.nr = SYS_newfstatat, .args = {(uint64_t)AT_FDCWD, 0, 0, AT_SYMLINK_NOFOLLOW}},
    {.nr = SYS_fstatfs},
    {.nr = SYS_fcntl, .args = {1024, F_GETFD}},
    {.nr = SYS_fcntl, .args = {3, F_OFD_SETLK}},
    {.nr = SYS_fcntl, .args = {3, F_OFD_GETLK}},
    {.nr = SYS_ioctl, .args = {3, FICLONE, 3}},
    {.nr = SYS_getdents64},
    {.nr = SYS_getcwd},
    {.nr = SYS_readlink},
    {.nr = SYS_readlinkat},
    {.nr = SYS_mkdirat, .args = {(uint64_t)AT_FDCWD, 0, 0700}},
    {.nr = SYS_symlinkat},
    {.nr = SYS_renameat},
    {.nr = SYS_renameat2},
    {.nr = SYS_unlinkat},
    {.nr = SYS_unlinkat, .args = {(uint64_t)AT_FDCWD, 0, AT_REMOVEDIR}},
    {.nr = SYS_mmap, .args = {0, 4096, PROT_READ | PROT_WRITE, FLAGS_PRIVATE, (uint64_t)-1}},
    {.nr = SYS_mmap, .args = {0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, 3}},
    {.nr = SYS_mmap, .args = {0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, 3}},
    {.nr = SYS_munmap},
    {.nr = SYS_madvise, .args = {0, 4096, MADV_DONTNEED}},
    {.nr = SYS_madvise, .args = {0, 4096, MADV_WIPEONFORK}},
    {.nr = SYS_memfd_create, .args = {0, MFD_CLOEXEC}},
    {.nr = SYS_process_vm_readv},
    {.nr = SYS_process_vm_writev},
    {.nr = SYS_rt_sigprocmask, .args = {SIG_SETMASK, 0, 0, 8}},
    {.nr = SYS_rt_sigaction, .args = {33, 0, 0, 8}},
    {.nr = SYS_rt_sigpending, .args = {0, 8}},
    {.nr = SYS_rt_sigtimedwait, .args = {0, 0, 0, 8}},
    {.nr = SYS_sigaltstack},
    {.nr = SYS_poll, .args = {0, 1}},
    {.nr = SYS_sendto, .args = {2, 0, 0, MSG_DONTWAIT | MSG_NOSIGNAL}},
    {.nr = SYS_gettid},
    {.nr = SYS_getpid},
    {.nr = SYS_getppid},
    {.nr = SYS_geteuid},
    {.nr = SYS_tgkill},
    {.nr = SYS_prctl, .args = {PR_GET_NAME}},
    {.nr = SYS_prctl, .args = {PR_GET_TSC}},
    {.nr = SYS_prctl, .args = {PR_SET_NAME}},
    {.nr = SYS_prctl, .args = {PR_GET_SECCOMP}},
    {.nr = SYS_prlimit64, .args = {0, RLIMIT_FSIZE}},
    {.nr = SYS_getrandom},
    {.nr = SYS_uname},
    {.nr = SYS_timer_create, .args = {CLOCK_THREAD_CPUTIME_ID}},
    {.nr = SYS_timer_settime},
    {.nr = SYS_timer_delete},
    {.nr = SYS_clock_gettime, .args = {CLOCK_MONOTONIC}},
    {.nr = SYS_clock_gettime, .args = {CLOCK_THREAD_CPUTIME_ID}},
    {.nr = SYS_clock_getres, .args = {CLOCK_MONOTONIC_COARSE}},
    {.nr = SYS_futex, .args = {0, FUTEX_WAIT_PRIVATE}},
    {.nr = SYS_futex, .args = {0, FUTEX_WAKE_PRIVATE}},
    {.nr = SYS_clone,
     .args = {CLONE_VM | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
	      CLONE_CHILD_CLEARTID}},
    {.nr = SYS_close_range, .args = {0, ~0u, CLOSE_RANGE_UNSHARE}},
    {.nr = SYS_unshare, .args = {CLONE_FILES}},
    {.nr = SYS_futex, .args = {0, FUTEX_WAIT}},
    {.nr = SYS_stat},
    {.nr = SYS_exit},
};

struct machine {
	const struct seccomp_data *data;
	uint32_t a, x, memory[BPF_MEMWORDS];
};

static uint32_t compute(uint32_t a, uint32_t operation, uint32_t b)
{
	switch (operation) {
	case BPF_ADD:
		return a + b;
	case BPF_SUB:
		return a - b;
	case BPF_MUL:
		return a * b;
	case BPF_DIV:
		return b == 0 ? 0 : a / b;
	case BPF_AND:
		return a & b;
	case BPF_OR:
		return a | b;
	case BPF_XOR:
		return a ^ b;
	case BPF_LSH:
		return b < 32 ? a << b : 0;
	case BPF_RSH:
		return b < 32 ? a >> b : 0;
	default:
		return 0 - a; /* BPF_NEG */
	}
}

static bool jumps(uint32_t a, uint32_t operation, uint32_t b)
{
	switch (operation) {
	case BPF_JEQ:
		return a == b;
	case BPF_JGT:
		return a > b;
	case BPF_JGE:
		return a >= b;
	default:
		return (a & b) != 0; /* BPF_JSET */
	}
}

static uint32_t loaded(const struct machine *machine, const struct sock_filter *code)
{
	uint32_t word = 0;

	switch (BPF_MODE(code->code)) {
	case BPF_ABS:
		if (code->k <= sizeof(*machine->data) - sizeof(word))
			memcpy(&word, (const char *)machine->data + code->k, sizeof(word));
		return word;
	case BPF_LEN:
		return sizeof(*machine->data);
	case BPF_MEM:
		return machine->memory[code->k % BPF_MEMWORDS];
	default:
		return code->k; /* BPF_IMM */
	}
}

/* The kernel has verified the program: jumps go forward and stay inside. */
static uint32_t answer(const struct sock_fprog *program, const struct seccomp_data *data)
{
	struct machine machine = {.data = data};

	for (unsigned at = 0; at < program->len; at++) {
		const struct sock_filter *code = &program->filter[at];
		uint32_t operand = BPF_SRC(code->code) == BPF_X ? machine.x : code->k;

		switch (BPF_CLASS(code->code)) {
		case BPF_LD:
			machine.a = loaded(&machine, code);
			break;
		case BPF_LDX:
			machine.x = loaded(&machine, code);
			break;
		case BPF_ST:
			machine.memory[code->k % BPF_MEMWORDS] = machine.a;
			break;
		case BPF_STX:
			machine.memory[code->k % BPF_MEMWORDS] = machine.x;
			break;
		case BPF_ALU:
			machine.a = compute(machine.a, BPF_OP(code->code), operand);
			break;
		case BPF_JMP:
			if (BPF_OP(code->code) == BPF_JA)
				at += code->k;
			else
				at += jumps(machine.a, BPF_OP(code->code), operand) ? code->jt
										    : code->jf;
			break;
		case BPF_RET:
			return BPF_RVAL(code->code) == BPF_A ? machine.a : code->k;
		default: /* BPF_MISC */
			if (BPF_MISCOP(code->code) == BPF_TAX)
				machine.x = machine.a;
			else
				machine.a = machine.x;
		}
	}
	return SECCOMP_RET_KILL_PROCESS;
}

/* Returns true if every system call of the slow paths is allowed or refused with an error. */
static bool is_harmless(const struct sock_fprog *program)
{
	for (unsigned i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		struct seccomp_data data = calls[i];
		uint32_t action;

		data.arch = AUDIT_ARCH_X86_64;
		data.instruction_pointer = (uintptr_t)is_harmless;
		action = answer(program, &data) & SECCOMP_RET_ACTION_FULL;
		if (action != SECCOMP_RET_ALLOW && action != SECCOMP_RET_LOG &&
		    action != SECCOMP_RET_ERRNO)
			return false;
	}
	return true;
}

bool gm_seal_has_filter(void)
{
	return __atomic_load_n(&has_filter, __ATOMIC_RELAXED);
}

bool gm_seal_filter(const struct sock_fprog *program, bool of_all)
{
	__atomic_store_n(&has_filter, true, __ATOMIC_RELAXED);
	if (is_harmless(program))
		return false;
	gm_sealed = true;
	__atomic_store_n(&seals, of_all ? SEALS_ALL : SEALS_NEWBORN, __ATOMIC_RELAXED);
	return true;
}
