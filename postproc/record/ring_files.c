/* SPDX-License-Identifier: MIT */
/*
 * Looks at the sum of all files every 0.1 s, and lists them if it is too large, or every second if
 * the ring has a time.  The newest file of a stream is not removed before its process has ended:
 * its thread writes there.
 */
#include "record/ring_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/stream_name.h"
#include "gmon-mt/format.h"
#include "gmon-mt/packet.h"
#include "runtime/capture/capture.h"

#define PERIOD_US	 100000
#define PERIODS_PER_LOOK 10
#define STREAMS		 "user"

/* Begin to remove files at MANY of the limit, in eighths, until FEW are left. */
#define MANY 5
#define FEW  4

/* A file of a stream; its events are not later than the begin of the stream's next file. */
struct file {
	char *folder; /* "1234/user" */
	struct pp_stream_name name;
	uint64_t begin_ns, end_ns; /* end_ns 0: it is the newest */
};

static void file_clear(void *data)
{
	g_free(((struct file *)data)->folder);
}

static char *path_of(const struct file *file)
{
	g_autofree char *name = pp_stream_name_format(&file->name, PP_STREAM_OF_THREAD);

	return g_build_filename(file->folder, name, NULL);
}

static uint64_t read_begin(int dir_fd, const char *path)
{
	int fd = openat(dir_fd, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct gm_packet packet = {.timestamp_begin = 0};
	bool is_read = fd >= 0 && pread(fd, &packet, sizeof(packet), 0) == sizeof(packet);

	if (fd >= 0)
		close(fd);
	return is_read ? packet.timestamp_begin : 0;
}

static void list_streams(GArray *all, int dir_fd, const char *folder)
{
	int fd = openat(dir_fd, folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	const struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		struct file file = {.begin_ns = 0};

		if (!pp_stream_name_parse(entry->d_name, PP_STREAM_OF_THREAD, &file.name))
			continue;
		file.begin_ns = read_begin(fd, entry->d_name);
		file.folder = g_strdup(folder);
		g_array_append_val(all, file);
	}
	if (dir)
		closedir(dir);
	else if (fd >= 0)
		close(fd);
}

static int by_stream(const void *a, const void *b)
{
	const struct file *x = a, *y = b;

	return pp_stream_name_compare(&x->name, &y->name);
}

static int by_end(const void *a, const void *b)
{
	const struct file *x = a, *y = b;

	return x->end_ns < y->end_ns ? -1 : x->end_ns > y->end_ns;
}

/* For the files of a process, from that position on. */
static void find_ends(GArray *all, guint first)
{
	if (first == all->len)
		return;
	qsort(&g_array_index(all, struct file, first), all->len - first, sizeof(struct file),
	      by_stream);
	for (guint i = first; i + 1 < all->len; i++) {
		struct file *file = &g_array_index(all, struct file, i);

		if (file[0].name.stream == file[1].name.stream)
			file->end_ns = file[1].begin_ns;
	}
}

/* The time at which the process ended; 0: it did not, or was killed. */
static uint64_t read_end(int dir_fd, const char *folder)
{
	g_autofree char *path = g_build_filename(folder, "threads", NULL);
	struct gm_threads_header header = {.end_ns = 0};
	int fd = openat(dir_fd, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	bool is_read = fd >= 0 && pread(fd, &header, sizeof(header), 0) == sizeof(header);

	if (fd >= 0)
		close(fd);
	return is_read ? header.end_ns : 0;
}

/* After the end of its process, the newest file of a stream has an end, too. */
static void end_newest(GArray *all, guint first, uint64_t end_ns)
{
	for (guint i = first; i < all->len; i++) {
		struct file *file = &g_array_index(all, struct file, i);

		if (!file->end_ns)
			file->end_ns = end_ns;
	}
}

/* Returns the files of all processes, those that end first in front. */
static GArray *list_files(int dir_fd)
{
	GArray *all = g_array_new(FALSE, FALSE, sizeof(struct file));
	int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	const struct dirent *entry;

	g_array_set_clear_func(all, file_clear);
	while (dir && (entry = readdir(dir)))
		if (g_ascii_isdigit(entry->d_name[0])) {
			g_autofree char *folder = g_build_filename(entry->d_name, STREAMS, NULL);
			guint first = all->len;

			list_streams(all, dir_fd, folder);
			find_ends(all, first);
			end_newest(all, first, read_end(dir_fd, entry->d_name));
		}
	if (dir)
		closedir(dir);
	else if (fd >= 0)
		close(fd);
	g_array_sort(all, by_end);
	return all;
}

/* Several may try to remove a file; the one that succeeds returns its bytes. */
static void give(uint64_t *used, uint64_t n_bytes)
{
	uint64_t sum = __atomic_load_n(used, __ATOMIC_RELAXED);

	while (!__atomic_compare_exchange_n(used, &sum, sum > n_bytes ? sum - n_bytes : 0, true,
					    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

static void remove_file(const struct pp_ring_files *files, const struct file *file)
{
	g_autofree char *path = path_of(file);
	int fd = openat(files->dir_fd, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0 && unlinkat(files->dir_fd, path, 0) == 0)
		give(files->used, (uint64_t)st.st_size);
	close(fd);
}

static bool is_above(const struct pp_ring_files *files, unsigned eighths)
{
	return __atomic_load_n(files->used, __ATOMIC_RELAXED) > files->most_bytes / 8 * eighths;
}

static void remove_oldest(const struct pp_ring_files *files)
{
	g_autoptr(GArray) all = list_files(files->dir_fd);
	uint64_t time_ns = (uint64_t)pp_clock_now_ns();

	for (guint i = 0; i < all->len; i++) {
		const struct file *file = &g_array_index(all, struct file, i);
		bool is_old = files->ring_ns && file->end_ns + files->ring_ns < time_ns;

		if (file->end_ns && (is_old || is_above(files, FEW)))
			remove_file(files, file);
	}
}

static void *run(void *data)
{
	struct pp_ring_files *files = data;
	unsigned n_periods = 0;

	g_mutex_lock(&files->lock);
	while (!files->is_over) {
		g_cond_wait_until(&files->over, &files->lock, g_get_monotonic_time() + PERIOD_US);
		n_periods++;
		if (is_above(files, MANY) || (files->ring_ns && n_periods % PERIODS_PER_LOOK == 0))
			remove_oldest(files);
	}
	g_mutex_unlock(&files->lock);
	return NULL;
}

/* Access beyond the end of the file would raise SIGBUS. */
static uint64_t *map_used(int dir_fd)
{
	int fd = openat(dir_fd, GM_USED_FILE, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	void *used = MAP_FAILED;
	struct stat st;

	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    st.st_size >= (off_t)GM_USED_BYTES)
		used = mmap(NULL, GM_USED_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (fd >= 0)
		close(fd);
	return used != MAP_FAILED ? used : NULL;
}

void pp_ring_files_begin(struct pp_ring_files *files, int dir_fd, const struct gm_config *config)
{
	*files = (struct pp_ring_files){.dir_fd = dir_fd};
	if (!gm_config_has_ring(config))
		return;
	files->most_bytes = gm_config_ring_of_streams(config);
	files->ring_ns = config->ring.ns;
	files->used = map_used(dir_fd);
	if (!files->used)
		return;
	g_mutex_init(&files->lock);
	g_cond_init(&files->over);
	files->thread = g_thread_new("ring", run, files);
}

void pp_ring_files_end(struct pp_ring_files *files)
{
	if (files->thread) {
		g_mutex_lock(&files->lock);
		files->is_over = true;
		g_cond_signal(&files->over);
		g_mutex_unlock(&files->lock);
		g_thread_join(files->thread);
		g_mutex_clear(&files->lock);
		g_cond_clear(&files->over);
	}
	if (files->used)
		munmap(files->used, GM_USED_BYTES);
	*files = (struct pp_ring_files){.dir_fd = -1};
}
