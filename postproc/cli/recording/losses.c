/* SPDX-License-Identifier: MIT */
/* Texts and remedies for each kind of loss. */
#include "cli/recording/losses.h"

#include <inttypes.h>
#include <stdio.h>

#include "cli/commands.h"

/* Adds a row per CPU; returns the sum. */
static uint64_t add_overruns(struct pp_run *run, const struct pp_collector *collector)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < collector->n_rings; i++) {
		const struct pp_ring *ring = &collector->rings[i];
		g_autofree char *where = g_strdup_printf("kernel, CPU %d", ring->cpu);

		if (ring->lost)
			pp_run_add_loss(run, "scheduling events lost in full rings", where,
					ring->lost);
		sum += ring->lost;
	}
	return sum;
}

void pp_losses_kernel(struct pp_run *run, int write_error)
{
	const struct pp_collector *collector = run->collector;
	const bool all = collector->source == GM_KERNEL_PERF;
	uint64_t unwritten, overrun;
	unsigned left;

	if (!collector->ctf)
		return;
	left = pp_tree_running(&collector->tree, collector->root);
	/* A recording that ends before its program loses no events. */
	if (left && !(run->attached && run->attached->end != PP_ATTACH_EXIT)) {
		pp_run_add_loss(
		    run, "later scheduling events not recorded: the program left processes running",
		    "recording", left);
		pp_losses_print(run, run->losses->len - 1);
	}
	unwritten = pp_kernel_ctf_unwritten(collector->ctf);
	overrun = add_overruns(run, collector);
	if (collector->left_out) {
		pp_run_add_loss(run,
				"scheduling records that the kernel withheld from BPF programs",
				"kernel", collector->left_out);
		pp_losses_print(run, run->losses->len - 1);
	}
	if (unwritten) {
		pp_run_add_loss(run, "scheduling events that could not be written", "kernel",
				unwritten);
		fprintf(stderr,
			"gprof-mt: %s/kernel: %s: %" PRIu64
			" scheduling events lost; make room, or "
			"choose another directory (-o)\n",
			run->capture->dir, g_strerror(-write_error), unwritten);
	}
	if (overrun)
		fprintf(stderr,
			"gprof-mt: %" PRIu64
			" scheduling records%s lost: rings full; leave gprof-mt "
			"a CPU%s\n",
			overrun, all ? " (of all programs)" : "",
			all ? ", or use --set kernel.source=switches" : "");
}

static void report_discarded(struct pp_run *run, uint64_t n, const char *where, const char *what,
			     const char *help)
{
	if (n == 0)
		return;
	pp_run_add_loss(run, "events discarded during recording", where, n);
	fprintf(stderr, "gprof-mt: %" PRIu64 " %s lost: LTTng's buffers were full; %s\n", n, what,
		help);
}

void pp_losses_lttng(struct pp_run *run, struct pp_lttng *lttng)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_lttng_lost lost;

	if (pp_lttng_end(lttng, &lost, &err)) {
		pp_run_add_loss(run, "events that LTTng had not written when its session ended",
				"session", 0);
		pp_cli_fail(&err);
	}
	if (lost.relay_ended) {
		pp_run_add_loss(run, "events since the relay daemon ended", "relay", 0);
		fprintf(stderr,
			"gprof-mt: LTTng's events are lost since the relay daemon at %s ended "
			"during the recording\n",
			run->relay_url);
	}
	report_discarded(run, lost.user, "ust", "synch-events",
			 "leave it a CPU, or --set sync.buffer=4M");
	report_discarded(run, lost.kernel, "kernel", "kernel events (of all programs)",
			 "leave it a CPU, or --set kernel.source=perf");
}

void pp_losses_print(const struct pp_run *run, guint first)
{
	for (guint i = first; i < run->losses->len; i++) {
		const struct pp_loss *loss = run->losses->pdata[i];

		if (!loss->is_silent)
			fprintf(stderr, "gprof-mt: lost: %s: %s: %" PRIu64 "\n", loss->where,
				loss->what, loss->count);
	}
}
