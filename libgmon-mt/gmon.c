/* SPDX-License-Identifier: MIT */
/*
 * Writes gmon files for stock gprof (format, names and rules: gmon-mt/gmon.h). Each thread gets one
 * for the executable and one for each library with -pg code that it called; at the end gmon.out
 * covers all threads. A caller in another object is represented by the object's entry point, as
 * `start` is the parent of main in classic listings.
 *
 * Runs at the end of a thread and of the process, under gm_flush_lock, on any stack.
 */
#include <errno.h>

#include "gmon-mt/gmon.h"
#include "internal.h"
#include "runtime/files/file.h"
#include "runtime/files/helper_task.h"
#include "runtime/files/warn.h"
#include "runtime/process/loadmap.h"
#include "runtime/process/process.h"
#include "runtime/process/threads.h"
#include "runtime/sys/kernel.h"
#include "runtime/sys/sys.h"

#define OBJECTS_MAX  64u /* found in one pass */
#define MAPPINGS_MAX 8u	 /* remembered per file; further ones are searched for */
#define BUFFER_BYTES 1024u

_Static_assert(GM_OBJECT_NAME_BYTES - GM_OBJECT_NUMBER_BYTES == GM_GMON_LIBRARY_BYTES, "as record");

static struct gm_control merged; /* arcs of the threads that ended */
static uint64_t n_written;	 /* calls and samples in the merged files last written, plus 1 */
static unsigned n_failed;	 /* files of the capture that could not be written */
static long last_failure;
static bool warned;	     /* about a gmon.out that cannot be written */
static bool warned_failures; /* about other files; a file may be written twice */
static bool warned_stuck;    /* about all files */

/* With fd < 0 counts bytes. Then writes at most that many, since running threads go on counting. */
struct output {
	int fd;
	long error; /* the first -errno; 0: none */
	uint64_t total_bytes;
	unsigned used;
	char buffer[BUFFER_BYTES];
};

static void output_flush(struct output *output)
{
	unsigned at = 0;

	while (output->error == 0 && at < output->used) {
		long n = gm_sys_write(output->fd, output->buffer + at, output->used - at);

		if (n == -EINTR)
			continue;
		if (n <= 0)
			output->error = n < 0 ? n : -ENOSPC;
		else
			at += (unsigned)n;
	}
	output->used = 0;
}

static void put(void *data, const void *bytes, unsigned n)
{
	struct output *output = data;

	if (output->fd < 0) {
		output->total_bytes += n;
		return;
	}
	if (output->total_bytes < n)
		return;
	output->total_bytes -= n;
	if (output->used + n > sizeof(output->buffer))
		output_flush(output);
	memcpy(output->buffer + output->used, bytes, n);
	output->used += n;
}

static void put_header(struct output *output, const struct gm_object *object,
		       const struct gm_samples *samples)
{
	struct gm_gmon_header header = GM_GMON_HEADER;

	put(output, &header, sizeof(header));
	gm_histogram_put(samples->at, samples->n, object->text_start - object->bias,
			 gm_sample_rate_hz(), put, output);
}

static bool contains(const struct gm_object *object, uint64_t address)
{
	return address >= object->start && address < object->end;
}

/*
 * The caller's address for gprof. It is that of the call instruction, because a call that never
 * returns may be the last instruction of its function and the return address then lies in the next
 * one. For a caller in another object it is the entry point or, without one, the last byte of code:
 * gprof drops addresses that have no symbol.
 */
static uint64_t caller(const struct gm_object *object, const struct gm_arc *arc)
{
	if (contains(object, arc->from - 1))
		return arc->from - 1;
	return object->entry != 0 ? object->entry : object->text_end - 1;
}

struct gmon {
	struct output *output;
	const struct gm_object *object;
	unsigned n_mappings; /* of its file */
	const struct gm_object *mappings[MAPPINGS_MAX];
	struct gm_samples samples;
};

/* Returns the mapping of the file that holds the address, or NULL. */
static const struct gm_object *mapping_of(const struct gmon *gmon, uint64_t address)
{
	const struct gm_object *object;

	for (unsigned i = 0; i < gmon->n_mappings && i < MAPPINGS_MAX; i++)
		if (contains(gmon->mappings[i], address))
			return gmon->mappings[i];
	if (gmon->n_mappings <= MAPPINGS_MAX)
		return NULL;
	object = gm_maps_find(address);
	return object != NULL && object->file == gmon->object->file ? object : NULL;
}

