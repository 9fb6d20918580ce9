/* SPDX-License-Identifier: MIT */
/*
 * Moves the places of children of fork into packs and folders (children.h).
 *
 * A place holds the first bytes of each file of a folder.  If its process has made a folder, those
 * bytes are written there, into a range that the process does not write.  Otherwise, if it has
 * ended, and its parent made more than one file of places, it becomes part of a pack (packed.h).  A
 * process that still runs, that has few siblings, or whose data is unusual, gets a folder, made
 * under a hidden name and then renamed.  A place is marked as moved when its process has ended
 * and all its data is in the folder or pack.  After a crash the same bytes are written to the same
 * offsets again.  The file of places is removed when the process that made it has ended, no process
 * can claim a place in it any more, and all places are moved.  Readers take turns (turns.h), and no
 * folder is removed while another reader may read it.
 *
 * All accesses are relative to descriptors and follow no symlink, in a directory that the user
 * owns.  The files' contents are checked, but are not protected against the user himself.
 */
#include "capture/children/children.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/text/write.h"
#include "core/alive.h"
#include "core/pid_namespace.h"
#include "gmon-mt/children.h"
#include "capture/children/fill.h"
#include "capture/children/find.h"
#include "capture/children/pack.h"
#include "capture/children/turns.h"

#define FOLDERS_MAX	  100000u
#define NS_PER_US	  1000u
#define CLOSED		  0x80000000u /* in n_claimed: no place can be claimed any more */
#define THREADS_MIN_BYTES 4096u
#define THREADS_MAX_BYTES 65536u

struct move {
	struct pp_model *model;
	bool may_be_elsewhere; /* see pp_children_move() */
	const char *parent;
	const char *file;
	GHashTable *reported;	     /* complain() reports each place, or file, once */
	bool is_last;		     /* in the last round, an unmoved place becomes a problem */
	unsigned n_wait;	     /* places whose parent must be moved first, for its metadata */
	struct pp_numbers *numbers;  /* NULL: not looked up yet */
	GHashTable *n_seen;	     /* pid -> number of names <pid>, <pid>.1, ... including gaps */
	struct pp_child_parent from; /* the folder of the file */
	GHashTable *packed;	     /* images in its packs; NULL: not looked up yet */
	struct pp_packing *packing;  /* of the current file */
	bool has_many;		     /* the folder had more than one file: its children get packs */
	struct pp_turn turn;
	bool is_stuck;	/* another reader was stopped in its turn */
	bool left_copy; /* of this place, because it is being read */
};

/* --- find the folder ---------------------------------------------------------------------- */

static char *folder_name(uint32_t pid, unsigned number)
{
	return number ? g_strdup_printf("%u.%u", pid, number) : g_strdup_printf("%u", pid);
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

/* Returns an open descriptor, or -1. */
static int open_own(const struct move *move, const struct pp_child_place *place, unsigned number)
{
	g_autofree char *name = folder_name(place->threads.pid, number);
	int folder = pp_child_open_dir(move->from.capture_fd, name);

	if (folder >= 0 && !pp_child_is_of(folder, place->threads.image)) {
		close(folder);
		folder = -1;
	}
	return folder;
}

/* A copy that is being read is left to a later call; until then pp_folders_find() ignores it. */
static void remove_copy(struct move *move, uint32_t pid, unsigned number)
{
	g_autofree char *name = folder_name(pid, number);

	if (pp_turn_keep_out(&move->turn)) {
		move->left_copy = true;
		return;
	}
	pp_child_remove_tree(move->from.capture_fd, name, 2);
	pp_turn_let_in(&move->turn);
}

static bool may_be_there(const struct move *move, uint32_t pid, unsigned number)
{
	g_autofree char *name = folder_name(pid, number);

	return number < n_seen(move, pid) ||
	       (number < FOLDERS_MAX &&
		faccessat(move->from.capture_fd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0);
}

/*
 * Finds the folder of the place's process: the one that the process made, or one that an earlier
 * run of this code made.  Returns an open descriptor, or -1: none.  If the process made one,
 * removes the copies that were made while it had none.
 */
static int find_folder(struct move *move, const struct pp_child_place *place)
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
		remove_copy(move, pid, number);
	}
	return found;
}

