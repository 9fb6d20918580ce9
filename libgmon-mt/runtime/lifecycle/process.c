/* SPDX-License-Identifier: MIT */
/*
 * The process is opened once, by its first profiled event or by a library's constructor.
 *
 * The capture folder <pid> appears complete: it is made under another name with `threads` in it,
 * then renamed. The loser of a race, and the other runtime library, recognize the folder of their
 * process by the number in its header. A later image of the same process (exec) or another process
 * with the same pid takes <pid>.1, <pid>.2, ...
 *
 * If the disk has no room, a later event tries again, and so does the end of the process; losses
 * until then are counted.
 *
 * A child of fork begins in a place that its parent has prepared (children.h), and makes the folder
 * when it needs more (gm_process_folder()).
 */
#include <errno.h>

#include "runtime/capture/capture_path.h"
#include "runtime/capture/in_use.h"
#include "runtime/capture/recorder.h"
#include "runtime/files/file.h"
#include "runtime/files/helper_task.h"
#include "runtime/files/files_in_memory.h"
#include "runtime/files/warn.h"
#include "runtime/process/children.h"
#include "runtime/process/loadmap.h"
#include "runtime/process/process.h"
#include "runtime/process/table.h"
#include "runtime/process/threads.h"
#include "runtime/stream/clock.h"
#include "runtime/stream/stream.h"
#include "runtime/sys/auxv.h"
#include "runtime/sys/futex.h"
#include "runtime/sys/kernel.h"
#include "runtime/sys/lock.h"
#include "runtime/sys/seal.h"
#include "runtime/sys/sys.h"

#define FOLDERS_MAX   100000u
#define RETRY_NS      100000000u
#define RETRY_AT_LOST 16u /* the time is checked once in so many losses */
#define UNTIL_ROOM    "; nothing is recorded until there is room"

enum { PROCESS_OPENING = 3, PROCESS_WAITING = 4 };

static GM_LARGE struct gm_process process;
static uint32_t process_state; /* enum gm_process_state, or one of these */
static uint64_t retry_ns;      /* PROCESS_WAITING: do not try before this time */
static struct gm_making opening;
static uint16_t why_not_open = GM_LOSS_DISK; /* PROCESS_WAITING, PROCESS_OPENING: enum gm_loss */
static bool has_config;
static bool configured; /* ... and the capture is open */
static bool is_marked_unwritten;
static bool forked;		  /* ... and not opened since */
static struct gm_child *child;	  /* the process' place; NULL: it has none */
static struct gm_identity *image; /* shared with the other library */
static bool has_folder;		  /* as known to this library */
static GM_LARGE char threads_path[GM_PATH_MAX + 16];
/* Losses while there is no table to count them in. */
static uint64_t lost[GM_N_LIBS];
static uint16_t lost_why[GM_N_LIBS];

/*
 * The address may be mapped to anything: the kernel compares, by a futex wait that returns at once.
 */
static bool image_is_ours(const struct gm_threads_header *header)
{
	static const struct timespec at_once;

	for (unsigned i = 0; i < 2; i++) {
		long code =
		    gm_syscall6(SYS_futex, (long)(header->image_at + 4 * i), FUTEX_WAIT_PRIVATE,
				(long)(uint32_t)(header->image >> 32 * i), (long)&at_once, 0, 0);

		if (code != -ETIMEDOUT && code != -EINTR)
			return false;
	}
	return true;
}

/* Lists the helper for readers of the kernel's events, which exist only under `record`. */
static void helper_note(uint64_t begin_ns)
{
	const struct gm_process *open = gm_process_get();
	struct gm_helper record = {.tid = (uint32_t)gm_sys_gettid(), .begin_ns = begin_ns};
	char *path;
	int fd;

	if (open == NULL || open->config.existing != GM_EXISTING_JOIN || !gm_process_has_folder())
		return;
	path = gm_path_new(open->dir, GM_HELPERS_FILE);
	fd = path != NULL ? gm_sys_open(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW, 0600)
			  : -ENOMEM;
	gm_path_free(path);
	if (fd < 0)
		return;
	record.end_ns = gm_clock_ns();
	gm_sys_write(fd, &record, sizeof(record));
	gm_sys_close(fd);
}

