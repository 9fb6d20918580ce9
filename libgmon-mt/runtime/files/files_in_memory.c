/* SPDX-License-Identifier: MIT */
/*
 * Live files that are kept in memory (files_in_memory.h).
 *
 * A file system is safe if a store to a reserved page allocates nothing: ext2, 3 and 4, tmpfs; XFS
 * and overlayfs if files there cannot be cloned. That is tested by FICLONE of a file to itself,
 * which overlayfs passes on to the file system below it. All others count as unsafe.
 *
 * The list of regions only grows, without a lock; an unmapped region stays in it, empty. While
 * regions are saved, their memory is not unmapped.
 */
#include <errno.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <sys/vfs.h>

#include "runtime/files/file.h"
#include "runtime/files/files_in_memory.h"
#include "runtime/sys/sys.h"

#define XFS_MAGIC     0x58465342
#define PAGE_BYTES    4096u
#define FIRST_REGIONS 64u
#define BLOCK_REGIONS 1024u

struct region {
	const char *dir, *name; /* static strings, valid for the life of the process */
	uint64_t offset, size_bytes;
	uint64_t saved_bytes;
	uint8_t *mapping; /* NULL: free or unmapped; written last */
};

static bool is_on;
static GM_LARGE struct region first_regions[FIRST_REGIONS];
static struct region *blocks[8];
static uint32_t n_regions;
static uint32_t n_savers;

void gm_kept_set(bool on)
{
	if (is_on != on)
		is_on = on;
}

bool gm_kept_is_on(void)
{
	return is_on;
}

void gm_kept_look(int fd)
{
	struct statfs status;
	bool on = true;

	if (gm_syscall3(SYS_fstatfs, fd, (long)&status, 0) == 0)
		switch (status.f_type) {
		case EXT4_SUPER_MAGIC: /* also EXT2 and EXT3 */
		case TMPFS_MAGIC:
		case RAMFS_MAGIC:
			on = false;
			break;
		case XFS_MAGIC:
		case OVERLAYFS_SUPER_MAGIC:
			on = gm_syscall3(SYS_ioctl, fd, FICLONE, fd) != -EOPNOTSUPP;
			break;
		default:
			break;
		}
	gm_kept_set(on);
}

void gm_kept_forget(void)
{
	if (n_regions == 0) /* avoids a write to a page in the child */
		return;
	n_regions = n_savers = 0;
	memset(first_regions, 0, sizeof(first_regions));
	for (unsigned i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++)
		if (blocks[i] != NULL)
			memset(blocks[i], 0, BLOCK_REGIONS * sizeof(struct region));
}

/* Returns the entry of a region with this number; NULL: too many, or no memory. */
static struct region *region_at(uint32_t i)
{
	const size_t block_bytes = BLOCK_REGIONS * sizeof(struct region);
	struct region *block, *others = NULL;
	unsigned number;

