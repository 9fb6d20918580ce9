/* SPDX-License-Identifier: MIT */
/*
 * The kernel's events without `gprof-mt record`: if the configuration named by GPROF_MT_CONFIG asks
 * for kernel events, the library that makes the capture starts `gprof-mt collector` before the
 * program begins.
 *
 * Only the user can request this, by the variable; a configuration file found in the working
 * directory starts nothing. The started program is the gprof-mt beside the library, or the
 * installed one; PATH is not searched. Only root and this user may be able to replace the file, and
 * it is executed relative to the descriptor of the directory that was checked.
 *
 * The collector is not a child of the program, which must not see a child that it did not make: the
 * intermediate child is a bare clone() without a signal at its end, and is waited for here. libc
 * does not know of these processes, so this is done only from a constructor.
 */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "runtime/capture/capture.h"
#include "runtime/lifecycle/collector.h"
#include "runtime/files/dir.h"
#include "runtime/files/file.h"
#include "runtime/files/helper_task.h"
#include "runtime/files/warn.h"
#include "runtime/process/loadmap.h"
#include "runtime/process/process.h"
#include "runtime/sys/sys.h"

#define COLLECTOR "gprof-mt"
#define READY_MS  10000
#define FDS_MAX	  65536

/* The collector's descriptors before exec. */
enum { DIR_FD = GM_COLLECTOR_READY_FD + 1, N_FDS };

static char number[4][24];
static GM_LARGE char own_dir[GM_PATH_MAX];

static char *decimal(unsigned i, int64_t value)
{
	struct gm_text text = {number[i], sizeof(number[i]), 0};

	gm_text_add_i64(&text, value);
	return number[i];
}

/*
 * The directory of this library; "": it is linked into the program, or its full path is not known.
 */
static const char *find_own_dir(void)
{
	struct gm_text text = GM_TEXT(own_dir);
	struct dl_find_object found;
	const char *path;
	size_t n = 0;

	own_dir[0] = '\0';
	if (gm_find_object == NULL || gm_find_object(number, &found) != 0)
		return own_dir;
	path = found.dlfo_link_map->l_name;
	for (size_t i = 0; path[0] == '/' && path[i] != '\0'; i++)
		if (path[i] == '/')
			n = i;
	if (n < sizeof(own_dir))
		gm_text_add_bytes(&text, path, n);
	return own_dir;
}

/*
 * Returns a descriptor of `dir` if gprof-mt is in it. -ENOENT: it is not. -EPERM: another user may
 * replace it. -ELOOP: it is a symlink, whose target may be anywhere.
 */
static int open_program_dir(const char *dir)
{
	int at = gm_dir_open(dir);
	int code = at < 0 ? at : gm_open_below(at, COLLECTOR, O_PATH | O_NOFOLLOW, 0);
	struct stat status;

	if (at >= 0 && code >= 0) {
		int file = code;

		code = (int)gm_syscall3(SYS_fstat, file, (long)&status, 0);
		if (code == 0 && S_ISLNK(status.st_mode))
			code = -ELOOP;
		if (code == 0 && (!gm_is_trusted(&status) || gm_dir_is_exposed(at)))
			code = -EPERM;
		gm_sys_close(file);
	}
	if (code == 0)
		return at;
	if (at >= 0)
		gm_sys_close(at);
	return code;
}

static void close_all_but(int ready_fd, int dir_fd)
{
	int null_fd;

	/* Our descriptors may have the numbers 0 to 2, if the program closed these, or DIR_FD. */
	ready_fd = (int)gm_syscall3(SYS_fcntl, ready_fd, F_DUPFD_CLOEXEC, N_FDS);
	dir_fd = (int)gm_syscall3(SYS_fcntl, dir_fd, F_DUPFD_CLOEXEC, N_FDS);
	gm_syscall3(SYS_dup3, dir_fd, DIR_FD, O_CLOEXEC);
	gm_syscall3(SYS_dup2, ready_fd, GM_COLLECTOR_READY_FD, 0);
	null_fd = gm_sys_open("/dev/null", O_RDWR, 0);
	for (int fd = 0; fd < GM_COLLECTOR_READY_FD; fd++)
		gm_syscall3(SYS_dup2, null_fd, fd, 0);
	for (int fd = 0; fd <= GM_COLLECTOR_READY_FD; fd++)
		gm_syscall3(SYS_fcntl, fd, F_SETFD, 0);
	if (gm_syscall3(SYS_close_range, N_FDS, ~0u, 0) != 0)
		for (int fd = N_FDS; fd < FDS_MAX; fd++)
			gm_sys_close(fd);
}

