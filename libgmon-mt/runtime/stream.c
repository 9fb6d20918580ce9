/* SPDX-License-Identifier: MIT */
/*
 * Packets in files.
 *
 * A writer's stream is <pid>/<trace>/stream_<number>, then stream_<number>_1, _2, ..., each four
 * times as long as the one before; stream_instance_id tells a reader that they are one.  Inside a
 * file, packets double until they have the configured size.  A packet is one thread's.  All space
 * is reserved before it is stored to, so a store never meets a full disk (SIGBUS).
 *
 * A process may be killed between any two instructions, and what it leaves must be readable.  The
 * next packet's head is written into the unused end of the current one, and then one store of the
 * current one's packet_bits makes the cut.  Giving space back is a cut, too: an empty packet behind
 * the last event, which then falls to ftruncate().
 *
 * The first file of a stream is small and grows, since most threads do little: pages are written to
 * its end, each an empty packet, and one store makes one packet of them.  A large file gets its
 * name when it is complete (until then it has a hidden one), with one packet that spans it.
 *
 * A packet that another follows says so (packet.h), once that is there: a file that was cut between
 * two packets, and a last file that is missing, would look like the end.
 *
 * No descriptor stays open.  Of the file only what is still to be filled stays in memory.
 */
#include <errno.h>
#include <sys/uio.h>

#include "runtime/runtime.h"
#include "runtime/stream.h"
#include "runtime/sys.h"

#define PAGE_BYTES	  4096u
#define GROWTH_PAGES	  8u
#define SMALL_BYTES	  (15 * PAGE_BYTES) /* 1 + 2 + 4 + 8 pages */
#define READY_BYTES	  131072u
#define SEGMENT_PACKETS	  64u /* a file holds no more than so many packets of full size */
#define SEGMENT_MAX_LEAST (4u << 20)
#define SEGMENT_GROWTH	  4u
#define RETRY_NS	  100000000u
#define NAME_BYTES	  48
#define END_BYTES	  8u /* of a file, never used: a late look behind the last event stays in it */
#define O_PATH_DIRECTORY  (O_PATH | O_DIRECTORY)

static void segment_name(char *buffer, const struct gm_stream *stream, uint32_t number, bool hidden)
{
	struct gm_text text = {buffer, NAME_BYTES, 0};

	gm_text_add(&text, hidden ? ".stream_" : "stream_");
	gm_text_add_u64(&text, stream->number);
	if (number > 0) {
		gm_text_add(&text, "_");
		gm_text_add_u64(&text, number);
	}
}

