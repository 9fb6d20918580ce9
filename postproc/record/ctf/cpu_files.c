/* SPDX-License-Identifier: MIT */
/* Rotates the files of a CPU, and removes partly written packets. */
#include "record/ctf/cpu_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <unistd.h>

#include "core/stream_name.h"
#include "core/text/write.h"

#define N_FILES 4 /* in a ring, at least */

struct older_file {
	unsigned number;
	uint64_t n_bytes, n_events;
	uint64_t end_ns;
};

static char *file_name(const struct pp_cpu_files *files, unsigned number)
{
	return pp_stream_name_format(&(struct pp_stream_name){files->cpu, number},
				     PP_STREAM_OF_CPU);
}

static int create(const struct pp_cpu_files *files, unsigned number)
{
	g_autofree char *name = file_name(files, number);
	int fd =
	    openat(files->dir_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	return fd < 0 ? -errno : fd;
}

int pp_cpu_files_begin(struct pp_cpu_files *files, int dir_fd, unsigned cpu)
{
	*files = (struct pp_cpu_files){.dir_fd = dir_fd, .cpu = cpu};
	files->fd = create(files, 0);
	return files->fd < 0 ? files->fd : 0;
}

static struct older_file *oldest(const struct pp_cpu_files *files)
{
	return &g_array_index(files->older, struct older_file, 0);
}

static uint64_t older_bytes(const struct pp_cpu_files *files)
{
	uint64_t n_bytes = 0;

	for (guint i = 0; files->older && i < files->older->len; i++)
		n_bytes += g_array_index(files->older, struct older_file, i).n_bytes;
	return n_bytes;
}

static uint64_t remove_oldest(struct pp_cpu_files *files)
{
	g_autofree char *name = file_name(files, oldest(files)->number);
	uint64_t n_events = oldest(files)->n_events;

	unlinkat(files->dir_fd, name, 0);
	g_array_remove_index(files->older, 0);
	return n_events;
}

/* Returns false if the file cannot be made: the current one grows. */
static bool begin_next(struct pp_cpu_files *files, uint64_t end_ns)
{
	struct older_file left = {files->number, (uint64_t)files->size_bytes, files->n_events,
				  end_ns};
	int fd = create(files, files->number + 1);

	if (fd < 0)
		return false;
	if (!files->older)
		files->older = g_array_new(FALSE, FALSE, sizeof(struct older_file));
	g_array_append_val(files->older, left);
	close(files->fd);
	files->fd = fd;
	files->number++;
	files->size_bytes = 0;
	files->n_events = 0;
	return true;
}

uint64_t pp_cpu_files_ready(struct pp_cpu_files *files, size_t n_bytes, uint64_t end_ns)
{
	uint64_t most_bytes = files->kept_bytes / N_FILES, n_events = 0;

	if (!files->kept_bytes || !files->size_bytes ||
	    (uint64_t)files->size_bytes + n_bytes <= most_bytes || !begin_next(files, end_ns))
		return 0;
	while (files->older->len &&
	       (older_bytes(files) + MAX(most_bytes, n_bytes) > files->kept_bytes ||
		(files->kept_ns && oldest(files)->end_ns + files->kept_ns < end_ns)))
		n_events += remove_oldest(files);
	return n_events;
}

int pp_cpu_files_write(struct pp_cpu_files *files, const void *packet, size_t n_bytes,
		       uint64_t n_events)
{
	int rc = pp_write_all(files->fd, packet, n_bytes);

	if (rc == 0) {
		files->size_bytes += (off_t)n_bytes;
		files->n_events += n_events;
	} else if (ftruncate(files->fd, files->size_bytes) == 0) {
		/* A reader would stop at a partly written packet. */
		lseek(files->fd, files->size_bytes, SEEK_SET);
	}
	return rc;
}

void pp_cpu_files_done(struct pp_cpu_files *files)
{
	if (files->fd >= 0)
		close(files->fd);
	if (files->older)
		g_array_unref(files->older);
}
