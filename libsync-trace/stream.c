/* SPDX-License-Identifier: MIT */
/*
 * Packets in files.
 *
 * A writer's stream is <pid>/user/stream_<number>, then stream_<number>_1, _2, ..., each four times
 * as long as the one before; stream_instance_id tells a reader that they are one.  Inside a file,
 * packets double until they have the size of [sync] buffer.  A packet is one thread's.  All space
 * of a file is reserved before it is mapped, so a store never meets a full disk (SIGBUS).
 *
 * A process may be killed between any two instructions, and what it leaves must be readable.  So a
 * file gets its name when it is complete (until then it has a hidden one), with one packet that
 * spans it; the next packet's head is written into the unused end of the current one, and then one
 * store of the current one's packet_bits makes the cut.  Giving space back is a cut, too: an empty
 * packet behind the last event, which then falls to ftruncate().
 *
 * No descriptor stays open.  Of the mapping only what is still to be filled stays.
 */
#include <errno.h>

#include "internal.h"
#include "runtime/runtime.h"
#include "runtime/sys.h"

#define FIRST_BYTES	 16384u
#define PAGE_BYTES	 4096u
#define READY_BYTES	 131072u
#define SEGMENT_PACKETS	 64u /* a file holds no more than so many packets of full size */
#define SEGMENT_GROWTH	 4u  /* a new file costs 0.3 ms on ext4: few, but not much unused */
#define RETRY_NS	 100000000u
#define NAME_BYTES	 48
#define O_PATH_DIRECTORY (O_PATH | O_DIRECTORY)