static int make_folder(struct move *move, const struct pp_child_place *place)
{
	/* Not ".new.": the process may be making its own folder under that name. */
	g_autofree char *hidden = g_strdup_printf(GM_COPY_PREFIX "%" PRIu64, place->threads.image);
	int folder, ret;

	if (mkdirat(move->from.capture_fd, hidden, 0700) < 0) {
		if (errno != EEXIST)
			return -errno;
		pp_child_remove_tree(move->from.capture_fd, hidden, 2);
		if (mkdirat(move->from.capture_fd, hidden, 0700) < 0)
			return -errno;
	}
	folder = pp_child_open_dir(move->from.capture_fd, hidden);
	ret = folder < 0 ? -errno : pp_child_fill(&move->from, folder, place);
	if (folder >= 0)
		close(folder);
	for (unsigned number = 0; ret == 0 && number < FOLDERS_MAX; number++) {
		g_autofree char *name = folder_name(place->threads.pid, number);

		if (renameat(move->from.capture_fd, hidden, move->from.capture_fd, name) == 0) {
			note_seen(move, place->threads.pid, number);
			return 0;
		}
		if (errno != EEXIST && errno != ENOTEMPTY)
			ret = -errno;
	}
	pp_child_remove_tree(move->from.capture_fd, hidden, 2);
	return ret ? ret : -EEXIST;
}

/* A reader may have been killed between the two steps of a pack. */
static bool is_packed(struct move *move, uint64_t image)
{
	if (!move->packed)
		move->packed = pp_packs_images(move->from.capture_fd, move->parent);
	return g_hash_table_contains(move->packed, &image);
}

/* Sets *ret_packing if the place is not moved before its pack is written. */
static int move_place(struct move *move, const struct pp_child_place *place, uint32_t number,
		      bool *ret_packing)
{
	int folder = find_folder(move, place), ret;

	if (folder < 0 && place->child.folder)
		return -ENOENT;
	if (folder < 0) {
		if (is_packed(move, place->threads.image))
			return 0;
		*ret_packing = move->has_many && !place->runs &&
			       pp_packing_add(move->packing, &move->from, place, number);
		return *ret_packing ? 0 : make_folder(move, place);
	}
	ret = pp_child_fill(&move->from, folder, place);
	close(folder);
	return ret;
}

/* --- a file of places --------------------------------------------------------------------- */

#define WHOLE_FILE UINT32_MAX

static void complain(const struct move *move, uint32_t number, const char *what, uint64_t count)
{
	g_autofree char *where = g_strdup_printf("%s/%s", move->parent, move->file);

	if (g_hash_table_add(move->reported, g_strdup_printf("%s %u", where, number)))
		pp_model_add_problem(move->model, what, where, count);
}

static void complain_left_out(const struct move *move, uint32_t number, int code)
{
	g_autofree char *what = g_strdup_printf("children of fork left out: %s", g_strerror(-code));

	complain(move, number, what, 1);
}

/* Reads the first n_bytes of the place: its struct gm_child, or all. */
static bool place_read(int fd, uint32_t number, size_t n_bytes, struct pp_child_place *place)
{
	off_t at = GM_CHILDREN_HEADER_BYTES + (off_t)number * GM_CHILD_BYTES;

	if (pread(fd, place->bytes, n_bytes, at) != (ssize_t)n_bytes)
		return false;
	memset(&place->threads, 0, sizeof(place->threads));
	memcpy(&place->threads, place->child.threads, GM_CHILD_THREADS_BYTES);
	memcpy(place->slot, &place->child.first, sizeof(place->slot));
	return true;
}

static bool place_is_good(const struct pp_child_place *place)
{
	const struct gm_threads_header *threads = &place->threads;

	return memcmp(threads->magic, GM_THREADS_MAGIC, 8) == 0 &&
	       threads->schema <= GM_CAPTURE_SCHEMA && threads->pid > 0 &&
	       threads->pid <= INT32_MAX && threads->header_bytes >= THREADS_MIN_BYTES &&
	       threads->header_bytes <= THREADS_MAX_BYTES && place->child.folder <= FOLDERS_MAX;
}

/* --- does the process still run ---------------------------------------------------------- */

struct wanted {
	const struct move *move;
	uint64_t start, since_ns; /* one of them is 0 */
};

/*
 * Does the process have the file mapped?  True also if this cannot be read, or if its first thread
 * has ended.
 */
static bool may_have_file(const struct move *move, pid_t pid)
{
	g_autofree char *path = g_strdup_printf("/proc/%d/maps", (int)pid);
	g_autofree char *name = g_strdup_printf("/%s/%s", move->parent, move->file);
	g_autofree char *maps = NULL;
	gsize n_bytes;

	if (!g_file_get_contents(path, &maps, &n_bytes, NULL) || n_bytes == 0)
		return true;
	for (const char *at = maps; (at = strstr(at, name)); at++)
		if (!g_ascii_isdigit(at[strlen(name)]))
			return true;
	return false;
}

