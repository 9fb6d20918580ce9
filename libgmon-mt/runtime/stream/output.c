/* SPDX-License-Identifier: MIT */
/* The limit of [output] max, or ring (output.h). */
#include <errno.h>
#include <sys/stat.h>

#include "runtime/capture/capture.h"
#include "runtime/files/file.h"
#include "runtime/files/helper_task.h"
#include "runtime/files/files_in_memory.h"
#include "runtime/process/process.h"
#include "runtime/stream/output.h"
#include "runtime/sys/sys.h"

#define OWN_BYTES 262144u

static uint64_t own;	  /* space taken, and not yet added to *shared */
static uint64_t *shared;  /* sum of all processes, in the mapped file; NULL: not mapped */
static uint32_t is_tried; /* mapping was tried */

static long map_step(void *arg)
{
	struct stat status;
	const char *path = arg;
	void *mapping = NULL;
	int fd = gm_sys_open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK, 0);

	if (fd < 0)
		return fd;
	/* Access beyond the end of the file would raise SIGBUS. */
	if (gm_syscall3(SYS_fstat, fd, (long)&status, 0) == 0 && S_ISREG(status.st_mode) &&
	    status.st_size >= (off_t)GM_USED_BYTES)
		mapping = gm_sys_mmap(GM_USED_BYTES, MAP_SHARED, fd, 0);
	gm_sys_close(fd);
	/* release: pairs with the acquire in counter() */
	__atomic_store_n(&shared, mapping, __ATOMIC_RELEASE);
	return 0;
}

static void map_used(void)
{
	const struct gm_process *process = gm_process_get();
	char *path;

	/* A store to the mapping might find no space on the disk. */
	if (gm_kept_is_on() || __atomic_exchange_n(&is_tried, 1, __ATOMIC_RELAXED) != 0)
		return;
	path = gm_path_new(process->capture.dir, GM_USED_FILE);
	if (path != NULL)
		gm_files_run(map_step, path);
	gm_path_free(path);
}

/* Returns the counter of bytes that is compared with the limit. */
static uint64_t *counter(void)
{
	uint64_t *used = __atomic_load_n(&shared, __ATOMIC_ACQUIRE);

	if (used == NULL)
		return &own;
	if (__atomic_load_n(&own, __ATOMIC_RELAXED) != 0)
		__atomic_fetch_add(used, __atomic_exchange_n(&own, 0, __ATOMIC_RELAXED),
				   __ATOMIC_RELAXED);
	return used;
}

static const struct gm_config *config(void)
{
	const struct gm_process *process = gm_process_get();

	return process != NULL ? &process->config : NULL;
}

static bool has_ring(void)
{
	return config() != NULL && gm_config_has_ring(config());
}

static uint64_t limit(void)
{
	const struct gm_config *settings = config();

	if (settings == NULL)
		return UINT64_MAX;
	return gm_config_has_ring(settings) ? gm_config_ring_of_streams(settings)
					    : settings->output_max_bytes;
}

static bool take(uint64_t size_bytes, uint64_t most_bytes)
{
	uint64_t *used;

	if (__atomic_load_n(&own, __ATOMIC_RELAXED) + size_bytes > OWN_BYTES || has_ring())
		map_used();
	used = counter();
	if (__atomic_add_fetch(used, size_bytes, __ATOMIC_RELAXED) <= most_bytes)
		return true;
	__atomic_fetch_sub(used, size_bytes, __ATOMIC_RELAXED);
	return false;
}

bool gm_output_take(uint64_t size_bytes)
{
	return limit() == UINT64_MAX || take(size_bytes, limit());
}

bool gm_output_take_more(uint64_t size_bytes)
{
	return limit() == UINT64_MAX || take(size_bytes, limit() - limit() / 4);
}

void gm_output_give(uint64_t size_bytes)
{
	if (limit() != UINT64_MAX)
		__atomic_fetch_sub(counter(), size_bytes, __ATOMIC_RELAXED);
}

bool gm_output_is_near(void)
{
	uint64_t max_bytes = limit();

	return max_bytes != UINT64_MAX && !has_ring() &&
	       __atomic_load_n(counter(), __ATOMIC_RELAXED) > max_bytes - max_bytes / 4;
}
