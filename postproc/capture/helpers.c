/* SPDX-License-Identifier: MIT */
/* Reads the table of helpers, and tells whether a tid at a given time was one of them. */
#include "capture/helpers.h"

#include <inttypes.h>
#include <string.h>

#include "gmon-mt/format.h"
#include "capture/records.h"

#define MAX_HELPERS   (1u << 24)
#define CHUNK_RECORDS 1024u

static int by_tid_and_time(const void *a, const void *b)
{
	const struct pp_helper *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

static bool add_helper(GArray *helpers, const struct gm_helper *record)
{
	struct pp_helper helper = {
	    .tid = record->tid,
	    .begin_ns = (int64_t)record->begin_ns,
	    .end_ns = (int64_t)record->end_ns,
	};

	if (!record->tid || record->end_ns > INT64_MAX || record->begin_ns > record->end_ns)
		return false;
	g_array_append_val(helpers, helper);
	return true;
}

/* Returns the number of damaged records. */
static uint64_t read_all(const struct pp_records *records, GArray *helpers)
{
	struct gm_helper chunk[CHUNK_RECORDS];
	uint64_t offset = 0, n_damaged = 0;
	int64_t n_bytes;

	while (helpers->len < MAX_HELPERS &&
	       (n_bytes = pp_records_peek(records, offset, chunk, sizeof(chunk))) > 0) {
		size_t n = (size_t)n_bytes / sizeof(chunk[0]);

		for (size_t i = 0; i < n; i++)
			n_damaged += !add_helper(helpers, &chunk[i]);
		if (n < CHUNK_RECORDS)
			return n_damaged + ((size_t)n_bytes % sizeof(chunk[0]) != 0);
		offset += (uint64_t)n_bytes;
	}
	return n_damaged;
}

void pp_helpers_read(struct pp_capture *capture, struct pp_process *process)
{
	g_autofree char *path = g_build_filename(process->dir, GM_HELPERS_FILE, NULL);
	struct pp_error err = PP_ERROR_INIT;
	struct pp_records records;
	uint64_t n_damaged;

	if (!g_file_test(path, G_FILE_TEST_EXISTS))
		return;
	if (pp_records_open_file(&records, path, &err) < 0) {
		g_autofree char *text = pp_error_text(&err);

		pp_capture_add_damage(capture, process->folder, "helpers: %s", text);
		pp_error_done(&err);
		return;
	}
	process->helpers = g_array_new(FALSE, FALSE, sizeof(struct pp_helper));
	n_damaged = read_all(&records, process->helpers);
	g_array_sort(process->helpers, by_tid_and_time);
	if (n_damaged)
		pp_capture_add_damage(capture, path, "%" PRIu64 " records are damaged", n_damaged);
	pp_records_done(&records);
}

/* Returns the last helper with this tid that began no later than time_ns; NULL: none. */
static const struct pp_helper *helper_before(const GArray *helpers, uint32_t tid, int64_t time_ns)
{
	const struct pp_helper *all = (const struct pp_helper *)helpers->data;
	const struct pp_helper wanted = {.tid = tid, .begin_ns = time_ns};
	guint low = 0, high = helpers->len;

	while (low < high) {
		guint middle = low + (high - low) / 2;

		if (by_tid_and_time(&all[middle], &wanted) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 && all[low - 1].tid == tid ? &all[low - 1] : NULL;
}

bool pp_helpers_have(const struct pp_model *model, int32_t pid, int32_t tid, int64_t time_ns)
{
	if (pid <= 0 || tid <= 0 || tid == pid)
		return false;
	/* Each program image has its own table. */
	for (guint i = 0; i < model->processes->len; i++) {
		const struct pp_process *process = model->processes->pdata[i];
		const struct pp_helper *helper;

		if (process->pid != (uint32_t)pid || !process->helpers)
			continue;
		helper = helper_before(process->helpers, (uint32_t)tid, time_ns);
		if (helper && time_ns <= helper->end_ns)
			return true;
	}
	return false;
}