static _Noreturn void become_collector(const struct gm_process *process, int ready_fd, int dir_fd)
{
	const struct gm_config *config = &process->config;
	char *argv[] = {COLLECTOR,
			"collector",
			decimal(0, process->pid),
			(char *)process->capture.dir,
			(char *)gm_kernel_source_name(config->kernel),
			(char *)gm_level_name(config->level),
			decimal(1, process->capture.clock_offset_ns),
			(char *)process->capture.clock_uuid,
			decimal(2, (int64_t)config->kernel_buffer_bytes),
			decimal(3, (int64_t)config->kernel_buffer_max_bytes),
			NULL};
	/* Without the program's environment, which would profile the collector. */
	char *envp[] = {NULL};

	close_all_but(ready_fd, dir_fd);
	gm_syscall6(SYS_execveat, DIR_FD, (long)COLLECTOR, (long)argv, (long)envp,
		    AT_SYMLINK_NOFOLLOW, 0);
	gm_syscall3(SYS_exit_group, 127, 0, 0);
	__builtin_unreachable();
}

/* Waits for the byte. Returns false if the collector ended, or sent none in time. */
static bool is_ready(int fd)
{
	struct pollfd wanted = {.fd = fd, .events = POLLIN};
	char byte;

	return gm_syscall3(SYS_poll, (long)&wanted, 1, READY_MS) == 1 &&
	       gm_sys_read(fd, &byte, 1) == 1;
}

struct start {
	const struct gm_process *process;
	const char *dir; /* where gprof-mt was found, or looked for last */
};

static long start_in(const struct gm_process *process, int dir_fd)
{
	int fds[2] = {-1, -1};
	long child;
	bool ready;

	if (gm_syscall3(SYS_pipe2, (long)fds, O_CLOEXEC, 0) != 0)
		return -EMFILE;
	child = gm_syscall6(SYS_clone, 0, 0, 0, 0, 0, 0);
	if (child == 0) {
		gm_syscall3(SYS_setsid, 0, 0, 0);
		if (gm_syscall6(SYS_clone, SIGCHLD, 0, 0, 0, 0, 0) == 0)
			become_collector(process, fds[1], dir_fd);
		gm_syscall3(SYS_exit_group, 0, 0, 0);
	}
	gm_sys_close(fds[1]);
	if (child > 0)
		while (gm_syscall6(SYS_wait4, child, 0, __WALL, 0, 0, 0) == -EINTR)
			;
	ready = child > 0 && is_ready(fds[0]);
	gm_sys_close(fds[0]);
	return ready ? 0 : -ECHILD;
}

static long start_step(void *arg)
{
	struct start *start = arg;
	long code;
	int dir_fd = -ENOENT;

	start->dir = find_own_dir();
	if (start->dir[0] != '\0')
		dir_fd = open_program_dir(start->dir);
	if (dir_fd == -ENOENT) {
		start->dir = GM_BINDIR;
		dir_fd = open_program_dir(start->dir);
	}
	if (dir_fd < 0)
		return dir_fd;
	code = start_in(start->process, dir_fd);
	gm_sys_close(dir_fd);
	return code;
}

/* Prints "no scheduling events: FILE: the error; the remedy". */
static void warn(const char *dir, long code)
{
	static GM_LARGE char line[2 * GM_PATH_MAX];
	struct gm_text text = GM_TEXT(line);

	gm_text_add(&text, "no scheduling events: ");
	if (code == -ENOENT) {
		gm_text_add(&text, COLLECTOR " is neither in ");
		gm_text_add(&text, own_dir[0] != '\0' ? own_dir : "the library's directory");
		gm_text_add(&text, " nor in ");
		gm_text_add(&text, dir);
	} else {
		gm_text_add(&text, dir);
		gm_text_add(&text, "/" COLLECTOR ": ");
		if (code == -EPERM)
			gm_text_add(&text, "it belongs to another user, or others may write to it "
					   "or its directory");
		else if (code == -ELOOP)
			gm_text_add(&text, "it is a symlink");
		else if (code == -ECHILD)
			gm_text_add(&text, "`collector` does not start");
		else
			gm_text_add_errno(&text, code);
	}
	gm_text_add(&text, "; run the program under gprof-mt record");
	gm_warn_once(line);
}

/*
 * Returns true if orphans become children of this process. The collector would become its child,
 * and each wait() for any child would wait for it.
 */
static bool adopts_orphans(const struct gm_process *process)
{
	int is_subreaper = 0;

	gm_syscall3(SYS_prctl, PR_GET_CHILD_SUBREAPER, (long)&is_subreaper, 0);
	return process->pid == 1 || is_subreaper != 0;
}

void gm_collector_start(const struct gm_process *process)
{
	const struct gm_config *config = &process->config;
	struct start start = {process, GM_BINDIR};
	long code;

	if (!process->capture.created || !process->config_named || !config->kernel_asked ||
	    config->kernel == GM_KERNEL_NONE || config->level == GM_LEVEL_APPLIC_ONLY)
		return;
	if (adopts_orphans(process)) {
		gm_warn_once("no scheduling events: the program adopts orphans (process 1 or a "
			     "subreaper) and would get the collector as a child; run the program "
			     "under gprof-mt record");
		return;
	}
	code = gm_files_run(start_step, &start);
	if (code != 0)
		warn(start.dir, code);
}