/* From now on files below the capture are reachable, if necessary through `record`. */
static void set_capture(void)
{
	gm_recorder_set(&process.capture);
	gm_place_set(&process.capture, gm_recorder_ask);
	gm_files_on_helper(helper_note);
}

/*
 * For an image that was executed after the process gave up its rights, or in another root: `record`
 * may provide the configuration of its capture, and the capture.
 */
static int read_away(const char *path, struct gm_config_error *error)
{
	int code;

	if (!gm_capture_set_away(path, &process.capture))
		return -ENOENT;
	set_capture();
	code = gm_config_read_environment(path, &process.config, error);
	return code == 0 && process.config.existing != GM_EXISTING_JOIN ? -EPERM : code;
}

static bool configure(void)
{
	static GM_LARGE struct gm_config_error away; /* the stack may be small */
	struct gm_config_error error;
	const char *path = gm_environment("GPROF_MT_CONFIG");
	int code;

	gm_warn_init();
	if (gm_auxv(AT_SECURE) != 0) {
		gm_warn_once("a set-user-id program is not profiled: run it as its own user");
		return false;
	}
	gm_config_defaults(&process.config);
	process.config_named = path != NULL && path[0] != '\0';
	if (process.config_named) {
		code = gm_config_read_environment(path, &process.config, &error);
		if (code < 0 && read_away(path, &away) == 0)
			code = 0;
	} else {
		code = gm_config_read_local(&process.config, &error);
		code = code == -ENOENT ? 0 : code;
	}
	if (code == 0)
		code = gm_config_check(&process.config, &error);
	if (code < 0 && !gm_recorder_report(code))
		gm_warn_once(error.text);
	gm_config_settle(&process.config);
	return code == 0;
}

static void add_command(struct gm_text *text)
{
	char arguments[1024];
	int fd = gm_sys_open("/proc/self/cmdline", O_RDONLY, 0);
	long n = fd < 0 ? 0 : gm_sys_read(fd, arguments, sizeof(arguments) - 1);

	if (fd >= 0)
		gm_sys_close(fd);
	for (long at = 0; at < n; at += (long)gm_strlen(arguments + at) + 1) {
		arguments[n] = '\0';
		gm_text_add(text, at > 0 ? "," : "");
		gm_text_add_json(text, arguments + at);
	}
}

/* Writes the information known without `gprof-mt record`, which writes a more complete file. */
static void write_info(void)
{
	static GM_LARGE char info[8192 + 2 * GM_GLOBS_MAX];
	struct gm_text text = GM_TEXT(info);
	char *path = gm_path_new(process.capture.dir, "info.json");

	gm_text_add(&text, "{\"schema\":");
	gm_text_add_u64(&text, GM_CAPTURE_SCHEMA);
	gm_text_add(&text,
		    ",\"version\":\"" GM_VERSION "\",\"recorder\":\"program\",\"command\":[");
	add_command(&text);
	gm_text_add(&text, "],\"start_ns\":");
	gm_text_add_u64(&text, gm_clock_ns());
	gm_text_add(&text, ",\"clock\":{\"name\":\"monotonic\",\"uuid\":\"");
	gm_text_add(&text, process.capture.clock_uuid);
	gm_text_add(&text, "\",\"offset_ns\":");
	gm_text_add_i64(&text, process.capture.clock_offset_ns);
	gm_text_add(&text, "},\"config\":{\"level\":\"applic-only\",\"names.wrappers\":");
	gm_text_add_json(&text, process.config.names_wrappers[0] != '\0'
				    ? process.config.names_wrappers
				    : "none");
	gm_text_add(&text, "},\"kernel\":{\"source\":\"none\",\"why\":\"");
	gm_text_add(&text, process.config.kernel_asked && !process.config_named
			       ? "./" GM_CONFIG_LOCAL
				 " starts nothing: name it by GPROF_MT_CONFIG, "
				 "or run the program under gprof-mt record"
			       : "run without gprof-mt record, which collects them");
	gm_text_add(&text, "\"}}\n");
	if (path != NULL && text.length < text.size_bytes)
		gm_file_write(path, info, text.length);
	gm_path_free(path);
}

