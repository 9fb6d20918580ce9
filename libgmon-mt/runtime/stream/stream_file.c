/* SPDX-License-Identifier: MIT */
/*
 * The files of a stream: how they are named, made and opened, in steps of helper_task.h; and the
 * headers of packets.
 */
#include <errno.h>

#include "runtime/files/file.h"
#include "runtime/stream/stream_file.h"
#include "runtime/sys/sys.h"

#define O_PATH_DIRECTORY (O_PATH | O_DIRECTORY)

void gm_stream_file_name(char *buffer, const struct gm_stream *stream, uint32_t number, bool hidden)
{
	struct gm_text text = {buffer, GM_STREAM_NAME_BYTES, 0};

	gm_text_add(&text, hidden ? ".stream_" : "stream_");
	gm_text_add_u64(&text, stream->number);
	if (number > 0) {
		gm_text_add(&text, "_");
		gm_text_add_u64(&text, number);
	}
}

int gm_stream_dir_open(const struct gm_stream *stream)
{
	return gm_sys_open(stream->trace->dir, O_PATH_DIRECTORY, 0);
}

/* By path, so that `record` may help. */
static int by_path(const struct gm_stream *stream, const char *name, int flags)
{
	char *path = gm_path_new(stream->trace->dir, name);
	int fd = path != NULL ? gm_sys_open(path, flags, 0600) : -ENOMEM;

	gm_path_free(path);
	return fd;
}

/*
 * Returns true if access by path would not help: the directory is open, and permission was not the
 * reason.
 */
static bool is_final(int directory, long code)
{
	return directory >= 0 && code != -EACCES && code != -EPERM;
}

int gm_stream_file_at(const struct gm_stream *stream, int directory, const char *name, int flags)
{
	long fd = directory;

	flags |= O_RDWR | O_NOFOLLOW | O_CLOEXEC;
	if (directory >= 0)
		fd = gm_syscall6(SYS_openat, directory, (long)name, flags, 0600, 0, 0);
	return is_final(directory, fd) ? (int)fd : by_path(stream, name, flags);
}

int gm_stream_file_remove(const struct gm_stream *stream, int directory, const char *name)
{
	long code = directory;
	char *path;

	if (directory >= 0)
		code = gm_syscall3(SYS_unlinkat, directory, (long)name, 0);
	if (is_final(directory, code))
		return (int)code;
	path = gm_path_new(stream->trace->dir, name);
	code = path != NULL ? gm_sys_unlink(path) : -ENOMEM;
	gm_path_free(path);
	return (int)code;
}

int gm_stream_file_rename(const struct gm_stream *stream, int directory, const char *from,
			  const char *to)
{
	long code = directory;
	char *old, *new;

	if (directory >= 0)
		code = gm_syscall6(SYS_renameat, directory, (long)from, directory, (long)to, 0, 0);
	if (is_final(directory, code))
		return (int)code;
	old = gm_path_new(stream->trace->dir, from);
	new = gm_path_new(stream->trace->dir, to);
	code = old != NULL && new != NULL ? gm_sys_rename(old, new) : -ENOMEM;
	gm_path_free(old);
	gm_path_free(new);
	return (int)code;
}

void gm_stream_dir_close(int directory)
{
	if (directory >= 0)
		gm_sys_close(directory);
}

void gm_packet_init(const struct gm_stream *stream, uint8_t *at, uint64_t size_bytes,
		    uint64_t now_ns)
{
	struct gm_packet packet = {
	    .magic = GM_PACKET_MAGIC,
	    .stream_instance_id = stream->number,
	    .content_bits = sizeof(packet) * 8,
	    .packet_bits = size_bytes * 8,
	    .timestamp_begin = now_ns,
	    .events_discarded = stream->n_lost,
	    .tid = stream->tid,
	    .index = stream->index,
	};

	memcpy(packet.uuid, stream->trace->uuid, sizeof(packet.uuid));
	memcpy(at, &packet, sizeof(packet));
}

int gm_stream_file_open(const struct gm_stream *stream)
{
	int directory = gm_stream_dir_open(stream), fd;
	char name[GM_STREAM_NAME_BYTES];

	gm_stream_file_name(name, stream, stream->n_segments - 1, false);
	fd = gm_stream_file_at(stream, directory, name, 0);
	gm_stream_dir_close(directory);
	return fd;
}

void gm_stream_file_begins(struct gm_stream *stream)
{
	stream->n_segments++;
	if (stream->trace->file_begins != NULL)
		stream->trace->file_begins(stream);
}

/*
 * Makes the stream's next file and names it. A stream gets its number when its first file has been
 * named with it, and only then is the next number taken: even after a kill the numbers have no gap.
 */
int gm_stream_file_make_at(struct gm_stream *stream, int directory, char *name)
{
	/* relaxed: only a hint where to begin; the directory decides */
	uint32_t number = __atomic_load_n(&stream->trace->n_streams, __ATOMIC_RELAXED);
	int fd;

	if (stream->numbered) {
		gm_stream_file_name(name, stream, stream->n_segments, false);
		return gm_stream_file_at(stream, directory, name, O_CREAT | O_EXCL);
	}
	do {
		stream->number = number++;
		gm_stream_file_name(name, stream, 0, false);
		fd = gm_stream_file_at(stream, directory, name, O_CREAT | O_EXCL);
	} while (fd == -EEXIST);
	if (fd >= 0)
		__atomic_store_n(&stream->trace->n_streams, number, __ATOMIC_RELAXED);
	return fd;
}

int gm_stream_file_make(struct gm_stream *stream)
{
	int directory = gm_stream_dir_open(stream), fd;
	char name[GM_STREAM_NAME_BYTES];

	fd = gm_stream_file_make_at(stream, directory, name);
	gm_stream_dir_close(directory);
	return fd;
}
