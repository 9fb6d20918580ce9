/* SPDX-License-Identifier: MIT */
/*
 * A folder for each child would cost six inodes and, on ext4, milliseconds.  A pack is made under a
 * hidden name and then renamed; only after that are its places marked as moved, so a reader that is
 * killed in between leaves children that are in a pack already (pp_packs_images()).
 */
#include "capture/children/pack.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/children/find.h"
#include "capture/children/packed.h"
#include "capture/children/packets.h"

#define PACKS_MAX 1000000u

/* The packets of one child. */
struct span {
	uint32_t child;
	guint at, n_bytes; /* in packing->packets */
	uint64_t begin_ns, end_ns;
	uint8_t uuid[16];
};

/* A stream of children that lived one after the other. */
struct stream {
	uint64_t end_ns;
	guint last_at; /* of its last packet */
	GByteArray *bytes;
};

struct pp_packing *pp_packing_new(void)
{
	struct pp_packing *packing = g_new(struct pp_packing, 1);

	packing->places = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	packing->table = g_byte_array_new();
	packing->packets = g_byte_array_new();
	packing->spans = g_array_new(FALSE, FALSE, sizeof(struct span));
	return packing;
}

void pp_packing_free(struct pp_packing *packing)
{
	g_array_unref(packing->places);
	g_byte_array_unref(packing->table);
	g_byte_array_unref(packing->packets);
	g_array_unref(packing->spans);
	g_free(packing);
}

/* --- a child ------------------------------------------------------------------------------ */

static bool chunk_is_good(const struct gm_calls_header *chunk, gsize left)
{
	if (chunk->chunk_bytes < sizeof(*chunk) || chunk->chunk_bytes % 64 != 0 ||
	    chunk->chunk_bytes > left)
		return false;
	if (memcmp(chunk->magic, GM_CALLS_FREE, 8) == 0)
		return true;
	return memcmp(chunk->magic, GM_CALLS_MAGIC, 8) == 0 && chunk->schema <= GM_CAPTURE_SCHEMA &&
	       chunk->header_bytes == sizeof(*chunk) &&
	       chunk->slot_bytes >= sizeof(struct gm_calls_arc) && chunk->slot_bytes % 8 == 0 &&
	       chunk->slot_bytes <= left && chunk->n_slots <= left / chunk->slot_bytes &&
	       chunk->header_bytes + (gsize)chunk->n_slots * chunk->slot_bytes <=
		   chunk->chunk_bytes;
}

/* Appends the chunk without its empty slots. */
static void add_chunk(GByteArray *to, const uint8_t *from, const struct gm_calls_header *chunk)
{
	static const uint8_t padding[64];
	struct gm_calls_header compact = *chunk;
	guint start = to->len;

	compact.n_slots = 0;
	g_byte_array_append(to, (const uint8_t *)&compact, sizeof(compact));
	for (uint32_t i = 0; i < chunk->n_slots; i++) {
		const uint8_t *slot = from + chunk->header_bytes + (gsize)i * chunk->slot_bytes;
		struct gm_calls_arc arc;

		memcpy(&arc, slot, sizeof(arc));
		if (!arc.self || !arc.count)
			continue;
		g_byte_array_append(to, slot, chunk->slot_bytes);
		compact.n_slots++;
	}
	g_byte_array_append(to, padding, (64 - (to->len - start) % 64) % 64);
	compact.chunk_bytes = to->len - start;
	memcpy(to->data + start, &compact, sizeof(compact));
}

/* Returns false, perhaps with a part of the calls appended, if they are damaged. */
static bool add_calls(GByteArray *to, const uint8_t *from)
{
	static const struct gm_calls_header nothing;
	struct gm_calls_header chunk;

	for (gsize at = 0; GM_CHILD_CALLS_BYTES - at >= sizeof(chunk); at += chunk.chunk_bytes) {
		memcpy(&chunk, from + at, sizeof(chunk));
		if (memcmp(&chunk, &nothing, sizeof(chunk)) == 0)
			return true;
		if (!chunk_is_good(&chunk, GM_CHILD_CALLS_BYTES - at))
			return false;
		if (memcmp(chunk.magic, GM_CALLS_MAGIC, 8) == 0)
			add_chunk(to, from + at, &chunk);
	}
	return true;
}