static void header_fill(struct gm_threads_header *header, int pid)
{
	memcpy(header->magic, GM_THREADS_MAGIC, sizeof(header->magic));
	header->schema = GM_CAPTURE_SCHEMA;
	header->header_bytes = GM_THREADS_HEADER_BYTES;
	header->slot_bytes = sizeof(struct gm_thread_slot);
	header->pid = (uint32_t)pid;
	header->ppid = (uint32_t)gm_sys_getppid();
	header->start_ns = gm_clock_ns();
	header->image = image->image;
	header->image_at = (uint64_t)image;
}

/*
 * Maps the table of the folder process.dir. Returns NULL if there is none, or if it belongs to
 * another image.
 */
static struct gm_threads_header *folder_join(void)
{
	struct gm_threads_header *header;
	struct stat status;
	int fd = gm_sys_open(threads_path, O_RDWR | O_NOFOLLOW, 0);

	if (fd < 0)
		return NULL;
	if (gm_syscall3(SYS_fstat, fd, (long)&status, 0) != 0 ||
	    status.st_size < (long)GM_THREADS_FIRST_BYTES)
		header = NULL;
	else
		header = gm_sys_mmap(GM_THREADS_FIRST_BYTES, MAP_SHARED, fd, 0);
	gm_sys_close(fd);
	if (header != NULL && (memcmp(header->magic, GM_THREADS_MAGIC, 8) != 0 ||
			       header->schema != GM_CAPTURE_SCHEMA || !image_is_ours(header) ||
			       header->header_bytes != GM_THREADS_HEADER_BYTES ||
			       header->slot_bytes != sizeof(struct gm_thread_slot))) {
		gm_sys_munmap(header, GM_THREADS_FIRST_BYTES);
		header = NULL;
	}
	if (header != NULL && image == NULL) {
		gm_identity_join(header->image_at);
		image = gm_identity_begin();
	}
	if (header != NULL && (header->n_in_memory & GM_FILES_IN_MEMORY) != 0) {
		gm_sys_munmap(header, GM_THREADS_FIRST_BYTES);
		header = gm_table_join();
	}
	return header;
}

/* Writes <capture>/<pid> or <capture>/<pid>.<number> to a buffer of GM_PATH_MAX bytes. */
static void folder_path(char *buffer, int pid, unsigned number)
{
	struct gm_text dir = {buffer, GM_PATH_MAX, 0};

	gm_text_add(&dir, process.capture.dir);
	gm_text_add(&dir, "/");
	gm_text_add_u64(&dir, (uint64_t)pid);
	if (number > 0) {
		gm_text_add(&dir, ".");
		gm_text_add_u64(&dir, number);
	}
}

static void folder_name(int pid, unsigned number)
{
	struct gm_text path = GM_TEXT(threads_path);

	folder_path(process.dir, pid, number);
	gm_text_add(&path, process.dir);
	gm_text_add(&path, "/threads");
}

/* Makes <capture>/.new.<number> with an empty table in it, mapped. Returns 0 or -errno. */
static int folder_prepare(char *temporary, size_t size_bytes, int pid,
			  struct gm_threads_header **ret_header)
{
	struct gm_text text = {temporary, size_bytes, 0};
	int code;

	image = gm_identity_begin();
	if (image == NULL)
		return -ENOMEM;
	gm_text_add(&text, process.capture.dir);
	gm_text_add(&text, "/.new.");
	gm_text_add_u64(&text, image->image);
	code = gm_sys_mkdir(temporary, 0700);
	if (code == -EEXIST) { /* left by the other library, when a handler jumped out of it */
		gm_remove_tree(temporary);
		code = gm_sys_mkdir(temporary, 0700);
	}
	if (code < 0)
		return code;
	code = gm_table_make(temporary, ret_header);
	if (code == 0) {
		header_fill(*ret_header, pid);
		(*ret_header)->proc_start = gm_proc_start(0);
		(*ret_header)->pid_namespace = gm_in_use_namespace();
		if (gm_kept_is_on())
			code = (int)gm_table_save(temporary, *ret_header);
		if (code < 0)
			gm_table_drop(*ret_header);
	}
	if (code < 0)
		gm_remove_tree(temporary);
	return code;
}

