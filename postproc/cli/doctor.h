/* SPDX-License-Identifier: MIT */
/* The lines of `gprof-mt doctor`: a verdict, what was looked at, what was found; and a remedy. */
#ifndef PP_CLI_DOCTOR_H
#define PP_CLI_DOCTOR_H

enum pp_verdict { PP_VERDICT_GOOD, PP_VERDICT_POOR, PP_VERDICT_BAD };

/* `remedy` is shown where the verdict is not good: the command that would change it. */
void pp_doctor_line(enum pp_verdict verdict, const char *what, const char *found,
		    const char *remedy);

/* What can be recorded of a program, and how it would have to be built.  PP_EXIT_*. */
int pp_doctor_program(const char *name);

#endif
