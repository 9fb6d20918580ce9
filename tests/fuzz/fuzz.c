/* SPDX-License-Identifier: MIT */
/* fuzz LIBFUZZER-ARG...: runs libFuzzer on the target that GM_FUZZ names. */
#include <stdio.h>
#include <stdlib.h>

#include "fuzz.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len_bytes);

static const struct fuzz_target *target;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const char *name = getenv("GM_FUZZ");

	(void)argc;
	target = name ? fuzz_target_find(name) : NULL;
	if (target)
		return 0;
	fprintf(stderr, "usage: GM_FUZZ=TARGET %s ARG...; TARGET is one of\n", (*argv)[0]);
	fuzz_target_list();
	exit(2);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len_bytes)
{
	target->run(data, len_bytes);
	return 0;
}
