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
	process->only_waits = true;
	ret = pp_records_open(&records, path, &layout, &header, err);
	if (ret < 0)
		return ret;
	for (uint32_t index = 0; (record = pp_records_next(&records)); index++) {
		struct pp_thread *thread = pp_process_thread(process, index);

		if (thread)
			thread->sync_counts =
			    g_memdup2(record, ST_N_COUNTED * sizeof(thread->sync_counts[0]));
	}
	if (records.n_missing)
		pp_capture_add_damage(
		    capture, path, "cut short: the counts of %" PRIu64 " of %u threads are missing",
		    records.n_missing, header.n_rows);
	pp_records_done(&records);
	return 0;
}