static int open_at(int directory, const char *name, int flags)
{
	return (int)gm_syscall6(SYS_openat, directory, (long)name,
				flags | O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0600, 0, 0);
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Writes the head of an empty packet; `at` may be at any address. */
static void packet_init(const struct gm_stream *stream, uint8_t *at, uint64_t size_bytes,
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

/* Ends the current packet before `size_bytes`, where the head of an empty one stands. */
static void packet_cut(struct gm_stream *stream, uint64_t size_bytes)
{
	/* release: the next head is in place before this one ends */
	__atomic_store_n(&stream->packet->packet_bits, size_bytes * 8, __ATOMIC_RELEASE);
}

/* Where the events of the current packet have to end. */
static uint8_t *packet_end(const struct gm_stream *stream)
{
	return stream->segment + least(stream->packet_offset + stream->packet_bytes,
				       stream->segment_bytes - END_BYTES);
}

/* Up to where they may go now. */
static void packet_open(struct gm_stream *stream)
{
	uint8_t *ready = stream->segment + stream->ready_bytes;

	stream->end = packet_end(stream);
	if (stream->end > ready)
		stream->end = ready;
}

/* Takes the packet at `offset`, whose head is written. */
static void packet_begin(struct gm_stream *stream, uint64_t offset, uint64_t size_bytes,
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
 * Leaves the current packet.  Who was interrupted about to write behind its last event must not
 * find that place empty.
 */
static void packet_leave(const struct gm_stream *stream)
{
	if (stream->trace->keeps_mappings && stream->pos + END_BYTES <= stream->segment +
									    stream->packet_offset +
									    stream->packet_bytes)
		memset(stream->pos, 0xff, END_BYTES);
}

/* Says that the next packet is there, and where: for who finds the current one to be the last. */
static void packet_followed(const struct gm_stream *stream, uint32_t where)
{
	/* release: neither the processor nor a kill puts it before the next head */
	__atomic_store_n(&stream->packet->tid, stream->packet->tid | where, __ATOMIC_RELEASE);
}

/* The newest file of the stream.  -errno on failure. */
static int segment_open(const struct gm_stream *stream)
{
	int directory = gm_sys_open(stream->trace->dir, O_PATH_DIRECTORY, 0), fd;
	char name[NAME_BYTES];

	if (directory < 0)
		return directory;
	segment_name(name, stream, stream->n_segments - 1, false);
	fd = open_at(directory, name, 0);
	gm_sys_close(directory);
	return fd;
}

static char zeros[READY_BYTES]; /* only read: costs no memory */

/*
 * Brings pages to memory by writing zeros, which the kernel does in large pieces: at 16 bytes an
 * event 3 to 4 ns each on ext4, where faults cost 20 and MADV_POPULATE_WRITE hardly less.  Should
 * it fail, faults do it: the space is reserved.
 */
static void pages_ready(int fd, uint64_t offset, uint64_t size_bytes)
{
	gm_syscall6(SYS_pwrite64, fd, (long)zeros, (long)size_bytes, (long)offset, 0, 0);
}

/* Makes the next pages of the file ready: nothing is written there yet. */
static void segment_ready(struct gm_stream *stream)
{
	uint64_t from = stream->ready_bytes;
	uint64_t to = least(from + READY_BYTES, stream->segment_bytes);
	int fd = segment_open(stream);

	if (fd >= 0) {
		pages_ready(fd, from, to - from);
		gm_sys_close(fd);
	}
	stream->ready_bytes = to;
}

/* Lets go of the pages before the current packet. */
static void segment_let_go(struct gm_stream *stream, uint64_t upto_bytes)
{
	upto_bytes = upto_bytes / PAGE_BYTES * PAGE_BYTES;
	if (upto_bytes <= stream->left_bytes)
		return;
	gm_syscall3(SYS_madvise, (long)(stream->segment + stream->left_bytes),
		    (long)(upto_bytes - stream->left_bytes), MADV_DONTNEED);
	stream->left_bytes = upto_bytes;
}

/* Makes the next pages of the current packet ready.  False: it is full. */
static bool packet_more(struct gm_stream *stream)
{
	if (stream->end >= packet_end(stream))
		return false;
	segment_ready(stream);
	packet_open(stream);
	return true;
}

/*
 * Makes a file longer by pages that are an empty packet each.  The kernel adds page after page, so
 * the file is whole whenever it stops.  Returns by how many bytes; 0: there is no room, and the
 * stream knows why.
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
	packet_init(stream, (uint8_t *)&head, PAGE_BYTES, now_ns);
	while (n_parts < size_bytes / PAGE_BYTES * 2) {
		parts[n_parts++] = (struct iovec){&head, sizeof(head)};
		parts[n_parts++] = (struct iovec){zeros, PAGE_BYTES - sizeof(head)};
	}
	/* In memory before it is asked for: the kernel would begin with half a page. */
	(void)*(volatile char *)zeros;
	added = gm_syscall6(SYS_pwritev, fd, (long)parts, n_parts, (long)from, 0, 0);
	if (added > 0 && added % PAGE_BYTES != 0)
		gm_sys_ftruncate(fd, from + (uint64_t)added / PAGE_BYTES * PAGE_BYTES);
	if (added < (long)PAGE_BYTES)
		stream->why = added < 0 ? gm_loss_of(added) : GM_LOSS_DISK;
	return added > 0 ? (uint64_t)added / PAGE_BYTES * PAGE_BYTES : 0;
}

/* The next packet, behind the end of this file.  False: it is no file that grows, or no room. */
static bool segment_grow(struct gm_stream *stream, uint64_t now_ns)
{
	uint64_t from = stream->segment_bytes;
	uint64_t size_bytes = least(stream->next_bytes, stream->mapped_bytes - from);
	uint8_t *start = stream->segment + from;
	int fd = size_bytes > 0 ? segment_open(stream) : -1;

	if (fd < 0)
		return false;
	size_bytes =
	    pages_add(stream, fd, from, least(size_bytes, GROWTH_PAGES * PAGE_BYTES), now_ns);
	gm_sys_close(fd);
	if (size_bytes == 0)
		return false;
	packet_leave(stream);
	packet_followed(stream, GM_PACKET_FOLLOWED_HERE);
	/* release: for a reader of the live file, which may see the heads behind it go */
	__atomic_store_n(&((struct gm_packet *)start)->packet_bits, size_bytes * 8,
			 __ATOMIC_RELEASE);
	for (uint64_t at = PAGE_BYTES; at < size_bytes; at += PAGE_BYTES)
		memset(start + at, 0, sizeof(struct gm_packet));
	stream->segment_bytes = stream->ready_bytes = from + size_bytes;
	packet_begin(stream, from, size_bytes, now_ns);
	stream->next_bytes = least(2 * size_bytes, stream->trace->packet_max);
	return true;
}

/* The next packet of this file.  False: the file is full. */
static bool packet_next(struct gm_stream *stream, uint64_t now_ns)
{
	uint64_t offset = stream->packet_offset + stream->packet_bytes;
	uint64_t rest = stream->segment_bytes - offset;

	if (rest < sizeof(struct gm_packet) + PAGE_BYTES / 2)
		return segment_grow(stream, now_ns);
	while (stream->ready_bytes < offset + sizeof(struct gm_packet))
		segment_ready(stream);
	packet_init(stream, stream->segment + offset, rest, now_ns);
	packet_leave(stream);
	packet_cut(stream, stream->packet_bytes);
	packet_followed(stream, GM_PACKET_FOLLOWED_HERE);
	if (offset - stream->left_bytes >= READY_BYTES)
		segment_let_go(stream, offset);
	packet_begin(stream, offset, least(stream->next_bytes, rest), now_ns);
	stream->next_bytes = least(2 * stream->packet_bytes, stream->trace->packet_max);
	return true;
}

/*
 * A new file of one page, named, with an empty packet, mapped as long as it may grow.  It has its
 * name before the packet: a file without a byte is none to a reader.  NULL: no room.
 */
static uint8_t *segment_small(struct gm_stream *stream, uint64_t now_ns)
{
	char name[NAME_BYTES];
	uint8_t *segment = NULL;
	int directory = gm_sys_open(stream->trace->dir, O_PATH_DIRECTORY, 0), fd;

	stream->why = gm_loss_of(directory);
	if (directory < 0)
		return NULL;
	segment_name(name, stream, stream->n_segments, false);
	fd = open_at(directory, name, O_CREAT | O_EXCL);
	stream->why = gm_loss_of(fd);
	if (fd >= 0) {
		stream->why = GM_LOSS_MEMORY;
		if (pages_add(stream, fd, 0, PAGE_BYTES, now_ns) > 0)
			segment = gm_sys_mmap(SMALL_BYTES, MAP_SHARED, fd, 0);
		gm_sys_close(fd);
		if (segment == NULL)
			gm_syscall3(SYS_unlinkat, directory, (long)name, 0);
	}
	gm_sys_close(directory);
	return segment;
}

/* A new file of this size, named, with one empty packet.  NULL: no room. */
static uint8_t *segment_large(struct gm_stream *stream, uint64_t size_bytes, uint64_t now_ns)
{
	char hidden[NAME_BYTES], name[NAME_BYTES];
	uint8_t *segment = NULL;
	int directory = gm_sys_open(stream->trace->dir, O_PATH_DIRECTORY, 0), fd;

	if (directory < 0)
		return NULL;
	segment_name(hidden, stream, stream->n_segments, true);
	segment_name(name, stream, stream->n_segments, false);
	fd = open_at(directory, hidden, O_CREAT | O_EXCL);
	if (fd >= 0) {
		if (gm_file_reserve(fd, 0, size_bytes) == 0) {
			pages_ready(fd, 0, least(size_bytes, READY_BYTES));
			segment = gm_sys_mmap(size_bytes, MAP_SHARED, fd, 0);
		}
		gm_sys_close(fd);
		if (segment != NULL) {
			packet_init(stream, segment, size_bytes, now_ns);
			if (gm_syscall6(SYS_renameat, directory, (long)hidden, directory,
					(long)name, 0, 0) != 0) {
				gm_sys_munmap(segment, size_bytes);
				segment = NULL;
			}
		}
		if (segment == NULL)
			gm_syscall3(SYS_unlinkat, directory, (long)hidden, 0);
	}
	gm_sys_close(directory);
	return segment;
}

static void segment_unmap(struct gm_stream *stream)
{
	if (stream->segment != NULL)
		gm_sys_munmap(stream->segment, stream->mapped_bytes);
	stream->segment = NULL;
	stream->packet = NULL;
	stream->pos = stream->end = NULL;
}

/* Done with a full file: its addresses stay taken if someone may still look there. */
static void segment_leave(struct gm_stream *stream)
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

/* The next file: larger than the last, or what the disk has room for. */
static bool segment_next(struct gm_stream *stream, uint64_t now_ns)
{
	uint64_t max = stream->trace->packet_max;
	uint64_t size_bytes =
	    least(SEGMENT_GROWTH * stream->segment_bytes, stream->trace->segment_max);
	uint64_t mapped_bytes;
	uint8_t *segment = NULL;

	if (!stream->numbered) {
		stream->number = __atomic_fetch_add(&stream->trace->n_streams, 1, __ATOMIC_RELAXED);
		stream->numbered = true;
	}
	for (; size_bytes > SMALL_BYTES; size_bytes = size_bytes / 2 / PAGE_BYTES * PAGE_BYTES) {
		segment = segment_large(stream, size_bytes, now_ns);
		if (segment != NULL)
			break;
	}
	mapped_bytes = size_bytes;
	if (segment == NULL) {
		segment = segment_small(stream, now_ns);
		size_bytes = PAGE_BYTES;
		mapped_bytes = SMALL_BYTES;
	}
	if (segment == NULL) {
		stream->retry_ns = now_ns + RETRY_NS;
		return false;
	}
	segment_leave(stream);
	stream->segment = segment;
	stream->segment_bytes = size_bytes;
	stream->mapped_bytes = mapped_bytes;
	stream->ready_bytes = least(size_bytes, READY_BYTES);
	stream->left_bytes = 0;
	stream->n_segments++;
	packet_begin(stream, 0, least(size_bytes, max), now_ns);
	stream->next_bytes = least(2 * stream->packet_bytes, max);
	return true;
}

bool gm_stream_room(struct gm_stream *stream, uint64_t need_bytes, uint64_t now_ns)
{
	if (now_ns < stream->retry_ns)
		return false;
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

/* Ends the newest file `size_bytes` behind the start of its current packet. */
static bool segment_shorten(struct gm_stream *stream, uint64_t size_bytes)
{
	uint64_t rest = stream->segment_bytes - stream->packet_offset;
	int fd;

	if (size_bytes + sizeof(struct gm_packet) > rest)
		return false;
	fd = segment_open(stream);
	if (fd < 0)
		return false;
	packet_init(stream, (uint8_t *)stream->packet + size_bytes, rest - size_bytes,
		    stream->last_ns);
	packet_cut(stream, size_bytes);
	gm_sys_ftruncate(fd, stream->packet_offset + size_bytes);
	gm_sys_close(fd);
	return true;
}

/* Bytes of the current packet in use, to the next place where a packet may begin. */
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
	used = packet_used(stream);
	rest = stream->packet_bytes - used;
	if (rest >= 2 * sizeof(struct gm_packet)) {
		uint64_t offset = stream->packet_offset + used;

		/* Pages are made ready by overwriting them: before the head is written. */
		while (stream->ready_bytes < offset + sizeof(struct gm_packet))
			segment_ready(stream);
		packet_init(stream, stream->segment + offset, stream->segment_bytes - offset,
			    now_ns);
		packet_cut(stream, used);
		packet_followed(stream, GM_PACKET_FOLLOWED_HERE);
		packet_begin(stream, offset, rest, now_ns);
	} else if (!packet_next(stream, now_ns)) {
		segment_unmap(stream);
	}
}

void gm_stream_close(struct gm_stream *stream)
{
	uint64_t used;

	if (stream->packet == NULL)
		return;
	used = packet_used(stream);
	/* Only if that frees a page. */
	if (stream->segment_bytes - stream->packet_offset - used >= PAGE_BYTES)
		segment_shorten(stream, used);
	segment_unmap(stream);
}

void gm_stream_trim(struct gm_stream *stream)
{
	uint64_t size_bytes, rest, skip_bytes = stream->packet_offset % PAGE_BYTES;

	if (stream->packet == NULL)
		return;
	/* A page more than it has, for what the program's last functions may do. */
	size_bytes = (skip_bytes + packet_used(stream)) / PAGE_BYTES * PAGE_BYTES + 2 * PAGE_BYTES -
		     skip_bytes;
	rest = stream->segment_bytes - stream->packet_offset;
	if (size_bytes >= rest || !segment_shorten(stream, size_bytes))
		return;
	stream->segment_bytes = stream->packet_offset + size_bytes;
	gm_sys_munmap(stream->segment + stream->segment_bytes,
		      stream->mapped_bytes - stream->segment_bytes);
	stream->mapped_bytes = stream->segment_bytes;
	stream->packet_bytes = size_bytes;
	stream->ready_bytes = least(stream->ready_bytes, stream->segment_bytes);
	packet_open(stream);
}

bool gm_trace_open(struct gm_trace *trace, const char *name, uint64_t buffer_bytes,
		   const struct gm_event_class *events, unsigned n_events, const char *consequence)
{
	const struct gm_process *process = gm_process_get();
	struct gm_text dir = GM_TEXT(trace->dir), error;
	char warning[GM_WARNING_BYTES], hidden_name[NAME_BYTES] = ".";
	struct gm_text dot = {hidden_name + 1, sizeof(hidden_name) - 1, 0};
	char *hidden;
	long code = -ENOMEM;

	gm_text_add(&dot, name);
	hidden = gm_path_new(process->dir, hidden_name);
	gm_text_add(&dir, process->dir);
	gm_text_add(&dir, "/");
	gm_text_add(&dir, name);
	trace->n_streams = 0;
	trace->packet_max = (buffer_bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
	trace->segment_max = SEGMENT_PACKETS * trace->packet_max;
	if (trace->segment_max < SEGMENT_MAX_LEAST)
		trace->segment_max = SEGMENT_MAX_LEAST;
	if (gm_syscall3(SYS_getrandom, (long)trace->uuid, sizeof(trace->uuid), 0) !=
	    sizeof(trace->uuid))
		memcpy(trace->uuid, &process->capture.clock_offset_ns, 8);
	if (hidden != NULL) {
		code = gm_sys_mkdir(hidden, 0700);
		if (code == 0)
			code = gm_metadata_write(hidden, trace->uuid, events, n_events);
		if (code == 0)
			code = gm_sys_rename(hidden, trace->dir);
		if (code != 0)
			gm_remove_tree(hidden);
	}
	gm_path_free(hidden);
	if (code == 0)
		return true;
	trace->why = gm_loss_of(code);
	error = GM_TEXT(warning);
	gm_text_add(&error, trace->dir);
	gm_text_add(&error, ": ");
	gm_text_add(&error, consequence);
	gm_text_add(&error, ": ");
	gm_text_add_errno(&error, code);
	gm_text_add(&error, "; the program runs without");
	gm_warn(warning);
	return false;
}
