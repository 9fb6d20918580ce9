/* SPDX-License-Identifier: MIT */
/*
 * The readers of all files of a capture directory, as functions of bytes: called by libFuzzer, and
 * by the program `replay` with the inputs of corpus/.
 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

struct fuzz_target {
	const char *name; /* name of its folder in corpus/ */
	void (*run)(const uint8_t *data, size_t len_bytes);
};

/* Returns NULL if no target has that name. */
const struct fuzz_target *fuzz_target_find(const char *name);

/* Prints the names of all targets, one per line. */
void fuzz_target_list(void);

#endif
