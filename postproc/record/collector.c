/* SPDX-License-Identifier: MIT */
/*
 * Chooses the source of kernel events, and runs the loop over all rings: read, merge, filter by the
 * process tree, write.
 */
#include "record/collector.h"

#include "record/perf/cpus.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "record/lttng/kernel.h"
#include "record/ring_growth.h"
#include "core/alive.h"
#include "core/clock.h"

#define SLACK_NS       UINT64_C(50000000)
#define MIN_RING_BYTES (16 << 10)
/* A ring for fork, exec, exit and comm records only. */
#define QUIET_RING_BYTES (512 << 10)
#define COLLECTOR_NICE	 (-20)
#define FINISH_ROUNDS	 1000
/* The share of the rings' total size that they start with. */
#define START_BYTES (PP_RINGS_BYTES / 2)
/* The inode number of the first PID namespace (PROC_PID_INIT_INO). */
#define INIT_PID_NAMESPACE 0xEFFFFFFCu

/* --- opening --- */

static void close_rings(struct pp_collector *collector)
{
	while (collector->n_rings) {
		struct pp_ring *ring = &collector->rings[--collector->n_rings];

		pp_ring_move_cancel(ring);
		pp_ring_close(ring);
	}
	g_clear_pointer(&collector->rings, g_free);
}

static int open_each(struct pp_collector *collector, const GArray *cpus,
		     const struct pp_ring_options *options, struct pp_error *err)
{
	collector->rings = g_new0(struct pp_ring, cpus->len);
	for (guint i = 0; i < cpus->len; i++) {
		int rc =
		    pp_ring_open(&collector->rings[i], g_array_index(cpus, int, i), options, err);

		if (rc) {
			close_rings(collector);
			return rc;
		}
		collector->n_rings++;
	}
	return 0;
}

/* Needs up to 17 descriptors per CPU.  The program has its own copy of the limit already. */
static void raise_descriptor_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

/*
 * With many busy threads, a fair share of CPU time comes too late for the rings.  If permitted,
 * raise the priority: the collector uses no more CPU time, but gets it earlier.
 */
static void raise_priority(void)
{
	setpriority(PRIO_PROCESS, 0, COLLECTOR_NICE);
}

/* All rings get the same size: the largest that the kernel grants to all. */
static int open_rings(struct pp_collector *collector, const GArray *cpus,
		      struct pp_ring_options *options, struct pp_error *err)
{
	int rc;

	raise_descriptor_limit();
	if (!options->data_bytes || options->data_bytes > collector->start_bytes)
		options->data_bytes = collector->start_bytes;
	while (options->data_bytes > MIN_RING_BYTES &&
	       options->data_bytes * cpus->len > START_BYTES)
		options->data_bytes /= 2;
	while ((rc = open_each(collector, cpus, options, err)) == -ENOMEM &&
	       options->data_bytes > MIN_RING_BYTES) {
		options->data_bytes /= 2;
		pp_error_done(err);
	}
	collector->start_bytes = options->data_bytes;
	return rc;
}

/*
 * Tracepoints carry pids of the first PID namespace; in another one the program has different pids.
 */
bool pp_collector_sees_host_pids(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) == 0 && st.st_ino == INIT_PID_NAMESPACE;
}

/* Adds the reason why perf_event_open() was refused: a setting of the kernel, or a sandbox. */
static int explain_refusal(int rc, int wanted, const char *needs, struct pp_error *err)
{
	g_autofree char *text = NULL;
	bool is_known =
	    g_file_get_contents("/proc/sys/kernel/perf_event_paranoid", &text, NULL, NULL);

	if (rc != -EACCES && rc != -EPERM)
		return rc;
	if (is_known && atoi(text) <= wanted)
		return pp_error_add(err, rc, "a sandbox forbids perf_event_open()");
	return pp_error_add(err, rc, "needs %skernel.perf_event_paranoid=%d%s (it is %s)", needs,
			    wanted, wanted > 0 ? " or less" : "",
			    is_known ? g_strchomp(text) : "not known");
}