/* Writes the arcs of all calls into the file. */
static void put_arcs(const struct gmon *gmon, const struct gm_table *table)
{
	for (uint32_t i = 0; i < table->header.n_slots; i++) {
		const struct gm_arc *arc = &table->arcs[i];
		uint64_t self = __atomic_load_n(&arc->self, __ATOMIC_ACQUIRE);
		uint64_t left = arc->count;
		const struct gm_object *object;

		object = self == 0 ? NULL : mapping_of(gmon, self);
		while (object != NULL && left > 0) {
			struct gm_gmon_arc record = {
			    .tag = GM_GMON_TAG_ARC,
			    .from = caller(object, arc) - object->bias,
			    .self = self - object->bias,
			    .count = left < GM_GMON_COUNT_MAX ? (uint32_t)left : GM_GMON_COUNT_MAX,
			};

			put(gmon->output, &record, sizeof(record));
			left -= record.count;
		}
	}
}

/* Files, represented by one mapping each, sorted by `file`. Only files after `done` are taken. */
struct objects {
	unsigned n;
	const struct gm_object *at[OBJECTS_MAX];
	uint64_t done;
};

/* If the array is full, the last file is left for the next pass. */
static void add_object(struct objects *objects, const struct gm_object *object)
{
	unsigned at = objects->n, n_behind;

	if (object->file <= objects->done)
		return;
	while (at > 0 && objects->at[at - 1]->file > object->file)
		at--;
	if (at == OBJECTS_MAX || (at > 0 && objects->at[at - 1]->file == object->file))
		return;
	if (objects->n < OBJECTS_MAX)
		objects->n++;
	n_behind = objects->n - 1 - at;
	memmove(&objects->at[at + 1], &objects->at[at], n_behind * sizeof(objects->at[0]));
	objects->at[at] = object;
}

/* Returns true if another pass may find more files. */
static bool has_more(struct objects *objects)
{
	if (objects->n < OBJECTS_MAX)
		return false;
	objects->done = objects->at[OBJECTS_MAX - 1]->file;
	objects->n = 0;
	return true;
}

/* Adds the files whose functions are called in the table. */
static void find_objects(const struct gm_table *table, struct objects *objects)
{
	for (uint32_t i = 0; table != NULL && i < table->header.n_slots; i++) {
		uint64_t self = __atomic_load_n(&table->arcs[i].self, __ATOMIC_ACQUIRE);
		const struct gm_object *object = NULL;

		if (self == 0)
			continue;
		for (unsigned n = 0; n < objects->n && object == NULL; n++)
			if (contains(objects->at[n], self))
				object = objects->at[n];
		if (object == NULL && (object = gm_maps_find(self)) != NULL)
			add_object(objects, object);
	}
}

static void visit_living(void (*visit)(const struct gm_control *, void *), void *data)
{
	uint32_t n = gm_threads_count();

	for (uint32_t i = 0; i < n; i++) {
		struct gm_control *control = gm_control_at(i);

		if (control != NULL)
			visit(control, data);
	}
}

static void put_thread(const struct gm_control *control, void *data)
{
	struct gmon *gmon = data;
	const struct gm_table *table;

	for (uint32_t n = 0; (table = gm_calls_table(control, n)) != NULL; n++)
		put_arcs(gmon, table);
}

/* Writes one thread, or all threads if control == NULL. */
static void put_gmon(struct gmon *gmon, const struct gm_control *control)
{
	put_header(gmon->output, gmon->object, &gmon->samples);
	if (control != NULL) {
		put_thread(control, gmon);
		return;
	}
	if (merged.table != NULL)
		put_arcs(gmon, merged.table);
	visit_living(put_thread, gmon);
}

/*
 * Reserves disk space for output_flush(). A single write() needs no reservation, but beyond
 * RLIMIT_FSIZE it would raise SIGXFSZ.
 */
static int reserve(int fd, uint64_t size_bytes)
{
	if (size_bytes > BUFFER_BYTES)
		return gm_file_reserve(fd, 0, size_bytes);
	return gm_file_may_reach(size_bytes) ? 0 : -EFBIG;
}

static bool is_regular(int fd)
{
	struct stat status;

	return gm_syscall3(SYS_fstat, fd, (long)&status, 0) == 0 && S_ISREG(status.st_mode);
}

