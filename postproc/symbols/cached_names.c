/* SPDX-License-Identifier: MIT */
/*
 * Cached names as bytes: a header with the number of elements of each kind; symbols by kind;
 * places, each with its number of frames; the frames; the key; the texts, each terminated by 0; and
 * a digest of all of this.  The byte order is the machine's, since the cache is not shared.  A text
 * is stored as the offset of its first character plus 1; 0 stands for no text.
 */
#include "symbols/cached_names.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC	   "gprof-mt symbols" /* 16 characters */
#define VERSION	   6u
#define MAGIC_LEN  16
#define DIGEST	   G_CHECKSUM_SHA256
#define DIGEST_LEN 32

struct header {
	char magic[MAGIC_LEN];
	uint32_t version, key_len;
	uint32_t n_symbols[PP_N_SYMBOL_KINDS];
	uint32_t n_places, n_frames;
	uint32_t texts_len;
};

struct symbol_record {
	uint64_t address, start;
	uint32_t name, is_local;
};

struct place_record {
	uint64_t address;
	uint32_t first, n;
};

struct frame_record {
	uint32_t function, file;
	uint32_t line, is_wrapper;
};

_Static_assert(sizeof(struct header) == 48 && sizeof(struct symbol_record) == 24 &&
		   sizeof(struct place_record) == 16 && sizeof(struct frame_record) == 16,
	       "no holes, and each begins at a multiple of 8");

struct pp_cached_names {
	GHashTable *symbols[PP_N_SYMBOL_KINDS]; /* address -> struct pp_symbol * */
	GHashTable *frames;			/* address -> GArray of struct pp_raw_frame */
	GStringChunk *texts;
	GPtrArray *read; /* of GBytes that were read and contain texts */
	bool have_grown;
};

struct pp_cached_names *pp_cached_names_new(void)
{
	struct pp_cached_names *cached = g_new0(struct pp_cached_names, 1);

	for (unsigned kind = 0; kind < PP_N_SYMBOL_KINDS; kind++)
		cached->symbols[kind] =
		    g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
	cached->frames = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free,
					       (GDestroyNotify)g_array_unref);
	cached->texts = g_string_chunk_new(4096);
	cached->read = g_ptr_array_new_with_free_func((GDestroyNotify)g_bytes_unref);
	return cached;
}

void pp_cached_names_free(struct pp_cached_names *cached)
{
	if (!cached)
		return;
	for (unsigned kind = 0; kind < PP_N_SYMBOL_KINDS; kind++)
		g_hash_table_unref(cached->symbols[kind]);
	g_hash_table_unref(cached->frames);
	g_string_chunk_free(cached->texts);
	g_ptr_array_unref(cached->read);
	g_free(cached);
}

const struct pp_symbol *pp_cached_names_symbol(const struct pp_cached_names *cached,
					       enum pp_symbol_kind kind, uint64_t address)
{
	return g_hash_table_lookup(cached->symbols[kind], &address);
}

const GArray *pp_cached_names_frames(const struct pp_cached_names *cached, uint64_t address)
{
	return g_hash_table_lookup(cached->frames, &address);
}

static const char *keep_text(struct pp_cached_names *cached, const char *text)
{
	return text ? g_string_chunk_insert_const(cached->texts, text) : NULL;
}

static const struct pp_symbol *take_symbol(struct pp_cached_names *cached, enum pp_symbol_kind kind,
					   uint64_t address, const struct pp_symbol *symbol)
{
	struct pp_symbol *kept = g_memdup2(symbol, sizeof(*symbol));

	g_hash_table_insert(cached->symbols[kind], g_memdup2(&address, sizeof(address)), kept);
	return kept;
}

const struct pp_symbol *pp_cached_names_add_symbol(struct pp_cached_names *cached,
						   enum pp_symbol_kind kind, uint64_t address,
						   const struct pp_symbol *symbol)
{
	struct pp_symbol kept = *symbol;

	kept.name = keep_text(cached, symbol->name);
	cached->have_grown = true;
	return take_symbol(cached, kind, address, &kept);
}

const GArray *pp_cached_names_add_frames(struct pp_cached_names *cached, uint64_t address,
					 const GArray *frames)
{
	GArray *kept = g_array_sized_new(FALSE, FALSE, sizeof(struct pp_raw_frame), frames->len);

	for (guint i = 0; i < frames->len; i++) {
		struct pp_raw_frame frame = g_array_index(frames, struct pp_raw_frame, i);

		frame.function = keep_text(cached, frame.function);
		frame.file = keep_text(cached, frame.file);
		g_array_append_val(kept, frame);
	}
	cached->have_grown = true;
	g_hash_table_insert(cached->frames, g_memdup2(&address, sizeof(address)), kept);
	return kept;
}

bool pp_cached_names_have_grown(const struct pp_cached_names *cached)
{
	return cached->have_grown;
}

/* --- writing -------------------------------------------------------------------------------- */

struct writer {
	GByteArray *bytes, *frames, *texts;
	GHashTable *text_at; /* text -> its number */
};

