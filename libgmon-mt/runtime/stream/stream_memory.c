/* SPDX-License-Identifier: MIT */
/*
 * Streams whose current packet is in anonymous memory (stream.h).
 *
 * A packet is written to the file when it is full, when its thread ends and when the process ends,
 * so the file has only complete packets. A packet that finds no space on the disk stays in memory,
 * with the definitions in it, and is tried again; meanwhile events are lost, and the writer counts
 * them.
 *
 * The memory of a stream stays its own. It is cut from large mappings, or mapped beside others,
 * which the kernel merges: thousands of streams take a few mappings. A writer that may be
 * interrupted anywhere (keeps_mappings) gets new memory for each packet, since it may still access
 * an old one, whose pages are released.
 *
 * At the end of the process the packets of threads that still run are written, too: under the
 * stream's lock, up to the packet's content_bits.
 */
#include <errno.h>
#include <stddef.h>

#include "runtime/files/file.h"
#include "runtime/files/helper_task.h"
#include "runtime/files/files_in_memory.h"
#include "runtime/process/threads.h"
#include "runtime/stream/output.h"
#include "runtime/stream/stream.h"
#include "runtime/stream/stream_file.h"
#include "runtime/sys/sys.h"

#define WINDOW_BYTES 65536u    /* for a stream in a process with many */
#define LARGE_BYTES  262144u   /* ... and in others */
#define CHUNK_BYTES  16777216u /* of windows */
#define PAGE_BYTES   4096u
#define RETRY_NS     100000000u
#define NO_PACKET    (~(uint64_t)0)
#define HEAD_BYTES   sizeof(struct gm_packet)

static struct gm_stream *streams; /* all that were ever in memory, linked by next_in_memory */
static bool is_over;

/* A page, followed by windows. */
struct chunk {
	uint64_t size_bytes;
	uint64_t used_bytes; /* atomic; may exceed the size */
};
static struct chunk *newest;

bool gm_streams_in_memory(void)
{
	return __atomic_load_n(&streams, __ATOMIC_RELAXED) != NULL;
}

void gm_streams_forget(void)
{
	if (streams != NULL || newest != NULL) {
		streams = NULL;
		newest = NULL;
	}
	if (is_over)
		is_over = false;
	gm_stream_files_forget();
}

/*
 * Each chunk is twice as large as the one before, since a program that locks its memory has all of
 * it resident.
 */