/*
 * Locks the making of the process' folder, which either library may do. Returns 0; -EDEADLK: a
 * handler has interrupted that; -ETIMEDOUT.
 */
static int image_lock(void)
{
	if (gm_lock_is_mine(&image->lock))
		return -EDEADLK;
	return gm_lock_take(&image->lock) ? 0 : -ETIMEDOUT;
}

static int folder_open(int pid, struct gm_threads_header **ret_header)
{
	static GM_LARGE char temporary[GM_PATH_MAX + 32];
	struct gm_threads_header *prepared = NULL;
	int code = -EBUSY;

	for (unsigned number = 0; number < FOLDERS_MAX; number++) {
		folder_name(pid, number);
		*ret_header = folder_join();
		if (*ret_header != NULL) {
			code = 0;
			break;
		}
		if (prepared == NULL) {
			code = folder_prepare(temporary, sizeof(temporary), pid, &prepared);
			if (code < 0)
				return code;
		}
		code = gm_sys_rename(temporary, process.dir);
		if (code == 0) {
			*ret_header = prepared;
			return 0;
		}
		if (code != -ENOTEMPTY && code != -EEXIST)
			break;
		*ret_header = folder_join(); /* the other library was faster */
		if (*ret_header != NULL) {
			code = 0;
			break;
		}
	}
	if (prepared != NULL) {
		gm_table_drop(prepared);
		gm_remove_tree(temporary);
	}
	return code;
}

/* From now on process.dir is the child's own folder. */
static void folder_take(unsigned number)
{
	folder_name(process.pid, number);
	/* release: pairs with the acquire loads of has_folder; publishes the names */
	__atomic_store_n(&has_folder, true, __ATOMIC_RELEASE);
}

bool gm_process_has_folder(void)
{
	return child == NULL || __atomic_load_n(&has_folder, __ATOMIC_ACQUIRE);
}

/*
 * Makes the folder of a child that leaves its place; the first part of its files remains in the
 * place.
 */
static long child_leave(void *unused)
{
	static GM_LARGE char temporary[GM_PATH_MAX + 32], target[GM_PATH_MAX];
	struct gm_threads_header *header;
	int code;

	(void)unused;
	gm_children_leave();
	code = folder_prepare(temporary, sizeof(temporary), process.pid, &header);
	if (code < 0)
		return code;
	((struct gm_threads_header *)child->threads)->proc_start = header->proc_start;
	memcpy(header, child->threads, sizeof(child->threads));
	memcpy((char *)header + GM_THREADS_HEADER_BYTES, &child->first, sizeof(child->first));
	header->pid_namespace = GM_NAMESPACE_PLACE;
	gm_sys_munmap(header, GM_THREADS_FIRST_BYTES);
	code = gm_maps_copy(process.dir, temporary, child->maps_bytes);
	for (unsigned number = 0; code == 0 && number < FOLDERS_MAX; number++) {
		folder_path(target, process.pid, number);
		code = gm_sys_rename(temporary, target);
		if (code == 0) {
			/* release: pairs with the acquire in the other library */
			__atomic_store_n(&child->folder, number + 1, __ATOMIC_RELEASE);
			folder_take(number);
			return 0;
		}
		if (code == -ENOTEMPTY || code == -EEXIST)
			code = 0;
	}
	gm_remove_tree(temporary);
	return code != 0 ? code : -EEXIST;
}

int gm_process_folder(void)
{
	int code = 0;

	if (gm_process_has_folder())
		return 0;
	code = image_lock();
	if (code < 0)
		return code;
	if (!has_folder && __atomic_load_n(&child->folder, __ATOMIC_ACQUIRE) == 0)
		code = (int)gm_files_run(child_leave, NULL);
	if (!has_folder && code == 0) /* the other library made it */
		folder_take(child->folder - 1);
	gm_lock_release(&image->lock);
	return code;
}

struct gm_child *gm_process_child(void)
{
	return child;
}

