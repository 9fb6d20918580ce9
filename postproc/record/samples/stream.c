/* SPDX-License-Identifier: MIT */
/* See stream.h. */
#include "record/samples/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "core/stream_name.h"
#include "core/text/write.h"
#include "gmon-mt/format.h"
#include "gmon-mt/packet.h"
#include "gmon-mt/samples.h"

#define CHUNK_ALIGN 64u

struct node {
	uint64_t address;
	uint32_t parent, number;
};

static guint node_hash(gconstpointer data)
{
	const struct node *node = data;

	return g_int64_hash(&(gint64){(gint64)(node->address * 31 + node->parent)});
}

static gboolean node_equal(gconstpointer a, gconstpointer b)
{
	const struct node *one = a, *other = b;

	return one->address == other->address && one->parent == other->parent;
}

struct pp_sample_stream *pp_sample_stream_new(uint32_t tid, uint32_t index)
{
	struct pp_sample_stream *stream = g_new0(struct pp_sample_stream, 1);

	stream->tid = tid;
	stream->index = index;
	stream->events = g_byte_array_new();
	stream->nodes = g_hash_table_new_full(node_hash, node_equal, g_free, NULL);
	stream->counts = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
	stream->next_node = ST_PATH_FIRST;
	return stream;
}

void pp_sample_stream_free(struct pp_sample_stream *stream)
{
	g_byte_array_unref(stream->events);
	g_hash_table_unref(stream->nodes);
	g_hash_table_unref(stream->counts);
	g_free(stream);
}

/* --- events --------------------------------------------------------------------------------- */

static void append(GByteArray *to, const void *bytes, unsigned n)
{
	g_byte_array_append(to, bytes, n);
}

static void begin_event(struct pp_sample_stream *stream, uint8_t id, uint64_t time_ns)
{
	static const uint8_t extended = GM_SAMPLES_EXTENDED;

	time_ns = MAX(time_ns, stream->last_ns);
	if (!stream->events->len) {
		g_byte_array_set_size(stream->events, sizeof(struct gm_packet));
		stream->begin_ns = stream->last_ns = time_ns;
	}
	if (time_ns - stream->last_ns > UINT32_MAX) {
		append(stream->events, &extended, 1);
		append(stream->events, &id, 1);
		append(stream->events, &time_ns, sizeof(time_ns));
	} else {
		append(stream->events, &id, 1);
		append(stream->events, &(uint32_t){(uint32_t)time_ns}, sizeof(uint32_t));
	}
	stream->last_ns = time_ns;
}

static uint32_t number_of(struct pp_sample_stream *stream, uint32_t parent, uint64_t address,
			  uint64_t time_ns)
{
	struct node key = {address, parent, 0}, *node = g_hash_table_lookup(stream->nodes, &key);

	if (node)
		return node->number;
	key.number = stream->next_node++;
	g_hash_table_add(stream->nodes, g_memdup2(&key, sizeof(key)));
	begin_event(stream, GM_SAMPLES_PATH, time_ns);
	append(stream->events, &key.number, sizeof(key.number));
	append(stream->events, &key.parent, sizeof(key.parent));
	append(stream->events, &key.address, sizeof(key.address));
	return key.number;
}

static void count(struct pp_sample_stream *stream, uint64_t address)
{
	uint64_t *n = g_hash_table_lookup(stream->counts, &address);

	if (n)
		++*n;
	else
		g_hash_table_insert(stream->counts, g_memdup2(&address, sizeof(address)),
				    g_memdup2(&(uint64_t){1}, sizeof(uint64_t)));
}

void pp_sample_stream_add(struct pp_sample_stream *stream, const struct pp_sample_path *path)
{
	static const uint32_t one = 1; /* period */
	uint32_t number = path->end;

	for (unsigned i = path->n; i-- > 0;)
		number = number_of(stream, number, path->frames[i], path->time_ns);
	if (!path->n)
		number = 0;
	begin_event(stream, GM_SAMPLES_SAMPLE, path->time_ns);
	append(stream->events, &number, sizeof(number));
	append(stream->events, &one, sizeof(one));
	stream->n_samples++;
	count(stream, path->address);
}

void pp_sample_stream_forget(struct pp_sample_stream *stream)
{
	g_hash_table_remove_all(stream->nodes);
}

/* --- files ---------------------------------------------------------------------------------- */

