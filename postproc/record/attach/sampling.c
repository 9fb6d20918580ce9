/* SPDX-License-Identifier: MIT */
/*
 * In each round, the records of all CPUs are read, and call paths are found at once, while the
 * process still has the same objects.  A thread's samples may be on several CPUs: as in
 * collector.c, they are written once they are older than the previous round.
 */
#include "record/attach/sampling.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/text/write.h"
#include "gmon-mt/format.h"
#include "gmon-mt/samples.h"
#include "record/perf/cpus.h"
#include "runtime/stream/metadata.h"

#define RING_BYTES	 (4u << 20)
#define LEAST_RING_BYTES (128u << 10) /* for a few samples */
#define NS_PER_S	 UINT64_C(1000000000)

enum event_kind { SAMPLE, EXIT, EXEC };

struct event {
	enum event_kind kind;
	int32_t tid;
	struct pp_sample_path path; /* its time; of a sample: the caller frees its frames */
};

/* --- the kernel's part ---------------------------------------------------------------------- */

static void close_rings(struct pp_target_samples *samples)
{
	while (samples->n_rings)
		pp_ring_close(&samples->rings[--samples->n_rings]);
	g_clear_pointer(&samples->rings, g_free);
}

/* The kernel limits the memory of all rings of a user. */
static int open_ring(struct pp_ring *ring, int cpu)
{
	int rc = -ENOMEM;

	for (size_t bytes = RING_BYTES; rc == -ENOMEM && bytes >= LEAST_RING_BYTES; bytes /= 2)
		rc = pp_ring_open_stacks(ring, cpu, bytes);
	return rc;
}

int pp_target_samples_open(struct pp_target_samples *samples, const struct gm_config *config,
			   const struct pp_target *target, struct pp_error *err)
{
	g_autoptr(GArray) cpus = pp_online_cpus();
	int rc = 0;

	*samples = (struct pp_target_samples){
	    .target = target,
	    .depth = (unsigned)config->sync_path_depth,
	    .errors = g_hash_table_new(NULL, NULL),
	    .dir_fd = -1,
	};
	if (!config->sample_hz)
		return 0;
	samples->how = (struct pp_stack_sampling){
	    .period_ns = NS_PER_S / config->sample_hz,
	    .no_stack = config->sample_stacks == GM_STACKS_OFF,
	};
	samples->rings = g_new0(struct pp_ring, cpus->len);
	for (guint i = 0; i < cpus->len && rc == 0; i++) {
		rc = open_ring(&samples->rings[i], g_array_index(cpus, int, i));
		samples->n_rings += rc == 0;
	}
	/* The first thread tells what the kernel permits. */
	if (rc == 0)
		rc = pp_ring_add_stacks(&samples->rings[0], target->pid, &samples->how);
	if (rc == 0) {
		pp_ring_drop_stacks(&samples->rings[0]);
		return 0;
	}
	close_rings(samples);
	return pp_error_add(err, rc, "perf_event_open: %s", g_strerror(-rc));
}

void pp_target_samples_follow(struct pp_target_samples *samples, pid_t tid)
{
	unsigned n = 0;
	int rc = 0;

	while (n < samples->n_rings && rc == 0)
		rc = pp_ring_add_stacks(&samples->rings[n++], tid, &samples->how);
	if (rc == 0)
		return;
	/* Those of some CPUs would mislead. */
	for (unsigned i = 0; i + 1 < n; i++)
		pp_ring_drop_stacks(&samples->rings[i]);
	if (rc != -ESRCH)
		g_hash_table_insert(samples->errors, GINT_TO_POINTER(tid), GINT_TO_POINTER(-rc));
}

int pp_target_samples_error(const struct pp_target_samples *samples, pid_t tid)
{
	return -GPOINTER_TO_INT(g_hash_table_lookup(samples->errors, GINT_TO_POINTER(tid)));
}

uint64_t pp_target_samples_period_ns(const struct pp_target_samples *samples)
{
	return samples->rings ? samples->how.period_ns : 0;
}

unsigned pp_target_samples_pollfds(const struct pp_target_samples *samples, struct pollfd *fds)
{
	for (unsigned i = 0; i < samples->n_rings; i++)
		fds[i] = (struct pollfd){.fd = samples->rings[i].buffer.fd, .events = POLLIN};
	return samples->n_rings;
}

