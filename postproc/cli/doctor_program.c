/* SPDX-License-Identifier: MIT */
/* gprof-mt doctor PROGRAM: checks a program for the data that recording and reports need. */
#include "cli/commands.h"
#include "cli/doctor.h"
#include "record/program.h"

static void check_calls(const struct pp_program *program)
{
	if (!program->counts_calls)
		pp_doctor_line(PP_VERDICT_POOR, "calls", "not built with -pg: no call graph",
			       "compile and link with: gcc -pg -g -O2");
	else if (program->has_runtime)
		pp_doctor_line(PP_VERDICT_GOOD, "calls", "built with -pg and libgmon_mt.a", NULL);
	else if (program->is_static)
		pp_doctor_line(
		    PP_VERDICT_BAD, "calls",
		    "linked statically with glibc's mcount, which loses calls of threads",
		    "link with: -l:libgmon_mt.a");
	else
		pp_doctor_line(PP_VERDICT_GOOD, "calls", "built with -pg", NULL);
}

static void check_libraries(const struct pp_program *program)
{
	const char *obstacle = pp_program_obstacle(program);
	g_autofree char *found = g_strconcat("it ", obstacle, NULL);

	if (program->is_privileged)
		pp_doctor_line(PP_VERDICT_BAD, "synchronization", found,
			       "record a copy of your own: cp PROGRAM .");
	else if (program->is_static)
		pp_doctor_line(PP_VERDICT_BAD, "synchronization",
			       "linked statically: its pthread calls cannot be intercepted",
			       "link without -static");
	else if (program->loader)
		pp_doctor_line(PP_VERDICT_BAD, "synchronization", found,
			       "compile and link it with glibc");
	else if (obstacle)
		pp_doctor_line(PP_VERDICT_BAD, "synchronization",
			       "its AddressSanitizer is set to refuse preloaded libraries",
			       "export ASAN_OPTIONS=verify_asan_link_order=0");
	else
		pp_doctor_line(PP_VERDICT_GOOD, "synchronization", "linked dynamically", NULL);
}

static void check_names(const struct pp_program *program)
{
	if (program->has_lines)
		pp_doctor_line(PP_VERDICT_GOOD, "names", "functions, files and lines", NULL);
	else if (program->has_symbols)
		pp_doctor_line(PP_VERDICT_POOR, "names", "functions, but no files and lines",
			       "compile with: -g");
	else
		pp_doctor_line(PP_VERDICT_BAD, "names",
			       "stripped: only functions that it exports have names",
			       "do not strip it, or install its package of debug symbols");
}

static void check_script(const struct pp_program *program)
{
	const char *interpreter = program->interpreter ?: "/bin/sh";
	const char *obstacle = pp_program_obstacle(program);
	g_autofree char *found =
	    obstacle ? g_strdup_printf(
			   "a script: only the programs that it starts are recorded; %s itself %s",
			   pp_program_image(program)->path, obstacle)
		     : g_strdup_printf("a script: %s and the programs that it starts are recorded",
				       interpreter);

	pp_doctor_line(obstacle ? PP_VERDICT_POOR : PP_VERDICT_GOOD, "program", found,
		       "run it by another interpreter");
}

int pp_doctor_program(const char *name)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_program program;

	if (pp_program_read(name, &program, &err))
		return pp_cli_fail(&err);
	switch (program.kind) {
	case PP_PROGRAM_ELF:
		check_calls(&program);
		check_libraries(&program);
		check_names(&program);
		break;
	case PP_PROGRAM_SCRIPT:
		check_script(&program);
		break;
	case PP_PROGRAM_FOREIGN:
		pp_doctor_line(PP_VERDICT_BAD, "program",
			       "no 64-bit x86 program: only its scheduling can be recorded",
			       "compile it for x86-64");
		break;
	}
	pp_program_done(&program);
	return PP_EXIT_GOOD;
}
