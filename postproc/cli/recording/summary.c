/* SPDX-License-Identifier: MIT */
/* Summarizes a finished recording. */
#include "cli/recording/summary.h"

#include <inttypes.h>

#include "capture/traces.h"
#include "cli/recording/unloaded.h"
#include "core/loss.h"

#define N_STEPS 8 /* bits of enum gm_stalled */

struct counts {
	unsigned processes, threads, counted; /* counted: threads with call counts */
	uint64_t threads_lost, calls_lost, records_lost, events_lost, n_in_memory;
	unsigned threads_why, calls_why, records_why, events_why;
	uint64_t maps_left_out, task_waits_left_out, accesses_lost, n_without_accesses;
	uint64_t blocks_lost;
	uint64_t n_barred[PP_LOSS_N_BARRED]; /* processes with sections that are not stepped */
	uint64_t n_left_out[N_STEPS];	     /* by bit: processes and threads */
	uint64_t sync_bytes, access_bytes, samples;
};

static void count_left_out(struct counts *counts, unsigned steps)
{
	for (unsigned i = 0; i < N_STEPS; i++)
		counts->n_left_out[i] += steps >> i & 1;
}

static void count(const struct pp_capture *capture, struct counts *counts)
{
	const struct pp_model *model = capture->model;

	pp_model_count(model, &counts->processes, &counts->threads);
	for (guint i = 0; i < model->processes->len; i++) {
		const struct pp_process *process = model->processes->pdata[i];

		counts->threads_lost += process->threads_lost;
		counts->n_in_memory += process->n_in_memory;
		counts->calls_lost += process->calls_lost;
		counts->events_lost += process->events_lost;
		counts->threads_why |= process->threads_why;
		counts->calls_why |= process->calls_why;
		counts->events_why |= process->events_why;
		counts->maps_left_out += process->maps_left_out;
		counts->task_waits_left_out += process->task_waits_left_out;
		counts->accesses_lost += process->accesses_lost;
		counts->n_without_accesses += process->n_without_accesses;
		counts->blocks_lost += process->blocks_lost;
		for (unsigned k = 0; k < PP_LOSS_N_BARRED; k++)
			counts->n_barred[k] += process->not_stepped >> k & 1;
		count_left_out(counts, process->left_out);
	}
	for (guint i = 0; i < model->threads->len; i++) {
		const struct pp_thread *thread = model->threads->pdata[i];

		counts->counted += thread->arcs && thread->arcs->len;
		counts->samples += pp_thread_n_samples(thread);
		counts->calls_lost += thread->calls_lost;
		counts->events_lost += thread->events_lost;
		counts->calls_why |= thread->calls_why;
		counts->records_lost += thread->records_lost;
		counts->records_why |= thread->records_why;
		counts->events_why |= thread->events_why;
		count_left_out(counts, thread->left_out);
	}
	for (guint i = 0; i < capture->traces->len; i++) {
		const struct pp_trace *trace = capture->traces->pdata[i];

		if (trace->is_accesses)
			counts->access_bytes += pp_trace_bytes(trace);
		else if ((trace->process || trace->is_ust) && !trace->is_samples)
			counts->sync_bytes += pp_trace_bytes(trace);
	}
}

static void add_plural(GString *text, uint64_t n, const char *one, const char *many)
{
	g_string_append_printf(text, "%" PRIu64 " %s", n, n == 1 ? one : many);
}

static void add_size(GString *text, uint64_t bytes, const char *of)
{
	g_autofree char *size = g_format_size_full(bytes, G_FORMAT_SIZE_IEC_UNITS);

	g_string_append_printf(text, "%s of %s, ", size, of);
}

static void add_kernel(GString *text, const struct pp_collector *collector)
{
	if (!collector->ctf) {
		g_string_append(text, collector->source == GM_KERNEL_LTTNG
					  ? "kernel events (lttng)"
					  : "no scheduling events");
		return;
	}
	add_plural(text, pp_kernel_ctf_events(collector->ctf),
		   collector->full ? "kernel event" : "scheduling event",
		   collector->full ? "kernel events" : "scheduling events");
	g_string_append_printf(text, " (%s)", gm_kernel_source_name(collector->source));
}

