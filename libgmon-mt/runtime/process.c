/* SPDX-License-Identifier: MIT */
/*
 * The process: opened once, by its first profiled event or by a library's constructor.
 *
 * The capture folder <pid> appears whole: made under another name with `threads` in it, then
 * renamed.  Whoever loses that race, or comes second from the other runtime library, recognizes the
 * folder as its own by the number in its header.  A later image of the same process (exec) or
 * another process of the same id takes <pid>.1, <pid>.2, ...
 */
#include <errno.h>
#include <sys/auxv.h>
#include <sys/random.h>

#include "runtime/futex.h"
#include "runtime/runtime.h"
#include "runtime/sys.h"
#include "runtime/threads.h"

#define FOLDERS_MAX 100000u
#define PAGE_BYTES  4096u

enum { PROCESS_OPENING = 3 };

static struct gm_process process;
static uint32_t process_state; /* enum gm_process_state, or PROCESS_OPENING */
static bool configured;
static char threads_path[GM_PATH_MAX + 16];
/* While there is no table to count them in. */
static uint64_t lost[GM_N_LIBS];
static uint8_t lost_why[GM_N_LIBS];

extern char **environ;
extern void *__libc_stack_end; /* the loader's: as the kernel left it, argc, argv, environment */

/*
 * A preloaded object linked with `-z initfirst` comes before libc, and where the program has
 * gcrt1.o, its _init calls __monstartup(): libc has no environment then.
 */
static char **environment(void)
{
	static bool is_there; /* from then on NULL is what the program made of it */
	long *start = __libc_stack_end;

	is_there |= environ != NULL;
	return is_there || start == NULL ? environ : (char **)(start + 1 + *start + 1);
}

const char *gm_environment(const char *name)
{
	size_t n = gm_strlen(name);

	for (char **entry = environment(); entry != NULL && *entry != NULL; entry++)
		if (memcmp(*entry, name, n) == 0 && (*entry)[n] == '=')
			return *entry + n + 1;
	return NULL;
}

/*
 * A number that tells this run of this program image from all others, whatever their ids: two
 * children of one parent may have the same id and the same AT_RANDOM.  The folder's maker has it in
 * memory that is zeros in a child of fork(), and says in the header where; both libraries see that.
 */
static uint64_t *image;

static bool image_begin(void)
{
	if (image == NULL)
		image = gm_sys_mmap(PAGE_BYTES, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (image == NULL)
		return false;
	gm_syscall3(SYS_madvise, (long)image, PAGE_BYTES, MADV_WIPEONFORK);
	if (gm_syscall3(SYS_getrandom, (long)image, sizeof(*image), GRND_NONBLOCK) !=
	    sizeof(*image))
		*image = gm_clock_ns() * 0x9e3779b97f4a7c15u;
	return true;
}

/* What is there now may be anything: the kernel compares, by not waiting for it to change. */
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

static bool configure(void)
{
	struct gm_config_error error;
	const char *path = gm_environment("GPROF_MT_CONFIG");
	int code;

	gm_warn_init();
	if (getauxval(AT_SECURE) != 0) {
		gm_warn_once("a set-user-id program is not profiled: run it as its own user");
		return false;
	}
	gm_config_defaults(&process.config);
	if (path != NULL && path[0] != '\0') {
		code = gm_config_read(path, &process.config, &error);
	} else {
		code = gm_config_read("gprof-mt.conf", &process.config, &error);
		code = code == -ENOENT ? 0 : code;
	}
	if (code < 0)
		gm_warn_once(error.text);
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

/* What can be said without `gprof-mt record`, which writes a fuller one. */
static void write_info(void)
{
	static char info[8192];
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
	gm_text_add(&text,
		    "},\"config\":{\"level\":\"applic-only\"},\"kernel\":{\"source\":\"none\","
		    "\"why\":\"run without gprof-mt record, which collects them\"}}\n");
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
	header->image = *image;
	header->image_at = (uint64_t)image;
	header->proc_start = gm_proc_start(pid);
}

/* Maps the table of the folder process.dir.  NULL: there is none, or it is not this image's. */
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
	return header;
}

static void folder_name(int pid, unsigned number)
{
	struct gm_text dir = GM_TEXT(process.dir), path = GM_TEXT(threads_path);

	gm_text_add(&dir, process.capture.dir);
	gm_text_add(&dir, "/");
	gm_text_add_u64(&dir, (uint64_t)pid);
	if (number > 0) {
		gm_text_add(&dir, ".");
		gm_text_add_u64(&dir, number);
	}
	gm_text_add(&path, process.dir);
	gm_text_add(&path, "/threads");
}

/* Makes <capture>/.new.<number> with an empty table in it, mapped.  0 or -errno. */
static int folder_prepare(char *temporary, size_t size_bytes, int pid,
			  struct gm_threads_header **ret_header)
{
	struct gm_text text = {temporary, size_bytes, 0};
	void *mapping;
	int code;

	if (!image_begin())
		return -ENOMEM;
	gm_text_add(&text, process.capture.dir);
	gm_text_add(&text, "/.new.");
	gm_text_add_u64(&text, *image);
	code = gm_sys_mkdir(temporary, 0700);
	if (code < 0)
		return code;
	code = gm_file_map(temporary, "threads", GM_THREADS_FIRST_BYTES, &mapping);
	if (code < 0) {
		gm_remove_tree(temporary);
		return code;
	}
	*ret_header = mapping;
	header_fill(*ret_header, pid);
	return 0;
}

static int folder_open(int pid, struct gm_threads_header **ret_header)
{
	static char temporary[GM_PATH_MAX + 32];
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
		*ret_header = folder_join(); /* the other library was quicker */
		if (*ret_header != NULL) {
			code = 0;
			break;
		}
	}
	if (prepared != NULL) {
		gm_sys_munmap(prepared, GM_THREADS_FIRST_BYTES);
		gm_remove_tree(temporary);
	}
	return code;
}

