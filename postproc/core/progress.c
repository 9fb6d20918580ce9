/* SPDX-License-Identifier: MIT */
/* Counters of the whole process; a reader of them may see one before the other has followed. */
#include "core/progress.h"

#include <glib.h>

static unsigned n_readings, n_active;
static uint64_t read_sum_bytes, all_sum_bytes;

static GMutex download_lock;
static struct pp_progress download; /* only its fields of downloads */

#define GET(from)      __atomic_load_n(&(from), __ATOMIC_RELAXED)
#define SET(to, value) __atomic_store_n(&(to), value, __ATOMIC_RELAXED)
#define ADD(to, n)     __atomic_fetch_add(&(to), n, __ATOMIC_RELAXED)

void pp_progress_begin(uint64_t all_bytes)
{
	if (ADD(n_active, 1) == 0) {
		SET(read_sum_bytes, 0);
		SET(all_sum_bytes, 0);
	}
	(void)ADD(all_sum_bytes, all_bytes);
	(void)ADD(n_readings, 1);
}

void pp_progress_end(void)
{
	(void)ADD(n_active, -1u);
}

void pp_progress_add(uint64_t read_bytes)
{
	(void)ADD(read_sum_bytes, read_bytes);
}

void pp_progress_download(const char *name, uint64_t n_bytes, uint64_t all_bytes)
{
	g_mutex_lock(&download_lock);
	g_strlcpy(download.download, name ?: "", sizeof(download.download));
	download.download_bytes = n_bytes;
	download.download_all_bytes = all_bytes;
	g_mutex_unlock(&download_lock);
}

struct pp_progress pp_progress_now(void)
{
	struct pp_progress now;

	g_mutex_lock(&download_lock);
	now = download;
	g_mutex_unlock(&download_lock);
	now.n_readings = GET(n_readings);
	now.n_active = GET(n_active);
	now.read_bytes = GET(read_sum_bytes);
	now.all_bytes = GET(all_sum_bytes);
	return now;
}
