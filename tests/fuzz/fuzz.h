/* SPDX-License-Identifier: MIT */
/*
 * The readers of everything that a capture directory holds, each as a function of bytes: what
 * libFuzzer calls, and what the plain program `replay` calls with the inputs of corpus/.
 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

struct fuzz_target {
	const char *name; /* of its folder in corpus/ */
	void (*run)(const uint8_t *data, size_t len_bytes);
};

/* NULL: there is none of that name. */
const struct fuzz_target *fuzz_target_find(const char *name);

/* One a line. */
void fuzz_target_list(void);

#endif
