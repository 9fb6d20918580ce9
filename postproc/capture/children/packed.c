/* SPDX-License-Identifier: MIT */
/* Reads the tables of packs.  No field is trusted. */
#include "capture/children/packed.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/children/fill.h"
#include "capture/children/find.h"

#define TABLE_MAX                                                                                  \
	(sizeof(struct pp_pack_header) +                                                           \
	 PP_PACK_MAX * (sizeof(struct pp_pack_record) + GM_CHILD_CALLS_BYTES))

struct gm_threads_header pp_pack_threads(const struct pp_pack_record *record)
{
	struct gm_threads_header header = {0};

	memcpy(&header, record->threads, GM_CHILD_THREADS_BYTES);
	return header;
}

static const char *parse_header(const char *bytes, gsize n_bytes, struct pp_pack_header *header)
{
	if (n_bytes < sizeof(*header))
		return "cut short";
	memcpy(header, bytes, sizeof(*header));
	if (memcmp(header->magic, PP_PACK_MAGIC, 8) != 0 || header->schema > GM_CAPTURE_SCHEMA ||
	    header->header_bytes < sizeof(*header) || header->header_bytes > n_bytes ||
	    header->n_children > PP_PACK_MAX)
		return "damaged";
	return NULL;
}

static const char *parse_child(const char *bytes, gsize left_bytes, struct pp_pack_child *child)
{
	struct pp_pack_record *record = &child->record;
	struct gm_threads_header threads;

	if (left_bytes < sizeof(*record))
		return "cut short";
	memcpy(record, bytes, sizeof(*record));
	if (record->record_bytes < sizeof(*record) ||
	    record->calls_bytes > record->record_bytes - sizeof(*record))
		return "damaged";
	if (record->record_bytes > left_bytes)
		return "cut short";
	threads = pp_pack_threads(record);
	if (memcmp(threads.magic, GM_THREADS_MAGIC, 8) != 0 || threads.pid == 0 ||
	    threads.pid > INT32_MAX)
		return "damaged";
	child->calls = (const uint8_t *)bytes + sizeof(*record);
	return NULL;
}

struct pp_pack *pp_pack_parse(const char *parent, const char *name, char *bytes, gsize n_bytes)
{
	struct pp_pack *pack = g_new0(struct pp_pack, 1);
	struct pp_pack_header header = {0};
	gsize at;

	pack->parent = g_strdup(parent);
	pack->name = g_build_filename(parent, name, NULL);
	pack->bytes = bytes;
	pack->children = g_array_new(FALSE, FALSE, sizeof(struct pp_pack_child));
	pack->fault = parse_header(bytes, n_bytes, &header);
	at = header.header_bytes;
	for (uint32_t i = 0; i < header.n_children && !pack->fault; i++) {
		struct pp_pack_child child;

		pack->fault = parse_child(bytes + at, n_bytes - at, &child);
		if (pack->fault)
			break;
		at += child.record.record_bytes;
		g_array_append_val(pack->children, child);
	}
	return pack;
}

/* Returns NULL if it cannot be read. */
static char *read_table(int dir, gsize *ret_bytes)
{
	int fd = pp_child_open(dir, GM_PACK_TABLE, O_RDONLY);
	char *bytes = NULL;
	struct stat st;

	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0 &&
	    (guint64)st.st_size <= TABLE_MAX) {
		ssize_t n;

		bytes = g_malloc((gsize)st.st_size);
		n = pread(fd, bytes, (size_t)st.st_size, 0);
		*ret_bytes = n > 0 ? (gsize)n : 0;
	}
	if (fd >= 0)
		close(fd);
	return bytes;
}

struct pp_pack *pp_pack_read(int capture_fd, const char *parent, const char *name)
{
	g_autofree char *path = g_build_filename(parent, name, NULL);
	int dir = pp_child_open_dir(capture_fd, path);
	gsize n_bytes = 0;
	char *bytes = dir >= 0 ? read_table(dir, &n_bytes) : NULL;

	if (dir >= 0)
		close(dir);
	return pp_pack_parse(parent, name, bytes, n_bytes);
}

void pp_pack_free(struct pp_pack *pack)
{
	g_array_unref(pack->children);
	g_free(pack->parent);
	g_free(pack->name);
	g_free(pack->bytes);
	g_free(pack);
}

GPtrArray *pp_packs_read(const char *dir)
{
	GPtrArray *packs = g_ptr_array_new_with_free_func((GDestroyNotify)pp_pack_free);
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	g_autoptr(GPtrArray) folders = NULL;

	if (fd < 0)
		return packs;
	folders = pp_children_folders(fd);
	for (guint i = 0; i < folders->len; i++) {
		g_autoptr(GPtrArray) names = pp_children_packs(fd, folders->pdata[i]);

		for (guint j = 0; j < names->len; j++)
			g_ptr_array_add(packs,
					pp_pack_read(fd, folders->pdata[i], names->pdata[j]));
	}
	close(fd);
	return packs;
}
