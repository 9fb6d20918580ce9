/* SPDX-License-Identifier: MIT */
/*
 * Writes the thread table, load map and metadata of a child of fork, from its place and its
 * parent's files.
 */
#include "capture/children/fill.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/text/write.h"
#include "gmon-mt/packet.h"

#define METADATA_MAX 65536

int pp_child_open(int dir, const char *name, int flags)
{
	return openat(dir, name, flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600);
}

int pp_child_open_dir(int dir, const char *name)
{
	return pp_child_open(dir, name, O_RDONLY | O_DIRECTORY);
}

int pp_child_write_at(int dir, const char *name, int flags, const void *bytes, size_t n, off_t at)
{
	int fd = pp_child_open(dir, name, O_WRONLY | O_CREAT | flags), ret;

	if (fd < 0)
		return -errno;
	ret = pp_write_all_at(fd, bytes, n, at);
	close(fd);
	return ret;
}

void pp_child_remove_tree(int dir, const char *name, unsigned depth)
{
	int fd = pp_child_open_dir(dir, name);
	DIR *list = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *entry;

	while (list && (entry = readdir(list))) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (unlinkat(fd, entry->d_name, 0) < 0 && errno == EISDIR && depth > 0)
			pp_child_remove_tree(fd, entry->d_name, depth - 1);
	}
	if (list)
		closedir(list);
	unlinkat(dir, name, AT_REMOVEDIR);
}

bool pp_child_is_of(int folder, uint64_t image)
{
	struct gm_threads_header header;
	int fd = pp_child_open(folder, "threads", O_RDONLY);
	bool is = false;

	if (fd < 0)
		return false;
	if (pread(fd, &header, GM_CHILD_THREADS_BYTES, 0) == GM_CHILD_THREADS_BYTES)
		is = memcmp(header.magic, GM_THREADS_MAGIC, 8) == 0 && header.image == image;
	close(fd);
	return is;
}

static int fill_threads(int folder, const struct pp_child_place *place)
{
	const uint32_t pid_namespace = GM_NAMESPACE_PLACE;
	int fd = pp_child_open(folder, "threads", O_WRONLY | O_CREAT), ret;

	if (fd < 0)
		return -errno;
	ret = pp_write_all_at(fd, &place->threads, GM_CHILD_THREADS_BYTES, 0);
	if (ret == 0)
		ret = pp_write_all_at(fd, &pid_namespace, sizeof(pid_namespace),
				      offsetof(struct gm_threads_header, pid_namespace));
	if (ret == 0)
		ret = pp_write_all_at(fd, place->slot, sizeof(place->slot),
				      place->threads.header_bytes);
	close(fd);
	return ret;
}

/* Copies the first maps_bytes of the parent's load map. */
static int fill_maps(const struct pp_child_parent *parent, int folder,
		     const struct pp_child_place *place)
{
	uint64_t left = place->child.maps_bytes;
	char buffer[4096];
	struct stat st;
	int from, to, ret = 0;

	/* It was moved before. */
	if (fstatat(folder, "maps", &st, AT_SYMLINK_NOFOLLOW) == 0 && (uint64_t)st.st_size == left)
		return 0;
	from = pp_child_open(parent->folder_fd, "maps", O_RDONLY);
	if (from < 0)
		return errno == ENOENT ? 0 : -errno;
	/* No O_TRUNC: the process may have made this folder since, and append to the file. */
	to = pp_child_open(folder, "maps", O_WRONLY | O_CREAT);
	if (to < 0)
		ret = -errno;
	while (ret == 0 && left > 0) {
		ssize_t n = read(from, buffer, MIN(left, sizeof(buffer)));

		if (n <= 0)
			break;
		ret = pp_write_all(to, buffer, (size_t)n);
		left -= (uint64_t)n;
	}
	close(from);
	if (to >= 0)
		close(to);
	return ret;
}

static char *read_metadata(const struct pp_child_parent *parent)
{
	int user = pp_child_open_dir(parent->folder_fd, "user"), fd;
	char *text = NULL;
	ssize_t n;

	if (user < 0)
		return NULL;
	fd = pp_child_open(user, "metadata", O_RDONLY);
	close(user);
	if (fd < 0)
		return NULL;
	text = g_malloc0(METADATA_MAX + 1);
	n = read(fd, text, METADATA_MAX);
	close(fd);
	if (n <= 0)
		g_clear_pointer(&text, g_free);
	return text;
}

