/* SPDX-License-Identifier: MIT */
/* Which calls a wrapper may make beside its only one: for the library, and for readers of DWARF. */
#ifndef ST_HARMLESS_H
#define ST_HARMLESS_H

#include <stdbool.h>

/* Without libc, whose functions the profiled program may replace. */
static inline bool st_begins_with(const char *name, const char *prefix)
{
	while (*prefix != '\0')
		if (*name++ != *prefix++)
			return false;
	return true;
}

static inline bool st_is_same_name(const char *a, const char *b)
{
	while (*a != '\0' && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

/* Functions beside which one call remains the only purpose of a wrapper. */
static inline bool st_is_harmless(const char *name)
{
	static const char *const names[] = {
	    "abort",  "exit",	"_exit",  "perror",  "puts",	 "putchar",  "printf", "fputs",
	    "fputc",  "fwrite", "fflush", "fprintf", "vfprintf", "strerror", "mcount", "_mcount",
	    "malloc", "calloc", "free",	  "_Znwm",   "_ZdlPv",	 "_ZdlPvm",
	};
	static const char *const prefixes[] = {
	    "__assert",
	    "__stack_chk",
	    "__errno",
	    "__fentry",
	    "__cyg_",
	    "__fprintf_chk",
	    "__printf_chk",
	    "__cxa_",
	    "__ubsan",
	    "_Unwind_",
	    "__tsan_", /* accesses and atomic operations, which are no calls in other code */
	    "_ZSt9terminate",
	    "_ZSt20__throw_",
	    "_ZSt16__throw_",
	    "_ZSt17__throw_",
	    "_ZNSt12system_e",
	    "_ZSt15generic_category",
	    "_ZSt15system_category",
	    "pthread_mutexattr_",
	    "pthread_condattr_",
	    "pthread_rwlockattr_",
	};

	for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (st_is_same_name(name, names[i]))
			return true;
	for (unsigned i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
		if (st_begins_with(name, prefixes[i]))
			return true;
	return false;
}

#endif
