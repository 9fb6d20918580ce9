/* SPDX-License-Identifier: MIT */
/*
 * Finds files that a capture should hold and does not: they were lost after the recording, or
 * replaced by those of another recording.  Without this check a missing file looks like one that
 * never existed, and the rest looks complete.
 *
 * A stream gets its number when its first file is made (runtime/stream/stream.c), so a gap in the
 * numbers is a loss.  A writer that found no room may leave its number unused; the losses of its
 * thread are counted.  The recorder counted the kernel's events.
 */
#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/loss.h"
#include "core/stream_name.h"
#include "core/text/json.h"
#include "gmon-mt/packet.h"
#include "capture/capture.h"

#define UUID_LEN 36

static gint compare_files(gconstpointer a, gconstpointer b)
{
	return pp_stream_name_compare(a, b);
}

static char *file_name(const struct pp_stream_name *file)
{
	return pp_stream_name_format(file, PP_STREAM_OF_THREAD);
}

/* Returns an array of struct pp_stream_name, in order. */
static GArray *list_files(const char *trace_dir)
{
	GArray *files = g_array_new(FALSE, FALSE, sizeof(struct pp_stream_name));
	GDir *dir = g_dir_open(trace_dir, 0, NULL);
	const char *name;

	while (dir && (name = g_dir_read_name(dir))) {
		struct pp_stream_name file;

		if (pp_stream_name_parse(name, PP_STREAM_OF_THREAD, &file))
			g_array_append_val(files, file);
	}
	if (dir)
		g_dir_close(dir);
	g_array_sort(files, compare_files);
	return files;
}

/* Adds a file to the last stream, or to a new one.  Takes ownership of the path. */
static void add_path(GPtrArray *streams, bool continues, char *path)
{
	if (!streams->len || !continues)
		g_ptr_array_add(streams, g_ptr_array_new_with_free_func(g_free));
	g_ptr_array_add(streams->pdata[streams->len - 1], path);
}

GPtrArray *pp_stream_paths(const char *trace_dir)
{
	GPtrArray *streams = g_ptr_array_new_with_free_func((GDestroyNotify)g_ptr_array_unref);
	g_autoptr(GArray) files = list_files(trace_dir);
	unsigned stream = 0;

	for (guint i = 0; i < files->len; i++) {
		const struct pp_stream_name *file = &g_array_index(files, struct pp_stream_name, i);
		g_autofree char *name = file_name(file);

		add_path(streams, file->stream == stream, g_build_filename(trace_dir, name, NULL));
		stream = file->stream;
	}
	return streams;
}

static int compare_names(gconstpointer a, gconstpointer b)
{
	return strverscmp(*(const char *const *)a, *(const char *const *)b);
}

static GPtrArray *list_names(const char *trace_dir)
{
	GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
	GDir *dir = g_dir_open(trace_dir, 0, NULL);
	const char *name;

	while (dir && (name = g_dir_read_name(dir)))
		if (name[0] != '.' && strcmp(name, "metadata") != 0)
			g_ptr_array_add(names, g_strdup(name));
	if (dir)
		g_dir_close(dir);
	g_ptr_array_sort(names, compare_names);
	return names;
}

GPtrArray *pp_kernel_stream_paths(const char *trace_dir)
{
	GPtrArray *streams = g_ptr_array_new_with_free_func((GDestroyNotify)g_ptr_array_unref);
	g_autoptr(GPtrArray) names = list_names(trace_dir);
	struct pp_stream_name file, last = {0};

	for (guint i = 0; i < names->len; i++) {
		g_autofree char *path = g_build_filename(trace_dir, names->pdata[i], NULL);
		bool is_ours = pp_stream_name_parse(names->pdata[i], PP_STREAM_OF_CPU, &file);

		if (!g_file_test(path, G_FILE_TEST_IS_REGULAR))
			continue;
		add_path(streams,
			 is_ours && file.stream == last.stream && file.number > last.number,
			 g_steal_pointer(&path));
		last = file;
	}
	return streams;
}

