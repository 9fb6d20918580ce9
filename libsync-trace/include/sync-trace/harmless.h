/* SPDX-License-Identifier: MIT */
/* Which calls a wrapper may make beside its only one: for the library, and for readers of DWARF. */
#ifndef ST_HARMLESS_H
#define ST_HARMLESS_H

#include <stdbool.h>
#include <string.h>

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
		if (strcmp(name, names[i]) == 0)
			return true;
	for (unsigned i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
		if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	return false;
}

#endif
