/* SPDX-License-Identifier: MIT */
/* Lists the folders of a capture, one per program image of a process, and orders them by time. */
#include "capture/folders.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gmon-mt/format.h"
#include "capture/packs.h"

static void folder_clear(void *data)
{
	g_free(((struct pp_folder *)data)->name);
}

static bool parse_folder(const char *name, struct pp_folder *folder)
{
	char *end;
	guint64 pid, image = 0;

	if (!g_ascii_isdigit(name[0]))
		return false;
	pid = g_ascii_strtoull(name, &end, 10);
	if (*end == '.' && g_ascii_isdigit(end[1]))
		image = g_ascii_strtoull(end + 1, &end, 10);
	if (*end || pid == 0 || pid > INT32_MAX || image > UINT32_MAX)
		return false;
	*folder = (struct pp_folder){
	    .name = g_strdup(name), .pid = (uint32_t)pid, .image = (uint32_t)image};
	return true;
}

static int compare_folders(const void *a, const void *b)
{
	const struct pp_folder *fa = a, *fb = b;

	if (fa->pid != fb->pid)
		return fa->pid < fb->pid ? -1 : 1;
	if (fa->image != fb->image)
		return fa->image < fb->image ? -1 : 1;
	return fa->start_ns < fb->start_ns ? -1 : fa->start_ns > fb->start_ns;
}

/* Orders folders by process, and those of one process by start time. */
static int compare_starts(const void *a, const void *b)
{
	const struct pp_folder *fa = a, *fb = b;

	if (fa->pid == fb->pid && fa->start_ns && fb->start_ns && fa->start_ns != fb->start_ns)
		return fa->start_ns < fb->start_ns ? -1 : 1;
	return compare_folders(a, b);
}

static void read_header(struct pp_folder *folder, const char *dir_path)
{
	g_autofree char *path = g_build_filename(dir_path, folder->name, "threads", NULL);
	struct gm_threads_header header;
	const size_t need = offsetof(struct gm_threads_header, bucket);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	ssize_t n = fd >= 0 ? read(fd, &header, need) : -1;
	struct stat st;

	if (n == (ssize_t)need && memcmp(header.magic, GM_THREADS_MAGIC, 8) == 0 &&
	    fstat(fd, &st) == 0) {
		folder->start_ns = header.start_ns;
		folder->run = header.image;
		/* A copy (children/children.c) has the first thread only. */
		folder->may_be_copy =
		    header.image != 0 &&
		    (uint64_t)st.st_size == (uint64_t)header.header_bytes + header.slot_bytes;
	}
	if (fd >= 0)
		close(fd);
}

/* Is the folder, one of those at [begin, end), a copy of another one that its process made? */
static bool is_copy(const GArray *folders, guint begin, guint end, const struct pp_folder *folder)
{
	if (!folder->may_be_copy)
		return false;
	for (guint i = begin; i < end; i++) {
		const struct pp_folder *other = &g_array_index(folders, struct pp_folder, i);

		if (other->run == folder->run && !other->may_be_copy)
			return true;
	}
	return false;
}

/* From the folders of one process, at [begin, end).  Returns the new end. */
static guint remove_copies(GArray *folders, guint begin, guint end)
{
	for (guint i = begin; i < end;) {
		if (is_copy(folders, begin, end, &g_array_index(folders, struct pp_folder, i))) {
			g_array_remove_index(folders, i);
			end--;
		} else {
			i++;
		}
	}
	return end;
}

/*
 * Gives the children in packs, which are the last of [begin, end), the first numbers that no folder
 * has.
 */
static void number_packed(const GArray *folders, guint begin, guint end)
{
	uint32_t next = 0;
	guint at = begin;

	for (guint i = begin; i < end; i++) {
		struct pp_folder *child = &g_array_index(folders, struct pp_folder, i);

		if (!child->pack)
			continue;
		for (; at < i && g_array_index(folders, struct pp_folder, at).image == next; at++)
			next++;
		child->image = next++;
		child->name = child->image ? g_strdup_printf("%u.%u", child->pid, child->image)
					   : g_strdup_printf("%u", child->pid);
	}
}

/*
 * A folder's number is the count of folders when it was made.  The folder of a child of fork may be
 * made last although its image ran before the exec (children.h), so images are renumbered by start
 * time.
 */
static void sort_images(GArray *folders, const char *dir_path)
{
	guint end;

	for (guint i = 0; i < folders->len; i = end) {
		struct pp_folder *first = &g_array_index(folders, struct pp_folder, i);
		g_autofree uint32_t *images = NULL;

		for (end = i + 1; end < folders->len; end++)
			if (g_array_index(folders, struct pp_folder, end).pid != first->pid)
				break;
		number_packed(folders, i, end);
		if (end == i + 1)
			continue;
		for (guint j = i; j < end; j++)
			if (!g_array_index(folders, struct pp_folder, j).pack)
				read_header(&g_array_index(folders, struct pp_folder, j), dir_path);
		end = remove_copies(folders, i, end);
		images = g_new(uint32_t, end - i);
		for (guint j = i; j < end; j++)
			images[j - i] = g_array_index(folders, struct pp_folder, j).image;
		qsort(first, end - i, sizeof(*first), compare_starts);
		for (guint j = i; j < end; j++)
			g_array_index(folders, struct pp_folder, j).image = images[j - i];
	}
}

static void add_packed(GArray *folders, struct pp_open_pack *open)
{
	const GArray *children = open->pack->children;

	for (guint i = 0; i < children->len; i++) {
		struct gm_threads_header threads =
		    pp_pack_threads(&g_array_index(children, struct pp_pack_child, i).record);
		struct pp_folder folder = {
		    .pack = open,
		    .number = i,
		    .pid = threads.pid,
		    .image = UINT32_MAX, /* after all folders */
		    .start_ns = threads.start_ns,
		    .run = threads.image,
		};

		g_array_append_val(folders, folder);
	}
}

GArray *pp_folders_find(const char *dir_path, const GPtrArray *packs, struct pp_error *err)
{
	g_autoptr(GError) error = NULL;
	GDir *dir = g_dir_open(dir_path, 0, &error);
	GArray *folders;
	const char *name;

	if (!dir) {
		pp_error_add(err, -EIO, "%s", error->message);
		return NULL;
	}
	folders = g_array_new(FALSE, FALSE, sizeof(struct pp_folder));
	g_array_set_clear_func(folders, folder_clear);
	while ((name = g_dir_read_name(dir))) {
		g_autofree char *path = g_build_filename(dir_path, name, NULL);
		struct pp_folder folder;

		if (g_file_test(path, G_FILE_TEST_IS_DIR) && parse_folder(name, &folder))
			g_array_append_val(folders, folder);
	}
	g_dir_close(dir);
	for (guint i = 0; i < packs->len; i++)
		add_packed(folders, packs->pdata[i]);
	g_array_sort(folders, compare_folders);
	sort_images(folders, dir_path);
	return folders;
}
