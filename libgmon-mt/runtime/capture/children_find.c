/* SPDX-License-Identifier: MIT */
/*
 * Finds the processes that use the places of a capture (gmon-mt/children.h). Any user may have
 * written the files, so their contents are checked.
 */
#include "gmon-mt/children.h"
#include "runtime/capture/capture.h"
#include "runtime/capture/in_use.h"
#include "runtime/capture/session.h"
#include "runtime/files/dir.h"
#include "runtime/sys/sys.h"

#define TICK_NS 10000000u /* of /proc/PID/stat */

struct entry { /* linux_dirent64 */
	uint64_t inode;
	int64_t next;
	unsigned short record_bytes;
	unsigned char type;
	char name[];
};

/* A process of that number that is not in the place began after it, or before its ancestor. */
int gm_child_running(const struct gm_children_header *header, const struct gm_child *child)
{
	const char *threads = (const char *)child->threads;
	uint64_t now_ns[2] = {gm_sys_clock_ns(CLOCK_BOOTTIME), gm_sys_clock_ns(CLOCK_MONOTONIC)};
	uint64_t begun_ns, start;
	uint32_t pid;

	memcpy(&pid, threads + offsetof(struct gm_threads_header, pid), sizeof(pid));
	memcpy(&begun_ns, threads + offsetof(struct gm_threads_header, start_ns), sizeof(begun_ns));
	if (child->state != GM_CHILD_BEGUN || pid == 0 || pid > INT32_MAX)
		return 0;
	start = gm_proc_start((int)pid);
	return start != 0 && start >= header->proc_start &&
		       start * TICK_NS <= begun_ns + (now_ns[0] - now_ns[1])
		   ? (int)pid
		   : 0;
}

int gm_children_ask(int fd, gm_child_question *question, void *arg)
{
	struct gm_children_header header;
	struct gm_child child;
	int answer = 0;

	if (gm_sys_read(fd, &header, sizeof(header)) != sizeof(header) ||
	    memcmp(header.magic, GM_CHILDREN_MAGIC, 8) != 0)
		return 0;
	for (uint32_t i = 0; answer == 0 && i < header.n_claimed && i < GM_CHILDREN_MAX; i++) {
		long at = GM_CHILDREN_HEADER_BYTES + (long)i * GM_CHILD_BYTES;

		if (gm_syscall6(SYS_pread64, fd, (long)&child, sizeof(child), at, 0, 0) !=
		    sizeof(child))
			break;
		answer = question(&header, &child, arg);
	}
	return answer;
}

/* A place without namespace has a process that holds the lock; it may be in any namespace. */
static int is_running(const struct gm_children_header *header, const struct gm_child *child,
		      void *pid)
{
	return gm_child_running(header, child) == *(int *)pid &&
	       (child->pid_namespace == 0 || child->pid_namespace == gm_pid_namespace());
}

/* Checks the files of places in a directory; with `below`, in its process folders. */
static bool dir_has(int fd, int pid, bool below)
{
	const size_t prefix_bytes = sizeof(GM_CHILDREN_NAME) - 1;
	char buffer[1024];
	bool found = false;
	long n;

	while (!found && (n = gm_syscall3(SYS_getdents64, fd, (long)buffer, sizeof(buffer))) > 0) {
		for (long at = 0; at < n && !found;) {
			const struct entry *entry = (const void *)(buffer + at);
			bool wanted =
			    below ? entry->name[0] >= '1' && entry->name[0] <= '9'
				  : gm_strlen(entry->name) > prefix_bytes &&
					memcmp(entry->name, GM_CHILDREN_NAME, prefix_bytes) == 0;
			int inner;

			at += entry->record_bytes;
			if (!wanted)
				continue;
			inner = gm_open_below(fd, entry->name, O_RDONLY, 0);
			if (inner < 0)
				continue;
			found = below ? dir_has(inner, pid, false)
				      : gm_children_ask(inner, is_running, &pid) != 0;
			gm_sys_close(inner);
		}
	}
	return found;
}

bool gm_children_have(int dir, int pid)
{
	/* 0: the parent of the first process of a PID namespace */
	int fd = pid != 0 ? gm_open_below(dir, ".", O_RDONLY | O_DIRECTORY, 0) : -1;
	bool found;

	if (fd < 0)
		return false;
	found = dir_has(fd, pid, true);
	gm_sys_close(fd);
	return found;
}
