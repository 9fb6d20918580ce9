/* SPDX-License-Identifier: MIT */
/*
 * Moves the places of children of fork into folders (children.h).
 *
 * A place stands for the first bytes of the files of a folder.  If its process has made a folder,
 * they go there, to where the process does not write; else a folder is made, under a hidden name,
 * and then renamed.  A place is marked as moved when its process has ended and all of it is in its
 * folder; done once more after a crash, the same bytes go to the same places.  A file goes when its
 * maker has ended, nobody can claim a place there any more, and all are moved.
 *
 * All of this is by descriptors and through no symbolic link, in a directory of the user's own:
 * what the files say is checked, but the user may lie to himself.
 */
#include "input/children.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/alive.h"
#include "gmon-mt/children.h"
#include "gmon-mt/packet.h"

#define FOLDERS_MAX	  100000u
#define METADATA_MAX	  65536
#define CLOSED		  0x80000000u /* in n_claimed: nobody claims a place any more */
#define THREADS_MIN_BYTES 4096u
#define THREADS_MAX_BYTES 65536u

struct move {
	struct pp_capture *capture;
	int capture_fd;
	int parent_fd; /* the folder with the file of places */
	const char *parent;
	const char *file;
	bool is_first;	    /* of the rounds: in the others nothing else is said again */
	bool is_last;	    /* of the rounds: what cannot be moved is a problem */
	unsigned n_wait;    /* places whose parent is to be moved first, for its metadata */
	GHashTable *n_seen; /* by pid: names <pid>, <pid>.1 and so on, with the gaps between */

	/* Read from the parent's folder. */
	char *metadata; /* NULL: not read yet */
	char *maps;	/* in the folder of a child that has so much of the parent's */
	uint64_t maps_bytes;
};

struct place {
	union {
		struct gm_child child;
		uint8_t bytes[GM_CHILD_BYTES];
	};
	struct gm_threads_header threads; /* its buckets are zero */
	uint8_t slot[sizeof(struct gm_thread_slot)];
	bool runs; /* its process */
};

static int open_at(int dir, const char *name, int flags)
{
	return openat(dir, name, flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600);
}

static int open_dir(int dir, const char *name)
{
	return open_at(dir, name, O_RDONLY | O_DIRECTORY);
}

static int write_at(int dir, const char *name, int flags, const void *bytes, size_t n, off_t at)
{
	int fd = open_at(dir, name, O_WRONLY | O_CREAT | flags), ret = 0;

	if (fd < 0)
		return -errno;
	if (pwrite(fd, bytes, n, at) != (ssize_t)n)
		ret = errno ? -errno : -ENOSPC;
	close(fd);
	return ret;
}

/* --- one folder --------------------------------------------------------------------------- */

static bool is_of_image(int folder, uint64_t image)
{
	struct gm_threads_header header;
	int fd = open_at(folder, "threads", O_RDONLY);
	bool is = false;

	if (fd < 0)
		return false;
	if (pread(fd, &header, GM_CHILD_THREADS_BYTES, 0) == GM_CHILD_THREADS_BYTES)
		is = memcmp(header.magic, GM_THREADS_MAGIC, 8) == 0 && header.image == image;
	close(fd);
	return is;
}

static int fill_threads(int folder, const struct place *place)
{
	int fd = open_at(folder, "threads", O_WRONLY | O_CREAT), ret = 0;

	if (fd < 0)
		return -errno;
	errno = 0;
	if (pwrite(fd, &place->threads, GM_CHILD_THREADS_BYTES, 0) != GM_CHILD_THREADS_BYTES ||
	    pwrite(fd, place->slot, sizeof(place->slot), place->threads.header_bytes) !=
		(ssize_t)sizeof(place->slot))
		ret = errno ? -errno : -ENOSPC;
	close(fd);
	return ret;
}

/*
 * A file that another child has, too: in a directory where files were removed lately, ext4 takes
 * 0.3 to 1 ms to make one, and 0.02 to link it.  Nobody writes to it any more.
 */
static bool link_maps(const struct move *move, int folder, const struct place *place)
{
	return !place->runs && move->maps && move->maps_bytes == place->child.maps_bytes &&
	       linkat(move->capture_fd, move->maps, folder, "maps", 0) == 0;
}