static bool is_worth_waiting(long code)
{
	return gm_loss_of(code) == GM_LOSS_DISK;
}

static long capture_step(void *error)
{
	if (process.capture.is_away)
		return gm_capture_join_away(&process.config, &process.capture, error);
	return gm_capture_open(&process.config, &process.capture, error);
}

static long open_capture(void)
{
	struct gm_config_error error;
	long code = capture_step(&error);

	if (code == -EMFILE)
		code = gm_files_run_apart(capture_step, &error);
	if (code < 0) {
		struct gm_text text = {error.text, sizeof(error.text), gm_strlen(error.text)};

		if (is_worth_waiting(code))
			gm_text_add(&text, UNTIL_ROOM);
		if (!gm_recorder_report(code))
			gm_warn_once(error.text);
		return code;
	}
	if (process.config.existing == GM_EXISTING_JOIN)
		set_capture();
	else
		gm_place_set(&process.capture, NULL);
	if (process.capture.created)
		write_info();
	return 0;
}

static char *mark_path(void)
{
	char name[32];
	struct gm_text text = GM_TEXT(name);

	gm_text_add(&text, GM_UNWRITTEN);
	gm_text_add_u64(&text, (uint64_t)process.pid);
	return gm_path_new(process.capture.dir, name);
}

/*
 * Leaves the reason for readers of the capture. Returns false if it can only be printed on stderr.
 */
static bool mark_unwritten(long code)
{
	char target[16];
	struct gm_text number = GM_TEXT(target);
	char *path = mark_path();
	int made = -ENOMEM;

	gm_text_add_u64(&number, (uint64_t)-code);
	if (path != NULL)
		made = gm_sys_symlink(target, path);
	is_marked_unwritten |= made == 0 || made == -EEXIST; /* EEXIST: made by the other library */
	gm_path_free(path);
	return is_marked_unwritten;
}

static void unmark_unwritten(void)
{
	char *path = is_marked_unwritten ? mark_path() : NULL;

	if (path != NULL)
		gm_sys_unlink(path);
	gm_path_free(path);
	is_marked_unwritten = false;
}

static long unmark_step(void *unused)
{
	(void)unused;
	unmark_unwritten();
	return 0;
}

/* `in_step`: called in a step of gm_files_run(). */
static void cannot_open(long code, bool in_step)
{
	char warning[GM_WARNING_BYTES];
	struct gm_text text = GM_TEXT(warning);

	/*
	 * This affects each child of a program that changed its rights: it is noted in the capture,
	 * not printed.
	 */
	if (!mark_unwritten(code) && gm_threads_note_unwritten((uint32_t)process.pid, code))
		return;
	if (in_step && gm_recorder_report(code))
		return;
	gm_text_add(&text, process.capture.dir);
	gm_text_add(&text, ": cannot write the capture: ");
	gm_text_add_errno(&text, code);
	gm_text_add(&text, is_worth_waiting(code) ? UNTIL_ROOM : "; the program runs unprofiled");
	gm_warn_once(warning);
}

static bool is_wanted(enum gm_library library)
{
	return library == GM_LIB_CALLS ? process.config.calls_mode != GM_CALLS_OFF
				       : process.config.sync_mode != GM_SYNC_OFF;
}

static void count_early_losses(void)
{
	for (unsigned i = 0; i < GM_N_LIBS; i++) {
		uint64_t n = __atomic_exchange_n(&lost[i], 0, __ATOMIC_RELAXED);

		if (is_wanted(i))
			gm_process_count_lost(i, n, lost_why[i]);
	}
}

/* Fills the process' place. proc_start is left out: reading it costs as much as all the rest. */
static void child_fill(struct gm_child *place)
{
	image = gm_identity_begin();
	header_fill((struct gm_threads_header *)place->threads, process.pid);
	place->pid_namespace = gm_in_use_namespace();
}

/*
 * Opens a child of fork in its place. Returns 0; -ENOENT: it has none, and begins with a folder; or
 * an error of gm_making_wait().
 */
