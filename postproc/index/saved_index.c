/* SPDX-License-Identifier: MIT */
/*
 * Writes the sections and a header with a digest; maps a saved index after checking header and
 * sizes.
 */
#include "index/saved_index.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/text/write.h"

#define HEAD	  "head"
#define HEAD_MODE 0600

#define MAGIC	       "gprof-mt index\n"
#define VERSION	       4u
#define ORDER_OF_BYTES 0x01020304u

/* Real clocks never reach this; lanes use three of the 64 bits for the state. */
#define MAX_TIME_NS (INT64_C(1) << 60)

/*
 * Limit on the size of an index: more than events can need per byte of the capture; and the limit
 * for small captures.
 */
#define MOST_TIMES   64
#define LEAST_BYTES  ((uint64_t)16 << 20)
#define SYNC_BYTES   ((off64_t)16 << 20) /* written between two progress calls */
#define DIGEST_BYTES 32

/* In the byte order of the machine that wrote it. */
struct head {
	char magic[sizeof(MAGIC)];
	uint32_t version, byte_order;
	uint64_t n[PP_N_SECTIONS]; /* items */
	uint32_t item_bytes[PP_N_SECTIONS];
	uint32_t has_kernel;
	int64_t start_ns, end_ns;
	uint64_t n_events, n_left_out;
	uint8_t key[PP_INDEX_KEY_BYTES];
	uint8_t digest[DIGEST_BYTES]; /* of the members above */
};
G_STATIC_ASSERT(PP_N_SECTIONS % 2 == 1); /* no padding */

static void digest_of(const struct head *head, uint8_t ret[DIGEST_BYTES])
{
	g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
	gsize len = DIGEST_BYTES;

	g_checksum_update(sum, (const guchar *)head, offsetof(struct head, digest));
	g_checksum_get_digest(sum, ret, &len);
}

/* --- reading -------------------------------------------------------------------------------- */

