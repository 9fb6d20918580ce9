/* SPDX-License-Identifier: MIT */
/* The string functions of sys.h, in general registers only. */
#include <errno.h>

#include "runtime/sys/sys.h"

void *memcpy(void *to, const void *from, size_t n)
{
	void *result = to;

	__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
	return result;
}

void *memset(void *to, int byte, size_t n)
{
	void *result = to;

	__asm__ volatile("rep stosb" : "+D"(to), "+c"(n) : "a"(byte) : "memory");
	return result;
}

void *memmove(void *to, const void *from, size_t n)
{
	char *d = to;
	const char *s = from;

	if (d <= s || d >= s + n)
		return memcpy(to, from, n);
	while (n-- > 0)
		d[n] = s[n];
	return to;
}

int memcmp(const void *a, const void *b, size_t n)
{
	const unsigned char *x = a, *y = b;

	for (; n > 0; n--, x++, y++)
		if (*x != *y)
			return *x - *y;
	return 0;
}

size_t gm_strlen(const char *text)
{
	size_t n = 0;

	while (text[n] != '\0')
		n++;
	return n;
}

int gm_strcmp(const char *a, const char *b)
{
	while (*a != '\0' && *a == *b) {
		a++;
		b++;
	}
	return (unsigned char)*a - (unsigned char)*b;
}

void gm_text_add_bytes(struct gm_text *text, const char *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++, text->length++)
		if (text->length + 1 < text->size_bytes)
			text->buffer[text->length] = bytes[i];
	if (text->size_bytes > 0)
		text->buffer[text->length < text->size_bytes ? text->length
							     : text->size_bytes - 1] = '\0';
}

const char *gm_base_name(const char *path)
{
	const char *base = path;

	for (; *path != '\0'; path++)
		if (*path == '/')
			base = path + 1;
	return base;
}

void gm_text_add(struct gm_text *text, const char *string)
{
	gm_text_add_bytes(text, string, gm_strlen(string));
}

static void text_add_number(struct gm_text *text, uint64_t value, unsigned base)
{
	char digits[20];
	unsigned i = sizeof(digits);

	do {
		digits[--i] = "0123456789abcdef"[value % base];
		value /= base;
	} while (value != 0);
	gm_text_add_bytes(text, digits + i, sizeof(digits) - i);
}

void gm_text_add_u64(struct gm_text *text, uint64_t value)
{
	text_add_number(text, value, 10);
}

void gm_text_add_i64(struct gm_text *text, int64_t value)
{
	if (value < 0)
		gm_text_add(text, "-");
	text_add_number(text, value < 0 ? -(uint64_t)value : (uint64_t)value, 10);
}

void gm_text_add_hex(struct gm_text *text, uint64_t value)
{
	text_add_number(text, value, 16);
}

void gm_text_add_json(struct gm_text *text, const char *string)
{
	gm_text_add(text, "\"");
	for (; *string != '\0'; string++) {
		unsigned char c = (unsigned char)*string;

		if (c == '"' || c == '\\') {
			gm_text_add_bytes(text, (char[]){'\\', (char)c}, 2);
		} else if (c < 0x20) {
			gm_text_add(text, c < 0x10 ? "\\u000" : "\\u00");
			gm_text_add_hex(text, c);
		} else {
			gm_text_add_bytes(text, string, 1);
		}
	}
	gm_text_add(text, "\"");
}

void gm_text_add_errno(struct gm_text *text, long code)
{
	static const struct {
		int code;
		const char *words;
	} known[] = {
	    {ENOENT, "no such file or directory"},
	    {EACCES, "permission denied"},
	    {EPERM, "not permitted"},
	    {EEXIST, "exists already"},
	    {ENOTDIR, "not a directory"},
	    {EISDIR, "is a directory"},
	    {ENOSPC, "no space left on the device"},
	    {EDQUOT, "disk quota exceeded"},
	    {EROFS, "read-only file system"},
	    {ELOOP, "is a symlink"},
	    {ENAMETOOLONG, "name too long"},
	    {ENXIO, "is not a regular file"},
	    {ENOMEM, "out of memory"},
	    {EMFILE, "too many open files"},
	    {EFBIG, "the limit on the size of files is too low (ulimit -f)"},
	    {E2BIG, "too long"},
	    {ETIMEDOUT, "a thread was stopped for seconds in the middle of it"},
	};

	for (unsigned i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (known[i].code == -code) {
			gm_text_add(text, known[i].words);
			return;
		}
	gm_text_add(text, "errno ");
	gm_text_add_i64(text, -code);
}

uint64_t gm_parse_u64(const char *text, const char **end)
{
	uint64_t value = 0;

	for (; *text >= '0' && *text <= '9'; text++)
		value = value * 10 + (uint64_t)(*text - '0');
	if (end != NULL)
		*end = text;
	return value;
}
