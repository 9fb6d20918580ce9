/* SPDX-License-Identifier: MIT */
/*
 * Functions of libc that access memory for their caller, which calls them by name. libc has no
 * hooks, so these wrappers add the ranges. The accesses are those that the result depends on:
 * libc may read more, in whole words, up to the end of a line.
 *
 * They may be called before access_libc_resolve(), by the loader's resolvers and by allocators, and
 * then do the work themselves, byte by byte.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "access/access.h"

/* Name, result, parameters. */
#define FUNCTIONS(X)                                                                               \
	X(memcpy, void *, (void *, const void *, size_t))                                          \
	X(memmove, void *, (void *, const void *, size_t))                                         \
	X(mempcpy, void *, (void *, const void *, size_t))                                         \
	X(memset, void *, (void *, int, size_t))                                                   \
	X(memcmp, int, (const void *, const void *, size_t))                                       \
	X(bcmp, int, (const void *, const void *, size_t))                                         \
	X(memchr, void *, (const void *, int, size_t))                                             \
	X(strlen, size_t, (const char *))                                                          \
	X(strcpy, char *, (char *, const char *))                                                  \
	X(stpcpy, char *, (char *, const char *))                                                  \
	X(strncpy, char *, (char *, const char *, size_t))                                         \
	X(strcat, char *, (char *, const char *))                                                  \
	X(strcmp, int, (const char *, const char *))                                               \
	X(strncmp, int, (const char *, const char *, size_t))                                      \
	X(strchr, char *, (const char *, int))                                                     \
	X(strrchr, char *, (const char *, int))                                                    \
	X(strstr, char *, (const char *, const char *))                                            \
	X(strdup, char *, (const char *))                                                          \
	X(__memcpy_chk, void *, (void *, const void *, size_t, size_t))                            \
	X(__memmove_chk, void *, (void *, const void *, size_t, size_t))                           \
	X(__mempcpy_chk, void *, (void *, const void *, size_t, size_t))                           \
	X(__memset_chk, void *, (void *, int, size_t, size_t))                                     \
	X(__strcpy_chk, char *, (char *, const char *, size_t))                                    \
	X(__stpcpy_chk, char *, (char *, const char *, size_t))                                    \
	X(__strncpy_chk, char *, (char *, const char *, size_t, size_t))                           \
	X(__strcat_chk, char *, (char *, const char *, size_t))

static struct {
#define MEMBER(name, result, parameters) result(*name) parameters;
	FUNCTIONS(MEMBER)
#undef MEMBER
} real;

#define DECLARE(name, result, parameters) EXPORT result name parameters;
FUNCTIONS(DECLARE)
#undef DECLARE