static bool add_packets(struct pp_packing *packing, struct pp_child_parent *parent,
			const struct pp_child_place *place)
{
	struct pp_child_packets packets;
	struct gm_thread_slot first;
	struct span span = {.child = packing->places->len, .at = packing->packets->len};

	memcpy(&first, place->slot, sizeof(first));
	if (!pp_child_packets_take(place->bytes + GM_CHILD_STREAM_AT, GM_CHILD_STREAM_BYTES,
				   first.tid, packing->packets, &packets))
		return false;
	span.n_bytes = packing->packets->len - span.at;
	if (!span.n_bytes)
		return true; /* killed before it wrote a packet */
	span.begin_ns = packets.begin_ns;
	span.end_ns = packets.end_ns;
	memcpy(span.uuid, packets.uuid, sizeof(span.uuid));
	if (!pp_child_has_metadata(parent)) {
		g_byte_array_set_size(packing->packets, span.at);
		return false;
	}
	g_array_append_val(packing->spans, span);
	return true;
}

bool pp_packing_add(struct pp_packing *packing, struct pp_child_parent *parent,
		    const struct pp_child_place *place, uint32_t number)
{
	struct pp_pack_record record = {.maps_bytes = place->child.maps_bytes};
	GByteArray *table = packing->table;
	guint start = table->len, n_spans = packing->spans->len;

	if (place->threads.n_slots != 1)
		return false;
	memcpy(record.threads, place->child.threads, sizeof(record.threads));
	memcpy(&record.first, place->slot, sizeof(record.first));
	g_byte_array_append(table, (const uint8_t *)&record, sizeof(record));
	if (place->child.parts & GM_CHILD_CALLS) {
		record.parts |= GM_CHILD_CALLS;
		if (!add_calls(table, place->bytes + GM_CHILD_CALLS_AT))
			goto unusual;
	}
	record.record_bytes = table->len - start;
	record.calls_bytes = record.record_bytes - (uint32_t)sizeof(record);
	if (place->child.parts & GM_CHILD_STREAM && !add_packets(packing, parent, place))
		goto unusual;
	if (packing->spans->len > n_spans)
		record.parts |= GM_CHILD_STREAM;
	memcpy(table->data + start, &record, sizeof(record));
	g_array_append_val(packing->places, number);
	return true;
unusual:
	g_byte_array_set_size(table, start);
	return false;
}

/* --- streams ------------------------------------------------------------------------------ */

static int compare_begins(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	if (x->begin_ns != y->begin_ns)
		return x->begin_ns < y->begin_ns ? -1 : 1;
	return x->child < y->child ? -1 : x->child > y->child;
}

static void stream_clear(void *data)
{
	g_byte_array_unref(((struct stream *)data)->bytes);
}

/* Returns the number of a stream that has ended by then, or of a new one. */
static guint find_stream(GArray *streams, uint64_t begin_ns)
{
	struct stream stream = {.bytes = NULL};
	guint i;

	for (i = 0; i < streams->len; i++)
		if (g_array_index(streams, struct stream, i).end_ns <= begin_ns)
			return i;
	stream.bytes = g_byte_array_new();
	g_array_append_val(streams, stream);
	return i;
}

/* The packet need not be aligned. */
static void note_followed(uint8_t *packet)
{
	uint8_t *at = packet + offsetof(struct gm_packet, tid);
	uint32_t tid;

	memcpy(&tid, at, sizeof(tid));
	tid |= GM_PACKET_FOLLOWED_HERE;
	memcpy(at, &tid, sizeof(tid));
}

static void add_span(GArray *streams, const struct span *span, const uint8_t *packets,
		     const uint8_t uuid[16])
{
	guint number = find_stream(streams, span->begin_ns);
	struct stream *stream = &g_array_index(streams, struct stream, number);
	struct gm_packet packet;

	for (guint at = span->at; at < span->at + span->n_bytes; at += packet.packet_bits / 8) {
		if (stream->bytes->len)
			note_followed(stream->bytes->data + stream->last_at);
		memcpy(&packet, packets + at, sizeof(packet));
		memcpy(packet.uuid, uuid, sizeof(packet.uuid));
		packet.stream_instance_id = number;
		packet.index = span->child;
		stream->last_at = stream->bytes->len;
		g_byte_array_append(stream->bytes, (const uint8_t *)&packet, sizeof(packet));
		g_byte_array_append(stream->bytes, packets + at + sizeof(packet),
				    (guint)(packet.packet_bits / 8 - sizeof(packet)));
	}
	stream->end_ns = span->end_ns;
}