static bool chunk_new(struct chunk *old, uint32_t need_bytes)
{
	uint64_t size_bytes = old == NULL ? need_bytes + PAGE_BYTES : 2 * old->size_bytes;
	struct chunk *made;

	if (size_bytes > CHUNK_BYTES)
		size_bytes = CHUNK_BYTES;
	if (size_bytes < need_bytes + PAGE_BYTES)
		size_bytes = need_bytes + PAGE_BYTES;
	made = gm_sys_mmap(size_bytes, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (made == NULL)
		return false;
	made->size_bytes = size_bytes;
	made->used_bytes = PAGE_BYTES;
	/* release: pairs with the acquire in window_new() */
	if (!__atomic_compare_exchange_n(&newest, &old, made, false, __ATOMIC_RELEASE,
					 __ATOMIC_RELAXED))
		gm_sys_munmap(made, size_bytes);
	return true;
}

/* Cuts a window from the newest chunk. NULL: no memory. */
static uint8_t *window_new(uint32_t size_bytes)
{
	struct chunk *chunk;

	do {
		chunk = __atomic_load_n(&newest, __ATOMIC_ACQUIRE);
		if (chunk != NULL) {
			uint64_t at =
			    __atomic_fetch_add(&chunk->used_bytes, size_bytes, __ATOMIC_RELAXED);

			if (at + size_bytes <= chunk->size_bytes)
				return (uint8_t *)chunk + at;
		}
	} while (chunk_new(chunk, size_bytes));
	return NULL;
}

/* Makes the stream's next file, empty. */
static long file_step(void *arg)
{
	struct gm_stream *stream = arg;
	int fd = gm_stream_file_make(stream);

	if (fd < 0)
		return fd;
	gm_sys_close(fd);
	return 0;
}

static void add_to_list(struct gm_stream *stream)
{
	if (stream->is_listed)
		return;
	stream->is_listed = true;
	stream->next_in_memory = __atomic_load_n(&streams, __ATOMIC_RELAXED);
	/* release: pairs with the acquire in gm_streams_save() */
	while (!__atomic_compare_exchange_n(&streams, &stream->next_in_memory, stream, true,
					    __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
}

/* Replaces the memory by memory without a packet. */
static bool memory_renew(struct gm_stream *stream)
{
	uint8_t *fresh = window_new(stream->memory_bytes);

	if (fresh == NULL) {
		stream->why = GM_LOSS_MEMORY;
		return false;
	}
	gm_syscall3(SYS_madvise, (long)stream->memory, stream->memory_bytes, MADV_DONTNEED);
	stream->memory = fresh;
	return true;
}

/* Begins an empty packet at the start of the stream's memory. */
static void packet_new(struct gm_stream *stream, uint64_t now_ns)
{
	stream->segment = stream->memory;
	stream->segment_bytes = stream->mapped_bytes = stream->memory_bytes;
	stream->ready_bytes = stream->memory_bytes;
	stream->window_at = stream->left_bytes = 0;
	gm_packet_init(stream, stream->segment, stream->segment_bytes, now_ns);
	gm_packet_begin(stream, 0, stream->segment_bytes, now_ns);
}

bool gm_stream_memory_begin(struct gm_stream *stream, uint64_t now_ns)
{
	uint64_t most = gm_kept_is_on() ? LARGE_BYTES : WINDOW_BYTES;
	long code;

	stream->why = GM_LOSS_MEMORY;
	if (stream->memory == NULL) {
		stream->memory_bytes =
		    (uint32_t)(stream->trace->packet_max < most ? stream->trace->packet_max : most);
		stream->memory = window_new(stream->memory_bytes);
	}
	if (stream->memory == NULL)
		return false;
	code = gm_files_run(file_step, stream);
	if (code < 0) {
		stream->why = gm_loss_of(code);
		return false;
	}
	gm_stream_leave(stream);
	gm_threads_count_in_memory(1);
	stream->numbered = true;
	stream->in_place = false;
	stream->in_memory = true;
	stream->file_bytes = 0;
	stream->previous_at = NO_PACKET;
	gm_stream_file_begins(stream);
	packet_new(stream, now_ns);
	add_to_list(stream);
	return true;
}

/* In a ring, files do not grow for ever: the next packet goes to another one. */
static void file_next(struct gm_stream *stream)
{
	if (!stream->trace->is_ring || stream->file_bytes < stream->trace->segment_max ||
	    gm_files_run(file_step, stream) < 0)
		return;
	stream->file_bytes = 0;
	stream->previous_at = NO_PACKET;
	gm_stream_file_begins(stream);
}

struct save {
	struct gm_stream *stream;
	uint64_t used_bytes;
	struct gm_packet head;
};

static void say_followed(const struct gm_stream *stream, int fd)
{
	uint32_t tid = stream->previous_tid | GM_PACKET_FOLLOWED_HERE;
	uint64_t written;

	if (stream->previous_at != NO_PACKET)
		gm_pwrite_all(fd, &tid, sizeof(tid),
			      stream->previous_at + offsetof(struct gm_packet, tid), &written);
}

static long save_step(void *arg)
{
	struct save *save = arg;
	struct gm_stream *stream = save->stream;
	int fd = gm_stream_file_open(stream);
	uint64_t written;
	long code = fd;

	if (fd < 0)
		return code;
	code = gm_pwrite_all(fd, stream->packet, save->used_bytes, stream->file_bytes, &written);
	/*
	 * At the end of the process the thread may have changed the header meanwhile; the copy is
	 * unchanged.
	 */
	if (code == 0)
		code = gm_pwrite_all(fd, &save->head, HEAD_BYTES, stream->file_bytes, &written);
	if (code == 0)
		say_followed(stream, fd);
	else
		gm_sys_ftruncate(fd, stream->file_bytes);
	gm_sys_close(fd);
	return code;
}

/*
 * Writes the packet as far as it has events. Returns the number of bytes, or -errno: the file is
 * unchanged.
 */
static long packet_save(struct gm_stream *stream)
{
	/* acquire: pairs with the writer's release of content_bits; the events are complete */
	uint64_t bits = __atomic_load_n(&stream->packet->content_bits, __ATOMIC_ACQUIRE);
	struct save save = {.stream = stream, .used_bytes = (bits / 8 + 7) / 8 * 8};
	long code;

	if (save.used_bytes <= HEAD_BYTES)
		return 0;
	stream->packet->packet_bits = save.used_bytes * 8;
	save.head = *stream->packet;
	save.head.content_bits = bits;
	code = gm_files_run(save_step, &save);
	return code < 0 ? code : (long)save.used_bytes;
}

/*
 * Writes the complete packet and begins a new one. Returns false if it stays, and takes no more
 * events.
 */
static bool packet_finish(struct gm_stream *stream, uint64_t now_ns)
{
	bool locked = gm_lock_take(&stream->save_lock);
	bool may = gm_stream_take(stream, stream->memory_bytes);
	long saved_bytes = may ? packet_save(stream) : -EDQUOT;
	bool done = saved_bytes >= 0;

	if (may)
		gm_output_give(stream->memory_bytes - (done ? (uint64_t)saved_bytes : 0));

	if (saved_bytes > 0) {
		stream->previous_at = stream->file_bytes;
		stream->previous_tid = stream->packet->tid;
		stream->file_bytes += (uint64_t)saved_bytes;
		/* The old one must not be saved again, nor be mistaken for the current one. */
		stream->packet->content_bits = HEAD_BYTES * 8;
		if (stream->trace->keeps_mappings)
			done = memory_renew(stream);
	} else if (may && !done) {
		stream->why = gm_loss_of(saved_bytes);
	}
	if (done) {
		file_next(stream);
		packet_new(stream, now_ns);
	}
	if (!done)
		gm_stream_set_end(stream, stream->pos);
	if (locked)
		gm_lock_release(&stream->save_lock);
	return done;
}

bool gm_stream_memory_room(struct gm_stream *stream, uint64_t need_bytes, uint64_t now_ns)
{
	if (stream->pos + need_bytes <= stream->end)
		return true;
	if (__atomic_load_n(&is_over, __ATOMIC_RELAXED)) {
		stream->why = GM_LOSS_MEMORY;
		return false;
	}
	if (packet_finish(stream, now_ns))
		return true;
	stream->retry_ns = now_ns + RETRY_NS;
	return false;
}

void gm_stream_memory_resume(struct gm_stream *stream, uint64_t now_ns)
{
	packet_finish(stream, now_ns);
}

void gm_stream_rest(struct gm_stream *stream)
{
	if (stream->in_memory)
		packet_finish(stream, stream->last_ns);
}

void gm_stream_memory_close(struct gm_stream *stream)
{
	if (!packet_finish(stream, stream->last_ns))
		return;
	gm_threads_count_in_memory(-1);
	stream->in_memory = false;
	stream->segment = NULL;
	stream->packet = NULL;
	stream->pos = NULL;
	gm_stream_set_end(stream, NULL);
}

/* The final save: the thread may still run, and finds no more room. */
static void stream_save(struct gm_stream *stream)
{
	bool locked = gm_lock_take(&stream->save_lock);
	long code;

	if (stream->in_memory && stream->packet != NULL) {
		/*
		 * seq_cst: before content_bits is read, so that the thread writes no events behind
		 * it
		 */
		__atomic_store_n(&stream->short_end, stream->segment, __ATOMIC_SEQ_CST);
		__atomic_store_n(&stream->end, stream->segment, __ATOMIC_SEQ_CST);
		code = packet_save(stream);
		if (code < 0 && stream->trace->lost != NULL)
			stream->trace->lost(stream->packet, gm_loss_of(code));
	}
	if (locked)
		gm_lock_release(&stream->save_lock);
}

void gm_streams_save(void)
{
	if (__atomic_exchange_n(&is_over, true, __ATOMIC_RELAXED))
		return;
	for (struct gm_stream *stream = __atomic_load_n(&streams, __ATOMIC_ACQUIRE); stream != NULL;
	     stream = stream->next_in_memory)
		stream_save(stream);
}