static int place_open(void)
{
	bool is_there;
	int code;

	if (!configured || !forked || process.config.calls_mode == GM_CALLS_HISTORY ||
	    process.config.sync_sink != GM_SINK_NATIVE)
		return -ENOENT;
	process.pid = gm_child_pid();
	code = gm_child_claim(child_fill, &child);
	if (child == NULL)
		return code < 0 ? code : -ENOENT;
	forked = false;
	image = gm_identity_begin();
	if (has_folder)
		has_folder = false;
	/* The parent may have left its own place after this library noted an object. */
	is_there = gm_strcmp(gm_base_name(process.dir), gm_children_folder()) == 0;
	if (!is_there || !gm_maps_inherit(child))
		gm_maps_forget();
	gm_threads_attach_child(child, process.dir);
	count_early_losses();
	if (is_marked_unwritten)
		gm_files_run(unmark_step, NULL);
	return 0;
}

static long open_folder(void)
{
	struct gm_identity *shared = image;
	struct gm_threads_header *header;
	int code;

	/*
	 * In a child both libraries share the identity; before that, each has a number of its own.
	 */
	if (shared != NULL) {
		gm_identity_begin();
		code = image_lock();
		if (code < 0)
			return code;
	}
	if (forked)
		gm_maps_forget();
	forked = false;
	code = folder_open(process.pid, &header);
	if (shared != NULL)
		gm_lock_release(&shared->lock);
	if (code < 0) {
		cannot_open(code, true);
		return code;
	}
	gm_threads_attach(header, process.dir);
	count_early_losses();
	unmark_unwritten();
	return 0;
}

static void set_state(uint32_t state)
{
	gm_making_end(&opening);
	/* release: pairs with the acquire loads of process_state; publishes `process` */
	__atomic_store_n(&process_state, state, __ATOMIC_RELEASE);
	gm_futex_wake(&process_state, INT_MAX);
}

/* No further attempt for 0.1 s. */
static void wait_with(uint16_t why)
{
	why_not_open = why;
	retry_ns = gm_clock_ns() + RETRY_NS;
	set_state(PROCESS_WAITING);
}

/* In a handler that interrupted the other library: the next event tries again. */
static void open_later(void)
{
	why_not_open = GM_LOSS_COUNTING_ONLY;
	set_state(GM_PROCESS_NEW);
}

/* In a step: notes in the capture that the process is not recorded yet. */
static long mark_step(void *code)
{
	if (configured)
		mark_unwritten((long)code);
	return 0;
}

/*
 * Another task of this process, perhaps in the other library, is opening it and is stuck. It may be
 * stopped, or may have been left by a jump that was not detected.
 */
static void stalled(void)
{
	if (why_not_open == GM_LOSS_STALLED)
		return;
	why_not_open = GM_LOSS_STALLED;
	gm_files_run(mark_step, (void *)-ETIMEDOUT);
	/*
	 * acquire: pairs with set_state(); the process may have been opened before the note was
	 * written
	 */
	if (__atomic_load_n(&process_state, __ATOMIC_ACQUIRE) == GM_PROCESS_OPEN)
		gm_files_run(unmark_step, NULL);
}

/* Returns 0, even if there is nothing to open. */
static long open_step(void *unused)
{
	long code = 0;

	(void)unused;
	process.pid = gm_child_pid();
	/* A child of fork() keeps its parent's configuration and capture. */
	has_config = has_config || configure();
	if (has_config && !configured)
		code = open_capture();
	configured = has_config && code == 0;
	if (configured)
		code = open_folder();
	if (code == -EDEADLK) {
		open_later();
		return 0;
	}
	if (code < 0 && (is_worth_waiting(code) || code == -ETIMEDOUT)) {
		wait_with(gm_loss_of(code));
		return 0;
	}
	if (!configured || code < 0) {
		set_state(GM_PROCESS_OFF);
		return 0;
	}
	set_state(GM_PROCESS_OPEN);
	gm_maps_note(gm_entry_point(), NULL); /* the executable is the first line of maps */
	return 0;
}