bool access_libc_resolve(void)
{
	bool has_failed = false;

#define FIND(name, result, parameters)                                                             \
	{                                                                                          \
		void *found = dlsym(RTLD_NEXT, #name);                                             \
                                                                                                   \
		has_failed |= found == NULL;                                                       \
		__atomic_store_n((void **)&real.name, found, __ATOMIC_RELAXED);                    \
	}
	FUNCTIONS(FIND)
#undef FIND
	if (has_failed)
		dlerror(); /* clears an error that the program would otherwise see */
	return real.memcpy != NULL;
}

/* --- loops of our own --------------------------------------------------------------------------
 */

static void *copy_up(void *to, const void *from, size_t n)
{
	for (size_t i = 0; i < n; i++)
		((char *)to)[i] = ((const char *)from)[i];
	return to;
}

static void *copy(void *to, const void *from, size_t n)
{
	if ((uintptr_t)to - (uintptr_t)from >= n)
		return copy_up(to, from, n);
	while (n-- > 0)
		((char *)to)[n] = ((const char *)from)[n];
	return to;
}

static void *fill(void *at, int byte, size_t n)
{
	for (size_t i = 0; i < n; i++)
		((char *)at)[i] = (char)byte;
	return at;
}

/* Returns the number of bytes that a comparison of up to n looks at. */
static size_t compared_bytes(const char *a, const char *b, size_t n, bool is_text)
{
	size_t i = 0;

	while (i < n && a[i] == b[i] && !(is_text && a[i] == '\0'))
		i++;
	return i < n ? i + 1 : n;
}

static int compare(const char *a, const char *b, size_t n, bool is_text)
{
	size_t n_bytes = compared_bytes(a, b, n, is_text);

	return n_bytes == 0 ? 0 : (unsigned char)a[n_bytes - 1] - (unsigned char)b[n_bytes - 1];
}

static size_t length(const char *text)
{
	size_t n = 0;

	while (text[n] != '\0')
		n++;
	return n;
}

static size_t length_within(const char *text, size_t n_max)
{
	size_t n = 0;

	while (n < n_max && text[n] != '\0')
		n++;
	return n;
}

/* --- mem* --------------------------------------------------------------------------------------
 */

static inline __attribute__((always_inline)) void touch_copy(const void *to, const void *from,
							     size_t n, uintptr_t site)
{
	if (!access_is_on())
		return;
	access_note((uintptr_t)from, n, ACCESS_READ, site);
	access_note((uintptr_t)to, n, ACCESS_WRITE, site);
}

void *memcpy(void *to, const void *from, size_t n)
{
	touch_copy(to, from, n, ACCESS_SITE());
	return real.memcpy != NULL ? real.memcpy(to, from, n) : copy(to, from, n);
}

void *memmove(void *to, const void *from, size_t n)
{
	touch_copy(to, from, n, ACCESS_SITE());
	return real.memmove != NULL ? real.memmove(to, from, n) : copy(to, from, n);
}

void *mempcpy(void *to, const void *from, size_t n)
{
	touch_copy(to, from, n, ACCESS_SITE());
	return real.mempcpy != NULL ? real.mempcpy(to, from, n) : (char *)copy(to, from, n) + n;
}

void *memset(void *at, int byte, size_t n)
{
	access_touch(at, n, ACCESS_WRITE, ACCESS_SITE());
	return real.memset != NULL ? real.memset(at, byte, n) : fill(at, byte, n);
}

static void touch_comparison(const void *a, const void *b, size_t n, bool is_text, uintptr_t site)
{
	size_t n_bytes = compared_bytes(a, b, n, is_text);

	access_note((uintptr_t)a, n_bytes, ACCESS_READ, site);
	access_note((uintptr_t)b, n_bytes, ACCESS_READ, site);
}

int memcmp(const void *a, const void *b, size_t n)
{
	if (access_is_on())
		touch_comparison(a, b, n, false, ACCESS_SITE());
	return real.memcmp != NULL ? real.memcmp(a, b, n) : compare(a, b, n, false);
}

int bcmp(const void *a, const void *b, size_t n)
{
	if (access_is_on())
		touch_comparison(a, b, n, false, ACCESS_SITE());
	return real.bcmp != NULL ? real.bcmp(a, b, n) : compare(a, b, n, false);
}

void *memchr(const void *at, int byte, size_t n)
{
	const char *bytes = at, *found = NULL;

	if (real.memchr != NULL)
		found = real.memchr(at, byte, n);
	else
		for (size_t i = 0; i < n && found == NULL; i++)
			found = bytes[i] == (char)byte ? bytes + i : NULL;
	access_touch(at, found != NULL ? (size_t)(found - bytes) + 1 : n, ACCESS_READ,
		     ACCESS_SITE());
	return (void *)found;
}

/* --- str* --------------------------------------------------------------------------------------
 */

static size_t real_length(const char *text)
{
	return real.strlen != NULL ? real.strlen(text) : length(text);
}

size_t strlen(const char *text)
{
	size_t n = real_length(text);

	access_touch(text, n + 1, ACCESS_READ, ACCESS_SITE());
	return n;
}

static inline __attribute__((always_inline)) void touch_text(const char *to, const char *from,
							     uintptr_t site)
{
	if (access_is_on())
		touch_copy(to, from, real_length(from) + 1, site);
}

char *strcpy(char *to, const char *from)
{
	touch_text(to, from, ACCESS_SITE());
	return real.strcpy != NULL ? real.strcpy(to, from) : copy_up(to, from, length(from) + 1);
}

char *stpcpy(char *to, const char *from)
{
	touch_text(to, from, ACCESS_SITE());
	if (real.stpcpy != NULL)
		return real.stpcpy(to, from);
	copy_up(to, from, length(from) + 1);
	return to + length(from);
}

/* The rest of the n bytes is filled with zeros. */
static void touch_bounded(const char *to, const char *from, size_t n, uintptr_t site)
{
	size_t n_text = length_within(from, n);

	access_note((uintptr_t)from, n_text < n ? n_text + 1 : n, ACCESS_READ, site);
	access_note((uintptr_t)to, n, ACCESS_WRITE, site);
}

char *strncpy(char *to, const char *from, size_t n)
{
	size_t n_text;

	if (access_is_on())
		touch_bounded(to, from, n, ACCESS_SITE());
	if (real.strncpy != NULL)
		return real.strncpy(to, from, n);
	n_text = length_within(from, n);
	copy_up(to, from, n_text);
	fill(to + n_text, 0, n - n_text);
	return to;
}

static void touch_append(const char *to, const char *from, uintptr_t site)
{
	size_t n = real_length(to);

	access_note((uintptr_t)to, n + 1, ACCESS_READ, site);
	touch_text(to + n, from, site);
}

char *strcat(char *to, const char *from)
{
	if (access_is_on())
		touch_append(to, from, ACCESS_SITE());
	if (real.strcat != NULL)
		return real.strcat(to, from);
	copy_up(to + length(to), from, length(from) + 1);
	return to;
}

int strcmp(const char *a, const char *b)
{
	if (access_is_on())
		touch_comparison(a, b, SIZE_MAX, true, ACCESS_SITE());
	return real.strcmp != NULL ? real.strcmp(a, b) : compare(a, b, SIZE_MAX, true);
}

int strncmp(const char *a, const char *b, size_t n)
{
	if (access_is_on())
		touch_comparison(a, b, n, true, ACCESS_SITE());
	return real.strncmp != NULL ? real.strncmp(a, b, n) : compare(a, b, n, true);
}

char *strchr(const char *text, int byte)
{
	const char *found;

	if (real.strchr != NULL)
		found = real.strchr(text, byte);
	else
		for (found = text; *found != (char)byte; found++)
			if (*found == '\0') {
				found = NULL;
				break;
			}
	if (access_is_on())
		access_note((uintptr_t)text,
			    found != NULL ? (size_t)(found - text) + 1 : real_length(text) + 1,
			    ACCESS_READ, ACCESS_SITE());
	return (char *)found;
}

char *strrchr(const char *text, int byte)
{
	size_t n;

	if (access_is_on())
		access_note((uintptr_t)text, real_length(text) + 1, ACCESS_READ, ACCESS_SITE());
	if (real.strrchr != NULL)
		return real.strrchr(text, byte);
	n = length(text) + 1;
	while (n-- > 0)
		if (text[n] == (char)byte)
			return (char *)text + n;
	return NULL;
}

static const char *find(const char *text, const char *part)
{
	size_t n = length(part);

	for (;; text++) {
		if (compare(text, part, n, true) == 0)
			return text;
		if (*text == '\0')
			return NULL;
	}
}

char *strstr(const char *text, const char *part)
{
	const char *found = real.strstr != NULL ? real.strstr(text, part) : find(text, part);
	size_t n_part;

	if (access_is_on()) {
		n_part = real_length(part);
		access_note((uintptr_t)part, n_part + 1, ACCESS_READ, ACCESS_SITE());
		access_note((uintptr_t)text,
			    found != NULL ? (size_t)(found - text) + n_part : real_length(text) + 1,
			    ACCESS_READ, ACCESS_SITE());
	}
	return (char *)found;
}

/* The copy is written here where that is recorded: the lines are added before. */
char *strdup(const char *text)
{
	struct st_block block;
	size_t n;
	char *made;

	if (real.strdup != NULL && !access_is_on())
		return real.strdup(text);
	n = real_length(text) + 1;
	made = malloc(n);
	if (made == NULL)
		return NULL;
	if (access_block_at((uintptr_t)made, &block)) /* not of an allocator before ours */
		access_block_begin((uintptr_t)made, n, ACCESS_SITE());
	touch_copy(made, text, n, ACCESS_SITE());
	return copy_up(made, text, n);
}

/* --- with _FORTIFY_SOURCE ----------------------------------------------------------------------
 */

/* Without the real function: the bound was not exceeded, or the program has to end. */
static void check(size_t n, size_t n_max)
{
	if (n > n_max)
		__builtin_trap();
}

void *__memcpy_chk(void *to, const void *from, size_t n, size_t n_max)
{
	touch_copy(to, from, n <= n_max ? n : 0, ACCESS_SITE());
	if (real.__memcpy_chk != NULL)
		return real.__memcpy_chk(to, from, n, n_max);
	check(n, n_max);
	return copy(to, from, n);
}

void *__memmove_chk(void *to, const void *from, size_t n, size_t n_max)
{
	touch_copy(to, from, n <= n_max ? n : 0, ACCESS_SITE());
	if (real.__memmove_chk != NULL)
		return real.__memmove_chk(to, from, n, n_max);
	check(n, n_max);
	return copy(to, from, n);
}

void *__mempcpy_chk(void *to, const void *from, size_t n, size_t n_max)
{
	touch_copy(to, from, n <= n_max ? n : 0, ACCESS_SITE());
	if (real.__mempcpy_chk != NULL)
		return real.__mempcpy_chk(to, from, n, n_max);
	check(n, n_max);
	return (char *)copy(to, from, n) + n;
}

void *__memset_chk(void *at, int byte, size_t n, size_t n_max)
{
	access_touch(at, n <= n_max ? n : 0, ACCESS_WRITE, ACCESS_SITE());
	if (real.__memset_chk != NULL)
		return real.__memset_chk(at, byte, n, n_max);
	check(n, n_max);
	return fill(at, byte, n);
}

char *__strcpy_chk(char *to, const char *from, size_t n_max)
{
	if (access_is_on() && real_length(from) < n_max)
		touch_text(to, from, ACCESS_SITE());
	if (real.__strcpy_chk != NULL)
		return real.__strcpy_chk(to, from, n_max);
	check(length(from) + 1, n_max);
	return copy_up(to, from, length(from) + 1);
}

char *__stpcpy_chk(char *to, const char *from, size_t n_max)
{
	if (access_is_on() && real_length(from) < n_max)
		touch_text(to, from, ACCESS_SITE());
	if (real.__stpcpy_chk != NULL)
		return real.__stpcpy_chk(to, from, n_max);
	check(length(from) + 1, n_max);
	copy_up(to, from, length(from) + 1);
	return to + length(from);
}

char *__strncpy_chk(char *to, const char *from, size_t n, size_t n_max)
{
	if (access_is_on() && n <= n_max)
		touch_bounded(to, from, n, ACCESS_SITE());
	if (real.__strncpy_chk != NULL)
		return real.__strncpy_chk(to, from, n, n_max);
	check(n, n_max);
	return strncpy(to, from, n);
}

char *__strcat_chk(char *to, const char *from, size_t n_max)
{
	if (access_is_on() && real_length(to) + real_length(from) < n_max)
		touch_append(to, from, ACCESS_SITE());
	if (real.__strcat_chk != NULL)
		return real.__strcat_chk(to, from, n_max);
	check(length(to) + length(from) + 1, n_max);
	copy_up(to + length(to), from, length(from) + 1);
	return to;
}

/* --- names of newer compilers ------------------------------------------------------------------
 */

#define NEWER(name, ...)                                                                           \
	EXPORT void *__tsan_##name(__VA_ARGS__)                                                    \
	    __attribute__((nothrow, leaf, nonnull, alias(#name)));

NEWER(memcpy, void *to, const void *from, size_t n)
NEWER(memmove, void *to, const void *from, size_t n)
NEWER(memset, void *at, int byte, size_t n)