static void fill_header(const struct pp_sample_stream *stream, const uint8_t uuid[16])
{
	uint64_t bits = 8 * (uint64_t)stream->events->len;
	struct gm_packet packet = {
	    .magic = GM_PACKET_MAGIC,
	    .stream_instance_id = stream->number,
	    .content_bits = bits,
	    .packet_bits = bits,
	    .timestamp_begin = stream->begin_ns,
	    .events_discarded = stream->n_unwritten,
	    .tid = stream->tid,
	    .index = stream->index,
	};

	memcpy(packet.uuid, uuid, sizeof(packet.uuid));
	memcpy(stream->events->data, &packet, sizeof(packet));
}

/* The packet before this one is no longer the last. */
static int mark_followed(const struct pp_sample_stream *stream, int fd)
{
	uint32_t tid = stream->tid | GM_PACKET_FOLLOWED_HERE;

	if (!stream->file_bytes)
		return 0;
	return pp_write_all_at(fd, &tid, sizeof(tid),
			       (off_t)(stream->last_at + offsetof(struct gm_packet, tid)));
}

/* On failure the file ends with the last whole packet. */
static int append_packet(struct pp_sample_stream *stream, int fd)
{
	off_t at = (off_t)stream->file_bytes;
	int rc = pp_write_all_at(fd, stream->events->data, stream->events->len, at);

	if (rc == 0)
		rc = mark_followed(stream, fd);
	if (rc) {
		(void)!ftruncate(fd, at);
		return rc;
	}
	stream->last_at = stream->file_bytes;
	stream->file_bytes += stream->events->len;
	return 0;
}

static void begin_packet(struct pp_sample_stream *stream)
{
	stream->n_samples = 0;
	g_byte_array_set_size(stream->events, 0);
}

void pp_sample_stream_drop(struct pp_sample_stream *stream)
{
	stream->n_unwritten += stream->n_samples;
	/* Its definitions are not in the file. */
	pp_sample_stream_forget(stream);
	begin_packet(stream);
}

int pp_sample_stream_write(struct pp_sample_stream *stream, int dir_fd, const uint8_t uuid[16],
			   uint32_t *n_files)
{
	bool is_new = !stream->file_bytes;
	uint32_t number = is_new ? *n_files : stream->number;
	g_autofree char *name =
	    pp_stream_name_format(&(struct pp_stream_name){.stream = number}, PP_STREAM_OF_THREAD);
	int fd, rc;

	if (!stream->events->len)
		return 0;
	stream->number = number;
	fill_header(stream, uuid);
	fd = openat(dir_fd, name,
		    O_WRONLY | O_NOFOLLOW | O_CLOEXEC | (is_new ? O_CREAT | O_EXCL : 0), 0600);
	rc = fd < 0 ? -errno : append_packet(stream, fd);
	if (fd >= 0)
		close(fd);
	if (rc) {
		if (is_new && fd >= 0)
			unlinkat(dir_fd, name, 0);
		pp_sample_stream_drop(stream);
		return rc;
	}
	*n_files += is_new;
	begin_packet(stream);
	return 0;
}

void pp_sample_stream_add_counts(const struct pp_sample_stream *stream, GByteArray *calls)
{
	unsigned n = g_hash_table_size(stream->counts);
	uint64_t used = sizeof(struct gm_calls_header) + n * sizeof(struct gm_calls_arc);
	struct gm_calls_header header = {
	    .schema = GM_CAPTURE_SCHEMA,
	    .header_bytes = sizeof(header),
	    .slot_bytes = sizeof(struct gm_calls_arc),
	    .n_slots = n,
	    .index = stream->index,
	    .tid = stream->tid,
	    .chunk_bytes = (used + CHUNK_ALIGN - 1) / CHUNK_ALIGN * CHUNK_ALIGN,
	    .flags = GM_CALLS_SAMPLES | GM_CALLS_DENSE,
	};
	static const uint8_t padding[CHUNK_ALIGN];
	const uint64_t *address, *number;
	GHashTableIter iter;

	if (!n)
		return;
	memcpy(header.magic, GM_CALLS_MAGIC, sizeof(header.magic));
	append(calls, &header, sizeof(header));
	g_hash_table_iter_init(&iter, stream->counts);
	while (g_hash_table_iter_next(&iter, (void **)&address, (void **)&number)) {
		struct gm_calls_arc arc = {.self = *address, .count = *number};

		append(calls, &arc, sizeof(arc));
	}
	append(calls, padding, (unsigned)(header.chunk_bytes - used));
}
