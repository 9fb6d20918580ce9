/* SPDX-License-Identifier: MIT */
/*
 * For each thread, assigns the arcs to the objects whose functions are called, then writes a file
 * for each object that has arcs.  Arcs of libraries are also kept for the file of all threads.
 */
#include "export/gmon/gmon.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/text/write.h"
#include "export/gmon/elf_code.h"
#include "gmon-mt/gmon.h"
#include "gmon-mt/histogram.h"
#include "analysis/select.h"

#define SECOND_NS UINT64_C(1000000000)

/* Name in a <pid> folder while a file that needs several writes is incomplete. */
#define UNFINISHED "gmon.unfinished"
#define STEP_BYTES 4096

#define FILE_BYTES_MAX (64u << 20) /* three million arcs */

/* An ELF file, independent of processes. */
struct image {
	const char *path, *build_id; /* borrowed from a pp_load */
	bool is_read;
	const char *why; /* why no gmon file can be written; NULL: it can */
	struct pp_elf_code code;
	unsigned n_missing;
};

/* An image in one process. */
struct object {
	struct image *image;
	char *name;	  /* suffix of the file's name after the thread; NULL: the executable */
	GArray *arcs;	  /* of struct pp_arc with link-time addresses: of the current thread */
	GArray *all_arcs; /* of all threads; unused for the executable, which has gmon.out */
	GArray *samples;  /* of struct gm_sample: of the current thread */
	GArray *all_samples;
};

struct writer {
	struct pp_gmon *result;
	const struct pp_pass_context *chosen; /* NULL: all threads */
	uint64_t n_threads_max;		      /* with files of their own */
	bool in_packs;			      /* children in packs have their files there */
	uint64_t n_packed;		      /* of these children that had calls */
	GHashTable *images;		      /* "build-id path" -> struct image * */
	const struct pp_process *process;
	int folder_fd;
	GPtrArray *objects;	 /* of struct object * */
	struct object **of_load; /* by index of the load in process->maps */
	int error;		 /* -errno why this folder cannot be written; 0: it can */
};

/* --- objects --- */

static struct image *get_image(struct writer *writer, const struct pp_load *load)
{
	g_autofree char *key = g_strdup_printf("%s %s", load->build_id ?: "-", load->path);
	struct image *image = g_hash_table_lookup(writer->images, key);

	if (image)
		return image;
	image = g_new0(struct image, 1);
	image->path = load->path;
	image->build_id = load->build_id;
	g_hash_table_insert(writer->images, g_steal_pointer(&key), image);
	return image;
}

static const struct pp_elf_code *get_code(struct image *image)
{
	if (!image->is_read)
		image->why = pp_elf_code_read(image->path, image->build_id, &image->code);
	image->is_read = true;
	return &image->code;
}

static void object_free(void *data)
{
	struct object *object = data;

	g_free(object->name);
	g_array_unref(object->arcs);
	g_array_unref(object->all_arcs);
	g_array_unref(object->samples);
	g_array_unref(object->all_samples);
	g_free(object);
}

static bool is_taken(const GPtrArray *names, const char *name)
{
	for (guint i = 0; i < names->len; i++)
		if (names->pdata[i] && g_str_equal(names->pdata[i], name))
			return true;
	return false;
}

static char *new_name(const char *path, const GPtrArray *names)
{
	const char *slash = strrchr(path, '/');
	g_autofree char *base = g_strndup(slash ? slash + 1 : path, GM_GMON_LIBRARY_BYTES);
	char *name = g_strdup(base);

	for (unsigned n = 2; is_taken(names, name); n++) {
		g_free(name);
		name = g_strdup_printf("%s~%u", base, n);
	}
	return name;
}

/*
 * Returns the names defined by gmon-mt/gmon.h, by index of the load; NULL: the executable, which is
 * first.
 */