static void segment_name(char *buffer, const struct st_thread *self, uint32_t number, bool hidden)
{
	struct gm_text text = {buffer, NAME_BYTES, 0};

	gm_text_add(&text, hidden ? ".stream_" : "stream_");
	gm_text_add_u64(&text, self->stream.number);
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

static uint64_t packet_max(void)
{
	uint64_t size_bytes = (st_process_packet_max() + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;

	return size_bytes > 0 ? size_bytes : PAGE_BYTES;
}

static uint64_t packet_first(void)
{
	uint64_t max = packet_max();

	return max < FIRST_BYTES ? max : FIRST_BYTES;
}

/* Writes the head of an empty packet; `at` may be at any address. */
static void packet_init(const struct st_thread *self, uint8_t *at, uint64_t size_bytes,
			uint64_t now_ns)
{
	struct st_packet packet = {
	    .magic = ST_PACKET_MAGIC,
	    .stream_instance_id = self->stream.number,
	    .content_bits = sizeof(packet) * 8,
	    .packet_bits = size_bytes * 8,
	    .timestamp_begin = now_ns,
	    .events_discarded = self->n_lost,
	    .tid = self->tid,
	    .index = self->index,
	};

	__builtin_memcpy(packet.uuid, st_process_uuid(), sizeof(packet.uuid));
	__builtin_memcpy(at, &packet, sizeof(packet));
}

static uint8_t *packet_end(const struct st_stream *stream)
{
	return stream->segment + stream->packet_offset + stream->packet_bytes;
}

/* Ends the current packet before `size_bytes`, where the head of the next one stands. */
static void packet_cut(struct st_thread *self, uint64_t size_bytes)
{
	/* release: the next head is in place before this one ends */
	__atomic_store_n(&self->packet->packet_bits, size_bytes * 8, __ATOMIC_RELEASE);
}

/* Takes the packet at `offset`, whose head is written. */
static void packet_begin(struct st_thread *self, uint64_t offset, uint64_t size_bytes,
			 uint64_t now_ns)
{
	struct st_stream *stream = &self->stream;

	stream->packet_offset = offset;
	stream->packet_bytes = size_bytes;
	self->packet = (struct st_packet *)(stream->segment + offset);
	self->pos = (uint8_t *)(self->packet + 1);
	self->last_ns = now_ns;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* The newest file of the stream.  -errno on failure. */
static int segment_open(const struct st_thread *self)
{
	int directory = gm_sys_open(st_process_dir(), O_PATH_DIRECTORY, 0), fd;
	char name[NAME_BYTES];

	if (directory < 0)
		return directory;
	segment_name(name, self, self->stream.n_segments - 1, false);
	fd = open_at(directory, name, 0);
	gm_sys_close(directory);
	return fd;
}

/*
 * Brings pages to memory by writing zeros, which the kernel does in large pieces: at 16 bytes an
 * event 3 to 4 ns each on ext4, where faults cost 20 and MADV_POPULATE_WRITE hardly less.  Should
 * it fail, faults do it: the space is reserved.
 */
static void pages_ready(int fd, uint64_t offset, uint64_t size_bytes)
{
	static char zeros[READY_BYTES]; /* only the kernel reads it: costs no memory */

	gm_syscall6(SYS_pwrite64, fd, (long)zeros, (long)size_bytes, (long)offset, 0, 0);
}

/* A packet with pages of its own, the first READY_BYTES of which are ready. */
static void packet_fresh(struct st_thread *self)
{
	struct st_stream *stream = &self->stream;

	self->end = (uint8_t *)self->packet + least(stream->packet_bytes, READY_BYTES);
	stream->next_bytes = least(2 * stream->packet_bytes, packet_max());
}

/* Makes the next pages of the current packet ready.  False: it is full. */
static bool packet_more(struct st_thread *self)
{
	struct st_stream *stream = &self->stream;
	uint64_t size_bytes = least((uint64_t)(packet_end(stream) - self->end), READY_BYTES);
	int fd;

	if (size_bytes == 0)
		return false;
	fd = segment_open(self);
	if (fd >= 0) {
		pages_ready(fd, (uint64_t)(self->end - stream->segment), size_bytes);
		gm_sys_close(fd);
	}
	self->end += size_bytes;
	return true;
}

/* The next packet of this file.  False: the file is full. */
static bool packet_next(struct st_thread *self, uint64_t now_ns)
{
	struct st_stream *stream = &self->stream;
	uint64_t offset = stream->packet_offset + stream->packet_bytes;
	uint64_t rest = stream->segment_bytes - offset;
	uint64_t size_bytes = least(stream->next_bytes, rest);
	int fd;

	if (rest == 0)
		return false;
	fd = segment_open(self);
	if (fd >= 0) {
		pages_ready(fd, offset, least(size_bytes, READY_BYTES));
		gm_sys_close(fd);
	}
	packet_init(self, stream->segment + offset, rest, now_ns);
	packet_cut(self, stream->packet_bytes);
	gm_sys_munmap(stream->segment + stream->mapped_from, offset - stream->mapped_from);
	stream->mapped_from = offset;
	packet_begin(self, offset, size_bytes, now_ns);
	packet_fresh(self);
	return true;
}

/* A new file of this size, named, with one empty packet.  NULL: no room. */
static uint8_t *segment_new(struct st_thread *self, uint64_t size_bytes, uint64_t now_ns)
{
	char hidden[NAME_BYTES], name[NAME_BYTES];
	uint8_t *segment = NULL;
	int directory = gm_sys_open(st_process_dir(), O_PATH_DIRECTORY, 0), fd;

	if (directory < 0)
		return NULL;
	segment_name(hidden, self, self->stream.n_segments, true);
	segment_name(name, self, self->stream.n_segments, false);
	fd = open_at(directory, hidden, O_CREAT | O_EXCL);
	if (fd >= 0) {
		if (gm_file_reserve(fd, 0, size_bytes) == 0) {
			pages_ready(fd, 0, least(size_bytes, READY_BYTES));
			segment = gm_sys_mmap(size_bytes, MAP_SHARED, fd, 0);
		}
		gm_sys_close(fd);
		if (segment != NULL) {
			packet_init(self, segment, size_bytes, now_ns);
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

static void segment_unmap(struct st_thread *self)
{
	struct st_stream *stream = &self->stream;

	if (stream->segment != NULL)
		gm_sys_munmap(stream->segment + stream->mapped_from,
			      stream->segment_bytes - stream->mapped_from);
	stream->segment = NULL;
	self->packet = NULL;
	self->pos = self->end = NULL;
}

/* The next file: larger than the last, or what the disk has room for. */
static bool segment_next(struct st_thread *self, uint64_t now_ns)
{
	struct st_stream *stream = &self->stream;
	uint64_t first = packet_first(), size_bytes = SEGMENT_GROWTH * stream->segment_bytes;
	uint8_t *segment = NULL;

	if (!stream->numbered) {
		stream->number = st_pool_stream_number();
		stream->numbered = true;
	}
	size_bytes = least(size_bytes, SEGMENT_PACKETS * packet_max());
	if (size_bytes < first)
		size_bytes = first;
	for (; size_bytes >= first; size_bytes = size_bytes / 2 / PAGE_BYTES * PAGE_BYTES) {
		segment = segment_new(self, size_bytes, now_ns);
		if (segment != NULL)
			break;
	}
	if (segment == NULL) {
		stream->retry_ns = now_ns + RETRY_NS;
		return false;
	}
	segment_unmap(self);
	stream->segment = segment;
	stream->segment_bytes = size_bytes;
	stream->mapped_from = 0;
	stream->n_segments++;
	packet_begin(self, 0, least(size_bytes, packet_max()), now_ns);
	packet_fresh(self);
	return true;
}

static bool room_make(struct st_thread *self, uint64_t need_bytes, uint64_t now_ns)
{
	if (self->packet != NULL) {
		if (packet_more(self))
			return true;
		if (packet_next(self, now_ns))
			return (uint64_t)(self->end - self->pos) >= need_bytes;
	}
	return segment_next(self, now_ns);
}

bool st_stream_room(struct st_thread *self, uint64_t need_bytes, uint64_t now_ns)
{
	bool made;
	uint64_t mask;

	if (now_ns < self->stream.retry_ns)
		return false;
	/* A handler might not come back. */
	gm_signals_block(&mask);
	made = room_make(self, need_bytes, now_ns);
	gm_signals_restore(mask);
	return made;
}

/* Ends the newest file `size_bytes` behind the start of its current packet. */
static bool segment_shorten(struct st_thread *self, uint64_t size_bytes)
{
	struct st_stream *stream = &self->stream;
	uint64_t rest = stream->segment_bytes - stream->packet_offset;
	int fd;

	if (size_bytes + sizeof(struct st_packet) > rest)
		return false;
	fd = segment_open(self);
	if (fd < 0)
		return false;
	packet_init(self, (uint8_t *)self->packet + size_bytes, rest - size_bytes, self->last_ns);
	packet_cut(self, size_bytes);
	gm_sys_ftruncate(fd, stream->packet_offset + size_bytes);
	gm_sys_close(fd);
	return true;
}

/* Bytes of the current packet in use, to the next place where a packet may begin. */
static uint64_t packet_used(const struct st_thread *self)
{
	return ((uint64_t)(self->pos - (uint8_t *)self->packet) + 7) / 8 * 8;
}

void st_stream_resume(struct st_thread *self, uint64_t now_ns)
{
	struct st_stream *stream = &self->stream;
	uint64_t used, rest;

	if (self->packet == NULL)
		return;
	if (now_ns < self->last_ns)
		now_ns = self->last_ns;
	used = packet_used(self);
	rest = stream->packet_bytes - used;
	if (rest >= sizeof(struct st_packet)) {
		uint8_t *next = (uint8_t *)self->packet + used;

		/* Pages are made ready by overwriting them: before the head is written. */
		if (next + sizeof(struct st_packet) > self->end)
			packet_more(self);
		packet_init(self, next, stream->segment_bytes - stream->packet_offset - used,
			    now_ns);
		packet_cut(self, used);
		packet_begin(self, stream->packet_offset + used, rest, now_ns);
	} else if (!packet_next(self, now_ns)) {
		segment_unmap(self);
	}
}

void st_stream_close(struct st_thread *self)
{
	if (self->packet == NULL)
		return;
	segment_shorten(self, packet_used(self));
	segment_unmap(self);
}

void st_stream_trim(struct st_thread *self)
{
	struct st_stream *stream = &self->stream;
	uint64_t size_bytes, rest, skip_bytes = stream->packet_offset % PAGE_BYTES;

	if (self->packet == NULL)
		return;
	/* A page more than it has, for what the program's last functions may do. */
	size_bytes = (skip_bytes + packet_used(self)) / PAGE_BYTES * PAGE_BYTES + 2 * PAGE_BYTES -
		     skip_bytes;
	rest = stream->segment_bytes - stream->packet_offset;
	if (size_bytes >= rest || !segment_shorten(self, size_bytes))
		return;
	gm_sys_munmap((uint8_t *)self->packet + size_bytes, rest - size_bytes);
	stream->segment_bytes = stream->packet_offset + size_bytes;
	stream->packet_bytes = size_bytes;
	if (self->end > packet_end(stream))
		self->end = packet_end(stream);
}
