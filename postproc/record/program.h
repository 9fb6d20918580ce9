/* SPDX-License-Identifier: MIT */
/*
 * What a command is, before it runs: whether the runtime libraries will be loaded into it, and
 * whether it counts its calls.  Looked up only to tell the user; the program is started all the
 * same, by the rules of execvp().
 */
#ifndef PP_RECORD_PROGRAM_H
#define PP_RECORD_PROGRAM_H

#include <stdbool.h>

#include "core/error.h"

enum pp_program_kind {
	PP_PROGRAM_ELF,
	PP_PROGRAM_SCRIPT,  /* #!, or text that execvp() gives to /bin/sh */
	PP_PROGRAM_FOREIGN, /* an ELF file of another machine or word size */
};

struct pp_program {
	char *path; /* what execvp() will find */
	enum pp_program_kind kind;
	char *interpreter;	 /* SCRIPT: the program named after #!; NULL: /bin/sh */
	struct pp_program *runs; /* SCRIPT: what that is; NULL: not found */
	char *loader; /* a dynamic loader that is not glibc's: it cannot load our libraries */
	bool is_i386, is_x32;  /* FOREIGN: a program of 32 bits that this machine may run */
	bool is_static;	       /* no dynamic loader: nothing can be preloaded */
	bool is_privileged;    /* runs with other rights than the caller's: nothing is preloaded */
	bool has_capabilities; /* ... by file capabilities, not by set-uid or set-gid */
	bool counts_calls;     /* refers to mcount or one of its kin */
	bool has_runtime;      /* libgmon-mt is linked into it */
	bool has_symbols;      /* of its functions that it does not export */
	bool has_lines;	       /* debug information, in the file or installed beside */
	bool needs_asan;       /* AddressSanitizer, as a shared library */
	bool sets_asan;	       /* ... with settings of its own (__asan_default_options) */
};

/*
 * Finds `name` as execvp() would and reads what it is.  -ENOENT or -EACCES as execvp(), with the
 * line to print.
 */
int pp_program_read(const char *name, struct pp_program *program, struct pp_error *err);
void pp_program_done(struct pp_program *program);

/*
 * Why our libraries cannot be in what runs (for a script, its interpreter): "is linked statically",
 * to follow its name; NULL: they can.
 */
const char *pp_program_obstacle(const struct pp_program *program);

/* The file that is executed: the program itself, or a script's interpreter. */
const struct pp_program *pp_program_image(const struct pp_program *program);

/*
 * Whether LD_PRELOAD is to have `libraries`.  Not for programs whose loader would complain; nor
 * where AddressSanitizer would see them before itself and end the program:
 * libgmon-mt/runtime/sanitizer.c talks it out of that, but for settings of the program's.
 */
bool pp_program_takes_libraries(const struct pp_program *program, char *const *libraries);

/*
 * What recording this program leaves out, and what it does not, in one line; NULL: all is there.
 * `scheduling`: the kernel's events are recorded.  The caller frees it.
 */
char *pp_program_losses(const struct pp_program *program, bool scheduling);

#endif