/* Returns the available tracepoints that no BPF program replaces, with those of level full last. */
static GArray *tracepoints_of(const struct pp_formats *formats, bool for_bpf, bool full)
{
	GArray *ids = g_array_new(FALSE, FALSE, sizeof(uint64_t));

	for (unsigned i = for_bpf ? PP_TP_EXEC : 0; i < PP_N_TRACEPOINTS; i++)
		g_array_append_val(ids, formats->id[i]);
	for (unsigned i = 0; full && i < PP_N_FULL; i++)
		if (formats->full[i].id && !(for_bpf && pp_bpf_tells(PP_KEVENT_FULL + i)))
			g_array_append_val(ids, formats->full[i].id);
	return ids;
}

static int open_tracepoints(struct pp_collector *collector, const GArray *cpus, bool for_bpf,
			    bool full, struct pp_error *err)
{
	g_autoptr(GArray) ids = tracepoints_of(&collector->formats, for_bpf, full);
	struct pp_ring_options options = {
	    .pid = -1,
	    .tracepoints = (const uint64_t *)(void *)ids->data,
	    .n_tracepoints = ids->len,
	    .for_bpf = for_bpf,
	    .data_bytes = for_bpf && !full ? QUIET_RING_BYTES : 0,
	};

	return open_rings(collector, cpus, &options, err);
}

static int open_perf(struct pp_collector *collector, const GArray *cpus, bool for_bpf,
		     struct pp_error *err)
{
	struct pp_error full_err = PP_ERROR_INIT;
	int rc;

	if (!pp_collector_sees_host_pids())
		return pp_error_add(err, -EOPNOTSUPP,
				    "in a pid namespace (a container) tracepoints carry the "
				    "host's thread numbers");
	rc = pp_formats_load(&collector->formats, collector->full, err);
	if (rc)
		return rc;
	if (collector->full && open_tracepoints(collector, cpus, for_bpf, true, &full_err) == 0)
		return 0;
	pp_error_done(&full_err);
	memset(collector->formats.full, 0, sizeof(collector->formats.full));
	rc = open_tracepoints(collector, cpus, for_bpf, false, err);
	return explain_refusal(rc, -1, "CAP_PERFMON, or ", err);
}

static int open_bpf(struct pp_collector *collector, const GArray *cpus, struct pp_error *err)
{
	int rc;

	/* That is the reason, whatever else is missing. */
	if (!pp_bpf_is_built())
		return pp_bpf_open(&collector->bpf, NULL, 0, 0, false, err);
	rc = open_perf(collector, cpus, true, err);
	if (rc)
		return rc;
	rc = pp_bpf_open(&collector->bpf, collector->rings, collector->n_rings, collector->root,
			 collector->formats.full[0].id, err);
	if (rc) {
		close_rings(collector);
		pp_formats_done(&collector->formats);
	}
	return rc;
}

static int open_switches(struct pp_collector *collector, const GArray *cpus, struct pp_error *err)
{
	struct pp_ring_options options = {
	    .pid = collector->root,
	};

	return explain_refusal(open_rings(collector, cpus, &options, err), 2, "", err);
}

static int open_source(struct pp_collector *collector, enum gm_kernel_source source,
		       const GArray *cpus, struct pp_error *err)
{
	switch (source) {
	case GM_KERNEL_BPF:
		return open_bpf(collector, cpus, err);
	case GM_KERNEL_PERF:
		return open_perf(collector, cpus, false, err);
	default:
		return open_switches(collector, cpus, err);
	}
}

/* Tries one source; on failure appends its name and the reason to `why`. */
static bool try_source(struct pp_collector *collector, enum gm_kernel_source source,
		       const GArray *cpus, GString *why)
{
	static const char *const names[] = {
	    [GM_KERNEL_BPF] = "BPF programs",
	    [GM_KERNEL_PERF] = "perf tracepoints",
	    [GM_KERNEL_SWITCHES] = "context-switch records",
	};
	struct pp_error err = PP_ERROR_INIT;
	g_autofree char *text = NULL;

	if (open_source(collector, source, cpus, &err) == 0) {
		collector->source = source;
		return true;
	}
	text = pp_error_text(&err);
	g_string_append_printf(why, "%s%s: %s", why->len ? "; " : "", names[source], text);
	pp_error_done(&err);
	return false;
}

