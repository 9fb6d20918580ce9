/* SPDX-License-Identifier: MIT */
/* Grows a mapping in steps, and reads pages ahead that will be shown soon. */
#include "index/mapped_array.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <glib.h>

#define LEAST_BYTES ((size_t)64 << 10)
/* Reading a gap up to this size is cheaper than reading two parts separately. */
#define NEAR_BYTES ((size_t)8 << 10)
/* Limits the growth of a file per step, so that little disk space is reserved in vain. */
#define MOST_FILE_BYTES ((size_t)64 << 20)

void pp_mapped_array_init(struct pp_mapped_array *array, size_t item_bytes, int fd)
{
	*array = (struct pp_mapped_array){.item_bytes = item_bytes, .fd = fd};
}

void pp_mapped_array_done(struct pp_mapped_array *array)
{
	if (array->data && array->mapped_bytes)
		munmap(array->data, array->mapped_bytes);
	if (array->fd >= 0)
		close(array->fd);
	*array = (struct pp_mapped_array){.fd = -1};
}

bool pp_mapped_array_in_memory(const struct pp_mapped_array *array)
{
	return array->fd < 0;
}

int pp_mapped_array_map(struct pp_mapped_array *array, uint64_t n, int fd)
{
	struct stat st;
	void *data = NULL;
	size_t bytes;
	int ret = 0;

	if (__builtin_mul_overflow(n, array->item_bytes, &bytes) || fstat(fd, &st) != 0 ||
	    !S_ISREG(st.st_mode) || (uint64_t)st.st_size != bytes)
		ret = -EINVAL;
	else if (bytes && (data = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0)) == MAP_FAILED)
		ret = -errno;
	close(fd);
	if (ret == 0)
		*array = (struct pp_mapped_array){data, n, array->item_bytes, bytes, -1, true};
	return ret;
}

void pp_mapped_array_scatter(struct pp_mapped_array *array)
{
	array->on_disk = true;
	if (array->data)
		madvise(array->data, array->mapped_bytes, MADV_RANDOM);
}

void pp_mapped_array_release(const struct pp_mapped_array *array)
{
	if (array->data && array->fd >= 0)
		madvise(array->data, array->mapped_bytes, MADV_DONTNEED);
}

static void ask(const struct pp_read_ahead *ahead)
{
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	size_t first = ahead->first / page_bytes * page_bytes;

	if (ahead->end > first)
		madvise(ahead->array->data + first, ahead->end - first, MADV_WILLNEED);
}

void pp_read_ahead_add(struct pp_read_ahead *ahead, uint64_t i, uint64_t n)
{
	const struct pp_mapped_array *array = ahead->array;
	size_t first, end;

	if (!array->on_disk || i >= array->n || !n)
		return;
	first = i * array->item_bytes;
	end = first + MIN(n, array->n - i) * array->item_bytes;
	if (first < ahead->first || first > ahead->end + NEAR_BYTES) {
		ask(ahead);
		ahead->first = first;
		ahead->end = end;
	}
	ahead->end = MAX(ahead->end, end);
}

void pp_read_ahead_end(struct pp_read_ahead *ahead)
{
	ask(ahead);
	ahead->first = ahead->end = 0;
}

int pp_mapped_array_trim(struct pp_mapped_array *array)
{
	return ftruncate(array->fd, (off_t)(array->n * array->item_bytes)) == 0 ? 0 : -errno;
}

static char *map(int fd, size_t bytes)
{
	void *data = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			  fd >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS, fd, 0);

	if (data == MAP_FAILED)
		abort(); /* like g_malloc() */
	return data;
}

static void move_to_memory(struct pp_mapped_array *array)
{
	char *data = NULL;

	if (array->mapped_bytes) {
		data = map(-1, array->mapped_bytes);
		memcpy(data, array->data, array->n * array->item_bytes);
		munmap(array->data, array->mapped_bytes);
	}
	/* Release the disk space. */
	(void)!ftruncate(array->fd, 0);
	close(array->fd);
	array->fd = -1;
	array->data = data;
}

/* Exceeding the limit on file sizes would raise a signal. */
static bool may_have(size_t bytes)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
	       (limit.rlim_cur == RLIM_INFINITY || bytes <= limit.rlim_cur);
}

/*
 * Reserves disk blocks in advance: writing to a mapping without a free block would kill the
 * process.
 */
static void grow(struct pp_mapped_array *array, size_t want)
{
	size_t bytes = MAX(array->mapped_bytes * 2, LEAST_BYTES);
	void *data;

	if (array->fd >= 0)
		bytes = MIN(bytes, array->mapped_bytes + MOST_FILE_BYTES);
	while (bytes < want)
		bytes += MOST_FILE_BYTES;
	if (array->fd >= 0 &&
	    (!may_have(bytes) || posix_fallocate(array->fd, 0, (off_t)bytes) != 0))
		move_to_memory(array);
	data = array->data ? mremap(array->data, array->mapped_bytes, bytes, MREMAP_MAYMOVE)
			   : map(array->fd, bytes);
	if (data == MAP_FAILED)
		abort(); /* like g_malloc() */
	array->data = data;
	array->mapped_bytes = bytes;
}

void *pp_mapped_array_add(struct pp_mapped_array *array, uint64_t n)
{
	size_t want = (size_t)(array->n + n) * array->item_bytes;
	void *item;

	if (want > array->mapped_bytes)
		grow(array, want);
	item = array->data + array->n * array->item_bytes;
	array->n += n;
	return item;
}