static GPtrArray *name_loads(const GArray *maps)
{
	GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GHashTable) of_path = g_hash_table_new(g_str_hash, g_str_equal);

	for (guint i = 0; i < maps->len; i++) {
		char *path = g_array_index(maps, struct pp_load, i).path;
		void *known = NULL;
		char *name = NULL;

		if (g_hash_table_lookup_extended(of_path, path, NULL, &known))
			name = g_strdup(known);
		else if (i > 0)
			name = new_name(path, names);
		g_hash_table_insert(of_path, path, name);
		g_ptr_array_add(names, name);
	}
	return names;
}

static struct object *get_object(struct writer *writer, struct image *image, const char *name)
{
	struct object *object;

	for (guint i = 0; i < writer->objects->len; i++) {
		object = writer->objects->pdata[i];
		if (object->image == image)
			return object;
	}
	object = g_new0(struct object, 1);
	object->image = image;
	object->name = g_strdup(name);
	object->arcs = g_array_new(FALSE, FALSE, sizeof(struct pp_arc));
	object->all_arcs = g_array_new(FALSE, FALSE, sizeof(struct pp_arc));
	object->samples = g_array_new(FALSE, FALSE, sizeof(struct gm_sample));
	object->all_samples = g_array_new(FALSE, FALSE, sizeof(struct gm_sample));
	g_ptr_array_add(writer->objects, object);
	return object;
}

static bool holds(const struct pp_load *load, uint64_t address)
{
	return address >= load->start && address < load->end;
}

/* Uses the same rule as names in reports.  Returns the index in the load map; -1: none. */
static int find_load(const struct pp_process *process, uint64_t address)
{
	const struct pp_load *load = pp_maps_find(process, address);

	return load ? (int)(load - &g_array_index(process->maps, struct pp_load, 0)) : -1;
}

/* --- files --- */

/* Returns false if the file would exceed a size that no real program reaches. */
static bool put_arc(GByteArray *file, const struct pp_arc *arc)
{
	struct gm_gmon_arc record = {.tag = GM_GMON_TAG_ARC, .from = arc->from, .self = arc->self};

	for (uint64_t left = arc->count; left; left -= record.count) {
		if (file->len > FILE_BYTES_MAX)
			return false;
		record.count = (uint32_t)MIN(left, GM_GMON_COUNT_MAX);
		g_byte_array_append(file, (const guint8 *)&record, sizeof(record));
	}
	return true;
}

static int compare_samples(const void *a, const void *b)
{
	const struct gm_sample *sa = a, *sb = b;

	return sa->pc < sb->pc ? -1 : sa->pc > sb->pc;
}

static void append(void *file, const void *bytes, unsigned n)
{
	g_byte_array_append(file, bytes, n);
}

static void put_histogram(GByteArray *file, const struct writer *writer, uint64_t code,
			  GArray *samples)
{
	uint64_t period_ns = writer->process->sample_period_ns;
	uint32_t rate_hz = GM_HISTOGRAM_RATE_HZ;

	if (!writer->process->why_no_samples)
		rate_hz = (uint32_t)((SECOND_NS + period_ns / 2) / period_ns);
	g_array_sort(samples, compare_samples);
	gm_histogram_put(&g_array_index(samples, struct gm_sample, 0), samples->len, code, rate_hz,
			 append, file);
}

/* Returns 0 or -EFBIG. */
static int put_profile(GByteArray *file, const struct writer *writer, const struct object *object,
		       const GArray *arcs, GArray *samples)
{
	struct gm_gmon_header start = GM_GMON_HEADER;
	bool fits = true;

	g_byte_array_append(file, (const guint8 *)&start, sizeof(start));
	put_histogram(file, writer, object->image->code.start, samples);
	for (guint i = 0; i < arcs->len && fits; i++)
		fits = put_arc(file, &g_array_index(arcs, struct pp_arc, i));
	return fits ? 0 : -EFBIG;
}

/*
 * Never replaces another file: a file that appeared meanwhile is kept, as if it had existed before.
 */
