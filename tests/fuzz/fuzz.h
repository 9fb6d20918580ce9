/* SPDX-License-Identifier: MIT */
/*
 * The readers of all files of a capture directory, and of those of a campaign, as functions of
 * bytes: called by libFuzzer, and
 * by the program `replay` with the inputs of corpus/.
 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <glib.h>

#define MUST(condition)                                                                            \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);            \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

struct fuzz_target {
	const char *name; /* name of its folder in corpus/ */
	void (*run)(const uint8_t *data, size_t len_bytes);
};

/* Returns NULL if no target has that name. */
const struct fuzz_target *fuzz_target_find(const char *name);

/* Writes the bytes to a file; the path is valid until the next call. */
const char *fuzz_file(const uint8_t *data, size_t len_bytes);

/* Text for a terminal has no control character except '\n'. */
void fuzz_check_printable(const GString *text);

/* The targets of campaign.c. */
void fuzz_run_campaign(const uint8_t *data, size_t len_bytes);
void fuzz_run_plan(const uint8_t *data, size_t len_bytes);

/* Prints the names of all targets, one per line. */
void fuzz_target_list(void);

#endif