bool pp_collector_wants_lttng(const struct gm_config *config)
{
	if (config->level == GM_LEVEL_APPLIC_ONLY)
		return false;
	return config->kernel == GM_KERNEL_LTTNG ||
	       (config->kernel == GM_KERNEL_AUTO && !gm_config_has_ring(config) &&
		pp_lttng_kernel_ready());
}

/* True for perf's tracepoints, and for BPF programs, which come with some of them. */
static bool has_tracepoints(const struct pp_collector *collector)
{
	return collector->source == GM_KERNEL_BPF || collector->source == GM_KERNEL_PERF;
}

bool pp_collector_has_pairs(const struct pp_collector *collector)
{
	return collector->source == GM_KERNEL_LTTNG || has_tracepoints(collector);
}

/* Returns false if LTTng was not tried, or does not run; `why` then has the reason. */
static bool take_lttng(struct pp_collector *collector, const struct pp_collector_lttng *lttng,
		       GString *why)
{
	if (!lttng->runs) {
		g_string_append(why, lttng->why ?: "");
		return false;
	}
	collector->source = GM_KERNEL_LTTNG;
	if (lttng->missing)
		g_string_append_printf(why, "LTTng's kernel tracer, which has no %s here",
				       lttng->missing);
	return true;
}

static bool try_sources(struct pp_collector *collector, enum gm_kernel_source asked,
			const GArray *cpus, const struct pp_collector_lttng *lttng, GString *why)
{
	if (take_lttng(collector, lttng, why))
		return true;
	/* LTTng's depends on the daemon that runs: other sources replace it. */
	for (enum gm_kernel_source source = GM_KERNEL_BPF; source < GM_KERNEL_NONE; source++)
		if ((asked == GM_KERNEL_AUTO || asked == GM_KERNEL_LTTNG || asked == source) &&
		    try_source(collector, source, cpus, why))
			return true;
	return false;
}

static void choose_source(struct pp_collector *collector, const struct gm_config *config,
			  const GArray *cpus, const struct pp_collector_lttng *lttng)
{
	enum gm_kernel_source asked = config->kernel;
	g_autoptr(GString) why = g_string_new(NULL);

	collector->source = GM_KERNEL_NONE;
	collector->best = true;
	if (config->level == GM_LEVEL_APPLIC_ONLY || asked == GM_KERNEL_NONE) {
		collector->why = g_strdup(asked == GM_KERNEL_NONE ? "kernel.source = none"
								  : "profile.level = applic-only");
		return;
	}
	if (try_sources(collector, asked, cpus, lttng, why)) {
		/* perf delivers the same events as the BPF programs, only at a higher cost. */
		collector->best =
		    why->len == 0 || (collector->source == GM_KERNEL_PERF && !lttng->why);
		if (asked != GM_KERNEL_AUTO && why->len == 0)
			g_string_printf(why, "kernel.source = %s", gm_kernel_source_name(asked));
		else if (why->len == 0)
			g_string_assign(why, "the best source is permitted");
	} else {
		collector->best = false;
	}
	collector->why = g_string_free(g_steal_pointer(&why), FALSE);
}

/* LTTng reports its own missing events. */
static bool has_full(const struct pp_collector *collector, unsigned which)
{
	return collector->source == GM_KERNEL_LTTNG ||
	       (has_tracepoints(collector) && collector->formats.full[which].id);
}

/* Returns the groups of level full of which this source lacks an event. */
static char **find_missing(const struct pp_collector *collector)
{
	GPtrArray *groups = g_ptr_array_new();

	for (unsigned i = 0; collector->full && i < PP_N_FULL; i++)
		if (!has_full(collector, i) &&
		    !g_ptr_array_find_with_equal_func(groups, pp_full_events[i].group, g_str_equal,
						      NULL))
			g_ptr_array_add(groups, g_strdup(pp_full_events[i].group));
	g_ptr_array_add(groups, NULL);
	return (char **)g_ptr_array_free(groups, FALSE);
}

