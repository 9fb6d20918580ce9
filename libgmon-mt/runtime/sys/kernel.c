/* SPDX-License-Identifier: MIT */
/*
 * Small services of the kernel (kernel.h).  Memory that another thread may unmap at any time is
 * read and written by the kernel, which fails where none is mapped.
 */
#include <errno.h>
#include <signal.h>
#include <sys/uio.h>

#include "runtime/sys/kernel.h"
#include "runtime/sys/sys.h"

#define PAGE_BYTES 4096u

extern char **environ;
/* the loader's: argc, argv and environment as the kernel left them */
extern void *__libc_stack_end;

uint64_t gm_clock_ns(void)
{
	return gm_sys_clock_ns(CLOCK_MONOTONIC);
}

/*
 * Readers recognize the pair of gm_signals_block() and gm_signals_restore() by the address of the
 * set, which is in the library's memory (postproc/pass/timeline/own_calls.h).
 */
void gm_signals_block(uint64_t *ret_mask)
{
	static const uint64_t all = ~GM_SIGNALS_FORCED;

	gm_syscall6(SYS_rt_sigprocmask, 0 /* SIG_BLOCK */, (long)&all, (long)ret_mask, 8, 0, 0);
}

void gm_signals_unblock_left(uint64_t before)
{
	uint64_t now;

	gm_syscall6(SYS_rt_sigprocmask, SIG_BLOCK, 0, (long)&now, 8, 0, 0);
	if ((now | GM_SIGNALS_FORCED | GM_SIGNAL_BIT(SIGKILL) | GM_SIGNAL_BIT(SIGSTOP)) ==
	    ~(uint64_t)0)
		gm_signals_restore(before | (now & GM_SIGNALS_FORCED));
}

__attribute__((noinline)) void gm_stack_touch(size_t n_bytes)
{
	*(volatile char *)__builtin_alloca(n_bytes) = 0;
}

void gm_signals_restore(uint64_t mask)
{
	gm_syscall6(SYS_rt_sigprocmask, 2 /* SIG_SETMASK */, (long)&mask, 0, 8, 0, 0);
}

/*
 * A preloaded object linked with `-z initfirst` is initialized before libc. If the program has
 * gcrt1.o, the object's _init calls __monstartup(), and libc has no environment at that time.
 */
static char **environment(void)
{
	static bool is_there; /* later a NULL environ is the program's own doing */
	long *start = __libc_stack_end;

	is_there |= environ != NULL;
	return is_there || start == NULL ? environ : (char **)(start + 1 + *start + 1);
}

const char *gm_environment(const char *name)
{
	size_t n = gm_strlen(name);

	for (char **entry = environment(); entry != NULL && *entry != NULL; entry++)
		if (memcmp(*entry, name, n) == 0 && (*entry)[n] == '=')
			return *entry + n + 1;
	return NULL;
}

/* The kernel reads the set before it checks the operation. */
bool gm_memory_is_readable(uint64_t address)
{
	long no_order = -1;

	return gm_syscall6(SYS_rt_sigprocmask, no_order, (long)(address & -8ul), 0, 8, 0, 0) !=
	       -EFAULT;
}

/*
 * For a process that may not call process_vm_readv(). A page may still be unmapped between check
 * and copy.
 */
static bool read_at_once(void *into, uint64_t address, size_t n_bytes)
{
	for (uint64_t page = address & -(uint64_t)PAGE_BYTES; page < address + n_bytes;
	     page += PAGE_BYTES)
		if (!gm_memory_is_readable(page))
			return false;
	memcpy(into, (const void *)address, n_bytes);
	return true;
}

bool gm_memory_write(uint64_t address, const void *from, size_t n_bytes)
{
	struct iovec own = {(void *)from, n_bytes}, to = {(void *)address, n_bytes};
	long n;

	n = gm_syscall6(SYS_process_vm_writev, gm_sys_getpid(), (long)&own, 1, (long)&to, 1, 0);
	if (n < 0 && n != -EFAULT && gm_memory_is_readable(address)) {
		memcpy((void *)address, from, n_bytes);
		return true;
	}
	return n == (long)n_bytes;
}

bool gm_memory_read(void *into, uint64_t address, size_t n_bytes)
{
	struct iovec to = {into, n_bytes}, from = {(void *)address, n_bytes};
	long n;

	if (address + n_bytes < address)
		return false;
	n = gm_syscall6(SYS_process_vm_readv, gm_sys_getpid(), (long)&to, 1, (long)&from, 1, 0);
	if (n < 0 && n != -EFAULT)
		return read_at_once(into, address, n_bytes);
	return n == (long)n_bytes;
}
