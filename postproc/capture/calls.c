/* SPDX-License-Identifier: MIT */
/* Reads <pid>/calls: the arcs that each thread counted, and its samples. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "gmon-mt/format.h"
#include "capture/capture.h"
#include "capture/records.h"

#define MAX_ARCS (1u << 26)

/* Periods of sampling. A thread that runs and lives longer has samples. */
#define FEW_PERIODS 10u

_Static_assert(offsetof(struct gm_calls_header, slot_bytes) ==
		   offsetof(struct pp_records_prefix, record_bytes),
	       "common prefix");
_Static_assert(offsetof(struct gm_calls_header, n_slots) ==
		   offsetof(struct pp_records_prefix, n_records),
	       "common prefix");

struct walk {
	struct pp_process *process;
	struct pp_records records;
	GHashTable *dense;  /* arrays, of arcs or samples of the last table of a thread */
	unsigned n_foreign; /* tables of threads that the thread table lacks */
	unsigned n_none;    /* tables of calls of threads that were sampled, and made no call */
	bool has_others;    /* other tables of calls */
	bool has_samples;
};

static void read_arcs(GArray *to, struct pp_records *records)
{
	const void *record;

	while ((record = pp_records_next(records))) {
		struct gm_calls_arc on_disk;

		memcpy(&on_disk, record, sizeof(on_disk));
		if (on_disk.self && on_disk.count) {
			struct pp_arc arc = {on_disk.from, on_disk.self, on_disk.count};

			g_array_append_val(to, arc);
		}
	}
}

static void read_samples(GArray *to, struct pp_records *records)
{
	const void *record;

	while ((record = pp_records_next(records))) {
		struct gm_calls_arc on_disk;

		memcpy(&on_disk, record, sizeof(on_disk));
		if (on_disk.self && on_disk.count) {
			struct pp_sample sample = {on_disk.self, on_disk.count};

			g_array_append_val(to, sample);
		}
	}
}

static void read_table(struct walk *walk, const struct gm_calls_header *header)
{
	struct pp_thread *thread = pp_process_thread(walk->process, header->index);
	bool are_samples;
	GArray *to;

	if (!thread || thread->tid != header->tid) {
		walk->n_foreign++;
		return;
	}
	are_samples = header->flags & GM_CALLS_SAMPLES;
	if (!are_samples && (header->flags & GM_CALLS_NONE)) {
		walk->n_none++;
		return;
	}
	walk->has_others |= !are_samples;
	walk->has_samples |= are_samples;
	if (!are_samples && !thread->arcs)
		thread->arcs = g_array_new(FALSE, FALSE, sizeof(struct pp_arc));
	if (are_samples && !thread->samples)
		thread->samples = g_array_new(FALSE, FALSE, sizeof(struct pp_sample));
	to = are_samples ? thread->samples : thread->arcs;
	if (g_hash_table_contains(walk->dense, to))
		return;
	if (header->flags & GM_CALLS_DENSE) {
		g_array_set_size(to, 0);
		g_hash_table_add(walk->dense, to);
	}
	if (are_samples)
		read_samples(to, &walk->records);
	else
		read_arcs(to, &walk->records);
}

/*
 * A process that ends between the file's creation and its first page has counted nothing. With
 * samples, the first one creates the file; one that lived longer has surely had more.
 */
static bool may_be_empty(const struct pp_process *process)
{
	int64_t life_ns = process->end_ns - process->start_ns;

	if (!process->asked_for_samples)
		return true;
	return process->start_ns != PP_TIME_UNKNOWN && process->end_ns != PP_TIME_UNKNOWN &&
	       life_ns < (int64_t)(FEW_PERIODS * process->sample_period_ns);
}

/* Reads the sequence of chunks up to its end, or up to the first damaged one. */
static int read_chunks(struct walk *walk, struct pp_error *err)
{
	static const struct pp_records_layout layout = {
	    .magic = GM_CALLS_MAGIC,
	    .schema = GM_CAPTURE_SCHEMA,
	    .header_bytes = sizeof(struct gm_calls_header),
	    .record_bytes = sizeof(struct gm_calls_arc),
	    .max_records = MAX_ARCS,
	};
	static const struct gm_calls_header nothing;
	struct gm_calls_header header = {0};
	uint64_t file_bytes = walk->records.file_bytes, offset;

	if (file_bytes == 0)
		return may_be_empty(walk->process)
			   ? 0
			   : pp_error_add(err, -EINVAL, "cut short: the file is empty");
	for (offset = 0; offset < file_bytes; offset += header.chunk_bytes) {
		int ret;

		if (pp_records_peek(&walk->records, offset, &header, sizeof(header)) ==
			sizeof(header) &&
		    memcmp(&header, &nothing, sizeof(header)) == 0)
			return 0; /* space that a program reserved and did not use before it was
				   * killed */
		if (memcmp(header.magic, GM_CALLS_FREE, sizeof(header.magic)) != 0) {
			ret = pp_records_start(&walk->records, offset, &layout, &header, err);
			if (ret < 0)
				return pp_error_add(err, ret, "at byte %" PRIu64, offset);
			if ((uint64_t)header.n_slots * header.slot_bytes + header.header_bytes >
			    header.chunk_bytes)
				return pp_error_add(err, -EINVAL,
						    "%u slots in a chunk of %" PRIu64
						    " bytes at byte %" PRIu64 ": damaged",
						    header.n_slots, header.chunk_bytes, offset);
			read_table(walk, &header);
			if (walk->records.n_missing > 0)
				return pp_error_add(err, -EINVAL,
						    "cut short: %" PRIu64 " of %u slots missing "
						    "at byte %" PRIu64,
						    walk->records.n_missing, header.n_slots,
						    offset);
		}
		if (header.chunk_bytes < sizeof(header) || header.chunk_bytes % 64 != 0)
			return pp_error_add(err, -EINVAL,
					    "a chunk of %" PRIu64 " bytes at byte %" PRIu64
					    ": damaged",
					    header.chunk_bytes, offset);
		if (header.chunk_bytes > file_bytes - offset)
			return pp_error_add(err, -EINVAL,
					    "cut short: a chunk of %" PRIu64
					    " bytes at byte %" PRIu64 " of %" PRIu64,
					    header.chunk_bytes, offset, file_bytes);
	}
	return 0;
}

