/* SPDX-License-Identifier: MIT */
/*
 * Runs are appended to the file.  As soon as FAN_IN runs of one level exist, they are merged into a
 * run of the next level, so that few are open at a time.  The space of merged runs is returned to
 * the file system where that is possible.
 */
#include "core/sorter.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <glib.h>

#include "core/text/temporary_file.h"
#include "core/text/write.h"

#define FAN_IN		 64
#define LEAST_READ_BYTES 4096

/* A run in the file.  While it is read, the items of `buffer` are its next ones. */
struct run {
	uint64_t at, end; /* of the part that is not in the buffer yet */
	unsigned level;
	char *buffer;
	size_t next, len; /* in the buffer, in bytes */
};

struct pp_sorter {
	size_t item_bytes, run_bytes;
	int (*compare)(const void *a, const void *b);
	char *items; /* the run in memory */
	size_t n, room;
	int fd; /* -1: all items are in memory */
	uint64_t n_bytes;
	GArray *runs;	   /* of struct run, those of lower levels last */
	struct run **heap; /* of the runs that are being merged */
	unsigned n_heap;
	size_t read_bytes; /* room in the buffer of each */
	size_t next;	   /* of the items in memory, if there is no file */
	int error;	   /* -errno of the first failure */
};

struct pp_sorter *pp_sorter_new(size_t item_bytes, int (*compare)(const void *a, const void *b),
				size_t run_bytes)
{
	struct pp_sorter *sorter = g_new0(struct pp_sorter, 1);

	sorter->item_bytes = item_bytes;
	sorter->run_bytes = MAX(run_bytes / item_bytes, 1) * item_bytes;
	sorter->compare = compare;
	sorter->fd = -1;
	sorter->runs = g_array_new(FALSE, FALSE, sizeof(struct run));
	return sorter;
}

static void close_runs(struct pp_sorter *sorter)
{
	for (guint i = 0; i < sorter->runs->len; i++)
		g_clear_pointer(&g_array_index(sorter->runs, struct run, i).buffer, g_free);
	g_clear_pointer(&sorter->heap, g_free);
	sorter->n_heap = 0;
}

void pp_sorter_free(struct pp_sorter *sorter)
{
	if (!sorter)
		return;
	close_runs(sorter);
	g_array_unref(sorter->runs);
	if (sorter->fd >= 0)
		close(sorter->fd);
	g_free(sorter->items);
	g_free(sorter);
}

static void fail(struct pp_sorter *sorter, int error)
{
	if (!sorter->error)
		sorter->error = error;
}

/* Appends the items in memory to the file. */
static void write_items(struct pp_sorter *sorter)
{
	size_t n_bytes = sorter->n * sorter->item_bytes;
	int ret;

	sorter->n = 0;
	if (sorter->error)
		return;
	if (sorter->fd < 0)
		sorter->fd = pp_temporary_file();
	ret = sorter->fd < 0
		  ? sorter->fd
		  : pp_write_all_at(sorter->fd, sorter->items, n_bytes, (off_t)sorter->n_bytes);
	if (ret < 0)
		fail(sorter, ret);
	sorter->n_bytes += n_bytes;
}

/* --- reading runs --------------------------------------------------------------------------- */

/* Returns false at the end of the run, or on failure. */
static bool fill(struct pp_sorter *sorter, struct run *run)
{
	size_t want = MIN(sorter->read_bytes, (size_t)(run->end - run->at));

	run->next = run->len = 0;
	while (run->len < want && !sorter->error) {
		ssize_t n = TEMP_FAILURE_RETRY(
		    pread(sorter->fd, run->buffer + run->len, want - run->len, (off_t)run->at));

		if (n <= 0) {
			fail(sorter, n < 0 ? -errno : -EIO);
			break;
		}
		run->len += (size_t)n;
		run->at += (uint64_t)n;
	}
	return run->len && !sorter->error;
}

static bool is_before(const struct pp_sorter *sorter, unsigned a, unsigned b)
{
	const struct run *x = sorter->heap[a], *y = sorter->heap[b];

	return sorter->compare(x->buffer + x->next, y->buffer + y->next) < 0;
}

static void swap(struct pp_sorter *sorter, unsigned a, unsigned b)
{
	struct run *run = sorter->heap[a];

	sorter->heap[a] = sorter->heap[b];
	sorter->heap[b] = run;
}

static void sink(struct pp_sorter *sorter, unsigned at)
{
	for (unsigned child; (child = 2 * at + 1) < sorter->n_heap; at = child) {
		if (child + 1 < sorter->n_heap && is_before(sorter, child + 1, child))
			child++;
		if (is_before(sorter, at, child))
			return;
		swap(sorter, at, child);
	}
}

