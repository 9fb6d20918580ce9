/* SPDX-License-Identifier: MIT */
/*
 * gprof-mt collector PID DIR SOURCE LEVEL OFFSET UUID BUFFER BUFFER_MAX: records the kernel's
 * events of a process that runs without `gprof-mt record`. Internal: libgmon-mt (collect.c) starts
 * it.  It writes a byte to GM_COLLECTOR_READY_FD when it records, and ends when the process has
 * ended.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/recording/losses.h"
#include "record/info.h"
#include "runtime/capture/in_use.h"

#define DRAIN_MS 1000

static int take_config(char **argv, struct gm_config *config, struct gm_capture *capture)
{
	g_autofree char *source = g_strconcat("kernel.source=", argv[3], NULL);
	g_autofree char *level = g_strconcat("profile.level=", argv[4], NULL);
	g_autofree char *buffer = g_strconcat("kernel.buffer=", argv[7], NULL);
	g_autofree char *buffer_max = g_strconcat("kernel.buffer_max=", argv[8], NULL);
	const char *const settings[] = {source, level, buffer, buffer_max};
	struct gm_config_error error;

	gm_config_defaults(config);
	for (size_t i = 0; i < G_N_ELEMENTS(settings); i++)
		if (gm_config_set(settings[i], config, &error))
			return -EINVAL;
	g_strlcpy(capture->dir, argv[2], sizeof(capture->dir));
	capture->clock_offset_ns = g_ascii_strtoll(argv[5], NULL, 10);
	g_strlcpy(capture->clock_uuid, argv[6], sizeof(capture->clock_uuid));
	return 0;
}

/* Collects events until the process has ended. */
static void gather(struct pp_collector *collector, int pid_fd)
{
	g_autofree struct pollfd *fds = g_new(struct pollfd, PP_POLLFDS * collector->n_rings + 1);

	fds[0] = (struct pollfd){.fd = pid_fd, .events = POLLIN};
	do {
		poll(fds, 1 + pp_collector_pollfds(collector, fds + 1), DRAIN_MS);
		pp_collector_round(collector);
	} while (!fds[0].revents);
}

static int collect(struct pp_run *run, struct pp_collector *collector, pid_t pid, int pid_fd)
{
	const struct pp_collector_lttng lttng = {
	    .why = "LTTng's kernel tracer: only under gprof-mt record"};
	const struct gm_capture *capture = run->capture;
	struct pp_error err = PP_ERROR_INIT;
	int rc;

	pp_collector_open(collector, run->config,
			  run->config->kernel == GM_KERNEL_LTTNG ? &lttng
								 : &(struct pp_collector_lttng){0},
			  pid, run->dir_fd, capture->clock_uuid, capture->clock_offset_ns);
	run->collector = collector;
	rc = pp_info_set_kernel(run, collector->source == GM_KERNEL_NONE, &err);
	if (TEMP_FAILURE_RETRY(write(GM_COLLECTOR_READY_FD, "", 1)) != 1 || rc ||
	    collector->source == GM_KERNEL_NONE) {
		pp_collector_done(collector);
		return rc ? pp_cli_fail(&err) : PP_EXIT_GOOD;
	}
	close(GM_COLLECTOR_READY_FD);
	gather(collector, pid_fd);
	pp_losses_kernel(run, pp_collector_end(collector));
	rc = pp_info_set_kernel(run, true, &err);
	pp_collector_done(collector);
	return rc ? pp_cli_fail(&err) : PP_EXIT_GOOD;
}

int pp_cmd_collector(int argc, char **argv)
{
	g_autofree struct gm_config *config = g_new(struct gm_config, 1);
	g_autofree struct gm_capture *capture = g_new0(struct gm_capture, 1);
	g_autoptr(GPtrArray) losses = g_ptr_array_new();
	struct pp_run run = {.config = config, .capture = capture, .losses = losses};
	struct pp_collector collector;
	int pid_fd, status;
	pid_t pid;

	if (argc != 9 || take_config(argv, config, capture))
		return pp_cli_usage("collector",
				    "is started by programs with libgmon-mt, not by hand");
	/* Only the end of the program ends the collector. */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	pid = (pid_t)g_ascii_strtoll(argv[1], NULL, 10);
	pid_fd = (int)syscall(SYS_pidfd_open, pid, 0);
	run.dir_fd = open(capture->dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (pid_fd < 0 || run.dir_fd < 0)
		return PP_EXIT_FAILED;
	/*
	 * The lock tells `report` that more events will follow.  The kernel releases it with this
	 * process.
	 */
	flock(run.dir_fd, LOCK_EX | LOCK_NB);
	if (gm_in_use_is_possible(run.dir_fd))
		gm_in_use_mark(run.dir_fd);
	status = collect(&run, &collector, pid, pid_fd);
	close(run.dir_fd);
	close(pid_fd);
	return status;
}
