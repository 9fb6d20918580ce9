/* SPDX-License-Identifier: MIT */
/*
 * Reading memory that another thread may unmap at any time: the kernel reads it, and refuses where
 * there is nothing.
 */
#include <errno.h>
#include <sys/uio.h>

#include "runtime/runtime.h"
#include "runtime/sys.h"

#define PAGE_BYTES 4096u

/* The kernel reads the set before it refuses the order. */
bool gm_memory_is_readable(uint64_t address)
{
	long no_order = -1;

	return gm_syscall6(SYS_rt_sigprocmask, no_order, (long)(address & -8ul), 0, 8, 0, 0) !=
	       -EFAULT;
}

/*
 * For a process that may not call process_vm_readv().  A page may still be unmapped between the
 * check and the copy.
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
