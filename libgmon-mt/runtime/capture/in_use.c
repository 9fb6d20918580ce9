/* SPDX-License-Identifier: MIT */
/*
 * A capture is in use as long as a process holds a read lock of its file `session` (in_use.h).
 *
 * The lock belongs to an open file description (F_OFD_SETLK).  A page of the file is mapped, and
 * the descriptor closed: the mapping keeps the description, and the description the lock.  Children
 * of fork have both; exec, a kill and any other end drop them.  The kernel answers for the file,
 * not for a process number, so the answer is the same in every PID namespace, and after the
 * namespace has ended.  The page is never accessed.
 *
 * Overlayfs and FUSE may map another file than the one that was opened, and a file system of the
 * network has processes of other machines.  There the lock tells nothing, and nobody takes it.
 */
#include <errno.h>
#include <linux/magic.h>
#include <sys/vfs.h>

#include "gmon-mt/format.h"
#include "runtime/capture/in_use.h"
#include "runtime/files/dir.h"
#include "runtime/sys/sys.h"

#define PAGE_BYTES 4096u
#define XFS_MAGIC  0x58465342

static void *mark; /* NULL: none */

bool gm_in_use_is_possible(int fd)
{
	struct statfs status;

	if (gm_syscall3(SYS_fstatfs, fd, (long)&status, 0) != 0)
		return false;
	switch (status.f_type) {
	case EXT4_SUPER_MAGIC: /* and EXT2, EXT3 */
	case XFS_MAGIC:
	case BTRFS_SUPER_MAGIC:
	case F2FS_SUPER_MAGIC:
	case TMPFS_MAGIC:
	case RAMFS_MAGIC:
		return true;
	default:
		return false;
	}
}

void gm_in_use_end(void)
{
	void *page = mark;

	/* First: a child that another thread forks meanwhile must not unmap the address again. */
	mark = NULL;
	if (page != NULL)
		gm_sys_munmap(page, PAGE_BYTES);
}

int gm_in_use_mark_session(int session)
{
	struct flock lock = {.l_type = F_RDLCK, .l_len = 1};
	long code = gm_syscall3(SYS_fcntl, session, F_OFD_SETLK, (long)&lock);
	void *page;

	if (code < 0)
		return (int)code;
	page = gm_sys_mmap(PAGE_BYTES, MAP_PRIVATE, session, 0);
	if (page == NULL)
		return -ENOMEM;
	gm_in_use_end(); /* of an earlier attempt */
	mark = page;
	return 0;
}

int gm_in_use_mark(int dir)
{
	int fd = gm_open_below(dir, GM_SESSION_FILE, O_RDONLY, 0), code = fd;

	if (fd >= 0) {
		code = gm_in_use_mark_session(fd);
		gm_sys_close(fd);
	}
	return code;
}

int gm_in_use(int dir)
{
	struct flock lock = {.l_type = F_WRLCK, .l_len = 1};
	int fd = gm_open_below(dir, GM_SESSION_FILE, O_RDONLY, 0);
	long code;

	if (fd < 0)
		return fd;
	code = gm_syscall3(SYS_fcntl, fd, F_OFD_GETLK, (long)&lock);
	gm_sys_close(fd);
	return code < 0 ? (int)code : lock.l_type != F_UNLCK;
}

static uint32_t own_namespace(void)
{
	struct stat status;

	if (gm_syscall3(SYS_stat, (long)"/proc/self/ns/pid", (long)&status, 0) != 0)
		return 0;
	return (uint32_t)status.st_ino;
}

uint32_t gm_in_use_namespace(void)
{
	uint32_t own = mark != NULL ? 0 : own_namespace();

	return mark != NULL || own != 0 ? own : GM_NAMESPACE_UNKNOWN;
}

uint32_t gm_pid_namespace(void)
{
	char number[16];
	long n = gm_syscall3(SYS_readlink, (long)"/proc/self", (long)number, sizeof(number) - 1);

	number[n > 0 ? n : 0] = '\0';
	return n > 0 && gm_parse_u64(number, NULL) == (uint64_t)gm_sys_getpid() ? own_namespace()
										: 0;
}