static char *describe(const struct pp_run *run, const struct counts *counts, uint64_t n_unwritten,
		      uint64_t n_unloaded)
{
	GString *text = g_string_new(NULL);

	add_plural(text, counts->processes, "process", "processes");
	if (n_unwritten)
		g_string_append_printf(text, " and %" PRIu64 " not recorded", n_unwritten);
	if (n_unloaded) {
		g_string_append(text, " (");
		add_plural(text, n_unloaded, "program", "programs");
		g_string_append(text, " not recorded)");
	}
	g_string_append(text, ", ");
	add_plural(text, counts->threads, "thread", "threads");
	g_string_append(text, "; ");
	if (counts->counted)
		add_plural(text, counts->counted, "call graph", "call graphs");
	else if (counts->samples)
		add_plural(text, counts->samples, "sample", "samples");
	else
		g_string_append(text, "no call graph");
	g_string_append(text, ", ");
	if (counts->sync_bytes != 0)
		add_size(text, counts->sync_bytes, "synch-events");
	else if (run->relay_session)
		g_string_append_printf(text, "synch-events at the relay daemon, session %s, ",
				       run->relay_session);
	else
		g_string_append(text, "no synch-events, ");
	if (counts->access_bytes != 0)
		add_size(text, counts->access_bytes, "memory accesses");
	add_kernel(text, run->collector);
	return g_string_free(text, FALSE);
}

static void note_loss(struct pp_run *run, const char *what, unsigned whys, uint64_t n)
{
	g_autofree char *text = pp_loss_text(what, whys);

	if (n)
		pp_run_add_loss(run, text, "runtime libraries", n);
}

static void note_left_out(struct pp_run *run, const uint64_t *n_left_out)
{
	for (unsigned i = 0; i < N_STEPS; i++) {
		g_autofree char *text = pp_loss_step_text(1u << i);

		if (text && n_left_out[i])
			pp_run_add_loss(run, text, "runtime libraries", n_left_out[i]);
	}
}

char *pp_summary_make(struct pp_run *run, const struct pp_capture *capture)
{
	/* A process that already runs, and its children, load no library of ours. */
	uint64_t n_unloaded = run->attached ? 0 : pp_unloaded_note(run, capture);
	struct counts counts = {0};

	count(capture, &counts);
	/* The kernel also records processes that did not load the runtime libraries. */
	counts.processes = MAX(counts.processes, run->collector->tree.processes);
	counts.threads = MAX(counts.threads, run->collector->tree.threads);
	run->processes = counts.processes;
	run->threads = counts.threads;
	note_loss(run, "processes that were not recorded", 0, capture->model->n_unwritten);
	note_loss(run,
		  "threads whose last data was not written (the process was killed, or its disk "
		  "was full)",
		  0, counts.n_in_memory);
	note_loss(run, "threads that were not recorded", counts.threads_why, counts.threads_lost);
	note_loss(run, "calls that were not counted", counts.calls_why, counts.calls_lost);
	note_loss(run, "calls and returns that are not in the history", counts.records_why,
		  counts.records_lost);
	note_loss(run, "synch-events that were not written", counts.events_why, counts.events_lost);
	note_loss(run, PP_LOSS_OF_LOADS, PP_LOSS_STALLED, counts.maps_left_out);
	note_loss(run, PP_LOSS_OF_TASK_WAITS, 0, counts.task_waits_left_out);
	note_loss(run, PP_LOSS_OF_ACCESSES, 0, counts.accesses_lost);
	note_loss(run, PP_LOSS_OF_ACCESS_THREADS, 0, counts.n_without_accesses);
	note_loss(run, PP_LOSS_OF_BLOCKS, 0, counts.blocks_lost);
	for (unsigned k = 0; k < PP_LOSS_N_BARRED; k++)
		note_loss(run, pp_loss_barred_text(1u << k), 0, counts.n_barred[k]);
	note_left_out(run, counts.n_left_out);
	for (guint i = 0; i < capture->damage->len; i++)
		pp_run_add_loss(run, "damage", capture->damage->pdata[i], 1);
	return describe(run, &counts, capture->model->n_unwritten, n_unloaded);
}