static bool has_counted_losses(const struct pp_process *process)
{
	if (process->events_lost || process->threads_lost)
		return true;
	for (guint i = 0; i < process->threads->len; i++) {
		const struct pp_thread *thread = process->threads->pdata[i];

		if (thread->events_lost || thread->records_lost ||
		    (thread->stacks_why & ~PP_LOSS_LITTLE) != 0)
			return true;
	}
	return false;
}

static void report_gap(struct pp_capture *capture, const char *trace_dir, unsigned stream,
		       unsigned number)
{
	struct pp_stream_name file = {stream, number};
	g_autofree char *name = file_name(&file);
	g_autofree char *path = g_build_filename(trace_dir, name, NULL);

	pp_capture_add_damage(capture, path, "missing; the report covers the others");
}

/*
 * Reports one line per gap: the file that should have come next.  In a ring, the first files of a
 * stream were removed.
 */
static void find_gaps(struct pp_capture *capture, const char *trace_dir, bool numbers_are_whole,
		      bool is_ring, GArray *files)
{
	unsigned n_streams = 0, n_files = 0; /* streams so far; files of the current stream */

	for (guint i = 0; i < files->len; i++) {
		struct pp_stream_name got = g_array_index(files, struct pp_stream_name, i);

		if (got.stream >= n_streams) {
			if (got.stream > n_streams && numbers_are_whole)
				report_gap(capture, trace_dir, n_streams, 0);
			n_streams = got.stream + 1;
			n_files = is_ring ? got.number : 0;
		}
		if (got.number > n_files)
			report_gap(capture, trace_dir, got.stream, n_files);
		n_files = got.number + 1;
	}
}

/* --- truncated files ------------------------------------------------------------------------ */

#define PACKETS_AHEAD 64

/*
 * Most packets of a file have the size of the one before.  Prefetching the expected positions of
 * the next packets together saves one disk seek per packet.
 */
static void fetch_ahead(int fd, uint64_t offset, uint64_t packet_bytes, uint64_t file_bytes)
{
	uint64_t first = offset ? PACKETS_AHEAD : 1;

	if (packet_bytes > UINT32_MAX)
		return;
	for (uint64_t i = first; i <= PACKETS_AHEAD && offset + i * packet_bytes < file_bytes; i++)
		posix_fadvise(fd, (off_t)(offset + i * packet_bytes), sizeof(struct gm_packet),
			      POSIX_FADV_WILLNEED);
}

/*
 * Returns the number of bytes that should follow the file's last packet according to its header; 0:
 * none, or the file is damaged in another way.
 */
static uint32_t find_end(int fd)
{
	off_t file_bytes = lseek(fd, 0, SEEK_END);
	struct gm_packet packet;
	uint64_t offset = 0;
	uint32_t followed = 0;

	while (pread(fd, &packet, sizeof(packet), (off_t)offset) == sizeof(packet) &&
	       packet.magic == GM_PACKET_MAGIC) {
		followed = packet.tid & ~GM_PACKET_TID_MASK;
		if (packet.packet_bits / 8 < sizeof(packet) ||
		    packet.packet_bits / 8 > INT64_MAX - offset)
			return 0;
		fetch_ahead(fd, offset, packet.packet_bits / 8, (uint64_t)MAX(file_bytes, 0));
		offset += packet.packet_bits / 8;
	}
	/* Otherwise the readers of events report it. */
	return file_bytes == (off_t)offset ? followed : 0;
}

/*
 * A whole packet is not the last one: the file ends between two packets, or the next file is
 * missing.
 */
