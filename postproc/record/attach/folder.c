/* SPDX-License-Identifier: MIT */
/*
 * The header has no start time of the process in /proc: that would tell others that the capture is
 * written to as long as the process runs.  The recorder's lock tells it.
 */
#include "record/attach/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/text/write.h"
#include "gmon-mt/format.h"
#include "record/attach/maps.h"
#include "runtime/capture/in_use.h"

static struct gm_threads_header header_of(const struct pp_target *target,
					  const struct pp_target_threads *threads, int64_t begin_ns,
					  uint64_t sample_ns)
{
	struct gm_threads_header header = {
	    .schema = GM_CAPTURE_SCHEMA,
	    .header_bytes = sizeof(header),
	    .slot_bytes = sizeof(struct gm_thread_slot),
	    .n_slots = threads->found->len,
	    .pid = (uint32_t)target->pid,
	    .ppid = (uint32_t)target->ppid,
	    .start_ns = (uint64_t)begin_ns,
	    .sample_state = sample_ns ? GM_SAMPLE_ON : GM_SAMPLE_UNASKED,
	    .sample_period_ns = sample_ns,
	    .pid_namespace = gm_in_use_namespace(),
	};

	memcpy(header.magic, GM_THREADS_MAGIC, sizeof(header.magic));
	return header;
}

static struct gm_thread_slot slot_of(const struct pp_target_thread *thread)
{
	struct gm_thread_slot slot = {
	    .state = GM_THREAD_LIVE,
	    .tid = (uint32_t)thread->tid,
	    .parent_index = -1,
	    .start_ns = (uint64_t)thread->start_ns,
	    .sample_error = (uint16_t)-thread->sample_error,
	};

	memcpy(slot.name, thread->name, sizeof(slot.name));
	return slot;
}

static int write_threads(int fd, const struct gm_threads_header *header,
			 const struct pp_target_threads *threads)
{
	int rc = pp_write_all(fd, header, sizeof(*header));

	for (guint i = 0; i < threads->found->len && rc == 0; i++) {
		const struct gm_thread_slot slot =
		    slot_of(&g_array_index(threads->found, struct pp_target_thread, i));

		rc = pp_write_all(fd, &slot, sizeof(slot));
	}
	return rc;
}

static int create(int dir_fd, const char *name)
{
	int fd = openat(dir_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	return fd < 0 ? -errno : fd;
}

/* Leaves only the lines that are not in the map yet, and notes them. */
static void keep_new(GHashTable *known, GString *text)
{
	g_auto(GStrv) lines = g_strsplit(text->str, "\n", -1);

	g_string_truncate(text, 0);
	for (char **line = lines; *line; line++) {
		const char *rest = strchr(*line, ' ');

		if (rest && g_hash_table_add(known, g_strdup(rest)))
			g_string_append_printf(text, "%s\n", *line);
	}
}

static int write_maps(struct pp_target_folder *folder, int fd, GString *text)
{
	keep_new(folder->maps, text);
	return pp_write_all(fd, text->str, text->len);
}

static int create_maps(struct pp_target_folder *folder, GString *text)
{
	int fd = create(folder->dir_fd, "maps");
	int rc = fd < 0 ? fd : write_maps(folder, fd, text);

	if (fd >= 0)
		close(fd);
	return rc;
}

int pp_target_folder_write(struct pp_target_folder *folder, int dir_fd,
			   const struct pp_target *target, const struct pp_target_threads *threads,
			   int64_t begin_ns, uint64_t sample_ns, struct pp_error *err)
{
	struct gm_threads_header header = header_of(target, threads, begin_ns, sample_ns);
	g_autofree char *name = g_strdup_printf("%d", target->pid);
	g_autofree char *temporary = g_strdup_printf(".new.%d", target->pid);
	g_autoptr(GString) maps = g_string_new(NULL);
	int rc;

	*folder = (struct pp_target_folder){
	    .dir_fd = -1,
	    .threads_fd = -1,
	    .n_slots = threads->found->len,
	    .maps = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
	};
	folder->n_unknown = pp_target_maps_add(target->pid, begin_ns, maps);
	rc = mkdirat(dir_fd, temporary, 0700) ? -errno : 0;
	if (rc == 0) {
		folder->dir_fd =
		    openat(dir_fd, temporary, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		rc = folder->dir_fd < 0 ? -errno : create_maps(folder, maps);
	}
	if (rc == 0) {
		folder->threads_fd = create(folder->dir_fd, "threads");
		rc = folder->threads_fd < 0 ? folder->threads_fd
					    : write_threads(folder->threads_fd, &header, threads);
	}
	/* Readers find it complete, or not at all. */
	if (rc == 0 && renameat(dir_fd, temporary, dir_fd, name))
		rc = -errno;
	return rc ? pp_error_add(err, rc, "%s/: %s", name, g_strerror(-rc)) : 0;
}

static off_t slot_at(uint32_t index)
{
	return (off_t)(sizeof(struct gm_threads_header) + index * sizeof(struct gm_thread_slot));
}

int pp_target_folder_add_thread(struct pp_target_folder *folder,
				const struct pp_target_thread *thread)
{
	const struct gm_thread_slot slot = slot_of(thread);
	uint32_t n = folder->n_slots + 1;
	int rc = pp_write_all_at(folder->threads_fd, &slot, sizeof(slot), slot_at(folder->n_slots));

	/* The number follows the slot. */
	if (rc == 0)
		rc = pp_write_all_at(folder->threads_fd, &n, sizeof(n),
				     offsetof(struct gm_threads_header, n_slots));
	return rc ? rc : (int)folder->n_slots++;
}

int pp_target_folder_look(struct pp_target_folder *folder, const struct pp_target *target,
			  int64_t now_ns)
{
	g_autoptr(GString) maps = g_string_new(NULL);
	int fd, rc;

	pp_target_maps_add(target->pid, now_ns, maps);
	fd = openat(folder->dir_fd, "maps", O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC);
	rc = fd < 0 ? -errno : write_maps(folder, fd, maps);
	if (fd >= 0)
		close(fd);
	return rc;
}

/* If they cannot be written, the readers find fewer samples in the streams than in the counts. */
void pp_target_folder_set_missed(struct pp_target_folder *folder, uint64_t n_missed)
{
	(void)pp_write_all_at(folder->threads_fd, &n_missed, sizeof(n_missed),
			      offsetof(struct gm_threads_header, samples_missed));
}

void pp_target_folder_set_unwritten(struct pp_target_folder *folder, uint32_t index, uint8_t why)
{
	(void)pp_write_all_at(folder->threads_fd, &why, sizeof(why),
			      slot_at(index) + (off_t)offsetof(struct gm_thread_slot, stacks_why));
}

void pp_target_folder_end(struct pp_target_folder *folder, int64_t end_ns)
{
	const uint64_t end = (uint64_t)end_ns;

	/* If it cannot be written, the last event tells the end. */
	if (folder->threads_fd >= 0) {
		(void)pp_write_all_at(folder->threads_fd, &end, sizeof(end),
				      offsetof(struct gm_threads_header, end_ns));
		close(folder->threads_fd);
	}
	if (folder->dir_fd >= 0)
		close(folder->dir_fd);
	folder->dir_fd = folder->threads_fd = -1;
	g_clear_pointer(&folder->maps, g_hash_table_unref);
}