/*
 * Writes the gmon file of one object with mode 0600. Does not follow symlinks and leaves a FIFO or
 * a device alone. Returns 0, or -errno if there is no such file afterwards.
 */
static long write_gmon(const char *path, const struct gm_object *object,
		       const struct gm_control *control)
{
	struct output to = {.fd = -1}, *output = &to;
	struct gmon gmon = {.output = output, .object = object};
	long code;

	gmon.n_mappings = gm_maps_of_file(object, gmon.mappings, MAPPINGS_MAX);
	output->error = gm_samples_gather(&gmon.samples, object, control);
	if (output->error < 0)
		return output->error;
	put_gmon(&gmon, control);
	output->fd = gm_sys_open(
	    path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0600);
	if (output->fd < 0) {
		gm_samples_done(&gmon.samples);
		return output->fd;
	}
	if (!is_regular(output->fd)) {
		gm_sys_close(output->fd);
		gm_samples_done(&gmon.samples);
		return -ENXIO;
	}
	output->error = reserve(output->fd, output->total_bytes);
	put_gmon(&gmon, control);
	output_flush(output);
	code = gm_syscall3(SYS_close, output->fd, 0, 0);
	if (output->error == 0 && code != -EINTR)
		output->error = code; /* reported at close by network file systems */
	gm_samples_done(&gmon.samples);
	if (output->error < 0)
		gm_sys_unlink(path);
	return output->error;
}

static void add_library(struct gm_text *name, const struct gm_object *object)
{
	if (object->executable)
		return;
	gm_text_add(name, ".");
	gm_text_add(name, object->name);
}

static void count_failure(long code)
{
	if (code >= 0)
		return;
	n_failed++;
	last_failure = code;
}

/* Writes <pid>/gmon.<middle>, with ".<library>" appended for a library. */
static void write_in_folder(const char *middle, const struct gm_object *object,
			    const struct gm_control *control)
{
	char name[48 + GM_OBJECT_NAME_BYTES];
	struct gm_text text = GM_TEXT(name);
	char *path;
	long code = -ENOMEM;

	if (gm_process_get()->config.gmon_writer == GM_GMON_RECORD)
		return;
	gm_text_add(&text, "gmon.");
	gm_text_add(&text, middle);
	add_library(&text, object);
	path = gm_process_folder() == 0 ? gm_path_new(gm_process_get()->dir, name) : NULL;
	if (path != NULL)
		code = write_gmon(path, object, control);
	gm_path_free(path);
	count_failure(code);
}

static long write_thread_step(void *arg)
{
	const struct gm_control *control = arg;
	struct objects objects = {0};
	char middle[32];
	struct gm_text text = GM_TEXT(middle);

	gm_text_add_u64(&text, control->index);
	gm_text_add(&text, ".");
	gm_text_add_u64(&text, control->tid);
	do {
		/* The current table has the keys of all its predecessors. */
		find_objects(control->table, &objects);
		for (unsigned i = 0; i < objects.n; i++)
			write_in_folder(middle, objects.at[i], control);
	} while (has_more(&objects));
	return 0;
}

bool gm_gmon_has_files(const struct gm_control *control)
{
	const struct gm_config *config = &gm_process_get()->config;

	return gm_started && config->gmon_writer != GM_GMON_RECORD &&
	       control->index < config->gmon_threads;
}

void gm_gmon_thread(struct gm_control *control, bool final)
{
	const struct gm_table *table;
	uint64_t n_now = 1 + gm_calls_total(control);
	unsigned n_before = n_failed;

	if (control->samples != NULL)
		n_now += gm_calls_total(control->samples);
	if (n_now != control->n_written && gm_gmon_has_files(control))
		count_failure(gm_files_run(write_thread_step, control));
	if (n_failed == n_before)
		control->n_written = n_now;
	for (uint32_t n = 0; final && (table = gm_calls_table(control, n)) != NULL; n++)
		gm_calls_merge(&merged, table);
	if (final)
		gm_samples_keep(control);
}

struct gm_table *gm_gmon_merged(void)
{
	return merged.table;
}

void gm_gmon_forget(void)
{
	/*
	 * Another thread may have been changing it at the time of the fork: its memory is left
	 * alone.
	 */
	memset(&merged, 0, sizeof(merged));
	gm_samples_forget();
	n_failed = 0;
	n_written = 0;
	warned = warned_failures = warned_stuck = false;
}

