/* SPDX-License-Identifier: MIT */
/*
 * Reads <pid>/sync-counts, the operations that did not wait and were only counted, and
 * <pid>/sync-holds, the times of uncontended holds.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "gmon-mt/format.h"
#include "capture/capture.h"
#include "capture/records.h"
#include "core/operation.h"
#include "sync-trace/events.h"

#define MAX_ROWS  (1u << 20)
#define MAX_HOLDS (1u << 22)

_Static_assert(offsetof(struct st_counts_header, row_bytes) ==
		   offsetof(struct pp_records_prefix, record_bytes),
	       "common prefix");
_Static_assert(offsetof(struct st_counts_header, n_rows) ==
		   offsetof(struct pp_records_prefix, n_records),
	       "common prefix");

static void take_row(struct pp_process *process, struct pp_thread *thread, const void *row,
		     uint32_t row_bytes)
{
	uint64_t since_ns = 0;

	if (!thread)
		return;
	if (process->sync_auto && row_bytes >= (ST_COUNTS_SINCE + 1) * sizeof(uint64_t))
		memcpy(&since_ns, (const char *)row + ST_COUNTS_SINCE * sizeof(uint64_t),
		       sizeof(since_ns));
	if (process->sync_auto && !since_ns)
		return;
	if (since_ns)
		thread->sync_near_limit =
		    ((const uint64_t *)row)[ST_COUNTS_SINCE_WHY] == ST_SINCE_OUTPUT_MAX;
	process->only_waits = true;
	thread->sync_since_ns = (int64_t)MIN(since_ns, INT64_MAX);
	thread->sync_counts = g_memdup2(row, ST_N_COUNTED * sizeof(thread->sync_counts[0]));
}

static bool acquires_lock(enum st_event op)
{
	return pp_sync_has(op, PP_SYNC_ACQUIRES) && pp_sync_type_is_lock(pp_sync_type(op));
}

/* Keeps the sums of all rows of a file below INT64_MAX. */
#define MOST ((uint64_t)INT64_MAX / MAX_HOLDS)

/* Returns false for a row that no thread can have produced. */
static bool take_holds(struct pp_process *process, const struct st_holds_row *row)
{
	struct pp_thread *thread = pp_process_thread(process, row->index);
	struct pp_counted_holds holds = {
	    .thread = thread,
	    .object = row->object,
	    .op = row->op,
	    .first_ns = (int64_t)row->first_ns,
	    .n = row->n,
	    .total_ns = (int64_t)row->total_ns,
	    .longest_ns = (int64_t)row->longest_ns,
	};

	if (!row->n)
		return true;
	if (!thread || !acquires_lock(row->op) || row->n > MOST || row->total_ns > MOST ||
	    row->longest_ns > row->total_ns || row->first_ns > INT64_MAX)
		return false;
	holds.load_id = pp_places_load_id(process, row->object, row->site, holds.first_ns);
	if (row->site)
		holds.site = pp_places_code(process, row->site, holds.first_ns);
	if (!process->counted_holds)
		process->counted_holds = g_array_new(FALSE, FALSE, sizeof(holds));
	g_array_append_val(process->counted_holds, holds);
	return true;
}

/* A missing file means no holds: rows that found no room are counted elsewhere. */
int pp_holds_read(struct pp_capture *capture, struct pp_process *process, const char *path,
		  struct pp_error *err)
{
	static const struct pp_records_layout layout = {
	    .magic = ST_HOLDS_MAGIC,
	    .schema = GM_CAPTURE_SCHEMA,
	    .header_bytes = sizeof(struct st_counts_header),
	    .record_bytes = sizeof(struct st_holds_row),
	    .max_records = MAX_HOLDS,
	};
	struct st_counts_header header;
	struct pp_records records;
	uint64_t n_bad = 0;
	const void *record;
	int ret;

	if (!g_file_test(path, G_FILE_TEST_EXISTS))
		return 0;
	ret = pp_records_open(&records, path, &layout, &header, err);
	if (ret < 0)
		return ret;
	while ((record = pp_records_next(&records))) {
		struct st_holds_row row;

		memcpy(&row, record, sizeof(row));
		n_bad += !take_holds(process, &row);
	}
	if (n_bad)
		pp_capture_add_damage(capture, path, "%" PRIu64 " invalid rows", n_bad);
	if (records.n_missing)
		pp_capture_add_damage(capture, path,
				      "cut short: %" PRIu64 " of %u rows are missing",
				      records.n_missing, header.n_rows);
	pp_records_done(&records);
	return 0;
}

int pp_counts_read(struct pp_capture *capture, struct pp_process *process, const char *path,
		   struct pp_error *err)
{
	static const struct pp_records_layout layout = {
	    .magic = ST_COUNTS_MAGIC,
	    .schema = GM_CAPTURE_SCHEMA,
	    .header_bytes = sizeof(struct st_counts_header),
	    .record_bytes = ST_N_COUNTED * sizeof(uint64_t),
	    .max_records = MAX_ROWS,
	};
	g_autofree char *folder = NULL, *holds = NULL;
	struct st_counts_header header;
	struct pp_records records;
	const void *record;
	int ret;

	/*
	 * Even if the counts cannot be read, operations that did not wait are not among the events.
	 */
	process->only_waits = process->no_holds = process->no_tries = true;
	ret = pp_records_open(&records, path, &layout, &header, err);
	if (ret < 0)
		return ret;
	process->no_holds = !(header.flags & ST_COUNTS_HOLDS);
	process->no_tries = !(header.flags & ST_COUNTS_TRIES);
	process->sync_auto = header.flags & ST_COUNTS_AUTO;
	/* With sync.mode = auto, only after one of the process's threads was switched. */
	process->only_waits = !process->sync_auto;
	for (uint32_t index = 0; (record = pp_records_next(&records)); index++)
		take_row(process, pp_process_thread(process, index), record, header.row_bytes);
	if (records.n_missing)
		pp_capture_add_damage(
		    capture, path, "cut short: the counts of %" PRIu64 " of %u threads are missing",
		    records.n_missing, header.n_rows);
	pp_records_done(&records);
	if (!(header.flags & ST_COUNTS_TIMED))
		return 0;
	process->holds_timed = true;
	process->holds_lost = header.holds_lost;
	folder = g_path_get_dirname(path);
	holds = g_build_filename(folder, ST_HOLDS_FILE, NULL);
	return pp_holds_read(capture, process, holds, err);
}