static int rename_new(int folder_fd, const char *name)
{
	struct stat st;

	if (renameat2(folder_fd, UNFINISHED, folder_fd, name, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS) /* not supported by every file system */
		return -errno;
	if (fstatat(folder_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
		return -EEXIST;
	return renameat(folder_fd, UNFINISHED, folder_fd, name) ? -errno : 0;
}

/*
 * A file that one write() can hold gets its final name directly: a rename costs as much as the
 * rest. Returns 0 or -errno; -EEXIST: the file exists.
 */
static int write_file(int folder_fd, const char *name, const GByteArray *bytes)
{
	bool at_once = bytes->len <= STEP_BYTES;
	const char *first_name = at_once ? name : UNFINISHED;
	int flags = O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC | (at_once ? O_EXCL : O_TRUNC);
	int fd = openat(folder_fd, first_name, flags, 0600);
	int rc;

	if (fd < 0)
		return -errno;
	rc = pp_write_all(fd, bytes->data, bytes->len);
	if (close(fd) && !rc)
		rc = -errno;
	if (!rc && !at_once)
		rc = rename_new(folder_fd, name);
	if (rc < 0)
		unlinkat(folder_fd, first_name, 0);
	return rc;
}

/* Does the process have its files in its pack? */
static bool is_in_pack(const struct writer *writer, const struct pp_process *process)
{
	return writer->in_packs && process->pack;
}

static const char *folder_of(const struct writer *writer, const struct pp_process *process)
{
	return is_in_pack(writer, process) ? process->pack : process->folder;
}

static void note_failure(struct writer *writer, const char *name)
{
	struct pp_gmon *result = writer->result;

	if (!result->n_failed++) {
		result->error = writer->error;
		result->failed = g_build_filename(folder_of(writer, writer->process), name, NULL);
	}
}

/* Name: gmon.<middle>, followed by ".<library>". */
static void write_profile(struct writer *writer, const char *middle, const struct object *object,
			  const GArray *arcs, GArray *samples)
{
	g_autofree char *name =
	    g_strconcat("gmon.", middle, object->name ? "." : NULL, object->name, NULL);
	g_autoptr(GByteArray) file = NULL;
	struct stat st;
	int rc;

	if ((object->image->why || writer->error) &&
	    fstatat(writer->folder_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
		return;
	if (object->image->why) {
		object->image->n_missing++;
		return;
	}
	file = g_byte_array_new();
	rc = put_profile(file, writer, object, arcs, samples);
	rc = writer->error ?: rc ?: write_file(writer->folder_fd, name, file);
	if (rc == -EEXIST)
		return;
	writer->error = rc;
	if (rc)
		note_failure(writer, name);
	else
		writer->result->n_written++;
}

/* --- arcs --- */

/* Returns the arc with link-time addresses; callers are encoded as in gmon-mt/gmon.h. */
static struct pp_arc link_arc(const struct pp_load *load, const struct pp_elf_code *code,
			      const struct pp_arc *arc)
{
	uint64_t from = code->entry ?: code->end - 1;

	if (holds(load, arc->from - 1))
		from = arc->from - 1 - load->bias;
	return (struct pp_arc){from, arc->self - load->bias, arc->count};
}

static void hand_out(struct writer *writer, const GArray *arcs)
{
	const GArray *maps = writer->process->maps;

	for (guint i = 0; i < arcs->len; i++) {
		const struct pp_arc *arc = &g_array_index(arcs, struct pp_arc, i);
		int at = find_load(writer->process, arc->self);
		struct object *object;
		struct pp_arc linked;

		if (at < 0)
			continue;
		object = writer->of_load[at];
		linked = link_arc(&g_array_index(maps, struct pp_load, at), get_code(object->image),
				  arc);
		g_array_append_val(object->arcs, linked);
	}
}

/* Objects without calls get no file, so their samples are dropped. */
static void hand_out_samples(struct writer *writer, const GArray *samples)
{
	const GArray *maps = writer->process->maps;

	for (guint i = 0; samples && i < samples->len; i++) {
		const struct pp_sample *sample = &g_array_index(samples, struct pp_sample, i);
		int at = find_load(writer->process, sample->address);
		struct gm_sample linked;

		if (at < 0)
			continue;
		linked.pc = sample->address - g_array_index(maps, struct pp_load, at).bias;
		linked.count = sample->count;
		g_array_append_val(writer->of_load[at]->samples, linked);
	}
}

/* Without `has_files`, the thread's calls are only added to the merged files. */
static void write_thread(struct writer *writer, const struct pp_thread *thread, bool has_files)
{
	const struct pp_process *process = writer->process;
	uint32_t number = is_in_pack(writer, process) ? process->pack_number : thread->index;
	g_autofree char *middle = g_strdup_printf("%u.%u", number, thread->tid);

	hand_out(writer, thread->arcs);
	hand_out_samples(writer, thread->samples);
	for (guint i = 0; i < writer->objects->len; i++) {
		struct object *object = writer->objects->pdata[i];

		if (object->arcs->len && has_files)
			write_profile(writer, middle, object, object->arcs, object->samples);
		if (object->name) {
			g_array_append_vals(object->all_arcs, object->arcs->data,
					    object->arcs->len);
			g_array_append_vals(object->all_samples, object->samples->data,
					    object->samples->len);
		}
		g_array_set_size(object->arcs, 0);
		g_array_set_size(object->samples, 0);
	}
}

static int compare_arcs(const void *a, const void *b)
{
	const struct pp_arc *aa = a, *ab = b;

	if (aa->self != ab->self)
		return aa->self < ab->self ? -1 : 1;
	return aa->from < ab->from ? -1 : aa->from > ab->from;
}

/* Merges equal arcs and adds their counts. */
static void merge_arcs(GArray *arcs)
{
	struct pp_arc *all = &g_array_index(arcs, struct pp_arc, 0);
	guint n = 0;

	g_array_sort(arcs, compare_arcs);
	for (guint i = 0; i < arcs->len; i++) {
		if (n && compare_arcs(&all[n - 1], &all[i]) == 0)
			all[n - 1].count += all[i].count;
		else
			all[n++] = all[i];
	}
	g_array_set_size(arcs, n);
}

/* --- processes --- */

static bool has_calls(const struct writer *writer, const struct pp_thread *thread)
{
	return thread->arcs && thread->arcs->len &&
	       (!writer->chosen || pp_selects_thread(writer->chosen, thread));
}

static void write_threads(struct writer *writer)
{
	const struct pp_process *process = writer->process;

	for (guint i = 0; i < process->threads->len; i++) {
		const struct pp_thread *thread = process->threads->pdata[i];

		bool has_files = thread->index < writer->n_threads_max;

		if (!has_calls(writer, thread))
			continue;
		write_thread(writer, thread, has_files);
		writer->result->n_without += !has_files;
	}
	for (guint i = 0; !is_in_pack(writer, process) && i < writer->objects->len; i++) {
		struct object *object = writer->objects->pdata[i];

		if (!object->all_arcs->len)
			continue;
		merge_arcs(object->all_arcs);
		write_profile(writer, "merged", object, object->all_arcs, object->all_samples);
	}
}

static void begin_process(struct writer *writer, const struct pp_process *process)
{
	g_autoptr(GPtrArray) names = name_loads(process->maps);

	writer->process = process;
	writer->objects = g_ptr_array_new_with_free_func(object_free);
	writer->of_load = g_new0(struct object *, process->maps->len);
	for (guint i = 0; i < process->maps->len; i++)
		writer->of_load[i] = get_object(
		    writer, get_image(writer, &g_array_index(process->maps, struct pp_load, i)),
		    names->pdata[i]);
}

static void end_process(struct writer *writer)
{
	g_clear_pointer(&writer->of_load, g_free);
	g_clear_pointer(&writer->objects, g_ptr_array_unref);
}

/* In packs, the limit applies to all children of the capture together. */
static bool has_too_many_before(struct writer *writer, const struct pp_process *process)
{
	if (!is_in_pack(writer, process) || !process->threads->len ||
	    !has_calls(writer, process->threads->pdata[0]) ||
	    writer->n_packed++ < writer->n_threads_max)
		return false;
	writer->result->n_without++;
	return true;
}

static void write_process(struct writer *writer, int dir_fd, const struct pp_process *process)
{
	if (has_too_many_before(writer, process))
		return;
	begin_process(writer, process);
	writer->folder_fd = openat(dir_fd, folder_of(writer, process),
				   O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	writer->error = writer->folder_fd < 0 ? -errno : 0;
	write_threads(writer);
	if (writer->folder_fd >= 0)
		close(writer->folder_fd);
	end_process(writer);
}

static void add_gaps(struct writer *writer)
{
	GHashTableIter iter;
	void *value;

	g_hash_table_iter_init(&iter, writer->images);
	while (g_hash_table_iter_next(&iter, NULL, &value)) {
		const struct image *image = value;
		struct pp_gmon_gap gap = {image->path, image->why, image->n_missing};

		if (image->n_missing)
			g_array_append_val(writer->result->gaps, gap);
	}
}

bool pp_gmon_has_calls(const struct pp_process *process, const struct pp_pass_context *chosen)
{
	const struct writer writer = {.chosen = chosen};

	for (guint i = 0; process->maps && process->maps->len && i < process->threads->len; i++)
		if (has_calls(&writer, process->threads->pdata[i]))
			return true;
	return false;
}

void pp_gmon_write(const struct pp_model *model, const struct pp_pass_context *chosen,
		   uint64_t n_threads_max, int dir_fd, bool in_packs, struct pp_gmon *ret)
{
	const GPtrArray *processes = model->processes;
	struct writer writer = {
	    .result = ret, .chosen = chosen, .n_threads_max = n_threads_max, .in_packs = in_packs};

	*ret = (struct pp_gmon){.gaps = g_array_new(FALSE, FALSE, sizeof(struct pp_gmon_gap))};
	writer.images = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	for (guint i = 0; i < processes->len; i++) {
		const struct pp_process *process = processes->pdata[i];

		if (process->dir && process->maps && process->maps->len)
			write_process(&writer, dir_fd, process);
	}
	add_gaps(&writer);
	g_hash_table_unref(writer.images);
}

static uint64_t count_elsewhere(const struct writer *writer)
{
	uint64_t n = 0;

	for (guint i = 0; i < writer->objects->len; i++) {
		const struct object *object = writer->objects->pdata[i];

		for (guint j = 0; object->name && j < object->arcs->len; j++)
			n += g_array_index(object->arcs, struct pp_arc, j).count;
	}
	return n;
}

int pp_gmon_merge(const struct pp_process *process, const struct pp_pass_context *chosen,
		  GByteArray *file, uint64_t *ret_elsewhere, struct pp_error *err)
{
	struct writer writer = {.chosen = chosen};
	struct object *program;
	int ret = 0;

	writer.images = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	begin_process(&writer, process);
	program = process->maps->len ? writer.of_load[0] : NULL;
	for (guint i = 0; i < process->threads->len; i++) {
		const struct pp_thread *thread = process->threads->pdata[i];

		if (!has_calls(&writer, thread))
			continue;
		hand_out(&writer, thread->arcs);
		hand_out_samples(&writer, thread->samples);
	}
	if (!program) {
		ret = pp_error_add(err, -ENODATA, "%s: no load map", process->folder);
	} else if (get_code(program->image) && program->image->why) {
		ret = pp_error_add(err, -ENODATA, "%s: %s", program->image->path,
				   program->image->why);
	} else {
		merge_arcs(program->arcs);
		ret = put_profile(file, &writer, program, program->arcs, program->samples);
		if (ret < 0)
			ret = pp_error_add(err, ret, "%s: more calls than a file can have",
					   process->folder);
		*ret_elsewhere = count_elsewhere(&writer);
	}
	end_process(&writer);
	g_hash_table_unref(writer.images);
	return ret;
}

void pp_gmon_done(struct pp_gmon *gmon)
{
	if (gmon->gaps)
		g_array_unref(gmon->gaps);
	g_free(gmon->failed);
}
