/* SPDX-License-Identifier: MIT */
/*
 * A program built with gcc's AddressSanitizer has that in a shared library, which ends the program
 * if another comes before it, as preloaded ones do: it fears for its place before libc, which we
 * leave it (libsync-trace/real.c).  It asks for its default settings before it looks, so we answer.
 *
 * Not in the archive: there it would stand in the program, against one of the program's own.
 */
#include <dlfcn.h>

#include "runtime/sys.h"

#define SETTING	      "verify_asan_link_order=0"
#define OPTIONS_BYTES 4096

__attribute__((visibility("default"))) const char *__asan_default_options(void);

/* What we stand before, another library's settings or none, with ours behind. */
const char *__asan_default_options(void)
{
	static GM_LARGE char options[OPTIONS_BYTES];
	const char *(*next)(void) = (const char *(*)(void))dlsym(RTLD_NEXT, __func__);
	const char *others = next != NULL ? next() : NULL;
	struct gm_text text = GM_TEXT(options);

	if (others != NULL && others[0] != '\0') {
		gm_text_add(&text, others);
		gm_text_add(&text, ":");
	}
	gm_text_add(&text, SETTING);
	return text.length < text.size_bytes ? options : others;
}