/* Distributes the children to as many streams as there were children at a time. */
static GArray *make_streams(const struct pp_packing *packing, uint8_t ret_uuid[16])
{
	GArray *streams = g_array_new(FALSE, FALSE, sizeof(struct stream));

	g_array_set_clear_func(streams, stream_clear);
	g_array_sort(packing->spans, compare_begins);
	memcpy(ret_uuid, g_array_index(packing->spans, struct span, 0).uuid, 16);
	for (guint i = 0; i < packing->spans->len; i++)
		add_span(streams, &g_array_index(packing->spans, struct span, i),
			 packing->packets->data, ret_uuid);
	return streams;
}

/* --- files -------------------------------------------------------------------------------- */

static int write_trace(const struct pp_packing *packing, struct pp_child_parent *parent, int folder)
{
	g_autoptr(GArray) streams = NULL;
	g_autofree char *metadata = NULL;
	uint8_t uuid[16];
	int user, ret;

	if (mkdirat(folder, "user", 0700) < 0)
		return -errno;
	user = pp_child_open_dir(folder, "user");
	if (user < 0)
		return -errno;
	streams = make_streams(packing, uuid);
	metadata = pp_child_metadata_of_pack(parent, uuid);
	ret = metadata ? pp_child_write_at(user, "metadata", O_EXCL, metadata, strlen(metadata), 0)
		       : -ENODATA;
	for (guint i = 0; i < streams->len && ret == 0; i++) {
		const GByteArray *bytes = g_array_index(streams, struct stream, i).bytes;
		g_autofree char *name = g_strdup_printf("stream_%u", i);

		ret = pp_child_write_at(user, name, O_EXCL, bytes->data, bytes->len, 0);
	}
	close(user);
	return ret;
}

static int write_table(const struct pp_packing *packing, int folder)
{
	const GByteArray *table = packing->table;
	struct pp_pack_header header = {
	    .magic = PP_PACK_MAGIC,
	    .schema = GM_CAPTURE_SCHEMA,
	    .header_bytes = sizeof(header),
	    .n_children = packing->places->len,
	};
	int ret;

	ret = pp_child_write_at(folder, GM_PACK_TABLE, O_EXCL, &header, sizeof(header), 0);
	return ret < 0 ? ret
		       : pp_child_write_at(folder, GM_PACK_TABLE, 0, table->data, table->len,
					   sizeof(header));
}

static int rename_pack(int folder_fd)
{
	for (unsigned i = 0; i < PACKS_MAX; i++) {
		g_autofree char *name = g_strdup_printf(GM_PACK_PREFIX "%u", i);

		if (renameat(folder_fd, GM_PACK_HIDDEN, folder_fd, name) == 0)
			return 0;
		if (errno != EEXIST && errno != ENOTEMPTY)
			return -errno;
	}
	return -EEXIST;
}

int pp_packing_write(struct pp_packing *packing, struct pp_child_parent *parent)
{
	int folder, ret;

	if (!packing->places->len)
		return 0;
	pp_child_remove_tree(parent->folder_fd, GM_PACK_HIDDEN, 2);
	if (mkdirat(parent->folder_fd, GM_PACK_HIDDEN, 0700) < 0)
		return -errno;
	folder = pp_child_open_dir(parent->folder_fd, GM_PACK_HIDDEN);
	ret = folder < 0 ? -errno : write_table(packing, folder);
	if (ret == 0 && packing->spans->len)
		ret = write_trace(packing, parent, folder);
	if (folder >= 0)
		close(folder);
	if (ret == 0)
		ret = rename_pack(parent->folder_fd);
	if (ret < 0)
		pp_child_remove_tree(parent->folder_fd, GM_PACK_HIDDEN, 2);
	return ret;
}

GHashTable *pp_packs_images(int capture_fd, const char *folder)
{
	GHashTable *images = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	g_autoptr(GPtrArray) names = pp_children_packs(capture_fd, folder);

	for (guint i = 0; i < names->len; i++) {
		struct pp_pack *pack = pp_pack_read(capture_fd, folder, names->pdata[i]);

		for (guint j = 0; j < pack->children->len; j++) {
			const struct pp_pack_child *child =
			    &g_array_index(pack->children, struct pp_pack_child, j);
			uint64_t image = pp_pack_threads(&child->record).image;

			g_hash_table_add(images, g_memdup2(&image, sizeof(image)));
		}
		pp_pack_free(pack);
	}
	return images;
}
