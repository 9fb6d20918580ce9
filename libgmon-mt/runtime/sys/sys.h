/* SPDX-License-Identifier: MIT */
/*
 * Direct system calls, and the few string functions that the runtime needs.
 *
 * Code that mcount can reach must not change vector registers, errno and libc's locks, so it calls
 * no function of libc. gcc may still turn a struct copy into memcpy(): the declarations at the end
 * redirect those calls to our own versions in general registers (string.c).
 *
 * Every gm_sys_*() returns the kernel's result: a value, or -errno.
 */
#ifndef GM_RUNTIME_SYS_H
#define GM_RUNTIME_SYS_H

#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>

static inline long gm_syscall6(long number, long a, long b, long c, long d, long e, long f)
{
	long result;
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}

static inline long gm_syscall3(long number, long a, long b, long c)
{
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c)
			 : "rcx", "r11", "memory");
	return result;
}

#define GM_IS_ERROR(result) ((unsigned long)(result) >= (unsigned long)-4095L)

/*
 * Access by path (capture_path.c). In a capture below a directory to which others may write, files
 * are reached through the original directory, whatever has its name now; -ESTALE if it no longer
 * exists. If this process can no longer reach the capture, `record` opens, makes and renames the
 * files for it (recorder.h).
 */
int gm_sys_open(const char *path, int flags, int mode);
int gm_sys_unlink(const char *path);
int gm_sys_rmdir(const char *path);
int gm_sys_mkdir(const char *path, int mode);
int gm_sys_rename(const char *from, const char *to);
int gm_sys_symlink(const char *target, const char *path);

/* Asks `record` to remove a directory that this process failed to open with `code` (recorder.h). */
void gm_sys_remove_away(const char *path, int code);

/*
 * Marks a large zero-initialized array: the linker puts it before the small variables
 * (--sort-section=alignment). A child of fork copies each page that it writes to, so small
 * variables should share few pages.
 */
#define GM_LARGE _Alignas(64)

static inline void gm_sys_close(int fd)
{
	gm_syscall3(SYS_close, fd, 0, 0);
}

static inline long gm_sys_read(int fd, void *buffer, size_t size_bytes)
{
	return gm_syscall3(SYS_read, fd, (long)buffer, (long)size_bytes);
}

static inline long gm_sys_write(int fd, const void *buffer, size_t size_bytes)
{
	return gm_syscall3(SYS_write, fd, (long)buffer, (long)size_bytes);
}

static inline int gm_sys_ftruncate(int fd, size_t size_bytes)
{
	return (int)gm_syscall3(SYS_ftruncate, fd, (long)size_bytes, 0);
}

static inline int gm_sys_gettid(void)
{
	return (int)gm_syscall3(SYS_gettid, 0, 0, 0);
}

static inline int gm_sys_getpid(void)
{
	return (int)gm_syscall3(SYS_getpid, 0, 0, 0);
}

static inline int gm_sys_getppid(void)
{
	return (int)gm_syscall3(SYS_getppid, 0, 0, 0);
}

/* Returns NULL on failure. */
static inline void *gm_sys_mmap(size_t size_bytes, int flags, int fd, uint64_t offset)
{
	long result = gm_syscall6(SYS_mmap, 0, (long)size_bytes, PROT_READ | PROT_WRITE, flags, fd,
				  (long)offset);

	return GM_IS_ERROR(result) ? NULL : (void *)result;
}

static inline void gm_sys_munmap(void *address, size_t size_bytes)
{
	gm_syscall3(SYS_munmap, (long)address, (long)size_bytes, 0);
}

/* CLOCK_*, in nanoseconds. */
static inline uint64_t gm_sys_clock_ns(int clock)
{
	struct timespec now = {0, 0};

	gm_syscall3(SYS_clock_gettime, clock, (long)&now, 0);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* --- strings (string.c) -------------------------------------------------------------------- */

size_t gm_strlen(const char *text);
int gm_strcmp(const char *a, const char *b);

/*
 * A bounded text under construction. Appended text is cut at the end of the buffer; `length` counts
 * all of it, so length >= size_bytes means that it was cut.
 */
struct gm_text {
	char *buffer;
	size_t size_bytes;
	size_t length;
};

#define GM_TEXT(array) ((struct gm_text){(array), sizeof(array), 0})

/* Returns the part of the path after the last slash. */
const char *gm_base_name(const char *path);

void gm_text_add(struct gm_text *text, const char *string);
void gm_text_add_bytes(struct gm_text *text, const char *bytes, size_t n);
void gm_text_add_u64(struct gm_text *text, uint64_t value);
void gm_text_add_i64(struct gm_text *text, int64_t value);
void gm_text_add_hex(struct gm_text *text, uint64_t value);

/* Appends the string in quotes, with the escapes of JSON. */
void gm_text_add_json(struct gm_text *text, const char *string);

/* Appends a description of -errno for the common codes, otherwise "errno N". */
void gm_text_add_errno(struct gm_text *text, long code);

/* Parses digits up to the first other character, and sets *end, if not NULL, to that. */
uint64_t gm_parse_u64(const char *text, const char **end);

void *memcpy(void *, const void *, size_t) __asm__("gm_memcpy");
void *memset(void *, int, size_t) __asm__("gm_memset");
void *memmove(void *, const void *, size_t) __asm__("gm_memmove");
int memcmp(const void *, const void *, size_t) __asm__("gm_memcmp");

#endif