static int create_ctf(struct pp_collector *collector, const struct gm_config *config, int dir_fd,
		      const struct pp_kernel_ctf_clock *clock, struct pp_error *err)
{
	g_autofree int *cpus = g_new(int, collector->n_rings);
	int rc;

	for (unsigned i = 0; i < collector->n_rings; i++)
		cpus[i] = collector->rings[i].cpu;
	rc = pp_kernel_ctf_create(dir_fd, gm_kernel_source_name(collector->source), clock,
				  collector->formats.syscalls, collector->n_rings, cpus,
				  &collector->ctf, err);
	if (rc == 0 && gm_config_has_ring(config))
		pp_kernel_ctf_keep(collector->ctf, gm_config_ring_of_kernel(config),
				   config->ring.ns);
	return rc;
}

/* Returns the largest power of two that is at most n. */
static size_t power_of_two_in(uint64_t n)
{
	return (size_t)1 << (g_bit_storage(n) - 1);
}

void pp_collector_open(struct pp_collector *collector, const struct gm_config *config,
		       const struct pp_collector_lttng *lttng, pid_t root, int dir_fd,
		       const char *clock_uuid, int64_t clock_offset_ns)
{
	struct pp_kernel_ctf_clock clock = {clock_uuid, clock_offset_ns,
					    (uint64_t)pp_clock_now_ns()};
	g_autoptr(GArray) cpus = pp_online_cpus();
	struct pp_error err = PP_ERROR_INIT;

	*collector = (struct pp_collector){.root = root};
	collector->round_ns = collector->emitted_ns = clock.start_ns;
	collector->most_bytes = power_of_two_in(config->kernel_buffer_max_bytes);
	collector->start_bytes =
	    MIN(power_of_two_in(config->kernel_buffer_bytes), collector->most_bytes);
	collector->full = config->level == GM_LEVEL_FULL;
	choose_source(collector, config, cpus, lttng);
	collector->missing = find_missing(collector);
	if (collector->source == GM_KERNEL_NONE || collector->source == GM_KERNEL_LTTNG)
		return;
	if (create_ctf(collector, config, dir_fd, &clock, &err)) {
		g_free(collector->why);
		collector->why = pp_error_text(&err);
		pp_error_done(&err);
		if (collector->source == GM_KERNEL_BPF)
			pp_bpf_close(&collector->bpf);
		close_rings(collector);
		collector->source = GM_KERNEL_NONE;
		collector->best = false;
		return;
	}
	raise_priority();
	/* perf's rings, those of the BPF programs, and the states of threads that ran before */
	pp_merge_init(&collector->merge, 2 * collector->n_rings + 1);
	pp_tree_init(&collector->tree, root, collector->source == GM_KERNEL_SWITCHES);
}

int pp_collector_follow(struct pp_collector *collector, pid_t tid)
{
	unsigned n = 0;
	int rc = 0;

	if (collector->source == GM_KERNEL_BPF)
		return pp_bpf_add_thread(&collector->bpf, tid);
	if (collector->source != GM_KERNEL_SWITCHES || tid == collector->root)
		return 0;
	while (n < collector->n_rings && rc == 0)
		rc = pp_ring_add_thread(&collector->rings[n++], tid);
	/* The events of some CPUs would contradict each other. */
	for (unsigned i = 0; rc && i + 1 < n; i++)
		pp_ring_drop_thread(&collector->rings[i]);
	return rc;
}

void pp_collector_begin(struct pp_collector *collector, uint64_t begin_ns)
{
	collector->begin_ns = collector->tree.begin_ns = begin_ns;
}

void pp_collector_take_state(struct pp_collector *collector, const struct pp_kevent *state)
{
	pp_tree_add(&collector->tree, state->tid, state->pid, state->comm);
	pp_merge_add(&collector->merge, 2 * collector->n_rings, state);
}

int pp_collector_probe(enum gm_kernel_source source, struct pp_error *err)
{
	struct pp_collector collector = {.root = getpid(), .start_bytes = MIN_RING_BYTES};
	g_autoptr(GArray) cpus = pp_online_cpus();
	int rc = open_source(&collector, source, cpus, err);

	if (rc == 0 && source == GM_KERNEL_BPF)
		pp_bpf_close(&collector.bpf);
	if (rc == 0)
		close_rings(&collector);
	pp_formats_done(&collector.formats);
	return rc;
}

