/* SPDX-License-Identifier: MIT */
/*
 * System calls made directly, and the few string functions the runtime needs.
 *
 * Code that mcount can reach must leave vector registers, errno and libc's locks alone, so it calls
 * nothing in libc.  gcc may still turn a struct copy into memcpy(): the declarations at the end
 * give those calls the names of our own, general-register-only copies (string.c).
 *
 * Every gm_sys_*() returns what the kernel returns: a value, or -errno.
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
 * By path (place.c).  What is below a capture in a directory where others may write is reached
 * through that very capture, whatever has its name by then: -ESTALE if it is gone.  What this
 * process cannot reach any more `record` opens, makes and renames for it, if it does (recorder.h).
 */
int gm_sys_open(const char *path, int flags, int mode);
int gm_sys_unlink(const char *path);
int gm_sys_rmdir(const char *path);
int gm_sys_mkdir(const char *path, int mode);
int gm_sys_rename(const char *from, const char *to);
int gm_sys_symlink(const char *target, const char *path);

/* Has `record` remove a directory that this process cannot open, with that failure (recorder.h). */
void gm_sys_remove_away(const char *path, int code);

/*
 * Marks a large zero-initialized array: the linker puts it in front of the small variables
 * (--sort-section=alignment).  A child of fork copies each page that it writes to, so small
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

/* NULL on failure. */
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
 * A bounded text under construction.  Appends are cut at the end of the buffer, never past it;
 * `length` is what all of it would have taken, so length >= size_bytes tells of a cut.
 */
struct gm_text {
	char *buffer;
	size_t size_bytes;
	size_t length;
};

#define GM_TEXT(array) ((struct gm_text){(array), sizeof(array), 0})

/* The part of the path behind the last slash. */
const char *gm_base_name(const char *path);

void gm_text_add(struct gm_text *text, const char *string);
void gm_text_add_bytes(struct gm_text *text, const char *bytes, size_t n);
void gm_text_add_u64(struct gm_text *text, uint64_t value);
void gm_text_add_i64(struct gm_text *text, int64_t value);
void gm_text_add_hex(struct gm_text *text, uint64_t value);

/* The copy with a JSON string's escapes, in quotes. */
void gm_text_add_json(struct gm_text *text, const char *string);

/* -errno in words for the usual ones, else "errno N". */
void gm_text_add_errno(struct gm_text *text, long code);

/* Digits up to the first other character; *end, if given, is set there. */
uint64_t gm_parse_u64(const char *text, const char **end);

void *memcpy(void *, const void *, size_t) __asm__("gm_memcpy");
void *memset(void *, int, size_t) __asm__("gm_memset");
void *memmove(void *, const void *, size_t) __asm__("gm_memmove");
int memcmp(const void *, const void *, size_t) __asm__("gm_memcmp");

#endif