	if (i < FIRST_REGIONS)
		return &first_regions[i];
	number = (i - FIRST_REGIONS) / BLOCK_REGIONS;
	if (number >= sizeof(blocks) / sizeof(blocks[0]))
		return NULL;
	block = __atomic_load_n(&blocks[number], __ATOMIC_ACQUIRE);
	if (block == NULL) {
		block = gm_sys_mmap(block_bytes, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (block == NULL)
			return NULL;
		/* acq_rel: a thread that finds the block finds it zeroed */
		if (!__atomic_compare_exchange_n(&blocks[number], &others, block, false,
						 __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
			gm_sys_munmap(block, block_bytes);
			block = others;
		}
	}
	return &block[(i - FIRST_REGIONS) % BLOCK_REGIONS];
}

int gm_kept_map(int fd, const char *dir, const char *name, uint64_t offset, size_t size_bytes,
		void **ret_mapping)
{
	int code = gm_file_reserve(fd, offset, size_bytes);
	struct region *region;
	void *mapping;

	if (code < 0)
		return code;
	mapping = gm_sys_mmap(size_bytes, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (mapping == NULL)
		return -ENOMEM;
	region = region_at(__atomic_fetch_add(&n_regions, 1, __ATOMIC_RELAXED));
	if (region == NULL) {
		gm_sys_munmap(mapping, size_bytes);
		return -ENOMEM;
	}
	*region = (struct region){dir, name, offset, size_bytes, 0, NULL};
	/* release: pairs with the acquire in gm_kept_save() */
	__atomic_store_n(&region->mapping, mapping, __ATOMIC_RELEASE);
	*ret_mapping = mapping;
	return 0;
}

static struct region *region_of(const void *mapping)
{
	uint32_t n = __atomic_load_n(&n_regions, __ATOMIC_RELAXED);

	for (uint32_t i = 0; i < n; i++) {
		struct region *region = region_at(i);

		if (region != NULL && region->mapping == mapping)
			return region;
	}
	return NULL;
}

void gm_file_unmap(void *mapping, size_t size_bytes)
{
	struct region *region = is_on ? region_of(mapping) : NULL;

	if (region != NULL) {
		/*
		 * seq_cst: pairs with gm_kept_save(): either that sees NULL, or n_savers is seen
		 * here
		 */
		__atomic_store_n(&region->mapping, NULL, __ATOMIC_SEQ_CST);
		if (__atomic_load_n(&n_savers, __ATOMIC_SEQ_CST) != 0)
			return;
	}
	gm_sys_munmap(mapping, size_bytes);
}

uint64_t gm_kept_saved(const void *mapping)
{
	const struct region *region = region_of(mapping);

	return region != NULL ? region->saved_bytes : 0;
}

long gm_pwrite_all(int fd, const void *bytes, uint64_t n, uint64_t offset, uint64_t *ret_written)
{
	uint64_t done = 0;
	long code = 0;

	if (!gm_file_may_reach(offset + n))
		code = -EFBIG;
	while (code == 0 && done < n) {
		long written = gm_syscall6(SYS_pwrite64, fd, (long)((const char *)bytes + done),
					   (long)(n - done), (long)(offset + done), 0, 0);

		if (written > 0)
			done += (uint64_t)written;
		else if (written != -EINTR)
			code = written < 0 ? written : -ENOSPC;
	}
	*ret_written = done;
	return code;
}

static bool is_zero(const uint8_t *page)
{
	const uint64_t *words = (const uint64_t *)(const void *)page;

	for (unsigned i = 0; i < PAGE_BYTES / sizeof(*words); i++)
		if (words[i] != 0)
			return false;
	return true;
}

/* Trailing zeros need not be written: the file has zeros there. */
static uint64_t used_bytes(const struct region *region, const uint8_t *mapping)
{
	uint64_t n = region->size_bytes;

	while (n > region->saved_bytes && is_zero(mapping + n - PAGE_BYTES))
		n -= PAGE_BYTES;
	return n;
}

static long region_save(struct region *region, const uint8_t *mapping)
{
	char *path = gm_path_new(region->dir, region->name);
	uint64_t written = 0;
	long code = -ENOMEM;

	if (path != NULL) {
		int fd = gm_sys_open(path, O_WRONLY | O_NOFOLLOW, 0);

		code = fd;
		if (fd >= 0) {
			code = gm_pwrite_all(fd, mapping, used_bytes(region, mapping),
					     region->offset, &written);
			gm_sys_close(fd);
		}
	}
	gm_path_free(path);
	region->saved_bytes = code == 0 ? region->size_bytes : written;
	return code;
}

long gm_kept_save(void)
{
	uint32_t n = __atomic_load_n(&n_regions, __ATOMIC_RELAXED);
	long first_code = 0;

	/* seq_cst: pairs with gm_file_unmap() */
	__atomic_fetch_add(&n_savers, 1, __ATOMIC_SEQ_CST);
	for (uint32_t i = 0; i < n; i++) {
		struct region *region = region_at(i);
		const uint8_t *mapping =
		    region != NULL ? __atomic_load_n(&region->mapping, __ATOMIC_SEQ_CST) : NULL;
		long code = mapping != NULL ? region_save(region, mapping) : 0;

		if (code < 0 && first_code == 0)
			first_code = code;
	}
	__atomic_fetch_sub(&n_savers, 1, __ATOMIC_RELEASE);
	return first_code;
}
