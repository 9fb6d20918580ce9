/* SPDX-License-Identifier: MIT */
/*
 * Reads an object's file to find which names and lines it has, which debug file they come from, and
 * how the callers of a function can be found in its code.
 */
#ifndef PP_SYMBOLS_FILE_SURVEY_H
#define PP_SYMBOLS_FILE_SURVEY_H

#include <stdbool.h>
#include <stdint.h>

struct pp_file_survey {
	char *build_id; /* hexadecimal; NULL: none */
	bool has_names; /* of functions that it does not export */
	bool has_lines;
	char *debug_path; /* the separate file that names or lines come from; NULL: none */
	uint64_t code_bytes;
	uint64_t table_bytes; /* of these, code with unwind tables (.eh_frame) */
	unsigned n_functions; /* with unwind tables; if few have them, with symbols */
	unsigned n_frames;    /* of these, functions that begin by setting the frame pointer */
};

/*
 * Asks a server for a debug file only if DEBUGINFOD_URLS is set.  Returns the reason why the file
 * cannot be read, which the caller frees; NULL: success.  Call pp_file_survey_done() in any case.
 */
char *pp_file_survey_read(const char *path, struct pp_file_survey *survey);
void pp_file_survey_done(struct pp_file_survey *survey);

#endif
