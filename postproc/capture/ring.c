/* SPDX-License-Identifier: MIT */
/*
 * A capture of a ring ([output] ring): the first files of some streams were removed.  It has all
 * events from the time on at which the last of these streams begins.
 */
#include <fcntl.h>
#include <unistd.h>

#include "core/stream_name.h"
#include "core/text/json.h"
#include "gmon-mt/packet.h"
#include "capture/capture.h"

/* Both kinds of packets begin with a header of these bytes; the kernel's is shorter. */
struct kernel_head {
	uint32_t magic;
	uint8_t uuid[16];
	uint32_t stream_id;
	uint64_t timestamp_begin;
} __attribute__((packed));

union head {
	struct gm_packet thread;
	struct kernel_head cpu;
};

static bool read_head(const char *path, union head *head)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	bool is_read = fd >= 0 && pread(fd, head, sizeof(*head), 0) >= (ssize_t)sizeof(head->cpu) &&
		       head->cpu.magic == GM_PACKET_MAGIC;

	if (fd >= 0)
		close(fd);
	return is_read;
}

/*
 * Returns true with the head of the stream's first packet if files before it were removed.  While
 * the program runs, the first of `paths` may disappear now.
 */
static bool begins_late(const GPtrArray *paths, const char *prefix, union head *head)
{
	struct pp_stream_name file;
	guint first = 0;

	while (first < paths->len && !read_head(paths->pdata[first], head))
		first++;
	if (first < paths->len) {
		g_autofree char *name = g_path_get_basename(paths->pdata[first]);

		return pp_stream_name_parse(name, prefix, &file) && file.number > 0;
	}
	return false;
}

static void begin_at(struct pp_model *model, uint64_t time_ns)
{
	if (time_ns <= INT64_MAX && pp_model_is_near(model, (int64_t)time_ns))
		model->since_ns = MAX(model->since_ns, (int64_t)time_ns);
}

static void note_threads(struct pp_model *model, const struct pp_trace *trace)
{
	g_autoptr(GPtrArray) streams = pp_stream_paths(trace->dir);
	union head head;

	for (guint i = 0; i < streams->len; i++) {
		if (!begins_late(streams->pdata[i], PP_STREAM_OF_THREAD, &head))
			continue;
		if (head.thread.index < trace->process->threads->len)
			((struct pp_thread *)trace->process->threads->pdata[head.thread.index])
			    ->begins_late = true;
		begin_at(model, head.thread.timestamp_begin);
	}
}

static void note_cpus(struct pp_model *model, const struct pp_trace *trace)
{
	g_autoptr(GPtrArray) streams = pp_kernel_stream_paths(trace->dir);
	union head head;

	for (guint i = 0; i < streams->len; i++)
		if (begins_late(streams->pdata[i], PP_STREAM_OF_CPU, &head))
			begin_at(model, head.cpu.timestamp_begin);
}

static bool is_configured(const struct pp_model *model)
{
	const char *ring = pp_json_string(pp_json_object(model->info, "config"), "output.ring");

	return ring && !g_str_equal(ring, "off");
}

void pp_capture_ring_read(struct pp_capture *capture)
{
	capture->has_ring = is_configured(capture->model);
	for (guint i = 0; i < capture->model->processes->len; i++)
		capture->has_ring |=
		    ((const struct pp_process *)capture->model->processes->pdata[i])->has_ring;
	for (guint i = 0; capture->has_ring && i < capture->traces->len; i++) {
		const struct pp_trace *trace = capture->traces->pdata[i];

		if (!trace->process && !trace->is_ust)
			note_cpus(capture->model, trace);
		else if (trace->process && trace->process->has_ring && !trace->is_samples &&
			 !trace->is_accesses)
			note_threads(capture->model, trace);
	}
}
