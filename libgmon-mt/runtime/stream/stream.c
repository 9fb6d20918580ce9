/* SPDX-License-Identifier: MIT */
/*
 * Packets in files.
 *
 * A writer's stream is <pid>/<trace>/stream_<number>, then stream_<number>_1, _2, ..., each four
 * times as long as the one before; they have the same stream_instance_id. Inside a file, packets
 * double until they have the configured size. Each packet belongs to one thread. All space is
 * reserved before it is stored to, so a store never meets a full disk (SIGBUS).
 *
 * A process may be killed between any two instructions, and must leave readable files. The next
 * packet's header is written into the unused end of the current packet, and then one store of the
 * current packet's packet_bits splits them. Space is returned in the same way: an empty packet
 * behind the last event is split off and then removed by ftruncate().
 *
 * The first file of a stream is small and grows, since most threads do little: pages are appended
 * to it, each an empty packet, and one store makes a single packet of them. A large file has a
 * hidden name until it is complete, with one packet that spans it.
 *
 * A packet that is followed by another has a flag for that (packet.h), set once the next one
 * exists: otherwise a file cut between two packets, or without its successor, would look complete.
 *
 * No descriptor stays open. Only the part of the file that is still to be filled stays in memory.
 */
#include <errno.h>
#include <sys/uio.h>

#include "gmon-mt/children.h"
#include "runtime/files/file.h"
#include "runtime/files/helper_task.h"
#include "runtime/files/files_in_memory.h"
#include "runtime/process/process.h"
#include "runtime/process/threads.h"
#include "runtime/stream/output.h"
#include "runtime/stream/stream_file.h"
#include "runtime/sys/sys.h"

#define PAGE_BYTES	4096u
#define GROWTH_PAGES	8u
#define FIRST_GROWTH	6u
#define SMALL_BYTES	(15 * PAGE_BYTES) /* 1 + 6 + 8 pages: two helper tasks (helper_task.h) */
#define READY_BYTES	262144u
#define READY_MAX_BYTES 1048576u
#define SEGMENT_GROWTH	4u
#define TAIL_BYTES	(3 * PAGE_BYTES) /* room behind a packet, for gm_stream_trim() */
#define RETRY_NS	100000000u
#define END_BYTES	8u /* never used: an interrupted read behind the last event stays in the file */
#define MAPPED_MAX	384 /* further streams are in memory */

static int n_mapped; /* number of mapped files */

