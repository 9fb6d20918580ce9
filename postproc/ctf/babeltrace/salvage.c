/* SPDX-License-Identifier: MIT */
/*
 * Walks the packets of each stream by their headers, and copies those streams that end in an
 * incomplete packet.
 */
#include "ctf/babeltrace/salvage.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include <glib/gstdio.h>

#define CTF_MAGIC	0xC1FC1FC1u
#define MAX_PACKET_BITS (UINT64_C(1) << 36)

/* Offsets of fields in a packet; content_offset == 0: unknown. */
struct layout {
	unsigned content_offset; /* packet_size follows it */
	unsigned head_bytes;	 /* header and context */
};

struct pp_salvage {
	struct pp_capture *capture;
	char *trace_dir;
	char *dir;
	struct layout layout;
	GPtrArray *names; /* of char *: the streams in the directory */
};

/* The part of a stream in which each packet follows another. */
struct packets {
	const uint8_t *data;
	uint64_t len_bytes;
	struct layout layout;
	uint64_t whole_bytes; /* of complete packets */
	unsigned n_whole;
	bool has_part; /* an incomplete packet follows them */
};

static uint64_t load64(const uint8_t *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return GUINT64_FROM_LE(value);
}

static void store64(uint8_t *at, uint64_t value)
{
	value = GUINT64_TO_LE(value);
	memcpy(at, &value, sizeof(value));
}

static bool has_magic(const uint8_t *at)
{
	uint32_t magic;

	memcpy(&magic, at, sizeof(magic));
	return GUINT32_FROM_LE(magic) == CTF_MAGIC;
}

/* --- layout of packets ----------------------------------------------------------------------- */

/* Sizes of the fields before the first event of a packet, in our traces and in LTTng's. */
static const struct {
	const char *name;
	unsigned bytes;
} head_fields[] = {
    {"magic", 4},	    {"uuid", 16},	  {"stream_id", 4},    {"stream_instance_id", 8},
    {"timestamp_begin", 8}, {"timestamp_end", 8}, {"packet_size", 8},  {"events_discarded", 8},
    {"packet_seq_num", 8},  {"cpu_id", 4},	  {"content_size", 8}, {"tid", 4},
    {"index", 4},	    {"child", 4},
};

static bool is_word(char c)
{
	return g_ascii_isalnum(c) || c == '_';
}

/*
 * Adds the sizes of the known fields from `at` to the end of the block, or to `until`.  Returns the
 * position where it stopped.
 */
static const char *add_fields(const char *at, const char *end, const char *until,
			      unsigned *total_bytes)
{
	while (at < end && *at != '}') {
		const char *word = at;
		size_t len;

		while (at < end && is_word(*at))
			at++;
		len = (size_t)(at - word);
		if (!len) {
			at++;
			continue;
		}
		if (until && len == strlen(until) && memcmp(word, until, len) == 0)
			return word;
		for (unsigned i = 0; i < G_N_ELEMENTS(head_fields); i++)
			if (strlen(head_fields[i].name) == len &&
			    memcmp(head_fields[i].name, word, len) == 0)
				*total_bytes += head_fields[i].bytes;
	}
	return at;
}

/* Computes the layout from the metadata. */
static struct layout find_layout(const char *trace_dir)
{
	g_autofree char *path = g_build_filename(trace_dir, "metadata", NULL);
	g_autofree char *text = NULL;
	const char *header, *context, *at, *end;
	struct layout layout = {0, 0};
	gsize len;

	if (!g_file_get_contents(path, &text, &len, NULL))
		return layout;
	end = text + len;
	header = memmem(text, len, "packet.header", strlen("packet.header"));
	/* LTTng names the structure and defines it earlier in the metadata. */
	context = memmem(text, len, "struct packet_context", strlen("struct packet_context"));
	if (!context)
		context = memmem(text, len, "packet.context", strlen("packet.context"));
	if (!header || !context)
		return layout;
	add_fields(header, end, NULL, &layout.head_bytes);
	at = add_fields(context, end, "content_size", &layout.head_bytes);
	if (at < end && *at != '}')
		layout.content_offset = layout.head_bytes;
	add_fields(at, end, NULL, &layout.head_bytes);
	return layout;
}

