/* SPDX-License-Identifier: MIT */
/*
 * Messages to the user: one line on stderr, for errors that cannot be reported elsewhere.
 *
 * Both libraries have the same errors, each with its own copy of this code. To print a line only
 * once, the first library leaves a mark in the process: an unused page, mapped from a memory file
 * whose name appears in /proc/self/maps. This works however the libraries were loaded, linked or
 * preloaded; a forked child begins without the mark. Without /proc, both libraries print the line.
 */
#include <errno.h>
#include <linux/memfd.h>
#include <poll.h>
#include <sys/socket.h>

#include "runtime/files/file.h"
#include "runtime/files/helper_task.h"
#include "runtime/files/warn.h"
#include "runtime/sys/sys.h"

#define MARK	   "gprof-mt.warned"
#define MARK_BYTES 4096u

static struct stat first_stderr;
static bool has_stderr;

void gm_warn_init(void)
{
	has_stderr = gm_syscall3(SYS_fstat, 2, (long)&first_stderr, 0) == 0;
}

/* The program may have closed its stderr, and descriptor 2 may be a file with its data. */
static bool stderr_is_first(void)
{
	struct stat now;

	return has_stderr && gm_syscall3(SYS_fstat, 2, (long)&now, 0) == 0 &&
	       now.st_dev == first_stderr.st_dev && now.st_ino == first_stderr.st_ino;
}

/*
 * Writes without blocking. A pipe that is writable takes PIPE_BUF bytes, more than a line;
 * O_NONBLOCK is not set, since stderr is shared with the program.
 */
static void write_at_once(const char *line, size_t n)
{
	struct pollfd wanted = {.fd = 2, .events = POLLOUT};

	if (S_ISSOCK(first_stderr.st_mode))
		gm_syscall6(SYS_sendto, 2, (long)line, (long)n, MSG_DONTWAIT | MSG_NOSIGNAL, 0, 0);
	else if (gm_syscall3(SYS_poll, (long)&wanted, 1, 0) == 1 && (wanted.revents & POLLOUT))
		gm_write_quietly(2, line, n);
}

void gm_warn(const char *line)
{
	char buffer[GM_WARNING_BYTES];
	struct gm_text text = GM_TEXT(buffer);

	if (gm_files_keep_warning(line) || !stderr_is_first())
		return;
	gm_text_add(&text, "gprof-mt: ");
	gm_text_add(&text, line);
	if (text.length > sizeof(buffer) - 2)
		text.length = sizeof(buffer) - 2;
	buffer[text.length] = '\n';
	write_at_once(buffer, text.length + 1);
}

static bool is_marked(void)
{
	static const char mark[] = "/memfd:" MARK; /* '/' occurs only at its start: see below */
	char chunk[512];
	unsigned matched = 0;
	long n;
	int fd = gm_sys_open("/proc/self/maps", O_RDONLY, 0);

	if (fd < 0)
		return false;
	while (matched < sizeof(mark) - 1 && (n = gm_sys_read(fd, chunk, sizeof(chunk))) > 0)
		for (long i = 0; i < n && matched < sizeof(mark) - 1; i++)
			matched = chunk[i] == mark[matched] ? matched + 1 : chunk[i] == mark[0];
	gm_sys_close(fd);
	return matched == sizeof(mark) - 1;
}

static void set_mark(void)
{
	int fd = (int)gm_syscall3(SYS_memfd_create, (long)MARK, MFD_CLOEXEC, 0);
	long page;

	if (fd < 0)
		return;
	page = gm_syscall6(SYS_mmap, 0, MARK_BYTES, PROT_NONE, MAP_SHARED, fd, 0);
	gm_sys_close(fd);
	if (!GM_IS_ERROR(page))
		gm_syscall3(SYS_madvise, page, MARK_BYTES, MADV_DONTFORK);
}

/* Returns 1 if the mark was not set before. */
static long mark_step(void *unused)
{
	(void)unused;
	if (is_marked())
		return 0;
	set_mark();
	return 1;
}

void gm_warn_once(const char *line)
{
	if (gm_files_run(mark_step, NULL) != 0)
		gm_warn(line);
}