/* --- running --- */

/*
 * A thread may have two events for its context-switch records: its own, and one that it inherited
 * if it began while events were opened.  Both write to the ring of the CPU, one after the other.
 */
static bool is_second(const struct pp_collector *collector, const struct pp_ring *ring,
		      const struct pp_kevent *event)
{
	if (collector->source != GM_KERNEL_SWITCHES || !collector->begin_ns)
		return false;
	return event->other_tid == PP_TID_NOT_KNOWN
		   ? ring->current == PP_TID_NOT_KNOWN && event->tid == ring->left
		   : event->other_tid == ring->current;
}

/*
 * With perf's tracepoints, each switch arrives twice: as sched_switch in the context of the
 * previous thread, and as a side-band record in that of the next thread.  The second is used where
 * the first is missing: the kernels of some virtual machines drop all output of perf (and tracefs)
 * for the idle threads of CPUs other than the first, and for a few other threads.  Without it, a
 * thread that starts on an idle CPU would never be seen.
 *
 * BPF programs detect a missing switch only when the thread leaves, so they report it late if the
 * thread ran long.
 */
static void take_record(void *data, struct pp_ring *ring, const struct perf_event_header *header)
{
	struct pp_collector *collector = data;
	struct pp_kevent event;

	if (!pp_decode(has_tracepoints(collector) ? &collector->formats : NULL, ring, header,
		       &event))
		return;
	if (event.kind == PP_KEVENT_LOST) {
		ring->lost += event.lost;
		ring->left = PP_TID_NOT_KNOWN;
	}
	if (event.kind == PP_KEVENT_SWITCH && event.side_band &&
	    collector->source == GM_KERNEL_PERF && event.other_tid == ring->current)
		return;
	if (event.kind == PP_KEVENT_SWITCH) {
		if (is_second(collector, ring, &event))
			return;
		ring->current = event.other_tid;
		ring->left = event.tid;
	}
	pp_merge_add(&collector->merge, ring - collector->rings, &event);
}

/* These need a queue of their own, because they are not in order with perf's ring. */
static void take_bpf(void *data, unsigned ring, struct pp_kevent *event)
{
	struct pp_collector *collector = data;

	/* A thread that ran when the recording began: its switch-out tells that. */
	if (event->side_band && event->time_ns < collector->begin_ns)
		return;
	if (event->side_band)
		event->time_ns = MAX(event->time_ns, collector->emitted_ns);
	pp_merge_add(&collector->merge, collector->n_rings + ring, event);
}

static void emit(void *data, unsigned queue, struct pp_kevent *event)
{
	struct pp_collector *collector = data;
	unsigned stream = queue % collector->n_rings;

	if (collector->end_ns && event->time_ns > collector->end_ns) {
		if (event->kind != PP_KEVENT_LOST)
			return;
		event->time_ns = collector->end_ns;
	}
	if (!pp_tree_take(&collector->tree, event) || event->time_ns < collector->begin_ns)
		return;
	collector->filled += event->side_band && has_tracepoints(collector);
	if (event->kind == PP_KEVENT_LOST)
		pp_kernel_ctf_lost(collector->ctf, stream, event->time_ns, event->lost);
	else
		pp_kernel_ctf_write(collector->ctf, stream, event);
}

unsigned pp_collector_pollfds(const struct pp_collector *collector, struct pollfd *fds)
{
	unsigned n = 0;

	for (unsigned i = 0; i < collector->n_rings; i++) {
		const struct pp_ring *ring = &collector->rings[i];

		fds[n++] = (struct pollfd){.fd = ring->buffer.fd, .events = POLLIN};
		if (ring->next.map)
			fds[n++] = (struct pollfd){.fd = ring->next.fd, .events = POLLIN};
	}
	return n;
}