static bool is_it(pid_t pid, void *arg)
{
	const struct wanted *wanted = arg;

	if (wanted->start)
		return pp_process_is_running(pid, wanted->start);
	return pp_process_runs(pid, wanted->since_ns) && may_have_file(wanted->move, pid);
}

/* Call after the lookup of processes.  A time in the future comes from another boot. */
static bool is_young(const struct move *move, uint64_t since_ns)
{
	return since_ns > pp_numbers_time_ns(move->numbers) &&
	       since_ns < ((uint64_t)g_get_monotonic_time() + 1) * NS_PER_US;
}

/*
 * Also true if unknown: the process is too young, or in a PID namespace that is not visible from
 * here, or may be on another machine.
 */
static bool may_run(struct move *move, const struct gm_children_header *header, uint32_t pid,
		    struct wanted wanted)
{
	wanted.move = move;
	if (move->may_be_elsewhere)
		return true;
	if (!move->numbers)
		move->numbers = pp_numbers_new();
	return is_young(move, wanted.since_ns) ||
	       pp_numbers_may_have(move->numbers, header->pid_namespace, (pid_t)pid, is_it,
				   &wanted);
}

/* --- a place, and a whole file ----------------------------------------------------------- */

static bool mark_moved(int fd, uint32_t number)
{
	const uint32_t moved = GM_CHILD_MOVED;

	return pp_write_all_at(fd, &moved, sizeof(moved),
			       GM_CHILDREN_HEADER_BYTES + (off_t)number * GM_CHILD_BYTES) == 0;
}

/* Returns true if the place is not needed any more. */
static bool do_place(struct move *move, int fd, const struct gm_children_header *header,
		     uint32_t number)
{
	struct pp_child_place place;
	bool runs, packing = false;
	int ret;

	if (!place_read(fd, number, sizeof(place.child), &place) ||
	    place.child.state > GM_CHILD_MOVED ||
	    (place.child.state == GM_CHILD_BEGUN && !place_is_good(&place))) {
		complain(move, number, "children of fork left out: damaged", 1);
		return false;
	}
	if (place.child.state != GM_CHILD_BEGUN)
		return place.child.state == GM_CHILD_MOVED;
	/* Check this before reading: the place then has everything that an ended process wrote. */
	runs = !(move->may_be_elsewhere && place.threads.end_ns) &&
	       may_run(move, header, place.threads.pid,
		       (struct wanted){.since_ns = place.threads.start_ns});
	if (!place_read(fd, number, GM_CHILD_BYTES, &place) || !place_is_good(&place)) {
		complain(move, number, "children of fork left out: damaged", 1);
		return false;
	}
	place.runs = runs;
	move->left_copy = false;
	ret = move_place(move, &place, number, &packing);
	if (ret == -ENODATA && !move->is_last) {
		move->n_wait++;
		return false;
	}
	if (ret < 0) {
		complain_left_out(move, number, ret);
		return false;
	}
	return !runs && !packing && !move->left_copy && mark_moved(fd, number);
}

/* Writes the pack of the file's children.  Returns the number of places not needed any more. */
static uint32_t end_pack(struct move *move, int fd)
{
	const GArray *places = move->packing->places;
	int ret = pp_packing_write(move->packing, &move->from);
	uint32_t n_done = 0;

	for (guint i = 0; i < places->len; i++) {
		uint32_t number = g_array_index(places, uint32_t, i);

		if (ret == 0)
			n_done += mark_moved(fd, number);
		else
			complain_left_out(move, number, ret);
	}
	return n_done;
}