/* --- call paths ----------------------------------------------------------------------------- */

/* At most once in a round: the object may not be one of the list at all, as code that was made. */
static bool look_for_objects(struct pp_target_samples *samples, uint64_t address)
{
	struct pp_unwinder *newer;

	if (samples->has_looked)
		return false;
	samples->has_looked = true;
	newer = pp_unwinder_new(samples->target->pid);
	if (!pp_unwinder_knows(newer, address) ||
	    pp_target_folder_look(samples->folder, samples->target, pp_clock_now_ns())) {
		pp_unwinder_free(newer);
		return false;
	}
	pp_unwinder_free(samples->unwinder);
	samples->unwinder = newer;
	for (guint i = 0; i < samples->streams->len; i++)
		pp_sample_stream_forget(samples->streams->pdata[i]);
	return true;
}

static void find_path(struct pp_target_samples *samples, const struct pp_stack_sample *sample,
		      struct pp_sample_path *path)
{
	uint64_t frames[ST_PATH_MAX];
	unsigned most = samples->how.no_stack ? 1 : MIN(samples->depth, ST_PATH_MAX);
	enum st_path_end end;

	path->n = pp_unwind(samples->unwinder, sample, frames, most, &end);
	if (end == ST_PATH_NO_OBJECT && look_for_objects(samples, frames[path->n - 1] - 1))
		path->n = pp_unwind(samples->unwinder, sample, frames, most, &end);
	path->frames = g_memdup2(frames, path->n * sizeof(frames[0]));
	path->end = end;
}

static void take_sample(struct pp_target_samples *samples, const struct perf_event_header *header)
{
	struct pp_stack_sample sample;
	struct event event = {.kind = SAMPLE};

	pp_stack_sample_read(header, samples->how.no_stack, &sample);
	if (sample.pid != samples->target->pid || sample.time_ns < samples->begin_ns)
		return;
	event.tid = sample.tid;
	event.path.time_ns = sample.time_ns;
	event.path.address = sample.registers[PP_STACK_REGISTERS - 1];
	if (sample.has_registers && !samples->has_execed)
		find_path(samples, &sample, &event.path);
	g_array_append_val(samples->pending, event);
}

/* The time of a record that is no sample is at its end. */
static uint64_t time_of(const struct perf_event_header *header)
{
	uint64_t time_ns;

	memcpy(&time_ns, (const char *)header + header->size - sizeof(time_ns), sizeof(time_ns));
	return time_ns;
}

static void take_record(void *data, struct pp_ring *ring, const struct perf_event_header *header)
{
	struct pp_target_samples *samples = data;
	const uint32_t *fields = (const uint32_t *)(header + 1);
	struct event event = {.kind = EXIT};
	uint64_t n_lost;

	switch (header->type) {
	case PERF_RECORD_SAMPLE:
		take_sample(samples, header);
		return;
	case PERF_RECORD_LOST:
		memcpy(&n_lost, fields + 2, sizeof(n_lost));
		ring->lost += n_lost;
		return;
	case PERF_RECORD_EXIT: /* pid, ppid, tid */
		event.tid = (int32_t)fields[2];
		break;
	case PERF_RECORD_COMM: /* pid, tid */
		if (!(header->misc & PERF_RECORD_MISC_COMM_EXEC))
			return;
		event.kind = EXEC;
		event.tid = (int32_t)fields[1];
		samples->has_execed |= fields[0] == (uint32_t)samples->target->pid;
		break;
	default:
		return;
	}
	if (fields[0] != (uint32_t)samples->target->pid)
		return;
	event.path.time_ns = time_of(header);
	g_array_append_val(samples->pending, event);
}

/* --- streams -------------------------------------------------------------------------------- */

static void add_stream(struct pp_target_samples *samples, int32_t tid, uint32_t index)
{
	struct pp_sample_stream *stream = pp_sample_stream_new((uint32_t)tid, index);

	g_ptr_array_add(samples->streams, stream);
	g_hash_table_insert(samples->current, GINT_TO_POINTER(tid), stream);
}