/* Starts to merge the runs from number `first` on. */
static void open_runs(struct pp_sorter *sorter, guint first)
{
	guint n = sorter->runs->len - first;
	size_t bytes = MAX(sorter->run_bytes / n, LEAST_READ_BYTES);

	sorter->read_bytes = MAX(bytes / sorter->item_bytes, 1) * sorter->item_bytes;
	sorter->heap = g_new(struct run *, n);
	for (guint i = first; i < sorter->runs->len; i++) {
		struct run *run = &g_array_index(sorter->runs, struct run, i);

		run->buffer = g_malloc(sorter->read_bytes);
		if (fill(sorter, run))
			sorter->heap[sorter->n_heap++] = run;
	}
	for (unsigned i = sorter->n_heap / 2; i-- > 0;)
		sink(sorter, i);
}

static const void *first_of_runs(const struct pp_sorter *sorter)
{
	const struct run *run = sorter->n_heap ? sorter->heap[0] : NULL;

	return run && !sorter->error ? run->buffer + run->next : NULL;
}

static void pop_from_runs(struct pp_sorter *sorter)
{
	struct run *run = sorter->heap[0];

	run->next += sorter->item_bytes;
	if (run->next == run->len && !fill(sorter, run))
		sorter->heap[0] = sorter->heap[--sorter->n_heap];
	sink(sorter, 0);
}

/* --- writing runs --------------------------------------------------------------------------- */

static void append(struct pp_sorter *sorter, const void *item)
{
	if (sorter->n == sorter->room) {
		sorter->room =
		    MIN(MAX(sorter->room * 2, 64), sorter->run_bytes / sorter->item_bytes);
		sorter->items = g_realloc_n(sorter->items, sorter->room, sorter->item_bytes);
	}
	memcpy(sorter->items + sorter->n++ * sorter->item_bytes, item, sorter->item_bytes);
}

static bool is_full(const struct pp_sorter *sorter)
{
	return sorter->n == sorter->run_bytes / sorter->item_bytes;
}

/* Merges the last runs, which have this level, into one. */
static void merge(struct pp_sorter *sorter, unsigned level)
{
	guint first = sorter->runs->len - FAN_IN;
	uint64_t begin = g_array_index(sorter->runs, struct run, first).at;
	struct run merged = {.at = sorter->n_bytes, .level = level + 1};
	const void *item;

	open_runs(sorter, first);
	for (; (item = first_of_runs(sorter)); pop_from_runs(sorter)) {
		append(sorter, item);
		if (is_full(sorter))
			write_items(sorter);
	}
	write_items(sorter);
	close_runs(sorter);
	/* Without support for this, the file is larger. */
	(void)!fallocate(sorter->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)begin,
			 (off_t)(merged.at - begin));
	g_array_set_size(sorter->runs, first);
	merged.end = sorter->n_bytes;
	g_array_append_val(sorter->runs, merged);
}

static bool is_level_full(const struct pp_sorter *sorter, unsigned level)
{
	guint n = sorter->runs->len;

	return n >= FAN_IN && g_array_index(sorter->runs, struct run, n - FAN_IN).level == level;
}

static void end_run(struct pp_sorter *sorter)
{
	struct run run = {.at = sorter->n_bytes};

	qsort(sorter->items, sorter->n, sorter->item_bytes, sorter->compare);
	write_items(sorter);
	run.end = sorter->n_bytes;
	g_array_append_val(sorter->runs, run);
	for (unsigned level = 0; is_level_full(sorter, level) && !sorter->error; level++)
		merge(sorter, level);
}

void pp_sorter_add(struct pp_sorter *sorter, const void *item)
{
	if (is_full(sorter))
		end_run(sorter);
	if (!sorter->error)
		append(sorter, item);
}

int pp_sorter_check(const struct pp_sorter *sorter, struct pp_error *err)
{
	return sorter->error ? pp_error_add(err, sorter->error,
					    "temporary file in %s: %s; set TMPDIR to a folder with "
					    "more space",
					    g_get_tmp_dir(), g_strerror(-sorter->error))
			     : 0;
}

int pp_sorter_finish(struct pp_sorter *sorter, struct pp_error *err)
{
	if (!sorter->runs->len) {
		if (sorter->n)
			qsort(sorter->items, sorter->n, sorter->item_bytes, sorter->compare);
		return 0;
	}
	if (sorter->n)
		end_run(sorter);
	g_clear_pointer(&sorter->items, g_free);
	sorter->n = sorter->room = 0;
	open_runs(sorter, 0);
	return pp_sorter_check(sorter, err);
}

const void *pp_sorter_peek(struct pp_sorter *sorter)
{
	if (sorter->runs->len)
		return first_of_runs(sorter);
	return sorter->next < sorter->n ? sorter->items + sorter->next * sorter->item_bytes : NULL;
}

void pp_sorter_pop(struct pp_sorter *sorter)
{
	if (sorter->runs->len)
		pop_from_runs(sorter);
	else
		sorter->next++;
}
