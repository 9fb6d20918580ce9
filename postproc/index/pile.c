/* SPDX-License-Identifier: MIT */
/* Grows a mapping in steps, and reads pages ahead that are about to be shown. */
#include "index/pile.h"

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
/* To read what lies between two takes less than to read them one by one. */
#define NEAR_BYTES ((size_t)8 << 10)
/* Files grow by no more than that at a time, lest much of the disk is asked for in vain. */
#define MOST_FILE_BYTES ((size_t)64 << 20)

void pp_pile_init(struct pp_pile *pile, size_t item_bytes, int fd)
{
	*pile = (struct pp_pile){.item_bytes = item_bytes, .fd = fd};
}

void pp_pile_done(struct pp_pile *pile)
{
	if (pile->data && pile->mapped_bytes)
		munmap(pile->data, pile->mapped_bytes);
	if (pile->fd >= 0)
		close(pile->fd);
	*pile = (struct pp_pile){.fd = -1};
}

bool pp_pile_in_memory(const struct pp_pile *pile)
{
	return pile->fd < 0;
}

int pp_pile_map(struct pp_pile *pile, uint64_t n, int fd)
{
	struct stat st;
	void *data = NULL;
	size_t bytes;
	int ret = 0;

	if (__builtin_mul_overflow(n, pile->item_bytes, &bytes) || fstat(fd, &st) != 0 ||
	    !S_ISREG(st.st_mode) || (uint64_t)st.st_size != bytes)
		ret = -EINVAL;
	else if (bytes && (data = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0)) == MAP_FAILED)
		ret = -errno;
	close(fd);
	if (ret == 0)
		*pile = (struct pp_pile){data, n, pile->item_bytes, bytes, -1, true};
	return ret;
}

void pp_pile_scatter(struct pp_pile *pile)
{
	pile->on_disk = true;
	if (pile->data)
		madvise(pile->data, pile->mapped_bytes, MADV_RANDOM);
}

static void ask(const struct pp_wish *wish)
{
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	size_t first = wish->first / page_bytes * page_bytes;

	if (wish->end > first)
		madvise(wish->pile->data + first, wish->end - first, MADV_WILLNEED);
}

void pp_wish_add(struct pp_wish *wish, uint64_t i, uint64_t n)
{
	const struct pp_pile *pile = wish->pile;
	size_t first, end;

	if (!pile->on_disk || i >= pile->n || !n)
		return;
	first = i * pile->item_bytes;
	end = first + MIN(n, pile->n - i) * pile->item_bytes;
	if (first < wish->first || first > wish->end + NEAR_BYTES) {
		ask(wish);
		wish->first = first;
		wish->end = end;
	}
	wish->end = MAX(wish->end, end);
}

void pp_wish_end(struct pp_wish *wish)
{
	ask(wish);
	wish->first = wish->end = 0;
}

int pp_pile_trim(struct pp_pile *pile)
{
	return ftruncate(pile->fd, (off_t)(pile->n * pile->item_bytes)) == 0 ? 0 : -errno;
}

static char *map(int fd, size_t bytes)
{
	void *data = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			  fd >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS, fd, 0);

	if (data == MAP_FAILED)
		abort(); /* as g_malloc() does */
	return data;
}

static void move_to_memory(struct pp_pile *pile)
{
	char *data = NULL;

	if (pile->mapped_bytes) {
		data = map(-1, pile->mapped_bytes);
		memcpy(data, pile->data, pile->n * pile->item_bytes);
		munmap(pile->data, pile->mapped_bytes);
	}
	/* What it took of the disk others may need. */
	(void)!ftruncate(pile->fd, 0);
	close(pile->fd);
	pile->fd = -1;
	pile->data = data;
}

/* One over the limit on files would be a signal. */
static bool may_have(size_t bytes)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
	       (limit.rlim_cur == RLIM_INFINITY || bytes <= limit.rlim_cur);
}

/* Reserves the disk's blocks: a write to a mapping that finds none ends the program. */
static void grow(struct pp_pile *pile, size_t want)
{
	size_t bytes = MAX(pile->mapped_bytes * 2, LEAST_BYTES);
	void *data;

	if (pile->fd >= 0)
		bytes = MIN(bytes, pile->mapped_bytes + MOST_FILE_BYTES);
	while (bytes < want)
		bytes += MOST_FILE_BYTES;
	if (pile->fd >= 0 && (!may_have(bytes) || posix_fallocate(pile->fd, 0, (off_t)bytes) != 0))
		move_to_memory(pile);
	data = pile->data ? mremap(pile->data, pile->mapped_bytes, bytes, MREMAP_MAYMOVE)
			  : map(pile->fd, bytes);
	if (data == MAP_FAILED)
		abort(); /* as g_malloc() does */
	pile->data = data;
	pile->mapped_bytes = bytes;
}

void *pp_pile_add(struct pp_pile *pile, uint64_t n)
{
	size_t want = (size_t)(pile->n + n) * pile->item_bytes;
	void *item;

	if (want > pile->mapped_bytes)
		grow(pile, want);
	item = pile->data + pile->n * pile->item_bytes;
	pile->n += n;
	return item;
}