/* Threads that are there at the begin have slots already. */
void pp_target_samples_begin(struct pp_target_samples *samples, struct pp_target_folder *folder,
			     const struct pp_target_threads *threads,
			     const struct gm_capture *capture, int64_t begin_ns)
{
	if (!samples->rings)
		return;
	samples->folder = folder;
	samples->capture = capture;
	samples->begin_ns = (uint64_t)begin_ns;
	samples->unwinder = pp_unwinder_new(samples->target->pid);
	samples->pending = g_array_new(FALSE, FALSE, sizeof(struct event));
	samples->current = g_hash_table_new(NULL, NULL);
	samples->streams = g_ptr_array_new_with_free_func((GDestroyNotify)pp_sample_stream_free);
	for (guint i = 0; i < threads->found->len; i++)
		add_stream(samples, g_array_index(threads->found, struct pp_target_thread, i).tid,
			   i);
}

/* NULL: the thread table has no room on the disk. */
static struct pp_sample_stream *stream_of(struct pp_target_samples *samples,
					  const struct event *event)
{
	struct pp_sample_stream *stream =
	    g_hash_table_lookup(samples->current, GINT_TO_POINTER(event->tid));
	struct pp_target_thread thread = {.tid = event->tid,
					  .start_ns = (int64_t)event->path.time_ns};
	int index;

	if (stream)
		return stream;
	pp_target_thread_name(samples->target->pid, event->tid, thread.name);
	index = pp_target_folder_add_thread(samples->folder, &thread);
	if (index < 0)
		return NULL;
	add_stream(samples, event->tid, (uint32_t)index);
	return samples->streams->pdata[samples->streams->len - 1];
}

static void write_event(struct pp_target_samples *samples, const struct event *event)
{
	struct pp_sample_stream *stream;

	if (event->kind == EXIT) {
		/* Its number may be used again. */
		g_hash_table_remove(samples->current, GINT_TO_POINTER(event->tid));
		return;
	}
	stream = stream_of(samples, event);
	if (stream)
		pp_sample_stream_add(stream, &event->path);
	else
		samples->n_lost++;
}

static int compare_times(const void *a, const void *b)
{
	const struct event *one = a, *other = b;

	return one->path.time_ns < other->path.time_ns ? -1
						       : one->path.time_ns > other->path.time_ns;
}

/* From an exec on, samples belong to another program, whose objects are not known. */
static bool is_after_exec(struct pp_target_samples *samples, const struct event *event)
{
	samples->has_passed_exec |= event->kind == EXEC;
	if (!samples->has_passed_exec)
		return false;
	samples->n_after_exec += event->kind == SAMPLE;
	return true;
}

static void write_until(struct pp_target_samples *samples, uint64_t until_ns)
{
	guint n = 0;

	g_array_sort(samples->pending, compare_times);
	for (; n < samples->pending->len; n++) {
		const struct event *event = &g_array_index(samples->pending, struct event, n);

		if (event->path.time_ns >= until_ns)
			break;
		if (!is_after_exec(samples, event))
			write_event(samples, event);
		g_free((void *)event->path.frames);
	}
	g_array_remove_range(samples->pending, 0, n);
}

/* --- files ---------------------------------------------------------------------------------- */