/* `state`: not opened yet, or time to try again. */
static const struct gm_process *open_slowly(uint32_t state)
{
	long code;

	if (state == PROCESS_OPENING ||
	    !__atomic_compare_exchange_n(&process_state, &state, PROCESS_OPENING, false,
					 __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE)) {
		if (state == PROCESS_OPENING &&
		    gm_making_wait(&opening, &process_state, PROCESS_OPENING) == -ETIMEDOUT)
			stalled();
		return gm_process_get();
	}
	gm_making_begin(&opening);
	code = place_open();
	if (code == -EDEADLK) {
		open_later();
		return NULL;
	}
	if (code == -ETIMEDOUT) {
		stalled();
		wait_with(GM_LOSS_STALLED);
		return NULL;
	}
	if (code == 0) {
		set_state(GM_PROCESS_OPEN);
		return &process;
	}
	code = gm_files_run(open_step, NULL);
	/* many children at once may have their first event: the step was not called */
	if (code < 0) {
		process.pid = gm_child_pid();
		if (configured)
			cannot_open(code, false);
		set_state(GM_PROCESS_OFF);
	}
	return gm_process_get();
}

const struct gm_process *gm_process_open(void)
{
	uint32_t state = __atomic_load_n(&process_state, __ATOMIC_ACQUIRE);

	if (state == GM_PROCESS_OPEN)
		return &process;
	if (state == GM_PROCESS_OFF)
		return NULL;
	/* The child of vfork() must not open it in its parent's memory. */
	if (state == PROCESS_WAITING &&
	    (gm_clock_ns() < retry_ns || gm_sys_getpid() != process.pid))
		return NULL;
	return open_slowly(state);
}

void gm_process_left(uint32_t tid)
{
	/* No system call is made here: the jump may have been the answer to one. */
	gm_child_claim_left(tid);
	if (__atomic_load_n(&process_state, __ATOMIC_RELAXED) != PROCESS_OPENING ||
	    !gm_making_is_by(&opening, tid))
		return;
	if (process.pid != 0 && configured)
		gm_threads_note_unwritten((uint32_t)process.pid, -EINTR);
	if (image != NULL)
		gm_lock_abandon(&image->lock, tid);
	gm_making_end(&opening);
	/* release: as in set_state(); waiters check the state periodically */
	__atomic_store_n(&process_state, GM_PROCESS_OFF, __ATOMIC_RELEASE);
}

uint16_t gm_process_why(void)
{
	return why_not_open;
}

bool gm_process_is_off(void)
{
	return __atomic_load_n(&process_state, __ATOMIC_ACQUIRE) == GM_PROCESS_OFF;
}

bool gm_process_waits(enum gm_library library)
{
	if (__atomic_load_n(&process_state, __ATOMIC_ACQUIRE) != PROCESS_WAITING)
		return false;
	return __atomic_load_n(&lost[library], __ATOMIC_RELAXED) % RETRY_AT_LOST != 0 ||
	       gm_clock_ns() < retry_ns;
}

void gm_process_settle(void)
{
	uint32_t state = __atomic_load_n(&process_state, __ATOMIC_ACQUIRE);
	uint64_t mask;

	if (state == GM_PROCESS_OPEN) /* of threads that saw no table while it was being made */
		count_early_losses();
	if (state != PROCESS_WAITING || gm_seal_is_set() || gm_sys_getpid() != process.pid)
		return;
	gm_signals_block(&mask);
	open_slowly(PROCESS_WAITING);
	gm_signals_restore(mask);
}

const struct gm_process *gm_process_get(void)
{
	return __atomic_load_n(&process_state, __ATOMIC_ACQUIRE) == GM_PROCESS_OPEN ? &process
										    : NULL;
}

void gm_process_forked(void)
{
	uint32_t state = __atomic_load_n(&process_state, __ATOMIC_ACQUIRE);

	/* it is not tried again; if an error was the reason, it persists */
	if (state == GM_PROCESS_OFF) {
		if (configured)
			gm_threads_note_unwritten((uint32_t)gm_sys_getpid(), -EACCES);
		gm_recorder_forked();
		return;
	}
	for (unsigned i = 0; i < GM_N_LIBS; i++)
		lost[i] = 0; /* they belong to the parent */
	is_marked_unwritten = false;
	gm_files_forget();
	gm_threads_detach();
	gm_kept_forget();
	gm_streams_forget();
	child = NULL;
	process.pid = 0;
	why_not_open = GM_LOSS_DISK;
	forked = true;
	__atomic_store_n(&process_state, GM_PROCESS_NEW, __ATOMIC_RELEASE);
}

