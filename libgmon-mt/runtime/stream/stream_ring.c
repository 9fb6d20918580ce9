/* SPDX-License-Identifier: MIT */
/*
 * A ring: only the newest files of each stream are kept, of a size together or of a time.
 *
 * The unit is a file, which is removed as a whole, so what is left is as valid for a reader as any
 * other stream. A writer removes its own files only: when all events of the oldest one are older
 * than the ring, and when there is no room for a new one. Its newest file, which has a wait of the
 * thread that has not ended, always stays. So that a thread that waits for long does not keep the
 * files of a time that the others have left, `record` removes the oldest files of all streams
 * (postproc/record/ring_files.c) before the limit is reached. A quarter of the limit is for streams
 * with a single file: new threads find room.
 */
#include <sys/stat.h>

#include "runtime/files/helper_task.h"
#include "runtime/process/process.h"
#include "runtime/stream/output.h"
#include "runtime/stream/stream_file.h"
#include "runtime/sys/sys.h"

struct removal {
	struct gm_stream *stream;
	uint64_t before_ns; /* all its events must be older; 0: not checked */
	uint64_t freed_bytes;
	bool is_kept;
};

static int open_number(const struct gm_stream *stream, int directory, uint32_t number, char *name)
{
	gm_stream_file_name(name, stream, number, false);
	return gm_stream_file_at(stream, directory, name, 0);
}

/* Events of a file are older than the first packet of the next one. */
static bool is_older(const struct gm_stream *stream, int directory, uint64_t before_ns)
{
	char name[GM_STREAM_NAME_BYTES];
	struct gm_packet packet = {.timestamp_begin = 0};
	int fd = open_number(stream, directory, stream->oldest + 1, name);
	long n;

	if (fd < 0)
		return true; /* `record` has removed it, as an older one */
	n = gm_syscall6(SYS_pread64, fd, (long)&packet, sizeof(packet), 0, 0, 0);
	gm_sys_close(fd);
	return n == sizeof(packet) && packet.timestamp_begin < before_ns;
}

static long remove_step(void *arg)
{
	struct removal *removal = arg;
	const struct gm_stream *stream = removal->stream;
	int directory = gm_stream_dir_open(stream), fd;
	char name[GM_STREAM_NAME_BYTES];
	struct stat status;

	fd = open_number(stream, directory, stream->oldest, name);
	if (fd >= 0) {
		removal->is_kept =
		    removal->before_ns != 0 && !is_older(stream, directory, removal->before_ns);
		/* `record` may remove it, too; whoever succeeds returns its bytes. */
		if (!removal->is_kept && gm_syscall3(SYS_fstat, fd, (long)&status, 0) == 0 &&
		    gm_stream_file_remove(stream, directory, name) == 0)
			removal->freed_bytes = (uint64_t)status.st_size;
		gm_sys_close(fd);
	}
	gm_stream_dir_close(directory);
	return 0;
}

static bool has_older(const struct gm_stream *stream)
{
	return stream->oldest + 1 < stream->n_segments;
}

/* Removes the oldest file. Returns false if it is kept. */
static bool oldest_remove(struct gm_stream *stream, uint64_t before_ns)
{
	struct removal removal = {.stream = stream, .before_ns = before_ns};

	if (gm_files_run(remove_step, &removal) < 0 || removal.is_kept)
		return false;
	stream->oldest++;
	if (removal.freed_bytes > 0)
		gm_output_give(removal.freed_bytes);
	return true;
}

static bool ring_take(struct gm_stream *stream, uint64_t size_bytes)
{
	uint64_t ring_ns = gm_process_get()->config.ring.ns;

	if (ring_ns != 0 && stream->last_ns > ring_ns)
		while (has_older(stream) && oldest_remove(stream, stream->last_ns - ring_ns))
			;
	while (has_older(stream)) {
		if (gm_output_take_more(size_bytes))
			return true;
		if (!oldest_remove(stream, 0))
			break;
	}
	return gm_output_take(size_bytes);
}

bool gm_stream_take(struct gm_stream *stream, uint64_t size_bytes)
{
	if (stream->trace->is_ring ? ring_take(stream, size_bytes) : gm_output_take(size_bytes))
		return true;
	stream->why = GM_LOSS_OUTPUT_MAX;
	return false;
}
