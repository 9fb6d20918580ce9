/* SPDX-License-Identifier: MIT */
/* gprof-mt doctor PROGRAM: checks a program for the data that recording and reports need. */
#include <glib.h>

#include "cli/commands.h"
#include "cli/doctor.h"
#include "record/program.h"
#include "symbols/file_survey.h"

#define GOOD_PERCENT 80u  /* of the code; the rest is padding between functions, and assembly */
#define START_BYTES  1024 /* about as much as the C library's start files, which have no tables */

static void check_calls(const struct pp_program *program)
{
	if (!program->counts_calls)
		pp_doctor_line(
		    PP_VERDICT_POOR, "calls",
		    "not built with -pg: calls are not counted; the call graph is from samples",
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

/* `servers`: reports would ask the servers in DEBUGINFOD_URLS for a debug file. */
static void check_names(const struct pp_file_survey *survey, bool servers)
{
	g_autofree char *found =
	    survey->debug_path
		? g_strconcat("functions, files and lines, from ", survey->debug_path, NULL)
		: NULL;

	if (survey->has_lines)
		pp_doctor_line(PP_VERDICT_GOOD, "names", found ?: "functions, files and lines",
			       NULL);
	else if (survey->has_names)
		pp_doctor_line(PP_VERDICT_POOR, "names", "functions, but no files and lines",
			       "compile with: -g");
	else if (servers && survey->build_id)
		pp_doctor_line(PP_VERDICT_POOR, "names",
			       "stripped: reports ask the servers in DEBUGINFOD_URLS",
			       "if they do not have it: do not strip it, or install its package of "
			       "debug symbols");
	else
		pp_doctor_line(
		    PP_VERDICT_BAD, "names", "stripped: only functions that it exports have names",
		    survey->build_id ? "do not strip it, install its package of debug symbols, or "
				       "name a server that has them in DEBUGINFOD_URLS"
				     : "do not strip it");
}

static void check_build_id(const struct pp_file_survey *survey)
{
	pp_doctor_line(survey->build_id ? PP_VERDICT_GOOD : PP_VERDICT_POOR, "build-id",
		       survey->build_id
			   ?: "none: a file that was built anew is not noticed, and nothing "
			      "finds a separate debug file by it",
		       "link with: -Wl,--build-id");
}

static unsigned percent(uint64_t part, uint64_t all)
{
	return all ? (unsigned)(100 * part / all) : 0;
}

static void check_paths(const struct pp_file_survey *survey)
{
	unsigned tables = percent(survey->table_bytes, survey->code_bytes);
	unsigned frames = percent(survey->n_frames, survey->n_functions);
	bool uses_tables = pp_doctor_uses_tables();
	g_autofree char *by_tables = g_strdup_printf("unwind tables for %u %% of its code", tables);
	g_autofree char *by_frames =
	    g_strdup_printf("frame pointers in %u %% of %u functions", frames, survey->n_functions);
	g_autofree char *found =
	    uses_tables
		? g_strdup_printf("%s, %s", by_tables, by_frames)
		: g_strdup_printf("%s; this glibc has no way to its unwind tables", by_frames);

	bool has_tables =
	    tables >= GOOD_PERCENT || survey->code_bytes - survey->table_bytes < START_BYTES;

	if ((uses_tables && has_tables) || frames >= GOOD_PERCENT)
		pp_doctor_line(PP_VERDICT_GOOD, "call paths", found, NULL);
	else
		pp_doctor_line(PP_VERDICT_POOR, "call paths", found,
			       uses_tables ? "compile with: -fasynchronous-unwind-tables"
					   : "compile with: -fno-omit-frame-pointer");
}

static void check_file(const char *path)
{
	struct pp_file_survey survey;
	bool servers = g_getenv("DEBUGINFOD_URLS") != NULL;
	g_autofree char *fault = NULL;

	g_unsetenv("DEBUGINFOD_URLS"); /* a question about the program downloads nothing */
	fault = pp_file_survey_read(path, &survey);
	if (fault) {
		pp_doctor_line(PP_VERDICT_BAD, "names", fault, NULL);
	} else {
		check_names(&survey, servers);
		check_build_id(&survey);
		check_paths(&survey);
	}
	pp_file_survey_done(&survey);
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
		check_file(program.path);
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
