/* SPDX-License-Identifier: MIT */
/*
 * Lets programs built with gcc's AddressSanitizer run with the preloaded libraries. The sanitizer's
 * runtime is a shared library that aborts the program if another one is loaded before it, since it
 * must interpose libc first; our libraries leave it that position (libsync-trace/libc/real.c).
 * Before the check it calls __asan_default_options(), and the definition here turns the check off.
 *
 * Not part of the archive, where it could collide with the program's own definition.
 */
#include <dlfcn.h>

#include "runtime/sys/sys.h"

#define SETTING	      "verify_asan_link_order=0"
#define OPTIONS_BYTES 4096

__attribute__((visibility("default"))) const char *__asan_default_options(void);

/* Appends our setting to those of the next definition of this function, if any. */
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
