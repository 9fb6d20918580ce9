/* SPDX-License-Identifier: MIT */
/* Files of streams, for mapped streams (stream.c) and for those in memory (stream_memory.c). */
#ifndef GM_RUNTIME_STREAM_FILE_H
#define GM_RUNTIME_STREAM_FILE_H

#include "runtime/stream/stream.h"

/* Writes the header of an empty packet; `at` need not be aligned. */
void gm_packet_init(const struct gm_stream *stream, uint8_t *at, uint64_t size_bytes,
		    uint64_t now_ns);

/* Makes the packet at `offset` of the segment, whose header is written, the current one. */
void gm_packet_begin(struct gm_stream *stream, uint64_t offset, uint64_t size_bytes,
		     uint64_t now_ns);

#define GM_STREAM_NAME_BYTES 48

/* Formats "stream_3_1", with a leading dot if hidden. */
void gm_stream_file_name(char *buffer, const struct gm_stream *stream, uint32_t number,
			 bool hidden);

/*
 * In a step of helper_task.h: opens the directory of the stream's files. If it cannot be opened
 * (-errno), or no longer belongs to this user, the functions below use paths, so that
 * capture_path.c may ask `record`.
 */
int gm_stream_dir_open(const struct gm_stream *stream);
void gm_stream_dir_close(int directory);

/* Opens a file for reading and writing. Returns a descriptor or -errno. */
int gm_stream_file_at(const struct gm_stream *stream, int directory, const char *name, int flags);
int gm_stream_file_rename(const struct gm_stream *stream, int directory, const char *from,
			  const char *to);
/* Returns 0 or -errno. */
int gm_stream_file_remove(const struct gm_stream *stream, int directory, const char *name);

/*
 * In a step of helper_task.h: makes the stream's next file, with a number if it has none; opens its
 * newest. Returns a descriptor or -errno.
 */
int gm_stream_file_make_at(struct gm_stream *stream, int directory, char *name);
int gm_stream_file_make(struct gm_stream *stream);
int gm_stream_file_open(const struct gm_stream *stream);

/* Notes that the stream has another file. */
void gm_stream_file_begins(struct gm_stream *stream);

/*
 * Takes bytes for a file from [output] max, or from the ring, whose older files of this stream it
 * removes if necessary. Returns false if there is no room, with the reason in the stream.
 */
bool gm_stream_take(struct gm_stream *stream, uint64_t size_bytes);

/* Ends the use of the newest file, which is mapped, because another one follows. */
void gm_stream_leave(struct gm_stream *stream);

/* In the child of a fork: no file is mapped yet. */
void gm_stream_files_forget(void);

/* --- in memory ---------------------------------------------------------------------------- */

/*
 * Continues in memory, with another file. Returns false if that fails, with the reason in the
 * stream.
 */
bool gm_stream_memory_begin(struct gm_stream *stream, uint64_t now_ns);

bool gm_stream_memory_room(struct gm_stream *stream, uint64_t need_bytes, uint64_t now_ns);
void gm_stream_memory_resume(struct gm_stream *stream, uint64_t now_ns);
void gm_stream_memory_close(struct gm_stream *stream);

#endif