static bool open_capture(void)
{
	struct gm_config_error error;

	if (gm_capture_open(&process.config, &process.capture, &error) < 0) {
		gm_warn_once(error.text);
		return false;
	}
	if (process.capture.created)
		write_info();
	return true;
}

/* For who reads the capture. */
static void leave_word(int code)
{
	char name[32], target[16];
	struct gm_text text = GM_TEXT(name), number = GM_TEXT(target);
	char *path;

	gm_text_add(&text, GM_UNWRITTEN);
	gm_text_add_u64(&text, (uint64_t)process.pid);
	gm_text_add_u64(&number, (uint64_t)-code);
	path = gm_path_new(process.capture.dir, name);
	if (path != NULL)
		gm_syscall3(SYS_symlink, (long)target, (long)path, 0);
	gm_path_free(path);
}

static bool open_folder(void)
{
	struct gm_threads_header *header;
	int code;

	process.pid = gm_sys_getpid();
	code = folder_open(process.pid, &header);
	if (code < 0) {
		char warning[GM_WARNING_BYTES];
		struct gm_text text = GM_TEXT(warning);

		gm_text_add(&text, process.capture.dir);
		gm_text_add(&text, ": cannot write the capture: ");
		gm_text_add_errno(&text, code);
		gm_text_add(&text, "; the program runs unprofiled");
		gm_warn_once(warning);
		leave_word(code);
		return false;
	}
	gm_threads_attach(header, threads_path);
	for (unsigned i = 0; i < GM_N_LIBS; i++)
		gm_process_count_lost(i, __atomic_exchange_n(&lost[i], 0, __ATOMIC_RELAXED),
				      lost_why[i]);
	return true;
}

static const struct gm_process *open_slowly(void)
{
	uint32_t state = GM_PROCESS_NEW;
	bool opened;

	if (!__atomic_compare_exchange_n(&process_state, &state, PROCESS_OPENING, false,
					 __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE)) {
		while (state == PROCESS_OPENING) {
			gm_futex_wait(&process_state, PROCESS_OPENING);
			state = __atomic_load_n(&process_state, __ATOMIC_ACQUIRE);
		}
		return state == GM_PROCESS_OPEN ? &process : NULL;
	}

	/* A child of fork() keeps its parent's configuration and capture. */
	opened = configured || (configure() && open_capture());
	configured = opened;
	opened = opened && open_folder();
	/* release: pairs with the acquire loads of process_state; publishes `process` */
	__atomic_store_n(&process_state, opened ? GM_PROCESS_OPEN : GM_PROCESS_OFF,
			 __ATOMIC_RELEASE);
	gm_futex_wake(&process_state, INT_MAX);
	if (!opened)
		return NULL;
	gm_maps_note(gm_entry_point(), NULL); /* the executable is the first line of maps */
	return &process;
}

const struct gm_process *gm_process_open(void)
{
	uint32_t state = __atomic_load_n(&process_state, __ATOMIC_ACQUIRE);

	if (state == GM_PROCESS_OPEN)
		return &process;
	return state == GM_PROCESS_OFF ? NULL : open_slowly();
}

const struct gm_process *gm_process_get(void)
{
	return __atomic_load_n(&process_state, __ATOMIC_ACQUIRE) == GM_PROCESS_OPEN ? &process
										    : NULL;
}

void gm_process_forked(void)
{
	uint32_t state = __atomic_load_n(&process_state, __ATOMIC_ACQUIRE);

	if (state == GM_PROCESS_OFF)
		return;
	gm_threads_detach();
	gm_maps_forget();
	__atomic_store_n(&process_state, GM_PROCESS_NEW, __ATOMIC_RELEASE);
}

void gm_process_end(void)
{
	struct gm_threads_header *header = gm_threads_table();

	if (gm_process_get() == NULL || header == NULL)
		return;
	gm_maps_update();
	header->end_ns = gm_clock_ns();
}

void gm_process_count_lost(enum gm_library library, uint64_t n, uint8_t why)
{
	struct gm_threads_header *header = gm_threads_table();
	uint64_t *counter = &lost[library];
	uint8_t *whys = &lost_why[library];

	if (n == 0)
		return;
	if (header != NULL) {
		counter = library == GM_LIB_CALLS ? &header->calls_lost : &header->events_lost;
		whys = library == GM_LIB_CALLS ? &header->calls_why : &header->events_why;
	}
	__atomic_fetch_add(counter, n, __ATOMIC_RELAXED);
	gm_loss_add(whys, why);
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
	header->sample_state = state;
	return true;
}