void gm_stream_files_forget(void)
{
	if (n_mapped != 0)
		n_mapped = 0;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t most(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Ends the current packet at `size_bytes`, where the header of an empty one was written. */
static void packet_cut(struct gm_stream *stream, uint64_t size_bytes)
{
	/*
	 * release: the next header is stored before this packet ends; readers of the live file see
	 * both
	 */
	__atomic_store_n(&stream->packet->packet_bits, size_bytes * 8, __ATOMIC_RELEASE);
}

/* The limit for the events of the current packet. */
static uint8_t *packet_end(const struct gm_stream *stream)
{
	return stream->segment + least(stream->packet_offset + stream->packet_bytes,
				       stream->segment_bytes - END_BYTES);
}

/* Sets the limit up to which events may be written now. */
static void packet_open(struct gm_stream *stream)
{
	uint8_t *ready = stream->segment + stream->ready_bytes, *end = packet_end(stream);

	gm_stream_set_end(stream, end < ready ? end : ready);
}

void gm_packet_begin(struct gm_stream *stream, uint64_t offset, uint64_t size_bytes,
		     uint64_t now_ns)
{
	stream->packet_offset = offset;
	stream->packet_bytes = size_bytes;
	stream->packet = (struct gm_packet *)(stream->segment + offset);
	stream->pos = (uint8_t *)(stream->packet + 1);
	stream->last_ns = now_ns;
	packet_open(stream);
}

/*
 * Leaves the current packet. Interrupted code that is about to write behind its last event must not
 * find that slot empty.
 */
static void packet_leave(const struct gm_stream *stream)
{
	if (stream->trace->keeps_mappings && stream->pos + END_BYTES <= stream->segment +
									    stream->packet_offset +
									    stream->packet_bytes)
		memset(stream->pos, 0xff, END_BYTES);
}

/*
 * Notes that the next packet exists, and where, for a reader that finds the current one to be the
 * last.
 */
static void packet_followed(const struct gm_stream *stream, uint32_t where)
{
	/* release: neither the processor nor a kill orders it before the next header */
	__atomic_store_n(&stream->packet->tid, stream->packet->tid | where, __ATOMIC_RELEASE);
}

/*
 * Brings pages into memory by writing zeros, which the kernel does in large pieces: at 16 bytes per
 * event 3 to 4 ns each on ext4, against 20 for faults and hardly less for MADV_POPULATE_WRITE. If
 * that fails, the pages fault in later: the space is reserved.
 */
static void pages_ready(int fd, uint64_t offset, uint64_t size_bytes)
{
	gm_file_zeros(fd, offset, size_bytes);
}

/*
 * The size of the mapped part of a large file, from the page where a packet starts: the packet, the
 * header of an empty packet behind it, and a page or two for the program's last functions. Earlier
 * packets are not mapped, unless interrupted writers may still access them. A program that locks
 * its memory pins everything that is mapped.
 */
static uint64_t window_bytes(const struct gm_stream *stream, uint64_t offset, uint64_t packet_bytes,
			     uint64_t segment_bytes)
{
	uint64_t from = offset / PAGE_BYTES * PAGE_BYTES;
	uint64_t end = (offset + most(packet_bytes, READY_BYTES)) / PAGE_BYTES * PAGE_BYTES +
		       PAGE_BYTES + TAIL_BYTES;

	return stream->trace->keeps_mappings ? segment_bytes : least(end, segment_bytes) - from;
}

/* The offset in the file at which the mapping ends. */
static uint64_t window_end(const struct gm_stream *stream)
{
	return stream->window_at + stream->mapped_bytes;
}

/* An eighth of a large file at a time: each step costs a helper task (helper_task.h), 30 us. */
static uint64_t ready_end(const struct gm_stream *stream)
{
	uint64_t n_bytes =
	    least(stream->segment_bytes / 8 / PAGE_BYTES * PAGE_BYTES, READY_MAX_BYTES);

	if (n_bytes < READY_BYTES)
		n_bytes = READY_BYTES;
	return least(stream->ready_bytes + n_bytes, stream->segment_bytes);
}

static long ready_step(void *arg)
{
	const struct gm_stream *stream = arg;
	int fd = gm_stream_file_open(stream);

	if (fd < 0)
		return fd;
	pages_ready(fd, stream->ready_bytes, ready_end(stream) - stream->ready_bytes);
	gm_sys_close(fd);
	return 0;
}

/* Prepares the next pages of the file; nothing is written there yet. */
static void segment_ready(struct gm_stream *stream)
{
	gm_files_run(ready_step, stream);
	stream->ready_bytes = ready_end(stream);
}

/* Releases the pages before the current packet. */
static void segment_let_go(struct gm_stream *stream, uint64_t upto_bytes)
{
	upto_bytes = upto_bytes / PAGE_BYTES * PAGE_BYTES;
	if (upto_bytes <= stream->left_bytes)
		return;
	gm_syscall3(SYS_madvise, (long)(stream->segment + stream->left_bytes),
		    (long)(upto_bytes - stream->left_bytes), MADV_DONTNEED);
	stream->left_bytes = upto_bytes;
}

/* Prepares the next pages of the current packet. Returns false if it is full. */
static bool packet_more(struct gm_stream *stream)
{
	if (stream->end >= packet_end(stream))
		return false;
	segment_ready(stream);
	packet_open(stream);
	return true;
}

/*
 * Extends a file by pages that are an empty packet each. The kernel adds page after page, so the
 * file is valid whenever this stops. Returns the number of bytes added; 0: there is no room, with
 * the reason in the stream.
 */
static uint64_t pages_add(struct gm_stream *stream, int fd, uint64_t from, uint64_t size_bytes,
			  uint64_t now_ns)
{
	struct iovec parts[2 * GROWTH_PAGES];
	struct gm_packet head;
	unsigned n_parts = 0;
	long added;

	if (!gm_file_may_reach(from + size_bytes)) {
		stream->why = GM_LOSS_FILE_LIMIT;
		return 0;
	}
	gm_packet_init(stream, (uint8_t *)&head, PAGE_BYTES, now_ns);
	while (n_parts < size_bytes / PAGE_BYTES * 2) {
		parts[n_parts++] = (struct iovec){&head, sizeof(head)};
		parts[n_parts++] = (struct iovec){(void *)gm_zeros, PAGE_BYTES - sizeof(head)};
	}
	/* Touched before the write: otherwise the kernel would begin with half a page. */
	(void)*(const volatile char *)gm_zeros;
	added = gm_syscall6(SYS_pwritev, fd, (long)parts, n_parts, (long)from, 0, 0);
	if (added > 0 && added % PAGE_BYTES != 0)
		gm_sys_ftruncate(fd, from + (uint64_t)added / PAGE_BYTES * PAGE_BYTES);
	if (added < (long)PAGE_BYTES)
		stream->why = added < 0 ? gm_loss_of(added) : GM_LOSS_DISK;
	return added > 0 ? (uint64_t)added / PAGE_BYTES * PAGE_BYTES : 0;
}

struct growth {
	struct gm_stream *stream;
	uint64_t size_bytes;
	uint64_t now_ns;
};

/* Returns the number of bytes added; 0: there is no room. */
static long grow_step(void *arg)
{
	const struct growth *growth = arg;
	int fd = gm_stream_file_open(growth->stream);
	uint64_t added;

	if (fd < 0)
		return fd;
	added = pages_add(growth->stream, fd, growth->stream->segment_bytes, growth->size_bytes,
			  growth->now_ns);
	gm_sys_close(fd);
	return (long)added;
}

/*
 * Begins the next packet behind the end of this file. Returns false if this file does not grow, or
 * there is no room.
 */
static bool segment_grow(struct gm_stream *stream, uint64_t now_ns)
{
	uint64_t from = stream->segment_bytes;
	uint64_t room = window_end(stream) > from ? window_end(stream) - from : 0;
	uint64_t size_bytes = least(stream->next_bytes, room);
	uint8_t *start = stream->segment + from;
	struct growth growth = {stream, least(size_bytes, GROWTH_PAGES * PAGE_BYTES), now_ns};
	long added;

	if (size_bytes == 0 || !gm_stream_take(stream, growth.size_bytes))
		return false;
	added = gm_files_run(grow_step, &growth);
	gm_output_give(growth.size_bytes - (added > 0 ? (uint64_t)added : 0));
	if (added <= 0)
		return false;
	size_bytes = (uint64_t)added;
	packet_leave(stream);
	packet_followed(stream, GM_PACKET_FOLLOWED_HERE);
	/*
	 * release: a reader of the live file sees the new size before the headers behind it are
	 * cleared
	 */
	__atomic_store_n(&((struct gm_packet *)start)->packet_bits, size_bytes * 8,
			 __ATOMIC_RELEASE);
	for (uint64_t at = PAGE_BYTES; at < size_bytes; at += PAGE_BYTES)
		memset(start + at, 0, sizeof(struct gm_packet));
	stream->segment_bytes = stream->ready_bytes = from + size_bytes;
	gm_packet_begin(stream, from, size_bytes, now_ns);
	stream->next_bytes = least(2 * size_bytes, stream->trace->packet_max);
	return true;
}

struct range {
	uint8_t *start; /* NULL: none */
	uint64_t size_bytes;
};

struct window {
	struct gm_stream *stream;
	uint64_t at, size_bytes;
	uint8_t *mapping; /* NULL: no address space */
};

static long window_step(void *arg)
{
	struct window *window = arg;
	struct gm_stream *stream = window->stream;
	int fd = gm_stream_file_open(stream);

	if (fd < 0)
		return fd;
	while (stream->ready_bytes < window->at + 2 * PAGE_BYTES &&
	       stream->ready_bytes < stream->segment_bytes) {
		pages_ready(fd, stream->ready_bytes, ready_end(stream) - stream->ready_bytes);
		stream->ready_bytes = ready_end(stream);
	}
	window->mapping = gm_sys_mmap(window->size_bytes, MAP_SHARED, fd, window->at);
	gm_sys_close(fd);
	return 0;
}

/*
 * Maps the file where the next packet will be. The current packet stays mapped at its address until
 * window_leave(). Returns false if there is no address space.
 */
static bool window_move(struct gm_stream *stream, uint64_t offset, uint64_t packet_bytes,
			struct range *ret_old)
{
	struct window window = {
	    .stream = stream,
	    .at = offset / PAGE_BYTES * PAGE_BYTES,
	    .size_bytes = window_bytes(stream, offset, packet_bytes, stream->segment_bytes),
	};

	*ret_old = (struct range){NULL, 0};
	if (least(offset + packet_bytes + TAIL_BYTES, stream->segment_bytes) <= window_end(stream))
		return true;
	gm_files_run(window_step, &window);
	if (window.mapping == NULL)
		return false;
	*ret_old = (struct range){stream->segment + stream->window_at, stream->mapped_bytes};
	stream->segment = window.mapping - window.at;
	stream->window_at = window.at;
	stream->mapped_bytes = window.size_bytes;
	return true;
}

/* Begins the next packet of this file. Returns false if the file is full. */
static bool packet_next(struct gm_stream *stream, uint64_t now_ns)
{
	uint64_t offset = stream->packet_offset + stream->packet_bytes;
	uint64_t rest = stream->segment_bytes - offset, size_bytes;
	struct range old;

	if (rest < sizeof(struct gm_packet) + PAGE_BYTES / 2)
		return segment_grow(stream, now_ns);
	size_bytes = least(stream->next_bytes, rest);
	if (!window_move(stream, offset, size_bytes, &old))
		return false;
	while (stream->ready_bytes < offset + sizeof(struct gm_packet))
		segment_ready(stream);
	gm_packet_init(stream, stream->segment + offset, rest, now_ns);
	packet_leave(stream);
	packet_cut(stream, stream->packet_bytes);
	packet_followed(stream, GM_PACKET_FOLLOWED_HERE);
	if (old.start != NULL)
		gm_sys_munmap(old.start, old.size_bytes);
	else if (stream->trace->keeps_mappings && offset - stream->left_bytes >= READY_BYTES)
		segment_let_go(stream, offset);
	gm_packet_begin(stream, offset, size_bytes, now_ns);
	stream->next_bytes = least(2 * stream->packet_bytes, stream->trace->packet_max);
	return true;
}

/*
 * Makes a new file of one page with an empty packet, mapped up to the size to which it may grow. It
 * gets its name before the packet is written: readers ignore an empty file. NULL: no room.
 */
static uint8_t *segment_small(struct gm_stream *stream, uint64_t now_ns)
{
	char name[GM_STREAM_NAME_BYTES];
	uint8_t *segment = NULL;
	int directory = gm_stream_dir_open(stream), fd;

	fd = gm_stream_file_make_at(stream, directory, name);
	stream->why = gm_loss_of(fd);
	if (fd >= 0) {
		stream->why = GM_LOSS_MEMORY;
		if (pages_add(stream, fd, 0, PAGE_BYTES, now_ns) > 0)
			segment = gm_sys_mmap(SMALL_BYTES, MAP_SHARED, fd, 0);
		gm_sys_close(fd);
		stream->numbered |= segment != NULL;
		if (segment == NULL)
			gm_stream_file_remove(stream, directory, name);
	}
	gm_stream_dir_close(directory);
	return segment;
}

/* Makes a new file of this size with one empty packet, and names it. NULL: no room. */
static uint8_t *segment_large(struct gm_stream *stream, uint64_t size_bytes, uint64_t mapped_bytes,
			      uint64_t now_ns)
{
	char hidden[GM_STREAM_NAME_BYTES], name[GM_STREAM_NAME_BYTES];
	uint8_t *segment = NULL;
	int directory = gm_stream_dir_open(stream), fd;

	gm_stream_file_name(hidden, stream, stream->n_segments, true);
	gm_stream_file_name(name, stream, stream->n_segments, false);
	fd = gm_stream_file_at(stream, directory, hidden, O_CREAT | O_EXCL);
	if (fd >= 0) {
		if (gm_file_reserve(fd, 0, size_bytes) == 0) {
			pages_ready(fd, 0, least(size_bytes, READY_BYTES));
			segment = gm_sys_mmap(mapped_bytes, MAP_SHARED, fd, 0);
		}
		gm_sys_close(fd);
		if (segment != NULL) {
			gm_packet_init(stream, segment, size_bytes, now_ns);
			if (gm_stream_file_rename(stream, directory, hidden, name) != 0) {
				gm_sys_munmap(segment, mapped_bytes);
				segment = NULL;
			}
		}
		if (segment == NULL)
			gm_stream_file_remove(stream, directory, hidden);
	}
	gm_stream_dir_close(directory);
	return segment;
}

static void segment_unmap(struct gm_stream *stream)
{
	if (stream->segment != NULL && !stream->in_place) {
		gm_sys_munmap(stream->segment + stream->window_at, stream->mapped_bytes);
		__atomic_fetch_sub(&n_mapped, 1, __ATOMIC_RELAXED);
	}
	stream->segment = NULL;
	stream->packet = NULL;
	stream->pos = NULL;
	gm_stream_set_end(stream, NULL);
}

/* The addresses stay reserved if interrupted code may still access them. */
void gm_stream_leave(struct gm_stream *stream)
{
	if (stream->packet == NULL)
		return;
	packet_leave(stream);
	packet_followed(stream, GM_PACKET_FOLLOWED_IN_NEXT);
	if (stream->trace->keeps_mappings)
		segment_let_go(stream, stream->segment_bytes);
	else
		segment_unmap(stream);
}

/* The first file of the trace of a child of fork lies in its place. */
static bool segment_in_place(struct gm_stream *stream, uint64_t now_ns)
{
	struct gm_child *child = gm_process_child();
	uint8_t *segment;

	if (child == NULL || stream->n_segments > 0 || stream->trace->which != 0 ||
	    (__atomic_fetch_or(&child->parts, GM_CHILD_STREAM, __ATOMIC_RELAXED) &
	     GM_CHILD_STREAM) != 0)
		return false;
	stream->number = 0; /* n_streams begins after it */
	stream->numbered = true;
	segment = (uint8_t *)child + GM_CHILD_STREAM_AT;
	gm_packet_init(stream, segment, GM_CHILD_STREAM_BYTES, now_ns);
	stream->in_place = true;
	stream->segment = segment;
	stream->segment_bytes = stream->mapped_bytes = stream->ready_bytes = GM_CHILD_STREAM_BYTES;
	stream->window_at = 0;
	stream->left_bytes = 0;
	stream->n_segments = 1;
	gm_packet_begin(stream, 0, GM_CHILD_STREAM_BYTES, now_ns);
	stream->next_bytes = PAGE_BYTES;
	return true;
}

struct next_file {
	struct gm_stream *stream;
	uint64_t size_bytes; /* requested, then actual */
	uint64_t mapped_bytes;
	uint64_t now_ns;
	uint8_t *segment; /* NULL: no room, with the reason in the stream */
};

static long next_step(void *arg)
{
	struct next_file *file = arg;

	for (; file->size_bytes > SMALL_BYTES;
	     file->size_bytes = file->size_bytes / 2 / PAGE_BYTES * PAGE_BYTES) {
		file->mapped_bytes = window_bytes(
		    file->stream, 0, least(file->size_bytes, file->stream->trace->packet_max),
		    file->size_bytes);
		file->segment =
		    segment_large(file->stream, file->size_bytes, file->mapped_bytes, file->now_ns);
		if (file->segment != NULL)
			return 0;
	}
	file->segment = segment_small(file->stream, file->now_ns);
	file->size_bytes = PAGE_BYTES;
	file->mapped_bytes = SMALL_BYTES;
	return 0;
}

/* The kernel permits a process 65,530 mappings, and each thread has two. */
static bool wants_memory(void)
{
	return gm_kept_is_on() || __atomic_load_n(&n_mapped, __ATOMIC_RELAXED) >= MAPPED_MAX;
}

/* Makes the file as large as [output] max and the disk permit. Returns 0 or -errno. */
static long next_make(struct next_file *file)
{
	uint64_t taken_bytes;
	long code;

	while (file->size_bytes > SMALL_BYTES && !gm_stream_take(file->stream, file->size_bytes))
		file->size_bytes = file->size_bytes / 2 / PAGE_BYTES * PAGE_BYTES;
	if (file->size_bytes <= SMALL_BYTES) {
		file->size_bytes = PAGE_BYTES;
		if (!gm_stream_take(file->stream, PAGE_BYTES))
			return 0;
	}
	taken_bytes = file->size_bytes;
	code = gm_files_run(next_step, file);
	gm_output_give(taken_bytes - (file->segment != NULL ? file->size_bytes : 0));
	return code;
}

/* Makes the next file: larger than the last, or as large as there is room. */
static bool segment_next(struct gm_stream *stream, uint64_t now_ns)
{
	uint64_t max = stream->trace->packet_max;
	struct next_file file = {
	    .stream = stream,
	    .size_bytes = least(SEGMENT_GROWTH * stream->segment_bytes, stream->trace->segment_max),
	    .now_ns = now_ns,
	};
	long code;

	if (segment_in_place(stream, now_ns))
		return true;
	code = gm_trace_make(stream->trace);
	if (code == 0 && wants_memory() && gm_threads_count_in_memory(0)) {
		if (gm_stream_memory_begin(stream, now_ns))
			return true;
		stream->retry_ns = now_ns + RETRY_NS;
		return false;
	}
	if (code == 0)
		code = next_make(&file);
	if (code < 0)
		stream->why = gm_loss_of(code);
	if (file.segment == NULL) {
		stream->retry_ns = now_ns + RETRY_NS;
		return false;
	}
	gm_stream_leave(stream);
	__atomic_fetch_add(&n_mapped, 1, __ATOMIC_RELAXED);
	stream->in_place = false;
	stream->segment = file.segment;
	stream->segment_bytes = file.size_bytes;
	stream->window_at = 0;
	stream->mapped_bytes = file.mapped_bytes;
	stream->ready_bytes = least(file.size_bytes, READY_BYTES);
	stream->left_bytes = 0;
	gm_stream_file_begins(stream);
	gm_packet_begin(stream, 0, least(file.size_bytes, max), now_ns);
	stream->next_bytes = least(file.size_bytes == PAGE_BYTES ? FIRST_GROWTH * PAGE_BYTES
								 : 2 * stream->packet_bytes,
				   max);
	return true;
}

bool gm_stream_room(struct gm_stream *stream, uint64_t need_bytes, uint64_t now_ns)
{
	if (now_ns < stream->retry_ns)
		return false;
	if (stream->in_memory)
		return gm_stream_memory_room(stream, need_bytes, now_ns);
	if (stream->packet != NULL) {
		do {
			if (stream->pos + need_bytes <= stream->end)
				return true;
		} while (packet_more(stream));
		if (packet_next(stream, now_ns))
			return true;
	}
	return segment_next(stream, now_ns);
}

struct cut {
	struct gm_stream *stream;
	uint64_t size_bytes;
};

static long shorten_step(void *arg)
{
	const struct cut *cut = arg;
	struct gm_stream *stream = cut->stream;
	uint64_t rest = stream->segment_bytes - stream->packet_offset;
	int fd = gm_stream_file_open(stream);

	if (fd < 0)
		return fd;
	gm_packet_init(stream, (uint8_t *)stream->packet + cut->size_bytes, rest - cut->size_bytes,
		       stream->last_ns);
	packet_cut(stream, cut->size_bytes);
	gm_sys_ftruncate(fd, stream->packet_offset + cut->size_bytes);
	gm_sys_close(fd);
	return 0;
}

/* Ends the newest file `size_bytes` behind the start of its current packet. */
static bool segment_shorten(struct gm_stream *stream, uint64_t size_bytes)
{
	struct cut cut = {stream, size_bytes};

	if (size_bytes + sizeof(struct gm_packet) > stream->segment_bytes - stream->packet_offset)
		return false;
	if (gm_files_run(shorten_step, &cut) != 0)
		return false;
	gm_output_give(stream->segment_bytes - stream->packet_offset - size_bytes);
	return true;
}

/* Returns the used bytes of the current packet, rounded up to where a packet may begin. */
static uint64_t packet_used(const struct gm_stream *stream)
{
	return ((uint64_t)(stream->pos - (uint8_t *)stream->packet) + 7) / 8 * 8;
}

void gm_stream_resume(struct gm_stream *stream, uint64_t now_ns)
{
	uint64_t used, rest;

	if (stream->packet == NULL)
		return;
	if (now_ns < stream->last_ns)
		now_ns = stream->last_ns;
	if (stream->in_memory) {
		gm_stream_memory_resume(stream, now_ns);
		return;
	}
	used = packet_used(stream);
	rest = stream->packet_bytes - used;
	if (rest >= 2 * sizeof(struct gm_packet)) {
		uint64_t offset = stream->packet_offset + used;

		/* Preparing pages overwrites them, so this comes before the header is written. */
		while (stream->ready_bytes < offset + sizeof(struct gm_packet))
			segment_ready(stream);
		gm_packet_init(stream, stream->segment + offset, stream->segment_bytes - offset,
			       now_ns);
		packet_cut(stream, used);
		packet_followed(stream, GM_PACKET_FOLLOWED_HERE);
		gm_packet_begin(stream, offset, rest, now_ns);
	} else if (!packet_next(stream, now_ns)) {
		segment_unmap(stream);
	}
}

void gm_stream_close(struct gm_stream *stream)
{
	uint64_t used;

	if (stream->packet == NULL)
		return;
	if (stream->in_memory) {
		gm_stream_memory_close(stream);
		return;
	}
	used = packet_used(stream);
	/* Only if that frees a page. */
	if (stream->segment_bytes - stream->packet_offset - used >= PAGE_BYTES)
		segment_shorten(stream, used);
	segment_unmap(stream);
}

void gm_stream_trim(struct gm_stream *stream)
{
	uint64_t size_bytes, rest, skip_bytes = stream->packet_offset % PAGE_BYTES;

	if (stream->packet == NULL || stream->in_memory)
		return;
	/* Leaves one page more than it has, for events of the program's last functions. */
	size_bytes = (skip_bytes + packet_used(stream)) / PAGE_BYTES * PAGE_BYTES + 2 * PAGE_BYTES -
		     skip_bytes;
	rest = stream->segment_bytes - stream->packet_offset;
	if (size_bytes >= rest || !segment_shorten(stream, size_bytes))
		return;
	stream->segment_bytes = stream->packet_offset + size_bytes;
	if (window_end(stream) > stream->segment_bytes)
		gm_sys_munmap(stream->segment + stream->segment_bytes,
			      window_end(stream) - stream->segment_bytes);
	stream->mapped_bytes = least(window_end(stream), stream->segment_bytes) - stream->window_at;
	stream->packet_bytes = size_bytes;
	stream->ready_bytes = least(stream->ready_bytes, stream->segment_bytes);
	packet_open(stream);
}
