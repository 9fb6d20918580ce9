/* SPDX-License-Identifier: MIT */
/*
 * Inspects a command before it runs: will the runtime libraries be loaded into it, and does it
 * count its calls?  This serves only messages to the user; the program is started in any case, by
 * the rules of execvp().
 */
#ifndef PP_RECORD_PROGRAM_H
#define PP_RECORD_PROGRAM_H

#include <stdbool.h>

#include "core/error.h"

enum pp_program_kind {
	PP_PROGRAM_ELF,
	PP_PROGRAM_SCRIPT,  /* #!, or text that execvp() passes to /bin/sh */
	PP_PROGRAM_FOREIGN, /* an ELF file for another machine or word size */
};

struct pp_program {
	char *path; /* the file that execvp() will find */
	enum pp_program_kind kind;
	char *interpreter;	 /* SCRIPT: the program named after #!; NULL: /bin/sh */
	struct pp_program *runs; /* SCRIPT: the interpreter's own description; NULL: not found */
	char *loader; /* a dynamic loader other than glibc's, which cannot load our libraries */
	bool is_i386, is_x32;  /* FOREIGN: a 32-bit program that this machine may run */
	bool is_static;	       /* no dynamic loader: preloading is impossible */
	bool is_privileged;    /* runs with other rights than the caller's: the loader ignores
				* LD_PRELOAD */
	bool has_capabilities; /* privileged by file capabilities, not by set-uid or set-gid */
	bool counts_calls;     /* refers to mcount or one of its variants */
	bool has_runtime;      /* libgmon-mt is linked into it */
	bool needs_openmp;     /* needs libgomp, by itself */
	bool needs_asan;       /* needs AddressSanitizer as a shared library */
	bool sets_asan;	       /* has its own AddressSanitizer settings (__asan_default_options) */
};

/*
 * Finds `name` as execvp() would, and inspects it.  Returns 0 or -errno; -ENOENT or -EACCES as
 * execvp(), with the message to print.
 */
int pp_program_read(const char *name, struct pp_program *program, struct pp_error *err);
void pp_program_done(struct pp_program *program);

/*
 * Returns the reason why our libraries cannot be loaded into the program (for a script, its
 * interpreter), such as "is linked statically", to follow its name; NULL: they can.
 */
const char *pp_program_obstacle(const struct pp_program *program);

/* Returns the file that is executed: the program itself, or a script's interpreter. */
const struct pp_program *pp_program_image(const struct pp_program *program);

/*
 * Should LD_PRELOAD include `libraries`?  Not for programs whose loader would complain, nor for
 * those that AddressSanitizer would end because the libraries come before it:
 * libgmon-mt/runtime/lifecycle/sanitizer.c prevents that, except if the program has its own
 * settings.
 */
bool pp_program_takes_libraries(const struct pp_program *program, char *const *libraries);

/*
 * Returns one line that says what is not recorded of this program, and what is; NULL: everything
 * is. `scheduling`: the kernel's events are recorded; `samples`: programs without -pg are sampled.
 * The caller frees it.
 */
char *pp_program_losses(const struct pp_program *program, bool scheduling, bool samples);

#endif