/* An incomplete packet at the end of the file counts if it has room for an event. */
static struct packets find_packets(const uint8_t *data, uint64_t len_bytes, struct layout layout)
{
	struct packets packets = {.data = data, .len_bytes = len_bytes, .layout = layout};

	while (len_bytes - packets.whole_bytes >= layout.head_bytes) {
		const uint8_t *head = data + packets.whole_bytes;
		uint64_t content = load64(head + layout.content_offset);
		uint64_t packet = load64(head + layout.content_offset + 8);

		if (!has_magic(head) || content > packet || packet > MAX_PACKET_BITS ||
		    packet % 8 || content / 8 < layout.head_bytes)
			break;
		packets.has_part = packet / 8 > len_bytes - packets.whole_bytes;
		if (packets.has_part)
			break;
		packets.whole_bytes += packet / 8;
		packets.n_whole++;
	}
	return packets;
}

/* --- streams --------------------------------------------------------------------------------- */

static bool is_whole(const char *path, struct layout layout)
{
	g_autoptr(GMappedFile) file = g_mapped_file_new(path, FALSE, NULL);
	uint64_t len_bytes = file ? g_mapped_file_get_length(file) : 0;
	struct packets packets;

	if (!len_bytes)
		return file;
	packets =
	    find_packets((const uint8_t *)g_mapped_file_get_contents(file), len_bytes, layout);
	return packets.whole_bytes == len_bytes;
}

/*
 * Calls `visit` for each stream of the directory until one call returns false.  Returns true if all
 * calls did.
 */
static bool for_each_stream(const char *dir_path, bool (*visit)(void *data, const char *name),
			    void *data)
{
	GDir *dir = g_dir_open(dir_path, 0, NULL);
	bool go_on = true;
	const char *name;

	if (!dir)
		return true;
	while (go_on && (name = g_dir_read_name(dir))) {
		g_autofree char *path = g_build_filename(dir_path, name, NULL);

		if (strcmp(name, "metadata") != 0 && name[0] != '.' &&
		    g_file_test(path, G_FILE_TEST_IS_REGULAR))
			go_on = visit(data, name);
	}
	g_dir_close(dir);
	return go_on;
}

struct whole {
	const char *trace_dir;
	struct layout layout;
};

static bool visit_whole(void *data, const char *name)
{
	const struct whole *whole = data;
	g_autofree char *path = g_build_filename(whole->trace_dir, name, NULL);

	return is_whole(path, whole->layout);
}

bool pp_salvage_is_needless(const char *trace_dir)
{
	struct whole whole = {trace_dir, find_layout(trace_dir)};

	/* A stream without packet sizes has a single packet, up to its end. */
	return !whole.layout.content_offset || for_each_stream(trace_dir, visit_whole, &whole);
}

static bool is_zero(const uint8_t *data, uint64_t len_bytes)
{
	for (uint64_t i = 0; i < len_bytes; i++)
		if (data[i])
			return false;
	return true;
}

/* Writes the incomplete packet as a packet of its own that ends with its available data. */
static int write_repaired(const char *to, const struct packets *packets)
{
	uint64_t len_bytes = packets->has_part ? packets->len_bytes : packets->whole_bytes;
	g_autofree uint8_t *copy = g_memdup2(packets->data, len_bytes);
	uint8_t *sizes = copy + packets->whole_bytes + packets->layout.content_offset;
	uint64_t part_bits = (len_bytes - packets->whole_bytes) * 8;

	if (packets->has_part) {
		store64(sizes, MIN(load64(sizes), part_bits));
		store64(sizes + 8, part_bits);
	}
	return g_file_set_contents_full(to, (const char *)copy, (gssize)len_bytes,
					G_FILE_SET_CONTENTS_NONE, 0600, NULL)
		   ? 0
		   : -EIO;
}

