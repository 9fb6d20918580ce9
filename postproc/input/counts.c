/* SPDX-License-Identifier: MIT */
/* <pid>/sync-counts: what each thread did without waiting, where only waits were recorded. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "gmon-mt/format.h"
#include "input/capture.h"
#include "input/records.h"
#include "sync-trace/events.h"

#define MAX_ROWS (1u << 20)

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
	struct st_counts_header header;
	struct pp_records records;
	const void *record;
	int ret;

	/* Whatever the counts are, what did not wait is not among the events. */
	process->only_waits = process->no_holds = true;
	ret = pp_records_open(&records, path, &layout, &header, err);
	if (ret < 0)
		return ret;
	process->no_holds = !(header.flags & ST_COUNTS_HOLDS);
	process->sync_auto = header.flags & ST_COUNTS_AUTO;
	/* With sync.mode = auto, until one of its threads is switched. */
	process->only_waits = !process->sync_auto;
	for (uint32_t index = 0; (record = pp_records_next(&records)); index++)
		take_row(process, pp_process_thread(process, index), record, header.row_bytes);
	if (records.n_missing)
		pp_capture_add_damage(
		    capture, path, "cut short: the counts of %" PRIu64 " of %u threads are missing",
		    records.n_missing, header.n_rows);
	pp_records_done(&records);
	return 0;
}
