/* SPDX-License-Identifier: MIT */
/*
 * What the user is told: one line on stderr, when nothing else can carry it.
 *
 * Both libraries meet the same failures, each with its own copy of this code.  What they share is
 * the process, so whoever speaks first leaves a mark in it: a page that nobody touches, mapped from
 * a memory file whose name /proc/self/maps shows.  That holds however the libraries came in, linked
 * or preloaded; a forked child begins without the mark.  Where there is no /proc, both speak.
 */
#include <errno.h>
#include <linux/memfd.h>
#include <poll.h>
#include <sys/socket.h>

#include "runtime/files.h"
#include "runtime/runtime.h"
#include "runtime/sys.h"

#define MARK	   "gprof-mt.told"
#define MARK_BYTES 4096u

static struct stat first_stderr;
static bool has_stderr;

void gm_warn_init(void)
{
	has_stderr = gm_syscall3(SYS_fstat, 2, (long)&first_stderr, 0) == 0;
}

/* A program may have closed its stderr since, and descriptor 2 be a file with its data. */
static bool stderr_is_first(void)
{
	struct stat now;

	return has_stderr && gm_syscall3(SYS_fstat, 2, (long)&now, 0) == 0 &&
	       now.st_dev == first_stderr.st_dev && now.st_ino == first_stderr.st_ino;
}

/*
 * Writes without waiting for a reader.  A pipe that can be written to takes PIPE_BUF bytes, more
 * than a line; stderr stays as the program has it, so O_NONBLOCK is not set.
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
	static const char mark[] = "/memfd:" MARK; /* '/' at its start alone: see below */
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

/* Returns 1 if nobody has left the mark before. */
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