static void take_stream(struct pp_salvage *salvage, const char *name)
{
	g_autofree char *from = g_build_filename(salvage->trace_dir, name, NULL);
	g_autofree char *to = g_build_filename(salvage->dir, name, NULL);
	g_autofree char *absolute = g_canonicalize_filename(from, NULL);
	g_autoptr(GMappedFile) file = g_mapped_file_new(from, FALSE, NULL);
	const uint8_t *data = file ? (const uint8_t *)g_mapped_file_get_contents(file) : NULL;
	struct packets packets;
	uint64_t rest;

	if (!data)
		return;
	if (!salvage->layout.content_offset) {
		if (symlink(absolute, to) == 0)
			g_ptr_array_add(salvage->names, g_strdup(name));
		return;
	}
	packets = find_packets(data, g_mapped_file_get_length(file), salvage->layout);
	rest = packets.len_bytes - packets.whole_bytes;
	/* Reserved space that was never used is no loss. */
	if (rest && !is_zero(data + packets.whole_bytes, rest))
		pp_capture_add_damage(
		    salvage->capture, from,
		    "damaged or cut short in packet %u; the report covers only the "
		    "packets before",
		    packets.n_whole + 1);
	if (!packets.n_whole && !packets.has_part)
		return;
	if ((rest ? write_repaired(to, &packets) : symlink(absolute, to)) == 0)
		g_ptr_array_add(salvage->names, g_strdup(name));
}

static int link_metadata(const struct pp_salvage *salvage, const char *to_dir)
{
	g_autofree char *from = g_build_filename(salvage->trace_dir, "metadata", NULL);
	g_autofree char *absolute = g_canonicalize_filename(from, NULL);
	g_autofree char *to = g_build_filename(to_dir, "metadata", NULL);

	return symlink(absolute, to) < 0 ? -errno : 0;
}

static void remove_dir(const char *dir_path)
{
	GDir *dir = g_dir_open(dir_path, 0, NULL);
	const char *name;

	if (!dir)
		return;
	while ((name = g_dir_read_name(dir))) {
		g_autofree char *path = g_build_filename(dir_path, name, NULL);

		g_unlink(path);
	}
	g_dir_close(dir);
	g_rmdir(dir_path);
}

static bool visit_take(void *data, const char *name)
{
	take_stream(data, name);
	return true;
}

int pp_salvage_new(struct pp_capture *capture, const char *trace_dir,
		   struct pp_salvage **ret_salvage)
{
	char *dir = g_dir_make_tmp("gprof-mt-XXXXXX", NULL);
	struct pp_salvage *salvage;

	if (!dir)
		return -EIO;
	salvage = g_new0(struct pp_salvage, 1);
	salvage->capture = capture;
	salvage->trace_dir = g_strdup(trace_dir);
	salvage->dir = dir;
	salvage->layout = find_layout(trace_dir);
	salvage->names = g_ptr_array_new_with_free_func(g_free);
	if (link_metadata(salvage, dir) < 0) {
		pp_salvage_free(salvage);
		return -EIO;
	}
	*ret_salvage = salvage;
	return 0;
}

void pp_salvage_take_streams(struct pp_salvage *salvage)
{
	for_each_stream(salvage->trace_dir, visit_take, salvage);
}

const char *pp_salvage_dir(const struct pp_salvage *salvage)
{
	return salvage->dir;
}

void pp_salvage_sift(struct pp_salvage *salvage, bool (*is_readable)(void *data, const char *dir),
		     void *data)
{
	for (guint i = 0; i < salvage->names->len; i++) {
		const char *name = salvage->names->pdata[i];
		g_autofree char *path = g_build_filename(salvage->dir, name, NULL);
		g_autofree char *alone = g_dir_make_tmp("gprof-mt-XXXXXX", NULL);
		g_autofree char *link = alone ? g_build_filename(alone, name, NULL) : NULL;

		if (!alone)
			return;
		if (link_metadata(salvage, alone) == 0 && symlink(path, link) == 0 &&
		    !is_readable(data, alone)) {
			g_autofree char *original =
			    g_build_filename(salvage->trace_dir, name, NULL);

			pp_capture_add_damage(salvage->capture, original, "damaged: left out");
			g_unlink(path);
		}
		remove_dir(alone);
	}
}

void pp_salvage_free(struct pp_salvage *salvage)
{
	if (!salvage)
		return;
	remove_dir(salvage->dir);
	g_ptr_array_unref(salvage->names);
	g_free(salvage->trace_dir);
	g_free(salvage->dir);
	g_free(salvage);
}