/* The first maps_bytes of the parent's. */
static int fill_maps(const struct move *move, int folder, const struct place *place)
{
	uint64_t left = place->child.maps_bytes;
	char buffer[4096];
	struct stat st;
	int from, to, ret = 0;

	/* Moved before. */
	if (fstatat(folder, "maps", &st, AT_SYMLINK_NOFOLLOW) == 0 && (uint64_t)st.st_size == left)
		return 0;
	if (link_maps(move, folder, place))
		return 0;
	from = open_at(move->parent_fd, "maps", O_RDONLY);
	if (from < 0)
		return errno == ENOENT ? 0 : -errno;
	/* Not emptied: its process may have made this folder since, and go on in the file. */
	to = open_at(folder, "maps", O_WRONLY | O_CREAT);
	if (to < 0)
		ret = -errno;
	while (ret == 0 && left > 0) {
		ssize_t n = read(from, buffer, MIN(left, sizeof(buffer)));

		if (n <= 0)
			break;
		if (write(to, buffer, (size_t)n) != n)
			ret = -ENOSPC;
		left -= (uint64_t)n;
	}
	close(from);
	if (to >= 0)
		close(to);
	return ret;
}

static char *read_metadata(const struct move *move)
{
	int user = open_dir(move->parent_fd, "user"), fd;
	char *text = NULL;
	ssize_t n;

	if (user < 0)
		return NULL;
	fd = open_at(user, "metadata", O_RDONLY);
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

/* The parent's, with the child's own trace and pid. */
static char *child_metadata(struct move *move, const uint8_t uuid[16], uint32_t pid)
{
	static const char uuid_is[] = "trace {\n\tmajor = 1;\n\tminor = 8;\n\tuuid = \"";
	static const char pid_is[] = "\tvpid = ";
	g_autofree char *text = NULL;
	char *at, *end;
	GString *out;

	if (!move->metadata)
		move->metadata = read_metadata(move);
	text = g_strdup(move->metadata);
	at = text ? strstr(text, uuid_is) : NULL;

	if (!at)
		return NULL;
	at += strlen(uuid_is);
	if (strlen(at) < 36)
		return NULL;
	for (unsigned i = 0; i < 16; i++) {
		static const char digits[] = "0123456789abcdef";

		at += i == 4 || i == 6 || i == 8 || i == 10;
		*at++ = digits[uuid[i] >> 4];
		*at++ = digits[uuid[i] & 15];
	}
	at = strstr(at, pid_is);
	end = at ? strchr(at, ';') : NULL;
	if (!end)
		return NULL;
	out = g_string_new_len(text, at - text);
	g_string_append_printf(out, "%s%u%s", pid_is, pid, end);
	return g_string_free(out, FALSE);
}

/* The stream's first file, whole: an empty packet fills what is not used. */
static int fill_stream(struct move *move, int folder, const struct place *place)
{
	const struct gm_packet *packet = (const void *)(place->bytes + GM_CHILD_STREAM_AT);
	g_autofree char *metadata = NULL, *name = NULL;
	int user, ret = 0;

	if (packet->magic != GM_PACKET_MAGIC) /* killed before there was one */
		return 0;
	if (mkdirat(folder, "user", 0700) < 0 && errno != EEXIST)
		return -errno;
	user = open_dir(folder, "user");
	if (user < 0)
		return -errno;
	if (faccessat(user, "metadata", F_OK, AT_SYMLINK_NOFOLLOW) < 0) {
		metadata = child_metadata(move, packet->uuid, place->threads.pid);
		ret = metadata ? write_at(user, "metadata", O_EXCL, metadata, strlen(metadata), 0)
			       : -ENODATA;
	}
	name = g_strdup_printf("stream_%" PRIu64, packet->stream_instance_id);
	if (ret == 0)
		ret = write_at(user, name, 0, packet, GM_CHILD_STREAM_BYTES, 0);
	close(user);
	return ret;
}

static int fill(struct move *move, int folder, const struct place *place)
{
	int ret = fill_threads(folder, place);

	if (ret == 0 && place->child.folder == 0)
		ret = fill_maps(move, folder, place);
	if (ret == 0 && place->child.parts & GM_CHILD_STREAM)
		ret = fill_stream(move, folder, place);
	if (ret == 0 && place->child.parts & GM_CHILD_CALLS)
		ret = write_at(folder, "calls", 0, place->bytes + GM_CHILD_CALLS_AT,
			       GM_CHILD_CALLS_BYTES, 0);
	return ret;
}

/* --- which folder ------------------------------------------------------------------------- */

static char *folder_name(uint32_t pid, unsigned number)
{
	return number ? g_strdup_printf("%u.%u", pid, number) : g_strdup_printf("%u", pid);
}

static void remove_tree(int dir, const char *name, unsigned depth)
{
	int fd = open_dir(dir, name);
	DIR *list = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *entry;

	while (list && (entry = readdir(list))) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (unlinkat(fd, entry->d_name, 0) < 0 && errno == EISDIR && depth > 0)
			remove_tree(fd, entry->d_name, depth - 1);
	}
	if (list)
		closedir(list);
	unlinkat(dir, name, AT_REMOVEDIR);
}

