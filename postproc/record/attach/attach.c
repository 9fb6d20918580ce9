/* SPDX-License-Identifier: MIT */
/* The loop of a recording that is attached, and the order of its steps. */
#include "record/attach/attach.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "core/clock.h"

#define DRAIN_MS  1000
#define NS_PER_MS INT64_C(1000000)

static int signal_fd = -1;

int pp_attach_signals(struct pp_error *err)
{
	static const int ignored[] = {SIGPIPE, SIGXFSZ};
	struct sigaction hang_up;
	sigset_t mask;

	for (size_t i = 0; i < G_N_ELEMENTS(ignored); i++)
		signal(ignored[i], SIG_IGN);
	sigemptyset(&mask);
	/* Also where a shell ignores it, for jobs in the background. */
	sigaddset(&mask, SIGINT);
	sigaddset(&mask, SIGTERM);
	sigaddset(&mask, SIGUSR2);
	/* Not under nohup. */
	if (sigaction(SIGHUP, NULL, &hang_up) == 0 && hang_up.sa_handler != SIG_IGN)
		sigaddset(&mask, SIGHUP);
	sigprocmask(SIG_BLOCK, &mask, NULL);
	signal_fd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	return signal_fd < 0 ? pp_error_add(err, -errno, "signalfd: %s", g_strerror(errno)) : 0;
}

struct recorders {
	struct pp_collector *collector;
	struct pp_target_samples *samples;
};

static int follow(void *data, pid_t tid)
{
	const struct recorders *recorders = data;

	pp_target_samples_follow(recorders->samples, tid);
	return pp_collector_follow(recorders->collector, tid);
}

/* Threads without samples although the others have them. */
static void note_sample_errors(const struct pp_target_threads *threads,
			       const struct pp_target_samples *samples)
{
	for (guint i = 0; i < threads->found->len; i++) {
		struct pp_target_thread *thread =
		    &g_array_index(threads->found, struct pp_target_thread, i);

		thread->sample_error = pp_target_samples_error(samples, thread->tid);
	}
}

void pp_attach_begin(struct pp_run *run, const struct pp_target *target,
		     struct pp_target_threads *threads, struct pp_target_samples *samples)
{
	struct pp_collector *collector = run->collector;
	struct recorders recorders = {collector, samples};

	pp_target_threads_init(threads);
	pp_target_threads_follow(threads, target->pid, follow, &recorders);
	run->start_ns = pp_clock_now_ns();
	run->start_us = g_get_real_time();
	pp_collector_begin(collector, (uint64_t)run->start_ns);
	pp_target_threads_read(threads, target->pid, collector, run->start_ns);
	note_sample_errors(threads, samples);
}

/* Returns the time until the next round, in ms. */
static int pause_ms(int64_t end_ns)
{
	int64_t left_ns = end_ns - pp_clock_now_ns();

	return (int)CLAMP(left_ns / NS_PER_MS + 1, 0, DRAIN_MS);
}

/* Returns true if one of the signals ends the recording. */
static bool take_signals(void (*asked)(void *data), void *data)
{
	struct signalfd_siginfo info;
	bool is_end = false;

	while (read(signal_fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGUSR2)
			asked(data);
		else
			is_end = true;
	}
	return is_end;
}

enum pp_attach_end pp_attach_wait(const struct pp_target *target, struct pp_collector *collector,
				  struct pp_target_samples *samples, int64_t start_ns,
				  int64_t duration_ns, void (*asked)(void *data), void *data)
{
	unsigned n_most = PP_POLLFDS * collector->n_rings + samples->n_rings + 2;
	g_autofree struct pollfd *fds = g_new(struct pollfd, n_most);
	int64_t end_ns = duration_ns ? start_ns + duration_ns : INT64_MAX;
	bool is_end;

	fds[0] = (struct pollfd){.fd = target->pid_fd, .events = POLLIN};
	fds[1] = (struct pollfd){.fd = signal_fd, .events = POLLIN};
	for (;;) {
		unsigned n = 2 + pp_collector_pollfds(collector, fds + 2);

		n += pp_target_samples_pollfds(samples, fds + n);
		if (poll(fds, n, pause_ms(end_ns)) < 0)
			fds[0].revents = fds[1].revents = 0;
		pp_collector_round(collector);
		pp_target_samples_round(samples);
		is_end = fds[1].revents && take_signals(asked, data);
		if (fds[0].revents)
			return PP_ATTACH_EXIT;
		if (is_end)
			return PP_ATTACH_SIGNAL;
		if (pp_clock_now_ns() >= end_ns)
			return PP_ATTACH_DURATION;
	}
}