static void visit_find(const struct gm_control *control, void *objects)
{
	find_objects(control->table, objects);
}

static void visit_sum(const struct gm_control *control, void *sum)
{
	*(uint64_t *)sum += gm_calls_total(control);
}

/* gmon.out, or PREFIX.PID if GMON_OUT_PREFIX is set, as in glibc. */
static char *gmon_out_path(void)
{
	const char *prefix = gm_environment("GMON_OUT_PREFIX");
	char name[24];
	struct gm_text text = GM_TEXT(name);
	char *path;

	if (prefix == NULL || prefix[0] == '\0')
		return gm_path_new(".", "gmon.out");
	gm_text_add_u64(&text, (uint64_t)gm_sys_getpid());
	path = gm_path_new(prefix, name);
	if (path != NULL && gm_strlen(prefix) < GM_PATH_MAX - sizeof(name))
		path[gm_strlen(prefix)] = '.';
	return path;
}

static void write_gmon_out(const struct gm_object *object)
{
	char *path = gmon_out_path();
	long code = path == NULL ? -ENOMEM : write_gmon(path, object, NULL);

	if (code < 0 && !warned) {
		char warning[GM_WARNING_BYTES];
		struct gm_text text = GM_TEXT(warning);

		warned = true;
		gm_text_add(&text, path == NULL ? "gmon.out" : path);
		gm_text_add(&text, ": cannot write it: ");
		gm_text_add_errno(&text, code);
		gm_text_add(&text, "; set GMON_OUT_PREFIX to write it elsewhere; the capture in ");
		gm_text_add(&text, gm_process_get()->capture.dir);
		gm_text_add(&text, " has the calls");
		gm_warn(warning);
	}
	gm_path_free(path);
}

static void warn_failures(void)
{
	char warning[GM_WARNING_BYTES];
	struct gm_text text = GM_TEXT(warning);

	if (n_failed == 0 || warned_failures)
		return;
	warned_failures = true;
	gm_text_add(&text, gm_process_get()->dir);
	gm_text_add(&text, ": cannot write ");
	gm_text_add_u64(&text, n_failed);
	gm_text_add(&text, " gmon files: ");
	gm_text_add_errno(&text, last_failure);
	gm_text_add(&text, "; free disk space, or choose another directory ([output] dir)");
	gm_warn(warning);
}

void gm_gmon_give_up(void)
{
	char warning[GM_WARNING_BYTES];
	struct gm_text text = GM_TEXT(warning);

	gm_threads_give_up(NULL, GM_STALLED_GMON);
	if (warned_stuck)
		return;
	warned_stuck = true;
	gm_text_add(&text, gm_process_get()->dir);
	gm_text_add(&text, ": the gmon files are not written, because a thread was stopped for "
			   "seconds in code that they need; `gprof-mt export --format gmon` "
			   "makes them from the capture");
	gm_warn(warning);
}

/* Writes the merged gmon files of the libraries. */
static void write_merged(void)
{
	struct objects objects = {0};

	do {
		find_objects(merged.table, &objects);
		visit_living(visit_find, &objects);
		for (unsigned i = 0; i < objects.n; i++)
			if (!objects.at[i]->executable)
				write_in_folder("merged", objects.at[i], NULL);
	} while (has_more(&objects));
}

static long write_all_step(void *unused)
{
	const struct gm_object *executable = gm_maps_find(gm_entry_point());
	uint32_t n_threads = gm_threads_count();

	(void)unused;
	for (uint32_t i = 0; i < n_threads; i++) {
		struct gm_control *control = gm_control_at(i);

		if (control != NULL)
			gm_gmon_thread(control, false);
	}
	if (executable != NULL)
		write_gmon_out(executable);
	write_merged();
	return 0;
}

void gm_gmon_all(void)
{
	uint64_t n_calls = 1 + gm_samples_total();
	unsigned n_before = n_failed;

	gm_threads_finish();
	if (merged.table != NULL)
		n_calls += gm_calls_total(&merged);
	visit_living(visit_sum, &n_calls);
	if (n_calls == n_written)
		return;
	count_failure(gm_files_run(write_all_step, NULL));
	if (n_failed == n_before) /* otherwise the end of the process tries again */
		n_written = n_calls;
	gm_threads_settle(true);
	warn_failures();
}