static void find_cuts(struct pp_capture *capture, const char *trace_dir, const GArray *files)
{
	for (guint i = 0; i < files->len; i++) {
		struct pp_stream_name file = g_array_index(files, struct pp_stream_name, i);
		g_autofree char *name = file_name(&file);
		g_autofree char *path = g_build_filename(trace_dir, name, NULL);
		int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		uint32_t followed = fd >= 0 ? find_end(fd) : 0;

		if (fd >= 0)
			close(fd);
		if (followed & GM_PACKET_FOLLOWED_HERE)
			pp_capture_add_damage(
			    capture, path,
			    "cut short between two packets; the report covers only "
			    "the packets before");
		else if ((followed & GM_PACKET_FOLLOWED_IN_NEXT) &&
			 (i + 1 == files->len ||
			  g_array_index(files, struct pp_stream_name, i + 1).stream != file.stream))
			report_gap(capture, trace_dir, file.stream, file.number + 1);
	}
}

/* Symlinks to a regular file count too.  Most file systems give the type without a stat(). */
static bool is_regular(DIR *dir, const struct dirent *entry)
{
	struct stat st;

	if (entry->d_type == DT_REG)
		return true;
	return fstatat(dirfd(dir), entry->d_name, &st, 0) == 0 && S_ISREG(st.st_mode);
}

void pp_missing_streams(struct pp_capture *capture, const char *trace_dir,
			const struct pp_process *process)
{
	g_autoptr(GArray) files = list_files(trace_dir);
	DIR *dir = opendir(trace_dir);
	const struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		const char *name = entry->d_name;

		if (name[0] == '.' || strcmp(name, "index") == 0) /* LTTng's index of packets */
			continue;
		if (!is_regular(dir, entry)) {
			g_autofree char *path = g_build_filename(trace_dir, name, NULL);

			pp_capture_add_damage(capture, path, "not a regular file: left out");
		}
	}
	if (dir)
		closedir(dir);
	/* A process that still runs makes files while they are checked here. */
	if (!process || process->is_live)
		return;
	/* `record` also removes whole streams of a process that has ended. */
	find_gaps(capture, trace_dir, !process->has_ring && !has_counted_losses(process),
		  process->has_ring, files);
	find_cuts(capture, trace_dir, files);
}

/* --- clocks ------------------------------------------------------------------------------- */

static const char *find_in(const char *text, const char *end, const char *words)
{
	const char *at = memmem(text, (size_t)(end - text), words, strlen(words));

	return at ? at + strlen(words) : NULL;
}

/* Returns the uuid in the clock's part of the metadata; NULL: not found. */
static const char *find_clock_uuid(const char *text, gsize len)
{
	const char *clock = find_in(text, text + len, "clock {");
	const char *end = clock ? memchr(clock, '}', len - (gsize)(clock - text)) : NULL;
	const char *uuid = end ? find_in(clock, end, "uuid = \"") : NULL;

	return uuid && end - uuid > UUID_LEN && uuid[UUID_LEN] == '"' ? uuid : NULL;
}

bool pp_missing_clock(const struct pp_capture *capture, const char *metadata_path)
{
	g_autofree char *text = NULL;
	const char *uuid;
	gsize len;

	if (!capture->clock_uuid[0] || !g_file_get_contents(metadata_path, &text, &len, NULL))
		return false;
	uuid = find_clock_uuid(text, len);
	return uuid && g_ascii_strncasecmp(uuid, capture->clock_uuid, UUID_LEN) != 0;
}

/* --- the kernel's events ------------------------------------------------------------------ */

void pp_missing_kernel_events(struct pp_capture *capture, uint64_t n_events)
{
	g_autofree char *kernel = g_build_filename(capture->model->dir, "kernel", NULL);
	int64_t recorded = pp_json_int(pp_json_object(capture->model->info, "kernel"), "events", 0);

	if (capture->has_ring || recorded <= 0 || n_events >= (uint64_t)recorded)
		return;
	for (guint i = 0; i < capture->damage->len; i++)
		if (g_str_has_prefix(capture->damage->pdata[i], kernel))
			return;
	pp_capture_add_damage(capture, kernel,
			      "%" G_GUINT64_FORMAT " of the %" G_GINT64_FORMAT
			      " scheduling events that were recorded are missing",
			      (uint64_t)recorded - n_events, recorded);
}