static unsigned n_seen(const struct move *move, uint32_t pid)
{
	return GPOINTER_TO_UINT(g_hash_table_lookup(move->n_seen, GUINT_TO_POINTER(pid)));
}

static void note_seen(struct move *move, uint32_t pid, unsigned number)
{
	if (number >= n_seen(move, pid) && number < FOLDERS_MAX)
		g_hash_table_insert(move->n_seen, GUINT_TO_POINTER(pid),
				    GUINT_TO_POINTER(number + 1));
}

static void note_name(struct move *move, const char *name)
{
	uint64_t pid, number = 0;
	char *end;

	pid = g_ascii_strtoull(name, &end, 10);
	if (*end == '.')
		number = g_ascii_strtoull(end + 1, &end, 10);
	if (*end == '\0' && pid <= INT32_MAX && number < FOLDERS_MAX)
		note_seen(move, (uint32_t)pid, (unsigned)number);
}

/* An open descriptor, or -1. */
static int open_own(const struct move *move, const struct place *place, unsigned number)
{
	g_autofree char *name = folder_name(place->threads.pid, number);
	int folder = open_dir(move->capture_fd, name);

	if (folder >= 0 && !is_of_image(folder, place->threads.image)) {
		close(folder);
		folder = -1;
	}
	return folder;
}

static void remove_folder(const struct move *move, uint32_t pid, unsigned number)
{
	g_autofree char *name = folder_name(pid, number);

	remove_tree(move->capture_fd, name, 2);
}