static int write_file(int dir_fd, const char *name, const void *bytes, size_t n_bytes)
{
	int fd = openat(dir_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	int rc = fd < 0 ? -errno : pp_write_all(fd, bytes, n_bytes);

	if (fd >= 0)
		close(fd);
	return rc;
}

static int write_metadata(const struct pp_target_samples *samples)
{
	static const struct gm_event_class events[GM_SAMPLES_N_EVENTS] = {
	    [GM_SAMPLES_PATH] = {"path", GM_SAMPLES_PATH_FIELDS},
	    [GM_SAMPLES_SAMPLE] = {"sample", GM_SAMPLES_SAMPLE_FIELDS},
	};
	g_autofree char *buffer = g_malloc(GM_METADATA_BYTES);
	struct gm_text text = {buffer, GM_METADATA_BYTES, 0};
	const struct gm_metadata metadata = {
	    .uuid = samples->uuid,
	    .pid = (uint64_t)samples->target->pid,
	    .clock_uuid = samples->capture->clock_uuid,
	    .clock_offset_ns = samples->capture->clock_offset_ns,
	    .events = events,
	    .n_events = GM_SAMPLES_N_EVENTS,
	};

	gm_metadata_add(&text, &metadata);
	return write_file(samples->dir_fd, "metadata", buffer, text.length);
}

static int make_dir(struct pp_target_samples *samples)
{
	int rc;

	if (samples->dir_fd >= 0)
		return 0;
	for (unsigned i = 0; i < sizeof(samples->uuid); i++)
		samples->uuid[i] = (uint8_t)g_random_int_range(0, 256);
	if (mkdirat(samples->folder->dir_fd, GM_SAMPLES_DIR, 0700) && errno != EEXIST)
		return -errno;
	samples->dir_fd = openat(samples->folder->dir_fd, GM_SAMPLES_DIR,
				 O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (samples->dir_fd < 0)
		return -errno;
	rc = write_metadata(samples);
	if (rc) {
		unlinkat(samples->dir_fd, "metadata", 0);
		close(samples->dir_fd);
		samples->dir_fd = -1;
	}
	return rc;
}

/* Replaces <pid>/calls, so that readers find all tables or those of the previous round. */
static void write_counts(const struct pp_target_samples *samples)
{
	g_autoptr(GByteArray) calls = g_byte_array_new();
	int dir_fd = samples->folder->dir_fd;

	for (guint i = 0; i < samples->streams->len; i++)
		pp_sample_stream_add_counts(samples->streams->pdata[i], calls);
	if (write_file(dir_fd, ".calls", calls->data, calls->len) ||
	    renameat(dir_fd, ".calls", dir_fd, "calls"))
		unlinkat(dir_fd, ".calls", 0);
}

static bool has_packets(const struct pp_target_samples *samples)
{
	for (guint i = 0; i < samples->streams->len; i++)
		if (((const struct pp_sample_stream *)samples->streams->pdata[i])->events->len)
			return true;
	return false;
}

static void write_streams(struct pp_target_samples *samples)
{
	int rc;

	if (!has_packets(samples))
		return;
	rc = make_dir(samples);
	for (guint i = 0; i < samples->streams->len; i++) {
		struct pp_sample_stream *stream = samples->streams->pdata[i];

		if (rc == 0)
			rc = pp_sample_stream_write(stream, samples->dir_fd, samples->uuid,
						    &samples->n_files);
		else
			pp_sample_stream_drop(stream);
		if (stream->n_unwritten)
			pp_target_folder_set_unwritten(samples->folder, stream->index,
						       GM_LOSS_DISK);
	}
	write_counts(samples);
}

/* -------------------------------------------------------------------------------------------- */

static void drain(struct pp_target_samples *samples)
{
	samples->has_looked = false;
	for (unsigned i = 0; i < samples->n_rings; i++)
		pp_ring_drain(&samples->rings[i], take_record, samples);
}

void pp_target_samples_round(struct pp_target_samples *samples)
{
	uint64_t begin_ns = (uint64_t)pp_clock_now_ns();

	if (!samples->rings)
		return;
	drain(samples);
	write_until(samples, samples->round_ns);
	write_streams(samples);
	samples->round_ns = begin_ns;
}

void pp_target_samples_end(struct pp_target_samples *samples)
{
	if (!samples->rings)
		return;
	for (unsigned i = 0; i < samples->n_rings; i++)
		pp_ring_stop(&samples->rings[i]);
	drain(samples);
	write_until(samples, UINT64_MAX);
	write_streams(samples);
	for (unsigned i = 0; i < samples->n_rings; i++)
		samples->n_lost += pp_ring_lost(&samples->rings[i]);
	pp_target_folder_set_missed(samples->folder, samples->n_lost);
}

void pp_target_samples_done(struct pp_target_samples *samples)
{
	close_rings(samples);
	pp_unwinder_free(samples->unwinder);
	for (guint i = 0; samples->pending && i < samples->pending->len; i++)
		g_free((void *)g_array_index(samples->pending, struct event, i).path.frames);
	g_clear_pointer(&samples->pending, g_array_unref);
	g_clear_pointer(&samples->current, g_hash_table_unref);
	g_clear_pointer(&samples->streams, g_ptr_array_unref);
	g_clear_pointer(&samples->errors, g_hash_table_unref);
	if (samples->dir_fd >= 0)
		close(samples->dir_fd);
	samples->dir_fd = -1;
}