/* Closes the file for further claims.  Returns the number of claimed places. */
static uint32_t close_file(struct gm_children_header *header)
{
	uint32_t n = __atomic_fetch_or(&header->n_claimed, CLOSED, __ATOMIC_ACQ_REL);
	uint32_t final = __atomic_load_n(&header->n_final, __ATOMIC_ACQUIRE);

	/*
	 * Another reader may be between the two operations, or was killed there.  Claims that
	 * failed since then are counted too.  The file is then kept, because places at its end
	 * never begin.
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

/* Returns true if the file is not needed any more. */
static bool do_places(struct move *move, int fd, struct gm_children_header *header)
{
	bool is_over =
	    !may_run(move, header, header->pid, (struct wanted){.start = header->proc_start});
	uint32_t n = __atomic_load_n(&header->n_claimed, __ATOMIC_ACQUIRE), n_done = 0;

	n = is_over || n & CLOSED ? close_file(header) : MIN(n, header->n_slots);
	move->packing = pp_packing_new();
	for (uint32_t i = 0; i < n; i++) {
		pp_turn_show(&move->turn);
		n_done += do_place(move, fd, header, i);
	}
	n_done += end_pack(move, fd);
	g_clear_pointer(&move->packing, pp_packing_free);
	return is_over && n_done == n;
}

static void do_file(struct move *move)
{
	int fd = pp_child_open(move->from.folder_fd, move->file, O_RDWR);
	struct gm_children_header *header;
	struct stat st;
	bool is_done = false;

	if (fd < 0) {
		complain(move, WHOLE_FILE, "children of fork left out: their file cannot be opened",
			 1);
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
			complain(move, WHOLE_FILE, "children of fork left out: damaged", 1);
		munmap(header, GM_CHILDREN_HEADER_BYTES);
	}
	close(fd);
	if (is_done)
		unlinkat(move->from.folder_fd, move->file, 0);
}

/* --- all files ---------------------------------------------------------------------------- */

/*
 * From the first file of places on, one reader at a time: each sees the result of the one before.
 * Returns false if another reader was stopped in its turn.
 */
static bool take_turn(struct move *move)
{
	if (move->turn.fd >= 0 || move->is_stuck)
		return !move->is_stuck;
	move->turn.fd = pp_child_open(move->from.capture_fd, GM_SESSION_FILE, O_RDWR);
	move->is_stuck = move->turn.fd >= 0 && pp_turn_take(&move->turn) < 0;
	return !move->is_stuck;
}

static void do_folder(struct move *move)
{
	g_autoptr(GPtrArray) files = pp_children_files(move->from.capture_fd, move->parent);
	struct stat st;

	if (!files->len)
		return;
	if (!take_turn(move)) {
		move->file = files->pdata[0];
		complain(move, WHOLE_FILE,
			 "children of fork left out: another gprof-mt was stopped while it read "
			 "them; continue or end it, and read the capture again",
			 files->len);
		return;
	}
	g_ptr_array_unref(files);
	files = pp_children_files(move->from.capture_fd, move->parent);
	if (!files->len)
		return;
	if (fstat(move->from.capture_fd, &st) < 0 || st.st_uid != geteuid()) {
		move->file = files->pdata[0];
		complain(move, WHOLE_FILE,
			 "children of fork left out: the capture's owner must read it first",
			 files->len);
		return;
	}
	move->has_many = files->len > 1 || !g_str_equal(files->pdata[0], GM_CHILDREN_NAME "0");
	move->from.folder_fd = pp_child_open_dir(move->from.capture_fd, move->parent);
	if (move->from.folder_fd < 0)
		return;
	for (guint i = 0; i < files->len; i++) {
		move->file = files->pdata[i];
		do_file(move);
	}
	close(move->from.folder_fd);
	g_clear_pointer(&move->from.metadata, g_free);
	g_clear_pointer(&move->packed, g_hash_table_unref);
}

int pp_children_move(struct pp_model *model, bool may_be_elsewhere)
{
	struct move move = {
	    .model = model,
	    .may_be_elsewhere = may_be_elsewhere,
	    .turn = {.fd = -1},
	};
	g_autoptr(GPtrArray) folders = NULL;
	int readers_fd = -1;

	move.from.capture_fd = open(model->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (move.from.capture_fd < 0)
		return -1;
	folders = pp_children_folders(move.from.capture_fd);
	move.reported = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
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
		/* After a round without progress, the next one reports why. */
		move.is_last = move.n_wait == n_waited;
	}
	g_hash_table_unref(move.reported);
	g_hash_table_unref(move.n_seen);
	pp_numbers_free(move.numbers);
	/* Before the turn ends: the next reader may remove what this one is about to read. */
	if (pp_turn_read(move.from.capture_fd, &readers_fd) == -ETIMEDOUT)
		pp_model_add_problem(model,
				     "children of fork may be left out: another gprof-mt was "
				     "stopped while it removed the copy of one; continue or end "
				     "it, and read the capture again",
				     GM_SESSION_FILE, 1);
	if (move.turn.fd >= 0)
		close(move.turn.fd);
	close(move.from.capture_fd);
	return readers_fd;
}