static bool may_be_there(const struct move *move, uint32_t pid, unsigned number)
{
	g_autofree char *name = folder_name(pid, number);

	return number < n_seen(move, pid) ||
	       (number < FOLDERS_MAX &&
		faccessat(move->capture_fd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0);
}

/*
 * The folder of the place's process: the one that it made, or one of an earlier time here.  An open
 * descriptor, or -1: there is none.  A copy made while the process ran without a folder goes.
 */
static int find_folder(const struct move *move, const struct place *place)
{
	uint32_t pid = place->threads.pid, made = place->child.folder;
	int found = made ? open_own(move, place, made - 1) : -1;

	if (made && found < 0)
		return -1;
	for (unsigned number = 0; may_be_there(move, pid, number); number++) {
		int folder = number + 1 == made ? -1 : open_own(move, place, number);

		if (folder < 0)
			continue;
		if (!made)
			return folder;
		close(folder);
		remove_folder(move, pid, number);
	}
	return found;
}

/* Its load map is complete, and nobody writes to it any more: others may share it. */
static void note_maps(struct move *move, const char *folder, const struct place *place)
{
	if (place->runs || (move->maps && move->maps_bytes == place->child.maps_bytes))
		return;
	g_free(move->maps);
	move->maps = g_strdup_printf("%s/maps", folder);
	move->maps_bytes = place->child.maps_bytes;
}

static int make_folder(struct move *move, const struct place *place)
{
	g_autofree char *hidden = g_strdup_printf(".new.%" PRIu64, place->threads.image);
	int folder, ret;

	if (mkdirat(move->capture_fd, hidden, 0700) < 0) {
		if (errno != EEXIST)
			return -errno;
		remove_tree(move->capture_fd, hidden, 2);
		if (mkdirat(move->capture_fd, hidden, 0700) < 0)
			return -errno;
	}
	folder = open_dir(move->capture_fd, hidden);
	ret = folder < 0 ? -errno : fill(move, folder, place);
	if (folder >= 0)
		close(folder);
	for (unsigned number = 0; ret == 0 && number < FOLDERS_MAX; number++) {
		g_autofree char *name = folder_name(place->threads.pid, number);

		if (renameat(move->capture_fd, hidden, move->capture_fd, name) == 0) {
			note_maps(move, name, place);
			note_seen(move, place->threads.pid, number);
			return 0;
		}
		if (errno != EEXIST && errno != ENOTEMPTY)
			ret = -errno;
	}
	remove_tree(move->capture_fd, hidden, 2);
	return ret ? ret : -EEXIST;
}

static int move_place(struct move *move, const struct place *place)
{
	int folder = find_folder(move, place), ret;

	if (folder < 0)
		return place->child.folder ? -ENOENT : make_folder(move, place);
	ret = fill(move, folder, place);
	close(folder);
	return ret;
}

/* --- a file of places --------------------------------------------------------------------- */

static void complain(const struct move *move, const char *what, uint64_t count)
{
	g_autofree char *where = g_strdup_printf("%s/%s", move->parent, move->file);

	if (move->is_first || move->is_last)
		pp_model_add_problem(move->capture->model, what, where, count);
}

static bool place_read(int fd, uint32_t number, struct place *place)
{
	off_t at = GM_CHILDREN_HEADER_BYTES + (off_t)number * GM_CHILD_BYTES;

	memset(place, 0, sizeof(*place));
	if (pread(fd, place->bytes, GM_CHILD_BYTES, at) != GM_CHILD_BYTES)
		return false;
	memcpy(&place->threads, place->child.threads, GM_CHILD_THREADS_BYTES);
	memcpy(place->slot, &place->child.first, sizeof(place->slot));
	return true;
}

static bool place_is_good(const struct place *place)
{
	const struct gm_threads_header *threads = &place->threads;

	return memcmp(threads->magic, GM_THREADS_MAGIC, 8) == 0 &&
	       threads->schema <= GM_CAPTURE_SCHEMA && threads->pid > 0 &&
	       threads->pid <= INT32_MAX && threads->header_bytes >= THREADS_MIN_BYTES &&
	       threads->header_bytes <= THREADS_MAX_BYTES && place->child.folder <= FOLDERS_MAX;
}

/* True: nothing of it is needed any more. */
static bool do_place(struct move *move, int fd, uint32_t number)
{
	const uint32_t moved = GM_CHILD_MOVED;
	struct place place;
	bool runs;
	int ret;

	if (!place_read(fd, number, &place) || place.child.state > GM_CHILD_MOVED ||
	    (place.child.state == GM_CHILD_BEGUN && !place_is_good(&place))) {
		complain(move, "children of fork left out: damaged", 1);
		return false;
	}
	if (place.child.state != GM_CHILD_BEGUN)
		return place.child.state == GM_CHILD_MOVED;
	/* Asked before it is read: what a process wrote before its end is there. */
	runs = pp_process_runs((pid_t)place.threads.pid, place.threads.start_ns);
	if (!runs && !place_read(fd, number, &place))
		return false;
	place.runs = runs;
	ret = move_place(move, &place);
	if (ret == -ENODATA && !move->is_last) {
		move->n_wait++;
		return false;
	}
	if (ret < 0) {
		g_autofree char *what =
		    g_strdup_printf("children of fork left out: %s", g_strerror(-ret));

		complain(move, what, 1);
		return false;
	}
	return !runs &&
	       pwrite(fd, &moved, sizeof(moved),
		      GM_CHILDREN_HEADER_BYTES + (off_t)number * GM_CHILD_BYTES) == sizeof(moved);
}

/* Nobody claims a place after this.  Returns how many are claimed. */
static uint32_t close_file(struct gm_children_header *header)
{
	uint32_t n = __atomic_fetch_or(&header->n_claimed, CLOSED, __ATOMIC_ACQ_REL);
	uint32_t final = __atomic_load_n(&header->n_final, __ATOMIC_ACQUIRE);

	/*
	 * Another reader may be between the two, or was killed there.  Claims that failed since
	 * then are counted, too: then the file stays, since places at its end never begin.
	 */
	if (final == 0) {
		final = MIN(n & ~CLOSED, header->n_slots) + 1;
		__atomic_store_n(&header->n_final, final, __ATOMIC_RELEASE);
	}
	return MIN(final - 1, header->n_slots);
}

static bool header_is_good(const struct gm_children_header *header)
{
	return memcmp(header->magic, GM_CHILDREN_MAGIC, 8) == 0 &&
	       header->schema <= GM_CAPTURE_SCHEMA &&
	       header->header_bytes == GM_CHILDREN_HEADER_BYTES &&
	       header->slot_bytes == GM_CHILD_BYTES && header->n_slots <= GM_CHILDREN_MAX;
}

/* True: the file is not needed any more. */
static bool do_places(struct move *move, int fd, struct gm_children_header *header)
{
	bool is_over = !pp_process_is_running((pid_t)header->pid, header->proc_start);
	uint32_t n = __atomic_load_n(&header->n_claimed, __ATOMIC_ACQUIRE), n_done = 0;

	n = is_over || n & CLOSED ? close_file(header) : MIN(n, header->n_slots);
	for (uint32_t i = 0; i < n; i++)
		n_done += do_place(move, fd, i);
	return is_over && n_done == n;
}

static void do_file(struct move *move)
{
	int fd = open_at(move->parent_fd, move->file, O_RDWR);
	struct gm_children_header *header;
	struct stat st;
	bool is_done = false;

	if (fd < 0) {
		complain(move, "children of fork left out: their file cannot be opened", 1);
		return;
	}
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size < GM_CHILDREN_HEADER_BYTES) {
		close(fd);
		return;
	}
	header = mmap(NULL, GM_CHILDREN_HEADER_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (header != MAP_FAILED) {
		static const char none[8];

		if (header_is_good(header))
			is_done = do_places(move, fd, header);
		else if (memcmp(header->magic, none, 8) != 0)
			complain(move, "children of fork left out: damaged", 1);
		munmap(header, GM_CHILDREN_HEADER_BYTES);
	}
	close(fd);
	if (is_done)
		unlinkat(move->parent_fd, move->file, 0);
}

/* --- all of them -------------------------------------------------------------------------- */

static DIR *list_dir(int dir, const char *name)
{
	int fd = open_dir(dir, name);
	DIR *list = fd >= 0 ? fdopendir(fd) : NULL;

	if (fd >= 0 && !list)
		close(fd);
	return list;
}

static GPtrArray *names_of(int dir, const char *name, bool (*is_wanted)(const char *))
{
	GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
	DIR *list = list_dir(dir, name);
	struct dirent *entry;

	while (list && (entry = readdir(list)))
		if (is_wanted(entry->d_name))
			g_ptr_array_add(names, g_strdup(entry->d_name));
	if (list)
		closedir(list);
	return names;
}

static bool is_folder(const char *name)
{
	return g_ascii_isdigit(name[0]);
}

static bool is_file_of_places(const char *name)
{
	return g_str_has_prefix(name, GM_CHILDREN_NAME);
}

static void do_folder(struct move *move)
{
	g_autoptr(GPtrArray) files = names_of(move->capture_fd, move->parent, is_file_of_places);
	struct stat st;

	if (!files->len)
		return;
	if (fstat(move->capture_fd, &st) < 0 || st.st_uid != geteuid()) {
		move->file = files->pdata[0];
		complain(move,
			 "children of fork left out: the capture's owner has to read it first",
			 files->len);
		return;
	}
	move->parent_fd = open_dir(move->capture_fd, move->parent);
	if (move->parent_fd < 0)
		return;
	for (guint i = 0; i < files->len; i++) {
		move->file = files->pdata[i];
		do_file(move);
	}
	close(move->parent_fd);
	g_clear_pointer(&move->metadata, g_free);
	g_clear_pointer(&move->maps, g_free);
}

void pp_children_move(struct pp_capture *capture)
{
	struct move move = {.capture = capture, .is_first = true};
	g_autoptr(GPtrArray) folders = NULL;

	move.capture_fd = open(capture->model->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (move.capture_fd < 0)
		return;
	folders = names_of(move.capture_fd, ".", is_folder);
	move.n_seen = g_hash_table_new(NULL, NULL);
	for (guint i = 0; i < folders->len; i++)
		note_name(&move, folders->pdata[i]);
	for (unsigned n_waited = 0;; n_waited = move.n_wait) {
		move.n_wait = 0;
		for (guint i = 0; i < folders->len; i++) {
			move.parent = folders->pdata[i];
			do_folder(&move);
		}
		if (move.n_wait == 0)
			break;
		move.is_first = false;
		/* A round without progress: the next says why. */
		move.is_last = move.n_wait == n_waited;
	}
	g_hash_table_unref(move.n_seen);
	close(move.capture_fd);
}
