/* SPDX-License-Identifier: MIT */
/* Lines of `gprof-mt doctor`: a verdict, the item checked, the finding, and a remedy. */
#ifndef PP_CLI_DOCTOR_H
#define PP_CLI_DOCTOR_H

enum pp_verdict { PP_VERDICT_GOOD, PP_VERDICT_POOR, PP_VERDICT_BAD };

/* `remedy`: the command that would change the result; shown unless the verdict is good. */
void pp_doctor_line(enum pp_verdict verdict, const char *what, const char *found,
		    const char *remedy);

/* Checks what can be recorded of a program, and how to build it otherwise.  Returns PP_EXIT_*. */
int pp_doctor_program(const char *name);

#endif
