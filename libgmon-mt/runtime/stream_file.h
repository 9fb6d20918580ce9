/* SPDX-License-Identifier: MIT */
/*
 * Files of streams: for streams that are mapped (stream.c) and for those in memory
 * (stream_memory.c).
 */
#ifndef GM_RUNTIME_STREAM_FILE_H
#define GM_RUNTIME_STREAM_FILE_H

#include "runtime/stream.h"

/* Writes the head of an empty packet; `at` may be at any address. */
void gm_packet_init(const struct gm_stream *stream, uint8_t *at, uint64_t size_bytes,
		    uint64_t now_ns);

/* Takes the packet at `offset` of the segment, whose head is written. */
void gm_packet_begin(struct gm_stream *stream, uint64_t offset, uint64_t size_bytes,
		     uint64_t now_ns);

#define GM_STREAM_NAME_BYTES 48

/* "stream_3_1", with a dot in front of it if hidden. */
void gm_stream_file_name(char *buffer, const struct gm_stream *stream, uint32_t number,
			 bool hidden);

/*
 * In a step of files.h: the directory of the stream's files, and what is done there.  Where it
 * could not be opened (-errno), or is no longer this user's, files are reached by path: place.c may
 * have `record` do it.
 */
int gm_stream_dir_open(const struct gm_stream *stream);
void gm_stream_dir_close(int directory);

/* Opens a file to read and write.  A descriptor or -errno. */
int gm_stream_file_at(const struct gm_stream *stream, int directory, const char *name, int flags);
int gm_stream_file_rename(const struct gm_stream *stream, int directory, const char *from,
			  const char *to);
void gm_stream_file_remove(const struct gm_stream *stream, int directory, const char *name);

/*
 * In a step of files.h: makes the stream's next file, with a number if it has none; opens its
 * newest.  A descriptor or -errno.
 */
int gm_stream_file_make_at(struct gm_stream *stream, int directory, char *name);
int gm_stream_file_make(struct gm_stream *stream);
int gm_stream_file_open(const struct gm_stream *stream);

/* Done with the newest file, which is mapped, as another follows. */
void gm_stream_leave(struct gm_stream *stream);

/* In the child of a fork: no file is mapped yet. */
void gm_stream_files_forget(void);

/* --- in memory ---------------------------------------------------------------------------- */

/* Goes on in memory, with another file.  False: it cannot, and the stream knows why. */
bool gm_stream_memory_begin(struct gm_stream *stream, uint64_t now_ns);

bool gm_stream_memory_room(struct gm_stream *stream, uint64_t need_bytes, uint64_t now_ns);
void gm_stream_memory_resume(struct gm_stream *stream, uint64_t now_ns);
void gm_stream_memory_close(struct gm_stream *stream);

#endif