static int read_all(struct walk *walk, struct pp_error *err)
{
	struct pp_process *process = walk->process;
	int ret;

	walk->dense = g_hash_table_new(NULL, NULL);
	ret = read_chunks(walk, err);
	/* A process that still runs has begun threads since its thread table was read. */
	if (ret == 0 && walk->n_foreign > 0 && !process->is_live)
		ret = pp_error_add(err, -EINVAL,
				   "%u call tables of threads that the thread table lacks",
				   walk->n_foreign);
	/* A thread without a call leaves no table of calls at its end. */
	process->has_counts =
	    ret == 0 && (walk->has_others || (!walk->n_none && !walk->has_samples));
	g_hash_table_unref(walk->dense);
	pp_records_done(&walk->records);
	return ret;
}

int pp_calls_read(struct pp_process *process, const char *path, struct pp_error *err)
{
	struct walk walk = {.process = process};
	int ret = pp_records_open_file(&walk.records, path, err);

	if (ret < 0)
		return ret;
	ret = read_all(&walk, err);
	return ret < 0 ? pp_error_add(err, ret, "%s", path) : 0;
}

int pp_calls_take(struct pp_process *process, const uint8_t *bytes, size_t n_bytes,
		  struct pp_error *err)
{
	struct walk walk = {.process = process};

	process->has_counts = n_bytes == 0;
	if (n_bytes == 0)
		return 0;
	pp_records_open_memory(&walk.records, bytes, n_bytes);
	return read_all(&walk, err);
}

/* --- threads without a call ----------------------------------------------------------------- */

/* Does the process still run its parent's image?  After an exec, objects are loaded elsewhere. */
static bool is_fork_of(const struct pp_process *process, const struct pp_process *parent)
{
	const struct pp_load *load, *of_parent;

	if (!process->ppid || process->ppid != parent->pid || !process->maps || !parent->maps ||
	    !process->maps->len || !parent->maps->len)
		return false;
	load = &g_array_index(process->maps, struct pp_load, 0);
	of_parent = &g_array_index(parent->maps, struct pp_load, 0);
	return load->start == of_parent->start && load->end == of_parent->end &&
	       g_str_equal(load->path, of_parent->path) &&
	       g_strcmp0(load->build_id, of_parent->build_id) == 0;
}

/* Returns the processes that count calls, by pid: GPtrArray of struct pp_process *. */
static GHashTable *find_counting(const struct pp_model *model)
{
	GHashTable *by_pid =
	    g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)g_ptr_array_unref);

	for (guint i = 0; i < model->processes->len; i++) {
		struct pp_process *process = model->processes->pdata[i];
		GPtrArray *images = g_hash_table_lookup(by_pid, GUINT_TO_POINTER(process->pid));

		if (!process->has_counts)
			continue;
		if (!images) {
			images = g_ptr_array_new();
			g_hash_table_insert(by_pid, GUINT_TO_POINTER(process->pid), images);
		}
		g_ptr_array_add(images, process);
	}
	return by_pid;
}

/* A child of fork counts from the start, but gets its file with its first call. */
static bool is_counting_fork(GHashTable *counting, const struct pp_process *process)
{
	const GPtrArray *parents = g_hash_table_lookup(counting, GUINT_TO_POINTER(process->ppid));

	if (process->counts_damaged)
		return false;
	for (guint i = 0; parents && i < parents->len; i++)
		if (is_fork_of(process, parents->pdata[i]))
			return true;
	return false;
}

void pp_calls_find_none(const struct pp_model *model)
{
	bool found;

	do { /* repeat for children of children */
		g_autoptr(GHashTable) counting = find_counting(model);

		found = false;
		for (guint i = 0; i < model->processes->len; i++) {
			struct pp_process *process = model->processes->pdata[i];

			if (!process->has_counts && process->dir &&
			    is_counting_fork(counting, process))
				process->has_counts = found = true;
		}
	} while (found);
	for (guint i = 0; i < model->threads->len; i++) {
		struct pp_thread *thread = model->threads->pdata[i];

		if (thread->process->has_counts && !thread->arcs && !thread->calls_lost &&
		    !thread->calls_why)
			thread->arcs = g_array_new(FALSE, FALSE, sizeof(struct pp_arc));
	}
}