static uint32_t number_of(struct writer *writer, const char *text)
{
	void *number = text ? g_hash_table_lookup(writer->text_at, text) : NULL;

	if (text && !number) {
		number = GUINT_TO_POINTER(writer->texts->len + 1);
		g_byte_array_append(writer->texts, (const guint8 *)text, (guint)strlen(text) + 1);
		g_hash_table_insert(writer->text_at, (char *)text, number);
	}
	return GPOINTER_TO_UINT(number);
}

static int compare_addresses(const void *a, const void *b)
{
	const uint64_t *x = *(uint64_t *const *)a, *y = *(uint64_t *const *)b;

	return *x < *y ? -1 : *x > *y;
}

/*
 * The addresses in ascending order, so that equal contents give equal bytes.  The caller frees the
 * array.
 */
static const uint64_t **sorted_keys(GHashTable *table)
{
	guint n;
	const uint64_t **keys = (const uint64_t **)g_hash_table_get_keys_as_array(table, &n);

	qsort(keys, n, sizeof(*keys), compare_addresses);
	return keys;
}

static void write_symbols(struct writer *writer, GHashTable *symbols)
{
	g_autofree const uint64_t **keys = sorted_keys(symbols);

	for (guint i = 0; keys[i]; i++) {
		const struct pp_symbol *symbol = g_hash_table_lookup(symbols, keys[i]);
		struct symbol_record record = {
		    .address = *keys[i],
		    .start = symbol->start,
		    .name = number_of(writer, symbol->name),
		    .is_local = symbol->is_local,
		};

		g_byte_array_append(writer->bytes, (const guint8 *)&record, sizeof(record));
	}
}

static void write_places(struct writer *writer, GHashTable *frames)
{
	g_autofree const uint64_t **keys = sorted_keys(frames);

	for (guint i = 0; keys[i]; i++) {
		const GArray *at = g_hash_table_lookup(frames, keys[i]);
		struct place_record place = {
		    .address = *keys[i],
		    .first = writer->frames->len / (guint)sizeof(struct frame_record),
		    .n = at->len,
		};

		for (guint f = 0; f < at->len; f++) {
			const struct pp_raw_frame *raw = &g_array_index(at, struct pp_raw_frame, f);
			struct frame_record record = {
			    .function = number_of(writer, raw->function),
			    .file = number_of(writer, raw->file),
			    .line = (uint32_t)MAX(raw->line, 0),
			    .is_wrapper = raw->is_wrapper,
			};

			g_byte_array_append(writer->frames, (const guint8 *)&record,
					    sizeof(record));
		}
		g_byte_array_append(writer->bytes, (const guint8 *)&place, sizeof(place));
	}
}

static void append_digest(GByteArray *bytes)
{
	g_autoptr(GChecksum) sum = g_checksum_new(DIGEST);
	guint8 digest[DIGEST_LEN];
	gsize len = sizeof(digest);

	g_checksum_update(sum, bytes->data, bytes->len);
	g_checksum_get_digest(sum, digest, &len);
	g_byte_array_append(bytes, digest, (guint)len);
}

GBytes *pp_cached_names_write(const struct pp_cached_names *cached, const char *key)
{
	struct writer writer = {
	    .bytes = g_byte_array_new(),
	    .frames = g_byte_array_new(),
	    .texts = g_byte_array_new(),
	    .text_at = g_hash_table_new(g_str_hash, g_str_equal),
	};
	struct header header = {
	    .version = VERSION,
	    .key_len = (uint32_t)strlen(key),
	    .n_places = g_hash_table_size(cached->frames),
	};

	memcpy(header.magic, MAGIC, MAGIC_LEN);
	g_byte_array_append(writer.bytes, (const guint8 *)&header, sizeof(header));
	for (unsigned kind = 0; kind < PP_N_SYMBOL_KINDS; kind++) {
		header.n_symbols[kind] = g_hash_table_size(cached->symbols[kind]);
		write_symbols(&writer, cached->symbols[kind]);
	}
	write_places(&writer, cached->frames);
	header.n_frames = writer.frames->len / (guint)sizeof(struct frame_record);
	header.texts_len = writer.texts->len;
	memcpy(writer.bytes->data, &header, sizeof(header));
	g_byte_array_append(writer.bytes, writer.frames->data, writer.frames->len);
	g_byte_array_append(writer.bytes, (const guint8 *)key, header.key_len);
	g_byte_array_append(writer.bytes, writer.texts->data, writer.texts->len);
	append_digest(writer.bytes);
	g_byte_array_unref(writer.frames);
	g_byte_array_unref(writer.texts);
	g_hash_table_unref(writer.text_at);
	return g_byte_array_free_to_bytes(writer.bytes);
}

/* --- reading -------------------------------------------------------------------------------- */

struct reader {
	const struct header *header;
	const struct symbol_record *symbols[PP_N_SYMBOL_KINDS];
	const struct place_record *places;
	const struct frame_record *frames;
	const char *key, *texts;
};

static bool has_digest(const uint8_t *data, size_t len)
{
	g_autoptr(GChecksum) sum = g_checksum_new(DIGEST);
	guint8 digest[DIGEST_LEN];
	gsize digest_len = sizeof(digest);

	g_checksum_update(sum, data, (gssize)len);
	g_checksum_get_digest(sum, digest, &digest_len);
	return memcmp(digest, data + len, sizeof(digest)) == 0;
}

