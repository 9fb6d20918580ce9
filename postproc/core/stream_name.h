/* SPDX-License-Identifier: MIT */
/*
 * Names of files of streams: "stream_3" is {3, 0}, "stream_3_1" {3, 1}.  The kernel's have a CPU in
 * place of the stream: "channel0_1", and in a ring "channel0_1_2".
 */
#ifndef PP_CORE_STREAM_NAME_H
#define PP_CORE_STREAM_NAME_H

#include <stdbool.h>

#define PP_STREAM_OF_THREAD "stream_"
#define PP_STREAM_OF_CPU    "channel0_"

struct pp_stream_name {
	unsigned stream, number;
};

/* Returns false if the name is none of a file of a stream with that prefix. */
bool pp_stream_name_parse(const char *name, const char *prefix, struct pp_stream_name *ret);

/* Returns the name; the caller frees it. */
char *pp_stream_name_format(const struct pp_stream_name *name, const char *prefix);

/* By stream, then by number; as qsort() has it. */
int pp_stream_name_compare(const struct pp_stream_name *a, const struct pp_stream_name *b);

#endif
