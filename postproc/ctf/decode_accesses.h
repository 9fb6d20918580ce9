/* SPDX-License-Identifier: MIT */
/* Decodes a stream of accesses in critical sections (sync-trace/accesses.h). */
#ifndef PP_CTF_DECODE_ACCESSES_H
#define PP_CTF_DECODE_ACCESSES_H

#include "ctf/stream.h"

/* The sets that a stream has defined. */
struct pp_defined_sets;

void pp_defined_sets_free(struct pp_defined_sets *sets); /* NULL: nothing */

/* PP_CLASS_LINES: defines lines of a set.  PP_CLASS_KNOWN_LINES: adds known ones to it. */
void pp_decode_lines(struct pp_stream *stream, const struct pp_record *record);
void pp_decode_known_lines(struct pp_stream *stream, const struct pp_record *record);

/* PP_CLASS_SEGMENT.  Returns false if its set is not known, which is counted. */
bool pp_decode_segment(struct pp_stream *stream, const struct pp_record *record,
		       struct pp_event *event);

/* PP_CLASS_HEAP_BLOCK and PP_CLASS_HEAP_FREED. */
void pp_decode_heap(struct pp_stream *stream, const struct pp_record *record,
		    struct pp_event *event);

/* Notes segments that were not written. */
void pp_lose_segments(struct pp_stream *stream, uint64_t count);

#endif