bool pp_child_has_metadata(struct pp_child_parent *parent)
{
	if (!parent->metadata)
		parent->metadata = read_metadata(parent);
	return parent->metadata != NULL;
}

/* Replaces the trace's UUID in place.  Returns false if there is none. */
static bool set_uuid(char *text, const uint8_t uuid[16])
{
	static const char uuid_is[] = "trace {\n\tmajor = 1;\n\tminor = 8;\n\tuuid = \"";
	static const char digits[] = "0123456789abcdef";
	char *at = strstr(text, uuid_is);

	if (!at || strlen(at) < strlen(uuid_is) + 36)
		return false;
	at += strlen(uuid_is);
	for (unsigned i = 0; i < 16; i++) {
		at += i == 4 || i == 6 || i == 8 || i == 10;
		*at++ = digits[uuid[i] >> 4];
		*at++ = digits[uuid[i] & 15];
	}
	return true;
}

/* Replaces the text from `from` up to the next semicolon.  Takes the text; NULL: it has none. */
static char *replace(char *text, const char *from, const char *with)
{
	char *at = text ? strstr(text, from) : NULL, *end = at ? strchr(at, ';') : NULL;
	char *changed = NULL;

	if (end) {
		*at = '\0';
		changed = g_strconcat(text, with, end, NULL);
	}
	g_free(text);
	return changed;
}

static char *metadata_with(struct pp_child_parent *parent, const uint8_t uuid[16],
			   const char *environment)
{
	char *text = pp_child_has_metadata(parent) ? g_strdup(parent->metadata) : NULL;

	if (text && !set_uuid(text, uuid))
		g_clear_pointer(&text, g_free);
	return replace(text, "\tvpid = ", environment);
}

char *pp_child_metadata(struct pp_child_parent *parent, const uint8_t uuid[16], uint32_t pid)
{
	g_autofree char *vpid = g_strdup_printf("\tvpid = %u", pid);

	return metadata_with(parent, uuid, vpid);
}

char *pp_child_metadata_of_pack(struct pp_child_parent *parent, const uint8_t uuid[16])
{
	return replace(metadata_with(parent, uuid, "\tprocesses = \"" GM_PACK_TABLE "\""),
		       "\tuint32_t index", "\tuint32_t child");
}

/* Writes the stream's first file at full size: an empty packet fills the unused rest. */
static int fill_stream(struct pp_child_parent *parent, int folder,
		       const struct pp_child_place *place)
{
	const struct gm_packet *packet = (const void *)(place->bytes + GM_CHILD_STREAM_AT);
	g_autofree char *metadata = NULL, *name = NULL;
	int user, ret = 0;

	if (packet->magic != GM_PACKET_MAGIC) /* killed before it wrote a packet */
		return 0;
	if (mkdirat(folder, "user", 0700) < 0 && errno != EEXIST)
		return -errno;
	user = pp_child_open_dir(folder, "user");
	if (user < 0)
		return -errno;
	if (faccessat(user, "metadata", F_OK, AT_SYMLINK_NOFOLLOW) < 0) {
		metadata = pp_child_metadata(parent, packet->uuid, place->threads.pid);
		ret = metadata ? pp_child_write_at(user, "metadata", O_EXCL, metadata,
						   strlen(metadata), 0)
			       : -ENODATA;
	}
	name = g_strdup_printf("stream_%" PRIu64, packet->stream_instance_id);
	if (ret == 0)
		ret = pp_child_write_at(user, name, 0, packet, GM_CHILD_STREAM_BYTES, 0);
	close(user);
	return ret;
}

int pp_child_fill(struct pp_child_parent *parent, int folder, const struct pp_child_place *place)
{
	int ret = fill_threads(folder, place);

	if (ret == 0 && place->child.folder == 0)
		ret = fill_maps(parent, folder, place);
	if (ret == 0 && place->child.parts & GM_CHILD_STREAM)
		ret = fill_stream(parent, folder, place);
	if (ret == 0 && place->child.parts & GM_CHILD_CALLS)
		ret = pp_child_write_at(folder, "calls", 0, place->bytes + GM_CHILD_CALLS_AT,
					GM_CHILD_CALLS_BYTES, 0);
	return ret;
}