static bool read_head(int folder, struct head *head)
{
	int fd = openat(folder, HEAD, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	char beyond[sizeof(*head) + 1];
	ssize_t n;

	if (fd < 0)
		return false;
	n = read(fd, beyond, sizeof(beyond));
	close(fd);
	if (n != (ssize_t)sizeof(*head))
		return false;
	memcpy(head, beyond, sizeof(*head));
	return true;
}

static bool is_time(int64_t time_ns)
{
	return time_ns >= 0 && time_ns <= MAX_TIME_NS;
}

/* Sections that are referred to by 32-bit numbers cannot have more items than that. */
static bool sizes_are_good(const struct head *head, const struct pp_index *index,
			   uint64_t capture_bytes)
{
	uint64_t most = LEAST_BYTES + MIN(capture_bytes, UINT64_MAX / MOST_TIMES / 2) * MOST_TIMES;
	uint64_t all = 0;

	for (unsigned i = 0; i < PP_N_SECTIONS; i++) {
		bool is_numbered = i < PP_SECTION_DAMAGE && i != PP_SECTION_ADDRESSES;
		uint64_t bytes;

		if (head->item_bytes[i] != index->sections[i].item_bytes ||
		    (is_numbered && head->n[i] >= PP_INDEX_NONE) ||
		    __builtin_mul_overflow(head->n[i], head->item_bytes[i], &bytes) ||
		    __builtin_add_overflow(all, bytes, &all))
			return false;
	}
	return all <= most;
}

static bool head_is_good(const struct head *head, const struct pp_index_key *key,
			 const struct pp_index *index)
{
	uint8_t digest[DIGEST_BYTES];

	digest_of(head, digest);
	return memcmp(head->magic, MAGIC, sizeof(head->magic)) == 0 && head->version == VERSION &&
	       head->byte_order == ORDER_OF_BYTES &&
	       memcmp(head->key, key->digest, sizeof(head->key)) == 0 &&
	       memcmp(head->digest, digest, sizeof(digest)) == 0 && is_time(head->start_ns) &&
	       is_time(head->end_ns) && head->start_ns <= head->end_ns &&
	       sizes_are_good(head, index, key->capture_bytes);
}

static bool map_sections(int folder, const struct head *head, struct pp_index *index)
{
	for (unsigned i = 0; i < PP_N_SECTIONS; i++) {
		int fd = openat(folder, pp_index_section_name(i),
				O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

		if (fd < 0 || pp_mapped_array_map(&index->sections[i], head->n[i], fd) < 0)
			return false;
	}
	return true;
}

/*
 * Adds the processes known when the index was made, including those known from the kernel's events.
 */
static bool add_processes(const struct pp_index *index)
{
	const struct pp_mapped_array *processes = &index->sections[PP_SECTION_PROCESSES];
	struct pp_model *model = index->model;

	if (processes->n < model->processes->len)
		return false;
	for (guint i = 0; i < model->processes->len; i++) {
		const struct pp_index_process *known = pp_mapped_array_at(processes, i);
		const struct pp_process *process = model->processes->pdata[i];

		if (known->pid != process->pid || known->image != process->image)
			return false;
	}
	for (uint64_t i = model->processes->len; i < processes->n; i++) {
		const struct pp_index_process *known = pp_mapped_array_at(processes, i);
		struct pp_process *process = pp_model_add_process(model, known->pid, NULL);

		process->image = known->image;
	}
	return true;
}

struct pp_index *pp_index_folder_read(const char *dir, const struct pp_index_key *key,
				      struct pp_model *model)
{
	g_autofree char *path = g_build_filename(dir, PP_INDEX_FOLDER, NULL);
	struct pp_index *index = pp_index_new(model, NULL);
	struct head head;
	int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	bool is_good = folder >= 0 && read_head(folder, &head) && head_is_good(&head, key, index) &&
		       map_sections(folder, &head, index);

	if (folder >= 0)
		close(folder);
	if (!is_good || !add_processes(index)) {
		pp_index_free(index);
		return NULL;
	}
	pp_index_scatter(index);
	index->start_ns = head.start_ns;
	index->end_ns = head.end_ns;
	index->n_events = head.n_events;
	index->n_left_out = head.n_left_out;
	index->has_kernel = head.has_kernel;
	return index;
}

/* --- creating ------------------------------------------------------------------------------- */

/* Checks for a header of any version of gprof-mt. */
static bool has_our_head(int folder)
{
	int fd = openat(folder, HEAD, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	char magic[sizeof(MAGIC)];
	bool is_ours = fd >= 0 && read(fd, magic, sizeof(magic)) == (ssize_t)sizeof(magic) &&
		       memcmp(magic, MAGIC, sizeof(magic)) == 0;

	if (fd >= 0)
		close(fd);
	return is_ours;
}

/*
 * Another version may use other file names.  A folder without our header contains no files of ours.
 */
static void empty(int folder)
{
	int fd =
	    has_our_head(folder) ? openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	const struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		unlinkat(folder, entry->d_name, 0);
	if (dir)
		closedir(dir);
	for (unsigned i = 0; i < PP_N_SECTIONS; i++)
		unlinkat(folder, pp_index_section_name(i), 0);
	unlinkat(folder, HEAD, 0);
}

static void remove_folder(int parent, const char *name)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return;
	empty(fd);
	close(fd);
	unlinkat(parent, name, AT_REMOVEDIR);
}

static bool is_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/*
 * The process that makes an index locks the folder.  A folder without a lock was left by a killed
 * process, or was renamed to its final name before we had the lock.
 */
static int take_folder(int parent, struct pp_error *err)
{
	struct stat ours, there;
	int fd;

	if (fstat(parent, &ours) != 0 || ours.st_uid != geteuid())
		return pp_error_add(err, -EPERM, "the capture belongs to another user");
	if (mkdirat(parent, PP_INDEX_FOLDER_NEW, 0700) != 0 && errno != EEXIST)
		return pp_error_add(err, -errno, "%s", g_strerror(errno));
	fd = openat(parent, PP_INDEX_FOLDER_NEW, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return pp_error_add(err, -errno, PP_INDEX_FOLDER_NEW ": %s", g_strerror(errno));
	if (flock(fd, LOCK_EX | LOCK_NB) != 0 || fstat(fd, &ours) != 0 ||
	    fstatat(parent, PP_INDEX_FOLDER_NEW, &there, AT_SYMLINK_NOFOLLOW) != 0 ||
	    !is_same_file(&ours, &there)) {
		close(fd);
		return pp_error_add(err, -EBUSY, "another `gprof-mt browse` is making it");
	}
	empty(fd);
	return fd;
}

static int make_files(int folder, int fds[PP_INDEX_FILES], struct pp_error *err)
{
	for (unsigned i = 0; i < PP_INDEX_FILES; i++) {
		bool has_name = i < PP_N_SECTIONS;
		const char *name = has_name ? pp_index_section_name(i) : HEAD;

		fds[i] = openat(folder, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
				HEAD_MODE);
		if (fds[i] < 0) {
			pp_error_add(err, -errno, "%s: %s", name, g_strerror(errno));
			while (i-- > 0)
				close(fds[i]);
			return -EIO;
		}
		if (!has_name)
			unlinkat(folder, name, 0);
	}
	return 0;
}

int pp_index_folder_new(const char *dir, struct pp_index_folder *ret, int ret_fds[PP_INDEX_FILES],
			struct pp_error *err)
{
	struct pp_index_folder folder = {open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), -1};
	int rc;

	if (folder.parent < 0)
		return pp_error_add(err, -errno, "%s", g_strerror(errno));
	rc = folder.fd = take_folder(folder.parent, err);
	if (rc >= 0)
		rc = make_files(folder.fd, ret_fds, err);
	if (rc < 0)
		pp_index_folder_done(&folder);
	else
		*ret = folder;
	return rc < 0 ? rc : 0;
}

void pp_index_folder_done(struct pp_index_folder *folder)
{
	if (folder->fd >= 0) {
		remove_folder(folder->parent, PP_INDEX_FOLDER_NEW);
		close(folder->fd);
	}
	if (folder->parent >= 0)
		close(folder->parent);
	*folder = (struct pp_index_folder){-1, -1};
}

/* --- saving --------------------------------------------------------------------------------- */

static int write_head(int folder, const struct pp_index *index, const struct pp_index_key *key)
{
	struct head head = {
	    .magic = MAGIC,
	    .version = VERSION,
	    .byte_order = ORDER_OF_BYTES,
	    .has_kernel = index->has_kernel,
	    .start_ns = index->start_ns,
	    .end_ns = index->end_ns,
	    .n_events = index->n_events,
	    .n_left_out = index->n_left_out,
	};
	int fd =
	    openat(folder, HEAD, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, HEAD_MODE);
	int ret;

	if (fd < 0)
		return -errno;
	for (unsigned i = 0; i < PP_N_SECTIONS; i++) {
		head.n[i] = index->sections[i].n;
		head.item_bytes[i] = (uint32_t)index->sections[i].item_bytes;
	}
	memcpy(head.key, key->digest, sizeof(head.key));
	digest_of(&head, head.digest);
	ret = pp_write_all(fd, &head, sizeof(head));
	if (ret == 0 && fdatasync(fd) != 0)
		ret = -errno;
	close(fd);
	return ret;
}

/* Writes in parts, so that the user can interrupt it. */
static int sync_sections(const struct pp_index *index, const struct pp_index_progress *progress)
{
	double all = 1, done = 0;

	for (unsigned i = 0; i < PP_N_SECTIONS; i++)
		all += (double)index->sections[i].n * (double)index->sections[i].item_bytes;
	for (unsigned i = 0; i < PP_N_SECTIONS; i++) {
		const struct pp_mapped_array *array = &index->sections[i];
		off64_t bytes = (off64_t)(array->n * array->item_bytes);

		for (off64_t at = 0; at < bytes; at += SYNC_BYTES, done += (double)SYNC_BYTES) {
			if (progress && !progress->go_on(progress->data, MIN(done / all, 1)))
				return -ECANCELED;
			sync_file_range(array->fd, at, SYNC_BYTES,
					SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE |
					    SYNC_FILE_RANGE_WAIT_AFTER);
		}
		if (fdatasync(array->fd) != 0)
			return -errno;
	}
	return 0;
}

static int write_all(const struct pp_index_folder *folder, struct pp_index *index,
		     const struct pp_index_key *key, const struct pp_index_progress *progress)
{
	int ret = 0;

	for (unsigned i = 0; i < PP_N_SECTIONS && ret == 0; i++)
		ret = pp_mapped_array_in_memory(&index->sections[i])
			  ? -ENOSPC
			  : pp_mapped_array_trim(&index->sections[i]);
	if (ret == 0)
		ret = sync_sections(index, progress);
	if (ret == 0)
		ret = write_head(folder->fd, index, key);
	return ret;
}

int pp_index_folder_keep(struct pp_index_folder *folder, struct pp_index *index,
			 const struct pp_index_key *key, const struct pp_index_progress *progress,
			 struct pp_error *err)
{
	int ret = write_all(folder, index, key, progress);

	if (ret == 0) {
		/* Processes that have the old index mapped keep it. */
		remove_folder(folder->parent, PP_INDEX_FOLDER);
		if (renameat(folder->parent, PP_INDEX_FOLDER_NEW, folder->parent,
			     PP_INDEX_FOLDER) != 0)
			ret = -errno;
	}
	if (ret < 0)
		return pp_error_add(err, ret, "%s", g_strerror(-ret));
	pp_index_scatter(index);
	/* Its name has changed. */
	close(folder->fd);
	folder->fd = -1;
	return 0;
}
