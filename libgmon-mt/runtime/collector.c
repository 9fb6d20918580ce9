/* SPDX-License-Identifier: MIT */
/*
 * The kernel's events without `gprof-mt record`: where the configuration names a source for them,
 * the library that makes the capture has `gprof-mt collector` started before the program begins.
 *
 * That is a process of its own, and no child of the program's, which must not meet one that it did
 * not make: the child between the two is a bare clone() without a signal at its end, and is waited
 * for here.  It may be done from a constructor only: libc is not told of these processes.
 */
#include <errno.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "runtime/capture.h"
#include "runtime/collector.h"
#include "runtime/files.h"
#include "runtime/runtime.h"
#include "runtime/sys.h"

#define COLLECTOR    "gprof-mt"
#define READY_MS     10000
#define FDS_MAX	     65536
#define DEFAULT_PATH "/usr/local/bin:/usr/bin:/bin"

static char number[4][24];
static GM_LARGE char search_path[GM_PATH_MAX];
static GM_LARGE char program[GM_PATH_MAX + sizeof(COLLECTOR) + 1];

static char *decimal(unsigned i, int64_t value)
{
	struct gm_text text = {number[i], sizeof(number[i]), 0};

	gm_text_add_i64(&text, value);
	return number[i];
}

/* execvp(), without libc. */
static void execute(char *const *argv, char *const *envp)
{
	const char *path = gm_environment("PATH"), *end;

	for (path = path != NULL ? path : DEFAULT_PATH; *path != '\0'; path = end + (*end == ':')) {
		struct gm_text text = GM_TEXT(program);

		for (end = path; *end != '\0' && *end != ':'; end++)
			;
		gm_text_add_bytes(&text, path, (size_t)(end - path));
		gm_text_add(&text, end > path ? "/" COLLECTOR : COLLECTOR);
		if (text.length < text.size_bytes)
			gm_syscall3(SYS_execve, (long)program, (long)argv, (long)envp);
	}
}

static void close_all_but_ready(int ready_fd)
{
	int null_fd;

	/* First: where the program has closed its 0 to 2, this may be one of them. */
	gm_syscall3(SYS_dup2, ready_fd, GM_COLLECTOR_READY_FD, 0);
	null_fd = gm_sys_open("/dev/null", O_RDWR, 0);
	for (int fd = 0; fd < GM_COLLECTOR_READY_FD; fd++)
		gm_syscall3(SYS_dup2, null_fd, fd, 0);
	for (int fd = 0; fd <= GM_COLLECTOR_READY_FD; fd++)
		gm_syscall3(SYS_fcntl, fd, F_SETFD, 0);
	if (gm_syscall3(SYS_close_range, GM_COLLECTOR_READY_FD + 1, ~0u, 0) != 0)
		for (int fd = GM_COLLECTOR_READY_FD + 1; fd < FDS_MAX; fd++)
			gm_sys_close(fd);
}

static _Noreturn void become_collector(const struct gm_process *process, int ready_fd)
{
	const struct gm_config *config = &process->config;
	struct gm_text text = GM_TEXT(search_path);
	const char *path = gm_environment("PATH");
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
	/* Nothing that is meant for the program, and would profile this one. */
	char *envp[] = {search_path, NULL};

	gm_text_add(&text, "PATH=");
	gm_text_add(&text, path != NULL ? path : DEFAULT_PATH);
	close_all_but_ready(ready_fd);
	execute(argv, text.length < text.size_bytes ? envp : envp + 1);
	gm_syscall3(SYS_exit_group, 127, 0, 0);
	__builtin_unreachable();
}

/* Waits for the byte; false: the collector ended, or does not come to it. */
static bool is_ready(int fd)
{
	struct pollfd wanted = {.fd = fd, .events = POLLIN};
	char byte;

	return gm_syscall3(SYS_poll, (long)&wanted, 1, READY_MS) == 1 &&
	       gm_sys_read(fd, &byte, 1) == 1;
}

static long start_step(void *arg)
{
	const struct gm_process *process = arg;
	int fds[2] = {-1, -1};
	long child;
	bool ready;

	if (gm_syscall3(SYS_pipe2, (long)fds, O_CLOEXEC, 0) != 0)
		return -EMFILE;
	child = gm_syscall6(SYS_clone, 0, 0, 0, 0, 0, 0);
	if (child == 0) {
		gm_syscall3(SYS_setsid, 0, 0, 0);
		if (gm_syscall6(SYS_clone, SIGCHLD, 0, 0, 0, 0, 0) == 0)
			become_collector(process, fds[1]);
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

/*
 * Are orphans given to this process?  Then the collector would become its child, and each wait()
 * for any child would wait for it.
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

	if (!process->capture.created || !config->kernel_asked ||
	    config->kernel == GM_KERNEL_NONE || config->level == GM_LEVEL_APPLIC_ONLY)
		return;
	if (adopts_orphans(process)) {
		gm_warn_once("no scheduling events: the program adopts orphans (process 1 or a "
			     "subreaper) and would get the collector as a child; run the program "
			     "under gprof-mt record");
		return;
	}
	if (gm_files_run(start_step, (void *)process) != 0)
		gm_warn_once("no scheduling events: `gprof-mt collector` does not start; put "
			     "gprof-mt into PATH, or run the program under gprof-mt record");
}