static void drain(struct pp_collector *collector)
{
	for (unsigned i = 0; i < collector->n_rings; i++)
		pp_ring_read(&collector->rings[i], take_record, collector);
	for (unsigned i = 0; i < collector->bpf.n_rings; i++)
		pp_bpf_drain(&collector->bpf, i, take_bpf, collector);
}

static size_t bpf_ring_bytes(const struct pp_collector *collector)
{
	return collector->source == GM_KERNEL_BPF ? pp_bpf_ring_bytes(&collector->bpf) : 0;
}

size_t pp_collector_ring_start_bytes(const struct pp_collector *collector)
{
	return collector->n_rings ? collector->start_bytes + bpf_ring_bytes(collector) : 0;
}

size_t pp_collector_ring_bytes(const struct pp_collector *collector, unsigned ring)
{
	return pp_ring_bytes(&collector->rings[ring]) + bpf_ring_bytes(collector);
}

void pp_collector_round(struct pp_collector *collector)
{
	uint64_t begin_ns = (uint64_t)pp_clock_now_ns();

	drain(collector);
	pp_rings_adapt(collector->rings, collector->n_rings, collector->most_bytes);
	collector->emitted_ns =
	    MAX(collector->emitted_ns, MIN(collector->round_ns, begin_ns - SLACK_NS));
	pp_merge_emit(&collector->merge, collector->emitted_ns, emit, collector);
	if (collector->ctf)
		pp_kernel_ctf_tick(collector->ctf, begin_ns, collector->emitted_ns);
	collector->round_ns = begin_ns;
}

/* A BPF program that was still running on another CPU when they were stopped ends at once. */
static void finish_bpf(struct pp_collector *collector)
{
	for (int i = 0; i < FINISH_ROUNDS && pp_bpf_unfinished(&collector->bpf); i++) {
		sched_yield();
		drain(collector);
	}
	collector->left_out += pp_bpf_unfinished(&collector->bpf);
}

int pp_collector_end(struct pp_collector *collector)
{
	uint64_t end_ns;

	if (!collector->ctf)
		return 0;
	/*
	 * The BPF programs are stopped one after the other, in tens of milliseconds, in which perf
	 * still records: threads that a process which goes on starts meanwhile would seem never to
	 * run.
	 */
	if (collector->begin_ns)
		collector->end_ns = (uint64_t)pp_clock_now_ns();
	if (collector->source == GM_KERNEL_BPF)
		collector->left_out = pp_bpf_stop(&collector->bpf);
	for (unsigned i = 0; i < collector->n_rings; i++)
		pp_ring_stop(&collector->rings[i]);
	drain(collector);
	finish_bpf(collector);
	pp_merge_emit(&collector->merge, UINT64_MAX, emit, collector);
	pp_tree_settle(&collector->tree, pp_process_runs);
	end_ns = collector->end_ns ? collector->end_ns : (uint64_t)pp_clock_now_ns();
	for (unsigned i = 0; i < collector->n_rings; i++) {
		struct pp_ring *ring = &collector->rings[i];
		uint64_t reported = ring->lost;

		ring->lost = pp_ring_lost(ring);
		if (ring->lost > reported)
			pp_kernel_ctf_lost(collector->ctf, i, end_ns, ring->lost - reported);
	}
	for (unsigned i = 0; i < collector->bpf.n_rings; i++)
		collector->rings[i].lost += collector->bpf.of[i].reported_dropped;
	return pp_kernel_ctf_end(collector->ctf, end_ns);
}

void pp_collector_done(struct pp_collector *collector)
{
	int closing = -1;

	if (collector->source == GM_KERNEL_BPF)
		pp_bpf_close(&collector->bpf);
	if (collector->n_rings && has_tracepoints(collector))
		closing = pp_rings_leave_closing();
	close_rings(collector);
	if (closing >= 0)
		close(closing);
	if (collector->ctf) {
		pp_merge_done(&collector->merge);
		pp_tree_done(&collector->tree);
		pp_kernel_ctf_free(collector->ctf);
		collector->ctf = NULL;
	}
	pp_formats_done(&collector->formats);
	g_clear_pointer(&collector->missing, g_strfreev);
	g_clear_pointer(&collector->why, g_free);
}
