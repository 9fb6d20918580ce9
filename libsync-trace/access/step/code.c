/* SPDX-License-Identifier: MIT */
/* Addresses of our libraries' code and of its entries, and system calls that can be stepped. */
#include <dlfcn.h>
#include <link.h>
#include <sys/auxv.h>
#include <sys/syscall.h>

#include "access/step/step.h"

#define RANGES_MAX  16u
#define ENTRIES_MAX 128u
#define PAGE_BYTES  4096u
/* Around the vdso's image: the kernel's data before it, and its own pages. */
#define VVAR_BYTES (16u * PAGE_BYTES)
#define VDSO_BYTES (4u * PAGE_BYTES)

static struct {
	uintptr_t start, end;
} ranges[RANGES_MAX];
static unsigned n_ranges;

/* Sorted by their addresses. */
static struct entry {
	uintptr_t address, real; /* real: as in step_is_entry() */
} entries[ENTRIES_MAX];
static unsigned n_entries;
static uintptr_t vdso;

/* Functions of libsync_trace that write an event each time, if all operations are recorded. */
static const char *const names[] = {
    "pthread_mutex_lock",
    "pthread_mutex_unlock",
    "pthread_mutex_trylock",
    "pthread_mutex_timedlock",
    "pthread_mutex_clocklock",
    "__pthread_mutex_lock",
    "__pthread_mutex_unlock",
    "__pthread_mutex_trylock",
    "pthread_rwlock_rdlock",
    "pthread_rwlock_wrlock",
    "pthread_rwlock_tryrdlock",
    "pthread_rwlock_trywrlock",
    "pthread_rwlock_timedrdlock",
    "pthread_rwlock_timedwrlock",
    "pthread_rwlock_unlock",
    "__pthread_rwlock_rdlock",
    "__pthread_rwlock_wrlock",
    "__pthread_rwlock_unlock",
    "pthread_spin_lock",
    "pthread_spin_trylock",
    "pthread_spin_unlock",
    "pthread_cond_wait",
    "pthread_cond_timedwait",
    "pthread_cond_clockwait",
    "pthread_cond_signal",
    "pthread_cond_broadcast",
    "pthread_cond_init",
    "pthread_cond_destroy",
    "pthread_barrier_wait",
    "sem_post",
    "sem_wait",
    "sem_trywait",
    "sem_timedwait",
    "pthread_create",
    "pthread_join",
};

/*
 * Calls that block for other reasons. Their time is not that of the program here, so libc's
 * functions are executed at once.
 */
static const char *const calls[] = {
    "read",   "write",	    "pread",	 "pread64",   "pwrite",		 "pwrite64",
    "readv",  "writev",	    "open",	 "open64",    "openat",		 "openat64",
    "close",  "fsync",	    "fdatasync", "poll",      "ppoll",		 "select",
    "recv",   "send",	    "recvfrom",	 "sendto",    "recvmsg",	 "sendmsg",
    "accept", "accept4",    "connect",	 "nanosleep", "clock_nanosleep", "usleep",
    "sleep",  "epoll_wait", "flock",	 "fcntl",
};

static bool has_prefix(const char *text, const char *prefix)
{
	while (*prefix != '\0')
		if (*text++ != *prefix++)
			return false;
	return true;
}

static const char *name_of(const char *path)
{
	const char *name = path;

	for (; *path != '\0'; path++)
		if (*path == '/')
			name = path + 1;
	return name;
}

static int note_library(struct dl_phdr_info *info, size_t n_bytes, void *unused)
{
	const char *name = name_of(info->dlpi_name);

	(void)n_bytes;
	(void)unused;
	if (!has_prefix(name, "libsync_trace") && !has_prefix(name, "libgmon_mt") &&
	    !has_prefix(name, "libaccess_step"))
		return 0;
	for (unsigned i = 0; i < info->dlpi_phnum && n_ranges < RANGES_MAX; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];

		if (part->p_type == PT_LOAD && (part->p_flags & PF_X) != 0) {
			ranges[n_ranges].start = info->dlpi_addr + part->p_vaddr;
			ranges[n_ranges].end = ranges[n_ranges].start + part->p_memsz;
			n_ranges++;
		}
	}
	return 0;
}

static uintptr_t find(void *where, const char *name)
{
	void *function = dlsym(where, name);

	if (function == NULL)
		dlerror(); /* clears an error that the program would otherwise see */
	return (uintptr_t)function;
}

