/* SPDX-License-Identifier: MIT */
/* Lines of `gprof-mt doctor`: a verdict, the item checked, the finding, and a remedy. */
#ifndef PP_CLI_DOCTOR_H
#define PP_CLI_DOCTOR_H

#include <stdbool.h>

enum pp_verdict { PP_VERDICT_GOOD, PP_VERDICT_POOR, PP_VERDICT_BAD };

/* `remedy`: the command that would change the result; shown unless the verdict is good. */
void pp_doctor_line(enum pp_verdict verdict, const char *what, const char *found,
		    const char *remedy);

/* The first line of a file; the caller frees it.  NULL: the file cannot be read. */
char *pp_doctor_first_line(const char *path);

/* True if call paths are found by unwind tables: this machine's glibc has _dl_find_object(). */
bool pp_doctor_uses_tables(void);

/* Checks the sources of kernel events, and what they need. */
void pp_doctor_kernel(void);

/* Tells whether the CPU's transactions can be used. */
void pp_doctor_rtm(void);

/* Checks what can be recorded of a program, and how to build it otherwise.  Returns PP_EXIT_*. */
int pp_doctor_program(const char *name);

#endif
