/* SPDX-License-Identifier: MIT */
/*
 * Reads /proc/PID.  The descriptor of the process is opened first: if the process still runs at the
 * end, the number was that of one process all the time.
 */
#include "record/attach/target.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "core/alive.h"

#define NS_PER_S INT64_C(1000000000)

/* Lines of /proc/PID/status. */
struct status {
	pid_t tgid, ppid;
	uid_t uid[3]; /* real, effective, saved */
	char state;
	unsigned n_threads;
	bool is_kernel_thread;
};

static char *path_of(pid_t pid, const char *file)
{
	return g_strdup_printf("/proc/%d/%s", pid, file);
}

static bool read_status(pid_t pid, struct status *status)
{
	g_autofree char *path = path_of(pid, "status"), *text = NULL;
	g_auto(GStrv) lines = NULL;

	*status = (struct status){.state = '?'};
	if (!g_file_get_contents(path, &text, NULL, NULL))
		return false;
	lines = g_strsplit(text, "\n", -1);
	for (char **line = lines; *line; line++) {
		int is_kernel_thread;

		sscanf(*line, "Tgid: %d", &status->tgid);
		sscanf(*line, "PPid: %d", &status->ppid);
		sscanf(*line, "State: %c", &status->state);
		sscanf(*line, "Threads: %u", &status->n_threads);
		sscanf(*line, "Uid: %u %u %u", &status->uid[0], &status->uid[1], &status->uid[2]);
		if (sscanf(*line, "Kthread: %d", &is_kernel_thread) == 1)
			status->is_kernel_thread = is_kernel_thread != 0;
	}
	/* Before Linux 6.10: kthreadd, and its children. */
	status->is_kernel_thread |= status->ppid == 2 || (status->tgid == 2 && !status->ppid);
	return status->tgid > 0;
}

static int no_process(pid_t pid, struct pp_error *err)
{
	struct status status;

	bool exists = read_status(pid, &status);

	if (exists && status.tgid != pid)
		return pp_error_add(err, -ESRCH, "%d is a thread of process %d: use --pid %d", pid,
				    status.tgid, status.tgid);
	if (status.state == 'Z' && status.n_threads > 1)
		return pp_error_add(err, -ESRCH,
				    "the first thread of process %d has ended: such a process "
				    "cannot be recorded",
				    pid);
	if (status.state == 'Z')
		return pp_error_add(err, -ESRCH, "process %d has ended", pid);
	return pp_error_add(err, -ESRCH, "there is no process %d", pid);
}

static int check_user(pid_t pid, const struct status *status, struct pp_error *err)
{
	uid_t self = geteuid();

	if (self == 0)
		return 0;
	if (status->uid[0] != status->uid[1] || status->uid[0] != status->uid[2])
		return pp_error_add(err, -EPERM,
				    "process %d has the rights of several users (set-user-ID); "
				    "only root may record it",
				    pid);
	if (status->uid[0] != self)
		return pp_error_add(err, -EPERM,
				    "process %d belongs to user %u; record it as that user, or as "
				    "root",
				    pid, status->uid[0]);
	return 0;
}

static int check_namespace(pid_t pid, const char *file, const char *name, struct pp_error *err)
{
	g_autofree char *its_path = path_of(pid, file), *own_path = path_of(getpid(), file);
	struct stat its, own;

	if (stat(its_path, &its) || stat(own_path, &own)) {
		int code = errno;

		if (code == ENOENT)
			return no_process(pid, err);
		return pp_error_add(err, -EPERM,
				    "the %s namespace of process %d cannot be read: %s; that "
				    "needs the right to trace it",
				    name, pid, g_strerror(code));
	}
	if (its.st_ino != own.st_ino || its.st_dev != own.st_dev)
		return pp_error_add(err, -EPERM,
				    "process %d is in another %s namespace (a container); run "
				    "gprof-mt there",
				    pid, name);
	return 0;
}

static int check(pid_t pid, struct status *status, struct pp_error *err)
{
	int rc;

	if (pid == getpid())
		return pp_error_add(err, -EPERM, "process %d is this gprof-mt itself", pid);
	if (!read_status(pid, status) || status->state == 'Z')
		return no_process(pid, err);
	if (status->is_kernel_thread)
		return pp_error_add(err, -EPERM, "process %d is a thread of the kernel", pid);
	rc = check_user(pid, status, err);
	if (rc == 0)
		rc = check_namespace(pid, "ns/pid", "PID", err);
	return rc ? rc : check_namespace(pid, "ns/mnt", "mount", err);
}

static GStrv read_command(pid_t pid)
{
	g_autofree char *path = path_of(pid, "cmdline"), *name_path = path_of(pid, "comm");
	g_autofree char *text = NULL, *name = NULL;
	GPtrArray *words = g_ptr_array_new();
	gsize len = 0;

	if (!g_file_get_contents(path, &text, &len, NULL))
		len = 0;
	for (gsize at = 0; at < len; at += strlen(text + at) + 1)
		g_ptr_array_add(words, g_strdup(text + at));
	if (!words->len && g_file_get_contents(name_path, &name, NULL, NULL))
		g_ptr_array_add(words, g_strdup(g_strchomp(name)));
	g_ptr_array_add(words, NULL);
	return (GStrv)g_ptr_array_free(words, FALSE);
}

/* Start times count from the boot, with suspended time. */
static int64_t read_age(pid_t pid)
{
	int64_t tick_ns = NS_PER_S / sysconf(_SC_CLK_TCK);
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return now.tv_sec * NS_PER_S + now.tv_nsec - (int64_t)pp_process_start(pid) * tick_ns;
}

bool pp_target_has_ended(const struct pp_target *target)
{
	struct pollfd fd = {.fd = target->pid_fd, .events = POLLIN};

	return poll(&fd, 1, 0) > 0 && fd.revents;
}

int pp_target_open(pid_t pid, struct pp_target *target, struct pp_error *err)
{
	g_autofree char *cwd = path_of(pid, "cwd");
	struct status status;
	int rc;

	*target = (struct pp_target){.pid = pid};
	target->pid_fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (target->pid_fd < 0) {
		if (errno == ESRCH || errno == EINVAL || errno == ENOENT)
			return no_process(pid, err);
		return pp_error_add(err, -errno, "pidfd_open: %s", g_strerror(errno));
	}
	rc = check(pid, &status, err);
	if (rc == 0 && pp_target_has_ended(target))
		rc = pp_error_add(err, -ESRCH, "process %d has ended", pid);
	if (rc) {
		close(target->pid_fd);
		target->pid_fd = -1;
		return rc;
	}
	target->ppid = status.ppid;
	target->command = read_command(pid);
	target->cwd = g_file_read_link(cwd, NULL);
	target->age_ns = read_age(pid);
	return 0;
}

void pp_target_done(struct pp_target *target)
{
	if (target->pid_fd >= 0)
		close(target->pid_fd);
	target->pid_fd = -1;
	g_clear_pointer(&target->command, g_strfreev);
	g_clear_pointer(&target->cwd, g_free);
}