static void add_entry(const char *name, bool is_call)
{
	uintptr_t address = find(RTLD_DEFAULT, name);
	uintptr_t real = is_call ? find(RTLD_NEXT, name) : 0;
	unsigned at = n_entries;

	if (!step_is_own(address) || n_entries == ENTRIES_MAX || (is_call && real == 0))
		return;
	for (; at > 0 && entries[at - 1].address > address; at--)
		entries[at] = entries[at - 1];
	entries[at] = (struct entry){address, real};
	n_entries++;
}

void step_code_prepare(void)
{
	dl_iterate_phdr(note_library, NULL);
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		add_entry(names[i], false);
	for (unsigned i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		add_entry(calls[i], true);
	vdso = getauxval(AT_SYSINFO_EHDR);
}

bool step_is_own(uintptr_t address)
{
	for (unsigned i = 0; i < n_ranges; i++)
		if (address - ranges[i].start < ranges[i].end - ranges[i].start)
			return true;
	return false;
}

bool step_is_entry(uintptr_t address, uintptr_t *ret_real)
{
	unsigned low = 0, high = n_entries;

	while (low < high) {
		unsigned middle = (low + high) / 2;

		if (entries[middle].address == address) {
			*ret_real = entries[middle].real;
			return true;
		}
		if (entries[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return false;
}

bool step_is_kernels(uintptr_t address)
{
	return vdso != 0 && address - (vdso - VVAR_BYTES) < VVAR_BYTES + VDSO_BYTES;
}

/*
 * Those that change neither signals nor threads nor what the code is. Whatever is not listed is
 * executed without the flag.
 */
static const uint16_t safe_calls[] = {
    SYS_read,
    SYS_write,
    SYS_open,
    SYS_close,
    SYS_stat,
    SYS_fstat,
    SYS_lstat,
    SYS_poll,
    SYS_lseek,
    SYS_mmap,
    SYS_mprotect,
    SYS_munmap,
    SYS_brk,
    SYS_ioctl,
    SYS_pread64,
    SYS_pwrite64,
    SYS_readv,
    SYS_writev,
    SYS_access,
    SYS_pipe,
    SYS_select,
    SYS_sched_yield,
    SYS_mremap,
    SYS_msync,
    SYS_mincore,
    SYS_madvise,
    SYS_dup,
    SYS_dup2,
    SYS_nanosleep,
    SYS_getpid,
    SYS_sendfile,
    SYS_socket,
    SYS_connect,
    SYS_accept,
    SYS_sendto,
    SYS_recvfrom,
    SYS_sendmsg,
    SYS_recvmsg,
    SYS_shutdown,
    SYS_bind,
    SYS_listen,
    SYS_getsockname,
    SYS_getpeername,
    SYS_socketpair,
    SYS_setsockopt,
    SYS_getsockopt,
    SYS_uname,
    SYS_fcntl,
    SYS_flock,
    SYS_fsync,
    SYS_fdatasync,
    SYS_truncate,
    SYS_ftruncate,
    SYS_getcwd,
    SYS_rename,
    SYS_mkdir,
    SYS_rmdir,
    SYS_unlink,
    SYS_readlink,
    SYS_gettimeofday,
    SYS_getrusage,
    SYS_sysinfo,
    SYS_times,
    SYS_getuid,
    SYS_getgid,
    SYS_geteuid,
    SYS_getegid,
    SYS_getppid,
    SYS_statfs,
    SYS_fstatfs,
    SYS_gettid,
    SYS_time,
    SYS_futex,
    SYS_sched_getaffinity,
    SYS_getdents64,
    SYS_fadvise64,
    SYS_clock_gettime,
    SYS_clock_getres,
    SYS_clock_nanosleep,
    SYS_epoll_wait,
    SYS_epoll_ctl,
    SYS_openat,
    SYS_mkdirat,
    SYS_newfstatat,
    SYS_unlinkat,
    SYS_renameat,
    SYS_readlinkat,
    SYS_faccessat,
    SYS_fallocate,
    SYS_accept4,
    SYS_eventfd2,
    SYS_epoll_create1,
    SYS_dup3,
    SYS_pipe2,
    SYS_preadv,
    SYS_pwritev,
    SYS_prlimit64,
    SYS_sendmmsg,
    SYS_getcpu,
    SYS_getrandom,
    SYS_memfd_create,
    SYS_membarrier,
    SYS_copy_file_range,
    SYS_statx,
};

bool step_call_is_safe(long number)
{
	for (unsigned i = 0; i < sizeof(safe_calls) / sizeof(safe_calls[0]); i++)
		if (safe_calls[i] == number)
			return true;
	return false;
}