/* Finds all parts.  Returns false if the sizes do not add up or the digest does not match. */
static bool open_bytes(struct reader *reader, GBytes *bytes)
{
	gsize len;
	const uint8_t *at = g_bytes_get_data(bytes, &len);
	const struct header *header = (const struct header *)(const void *)at;
	uint64_t wanted = sizeof(*header) + DIGEST_LEN;

	if (len < wanted || memcmp(header->magic, MAGIC, MAGIC_LEN) != 0 ||
	    header->version != VERSION)
		return false;
	for (unsigned kind = 0; kind < PP_N_SYMBOL_KINDS; kind++)
		wanted += (uint64_t)header->n_symbols[kind] * sizeof(struct symbol_record);
	wanted += (uint64_t)header->n_places * sizeof(struct place_record) +
		  (uint64_t)header->n_frames * sizeof(struct frame_record) + header->key_len +
		  header->texts_len;
	if (len != wanted || !has_digest(at, len - DIGEST_LEN))
		return false;
	reader->header = header;
	at += sizeof(*header);
	for (unsigned kind = 0; kind < PP_N_SYMBOL_KINDS; kind++) {
		reader->symbols[kind] = (const struct symbol_record *)(const void *)at;
		at += header->n_symbols[kind] * sizeof(struct symbol_record);
	}
	reader->places = (const struct place_record *)(const void *)at;
	at += header->n_places * sizeof(struct place_record);
	reader->frames = (const struct frame_record *)(const void *)at;
	at += header->n_frames * sizeof(struct frame_record);
	reader->key = (const char *)at;
	reader->texts = reader->key + header->key_len;
	return header->texts_len == 0 || reader->texts[header->texts_len - 1] == '\0';
}

static bool is_about(const struct reader *reader, const char *key)
{
	return reader->header->key_len == strlen(key) &&
	       memcmp(reader->key, key, reader->header->key_len) == 0;
}

static bool is_text(const struct reader *reader, uint32_t number)
{
	return number <= reader->header->texts_len;
}

static const char *text_of(const struct reader *reader, uint32_t number)
{
	return number ? reader->texts + number - 1 : NULL;
}

static bool is_sound(const struct reader *reader)
{
	const struct header *header = reader->header;

	for (unsigned kind = 0; kind < PP_N_SYMBOL_KINDS; kind++)
		for (uint32_t i = 0; i < header->n_symbols[kind]; i++)
			if (!is_text(reader, reader->symbols[kind][i].name))
				return false;
	for (uint32_t i = 0; i < header->n_frames; i++) {
		const struct frame_record *frame = &reader->frames[i];

		if (!is_text(reader, frame->function) || !is_text(reader, frame->file) ||
		    frame->line > INT_MAX)
			return false;
	}
	/* Frames of places must be consecutive, so that a small file cannot expand to much data. */
	for (uint32_t i = 0, first = 0; i < header->n_places; i++) {
		const struct place_record *place = &reader->places[i];

		if (place->first != first || place->n > header->n_frames - first)
			return false;
		first += place->n;
	}
	return true;
}

static void take_symbols(struct pp_cached_names *cached, const struct reader *reader,
			 enum pp_symbol_kind kind)
{
	for (uint32_t i = 0; i < reader->header->n_symbols[kind]; i++) {
		const struct symbol_record *record = &reader->symbols[kind][i];
		struct pp_symbol symbol = {
		    .start = record->start,
		    .name = text_of(reader, record->name),
		    .is_local = record->is_local != 0,
		};

		take_symbol(cached, kind, record->address, &symbol);
	}
}

static void take_places(struct pp_cached_names *cached, const struct reader *reader)
{
	for (uint32_t i = 0; i < reader->header->n_places; i++) {
		const struct place_record *place = &reader->places[i];
		GArray *frames =
		    g_array_sized_new(FALSE, FALSE, sizeof(struct pp_raw_frame), place->n);

		for (uint32_t f = 0; f < place->n; f++) {
			const struct frame_record *record = &reader->frames[place->first + f];
			struct pp_raw_frame frame = {
			    .function = text_of(reader, record->function),
			    .file = text_of(reader, record->file),
			    .line = (int)record->line,
			    .is_wrapper = record->is_wrapper != 0,
			};

			g_array_append_val(frames, frame);
		}
		g_hash_table_insert(cached->frames,
				    g_memdup2(&place->address, sizeof(place->address)), frames);
	}
}

bool pp_cached_names_read(struct pp_cached_names *cached, GBytes *bytes, const char *key)
{
	struct reader reader = {0};

	if (!open_bytes(&reader, bytes) || !is_about(&reader, key) || !is_sound(&reader))
		return false;
	g_ptr_array_add(cached->read, g_bytes_ref(bytes));
	for (unsigned kind = 0; kind < PP_N_SYMBOL_KINDS; kind++)
		take_symbols(cached, &reader, (enum pp_symbol_kind)kind);
	take_places(cached, &reader);
	return true;
}
