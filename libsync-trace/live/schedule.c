/* SPDX-License-Identifier: MIT */
/*
 * Takes a schedule: checks its file, which anybody may have named, reads it into memory, and
 * removes it, so that no program that this one executes takes it as well.
 *
 * Counts of the header are checked against the size of the file, and the threads at once; the
 * numbers in operations are checked when these are used.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "live/live.h"
#include "record/internal.h"
#include "runtime/sys/sys.h"

struct st_live st_live;

static bool is_private(const struct stat *status)
{
	return S_ISREG(status->st_mode) && (status->st_mode & 077) == 0 &&
	       status->st_uid == (uid_t)gm_syscall3(SYS_geteuid, 0, 0, 0) &&
	       status->st_size >= (off_t)ST_SCHEDULE_PAGE_BYTES &&
	       (uint64_t)status->st_size <= ST_SCHEDULE_MOST_BYTES;
}

/* The sections' bytes; each number is less than 2^32, or 2^34 / 16, so no sum overflows. */
static uint64_t needed_bytes(const struct st_schedule *header)
{
	return ST_SCHEDULE_PAGE_BYTES +
	       header->n_threads * (uint64_t)sizeof(struct st_schedule_thread) +
	       header->n_ops * sizeof(struct st_schedule_op) +
	       header->n_sites * (uint64_t)sizeof(struct st_schedule_site) +
	       header->n_modules * (uint64_t)sizeof(struct st_schedule_module) +
	       header->pair.n_lines * (uint64_t)sizeof(struct st_schedule_line);
}

static bool header_is_good(const struct st_schedule *header, uint64_t file_bytes)
{
	return __builtin_memcmp(header->magic, ST_SCHEDULE_MAGIC, sizeof(header->magic)) == 0 &&
	       header->version == ST_SCHEDULE_VERSION && header->n_events == ST_N_EVENTS &&
	       header->outcome.state == ST_SCHEDULE_UNUSED && header->file_bytes == file_bytes &&
	       header->n_ops <= ST_SCHEDULE_MOST_BYTES / sizeof(struct st_schedule_op) &&
	       header->patience_ns <= ST_SCHEDULE_PATIENCE_MOST_NS && header->n_threads != 0 &&
	       needed_bytes(header) == file_bytes;
}

static bool threads_are_good(const struct st_live *live)
{
	for (uint32_t i = 0; i < live->n_threads; i++) {
		const struct st_schedule_thread *thread = &live->threads[i];
		bool is_first = i == 0;

		if (thread->first_op > live->n_ops ||
		    thread->n_ops > live->n_ops - thread->first_op ||
		    (thread->creator == ST_SCHEDULE_NONE) != is_first ||
		    (!is_first && thread->creator >= i))
			return false;
	}
	for (uint32_t i = 0; i < live->n_modules; i++)
		if (live->modules[i].name[ST_MODULE_NAME_BYTES - 1] != '\0')
			return false;
	return true;
}

static const struct st_schedule_op *last_op(const struct st_live *live, uint32_t thread)
{
	const struct st_schedule_thread *of = &live->threads[thread];

	return of->n_ops != 0 ? &live->ops[of->first_op + of->n_ops - 1] : NULL;
}

/* Both sections have the same lock. */
static bool pair_is_good(const struct st_live *live)
{
	const struct st_schedule_pair *pair = &live->pair;
	const struct st_schedule_op *first, *second;

	if (pair->is_set == 0)
		return true;
	if (pair->is_set != 1 || pair->first == pair->second || pair->first >= live->n_threads ||
	    pair->second >= live->n_threads)
		return false;
	first = last_op(live, pair->first);
	second = last_op(live, pair->second);
	return first != NULL && second != NULL && first->object == second->object &&
	       first->object < live->n_objects && first->turn != ST_TURN_NONE &&
	       second->turn != ST_TURN_NONE;
}

static void *memory_new(uint64_t n, size_t size_bytes)
{
	return gm_sys_mmap(n * size_bytes + 1, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static bool read_whole(int fd, uint8_t *to, uint64_t n_bytes)
{
	while (n_bytes != 0) {
		long n = gm_sys_read(fd, to, n_bytes);

		if (n <= 0)
			return false;
		to += n;
		n_bytes -= (uint64_t)n;
	}
	return true;
}

/* Lays out the copy of the file. Returns false if it is bad. */
static bool lay_out(struct st_live *live, const uint8_t *copy, uint64_t file_bytes)
{
	const struct st_schedule *header = (const struct st_schedule *)copy;

	if (!header_is_good(header, file_bytes))
		return false;
	live->n_threads = header->n_threads;
	live->n_objects = header->n_objects;
	live->n_sites = header->n_sites;
	live->n_modules = header->n_modules;
	live->n_ops = header->n_ops;
	live->patience_ns = header->patience_ns;
	live->threads = (const void *)(copy + ST_SCHEDULE_PAGE_BYTES);
	live->ops = (const void *)(live->threads + live->n_threads);
	live->sites = (const void *)(live->ops + live->n_ops);
	live->modules = (const void *)(live->sites + live->n_sites);
	live->lines = (const void *)(live->modules + live->n_modules);
	live->pair = header->pair;
	return threads_are_good(live) && pair_is_good(live);
}

static bool make_state(struct st_live *live)
{
	live->addresses = memory_new(live->n_sites, sizeof(*live->addresses));
	live->running = memory_new(live->n_threads, sizeof(*live->running));
	live->objects = memory_new(live->n_objects, sizeof(*live->objects));
	live->is_on = st_memory_new(4096);
	return live->addresses != NULL && live->running != NULL && live->objects != NULL &&
	       live->is_on != NULL;
}

/* If a step fails, the memory of those before stays mapped, and is not used. */
static bool take(int fd, struct st_live *live)
{
	struct stat status;
	uint8_t *copy;

	if (gm_syscall3(SYS_fstat, fd, (long)&status, 0) != 0 || !is_private(&status))
		return false;
	copy = memory_new((uint64_t)status.st_size, 1);
	if (copy == NULL || !read_whole(fd, copy, (uint64_t)status.st_size) ||
	    !lay_out(live, copy, (uint64_t)status.st_size) || !make_state(live))
		return false;
	live->page = gm_sys_mmap(ST_SCHEDULE_PAGE_BYTES, MAP_SHARED, fd, 0);
	return live->page != NULL;
}

bool st_schedule_take(const char *path)
{
	struct st_live live = {0};
	long fd = gm_sys_open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0);
	bool is_good;

	if (fd < 0)
		return false;
	is_good = take((int)fd, &live) && gm_sys_unlink(path) == 0;
	gm_sys_close((int)fd);
	if (is_good)
		st_live = live;
	return is_good;
}