void gm_process_count_lost(enum gm_library library, uint64_t n, uint16_t why)
{
	struct gm_threads_header *header = gm_threads_table();
	bool are_calls = library == GM_LIB_CALLS;

	if (n == 0)
		return;
	if (header == NULL) {
		__atomic_fetch_add(&lost[library], n, __ATOMIC_RELAXED);
		__atomic_fetch_or(&lost_why[library], why, __ATOMIC_RELAXED);
		return;
	}
	__atomic_fetch_add(are_calls ? &header->calls_lost : &header->events_lost, n,
			   __ATOMIC_RELAXED);
	gm_loss_add(are_calls ? &header->calls_why : &header->events_why, &header->stalled,
		    are_calls ? GM_STALLED_CALLS : GM_STALLED_EVENTS, why);
}

void gm_process_set_sync_types_off(uint32_t types)
{
	struct gm_threads_header *header = gm_threads_table();

	if (header != NULL)
		header->sync_types_off = (uint16_t)types;
}

void gm_process_set_sync_objects(uint8_t objects)
{
	struct gm_threads_header *header = gm_threads_table();

	if (header != NULL)
		__atomic_fetch_or(&header->sync_objects, objects, __ATOMIC_RELAXED);
}

/* The place of a child of fork has only the first fields of a header. */
static struct gm_threads_header *whole_header(void)
{
	return child == NULL ? gm_threads_table() : NULL;
}

void gm_process_count_task_wait(void)
{
	struct gm_threads_header *header = whole_header();

	if (header != NULL)
		__atomic_fetch_add(&header->task_waits_left_out, 1, __ATOMIC_RELAXED);
}

void gm_process_count_accesses_lost(uint64_t n)
{
	struct gm_threads_header *header = whole_header();

	if (header != NULL)
		__atomic_fetch_add(&header->accesses_lost, n, __ATOMIC_RELAXED);
}

void gm_process_count_without_accesses(void)
{
	struct gm_threads_header *header = whole_header();

	if (header != NULL)
		__atomic_fetch_add(&header->n_without_accesses, 1, __ATOMIC_RELAXED);
}

void gm_process_note_not_stepped(unsigned why)
{
	struct gm_threads_header *header = whole_header();

	if (header != NULL)
		__atomic_fetch_or(&header->not_stepped, why, __ATOMIC_RELAXED);
}

void gm_process_count_blocks_lost(uint64_t n)
{
	struct gm_threads_header *header = whole_header();

	if (header != NULL)
		__atomic_fetch_add(&header->blocks_lost, n, __ATOMIC_RELAXED);
}

void gm_process_count_stepped_calls(uint64_t n)
{
	struct gm_threads_header *header = whole_header();

	if (header != NULL)
		__atomic_fetch_add(&header->stepped_calls, n, __ATOMIC_RELAXED);
}

void gm_process_set_io(uint64_t threshold_ns)
{
	struct gm_threads_header *header = gm_threads_table();

	gm_process_set_sync_objects(GM_SYNC_IO);
	if (header != NULL && gm_process_has_folder())
		header->io_threshold_ns = threshold_ns;
}

void gm_process_count_path_lost(void)
{
	struct gm_threads_header *header = gm_threads_table();

	if (header != NULL)
		__atomic_fetch_add(&header->paths_lost, 1, __ATOMIC_RELAXED);
}

bool gm_process_set_sampling(uint64_t sampler, enum gm_sample_state state, uint64_t period_ns)
{
	struct gm_threads_header *header = gm_threads_table();
	uint64_t first = 0;

	if (header == NULL || !__atomic_compare_exchange_n(&header->sampler, &first, sampler, false,
							   __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		return header != NULL && first == sampler;
	header->sample_period_ns = period_ns;
	header->sample_state = (uint8_t)state;
	return true;
}
