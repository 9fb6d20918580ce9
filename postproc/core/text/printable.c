/* SPDX-License-Identifier: MIT */
/* Replaces control characters, invalid UTF-8 and bidirectional controls in place. */
#include "core/text/printable.h"

#include <stdbool.h>
#include <string.h>

#include <glib.h>

/* True for control characters, line separators and bidirectional controls. */
static bool is_active(gunichar c)
{
	return g_unichar_iscntrl(c) || c == 0x200e || c == 0x200f || (c >= 0x2028 && c <= 0x202e) ||
	       (c >= 0x2066 && c <= 0x2069);
}

char *pp_printable(char *text)
{
	char *to = text;

	for (const char *from = text; *from;) {
		/* Most characters are printable ASCII. */
		if (*from >= ' ' && *from <= '~') {
			*to++ = *from++;
			continue;
		}
		gunichar c = g_utf8_get_char_validated(from, -1);
		/* (gunichar)-1 and -2: an invalid or incomplete character. */
		bool is_valid = c <= 0x10ffff;
		size_t len = is_valid ? (size_t)(g_utf8_next_char(from) - from) : 1;

		if (!is_valid || is_active(c)) {
			*to++ = '?';
		} else {
			memmove(to, from, len);
			to += len;
		}
		from += len;
	}
	*to = '\0';
	return text;
}
