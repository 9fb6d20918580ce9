/* SPDX-License-Identifier: MIT */
/*
 * Fills one packet per CPU and writes it completely; events of a packet that cannot be written are
 * counted as discarded.
 */
#include "record/ctf/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <glib.h>

#include "core/text/write.h"
#include "gmon-mt/format.h"
#include "record/ctf/cpu_files.h"
#include "record/ctf/declaration.h"
#include "record/ctf/full.h"
#include "record/ctf/classes.h"

#define CTF_MAGIC     0xC1FC1FC1
#define UUID_BYTES    16
#define PACKET_BYTES  (64 << 10)
#define PACKET_AGE_NS UINT64_C(1000000000)
/* Longer than any event: the longest is an exec with a path of PATH_MAX. */
#define EVENT_MAX_BYTES 4608
#define ID_EXTENDED	255

struct packet_head {
	uint32_t magic;
	uint8_t uuid[UUID_BYTES];
	uint32_t stream_id;
	uint64_t timestamp_begin, timestamp_end;
	uint64_t content_size, packet_size; /* bits */
	uint64_t events_discarded;
	uint32_t cpu_id;
} __attribute__((packed));
_Static_assert(sizeof(struct packet_head) == 68, "as the metadata has it");

struct stream {
	struct pp_cpu_files files;
	uint32_t cpu;
	uint64_t begin_ns; /* of the current packet */
	uint64_t last_ns;
	uint64_t discarded; /* since the stream began */
	uint64_t packet_events;
	size_t used_bytes;
	char packet[PACKET_BYTES];
};

struct pp_kernel_ctf {
	struct stream *streams;
	unsigned n_streams;
	uint8_t uuid[UUID_BYTES];
	uint64_t events, unwritten;
	uint64_t tick_ns; /* of the last writing of all packets */
	int complete_fd;  /* of GM_KERNEL_COMPLETE; -1: none */
	int kernel_fd;	  /* of the directory; -1: none */
	int first_error;
	struct pp_kernel_classes classes; /* classes of system calls, at level full */
};

/* --- metadata --- */

static const char metadata_types[] =
    "typealias integer { size = 8; align = 8; signed = false; } := uint8_t;\n"
    "typealias integer { size = 8; align = 8; signed = true; } := int8_t;\n"
    "typealias integer { size = 16; align = 8; signed = false; } := uint16_t;\n"
    "typealias integer { size = 16; align = 8; signed = true; } := int16_t;\n"
    "typealias integer { size = 32; align = 8; signed = false; } := uint32_t;\n"
    "typealias integer { size = 32; align = 8; signed = true; } := int32_t;\n"
    "typealias integer { size = 64; align = 8; signed = false; } := uint64_t;\n"
    "typealias integer { size = 64; align = 8; signed = true; } := int64_t;\n";

static const char metadata_clock_types[] =
    "typealias integer { size = 32; align = 8; signed = false; map = clock.monotonic.value; }\n"
    "\t:= uint32_clock_t;\n"
    "typealias integer { size = 64; align = 8; signed = false; map = clock.monotonic.value; }\n"
    "\t:= uint64_clock_t;\n\n";

static const char metadata_stream[] =
    "stream {\n"
    "\tid = 0;\n"
    "\tpacket.context := struct {\n"
    "\t\tuint64_clock_t timestamp_begin;\n"
    "\t\tuint64_clock_t timestamp_end;\n"
    "\t\tuint64_t content_size;\n"
    "\t\tuint64_t packet_size;\n"
    "\t\tuint64_t events_discarded;\n"
    "\t\tuint32_t cpu_id;\n"
    "\t};\n"
    "\tevent.header := struct {\n"
    "\t\tenum : uint8_t { compact = 0 ... 254, extended = 255 } id;\n"
    "\t\tvariant <id> {\n"
    "\t\t\tstruct { uint32_clock_t timestamp; } compact;\n"
    "\t\t\tstruct { uint16_t id; uint64_clock_t timestamp; } extended;\n"
    "\t\t} v;\n"
    "\t};\n"
    "};\n\n";

struct event_class {
	const char *name, *context, *fields;
};

static const struct event_class event_classes[] = {
    [PP_KEVENT_SWITCH] = {"sched_switch", "",
			  "string prev_comm; int32_t prev_tid; int8_t prev_prio; "
			  "uint8_t prev_state; string next_comm; int32_t next_tid; "
			  "int8_t next_prio;"},
    [PP_KEVENT_WAKING] = {"sched_waking", "int32_t tid; uint8_t irq;",
			  "string comm; int32_t tid; int8_t prio; int16_t target_cpu;"},
    [PP_KEVENT_FORK] = {"sched_process_fork", "",
			"string parent_comm; int32_t parent_tid; int32_t parent_pid; "
			"string child_comm; int32_t child_tid; int32_t child_pid;"},
    [PP_KEVENT_EXIT] = {"sched_process_exit", "", "string comm; int32_t tid; int8_t prio;"},
    [PP_KEVENT_EXEC] = {"sched_process_exec", "", "string filename; int32_t tid; int32_t old_tid;"},
    [PP_KEVENT_STATE] = {"lttng_statedump_process_state", "",
			 "int32_t tid; int32_t pid; string name; uint8_t status; uint8_t state;"},
};

static char *escape(const char *text)
{
	return g_strescape(text, NULL);
}

static void add_full_class(GString *text, unsigned id, const struct pp_full_event *event)
{
	g_autoptr(GString) members = g_string_new(NULL);

	for (unsigned i = 0; i < PP_N_VALUES && event->fields[i].kernel; i++) {
		const struct pp_full_field *field = &event->fields[i];

		pp_declare_integer(members, field->name, field->bytes, field->type == 'i',
				   field->type == 'x');
	}
	pp_declare_event(text, event->name, id, event->has_tid ? "int32_t tid;" : "", members->str);
}

static char *make_metadata(const char *source, bool full, const struct pp_kernel_ctf_clock *clock,
			   const char *trace_uuid)
{
	GString *text = g_string_new("/* CTF 1.8 */\n\n");
	g_autofree char *hostname = NULL;
	struct utsname host;

	uname(&host);
	hostname = escape(host.nodename);
	g_string_append(text, metadata_types);
	g_string_append_printf(text,
			       "\ntrace {\n\tmajor = 1;\n\tminor = 8;\n\tuuid = \"%s\";\n"
			       "\tbyte_order = le;\n\tpacket.header := struct {\n"
			       "\t\tuint32_t magic;\n\t\tuint8_t uuid[16];\n"
			       "\t\tuint32_t stream_id;\n\t};\n};\n\n",
			       trace_uuid);
	g_string_append_printf(text,
			       "env {\n\thostname = \"%s\";\n\tdomain = \"kernel\";\n"
			       "\tsysname = \"%s\";\n\tkernel_release = \"%s\";\n"
			       "\ttracer_name = \"gprof-mt\";\n\ttracer_version = \"%s\";\n"
			       "\tkernel_source = \"%s\";\n};\n\n",
			       hostname, host.sysname, host.release, GM_VERSION, source);
	g_string_append_printf(text,
			       "clock {\n\tname = \"monotonic\";\n\tuuid = \"%s\";\n"
			       "\tdescription = \"CLOCK_MONOTONIC\";\n\tfreq = 1000000000;\n"
			       "\toffset = %" G_GINT64_FORMAT ";\n};\n\n",
			       clock->uuid, clock->offset_ns);
	g_string_append(text, metadata_clock_types);
	g_string_append(text, metadata_stream);
	for (unsigned id = 0; id < G_N_ELEMENTS(event_classes); id++)
		pp_declare_event(text, event_classes[id].name, id, event_classes[id].context,
				 event_classes[id].fields);
	for (unsigned i = 0; full && i < PP_N_FULL; i++)
		if (pp_full_events[i].name)
			add_full_class(text, PP_KEVENT_FULL + i, &pp_full_events[i]);
	return g_string_free(text, FALSE);
}

/* --- packets --- */

static void begin_packet(struct stream *stream, uint64_t begin_ns)
{
	stream->begin_ns = stream->last_ns = begin_ns;
	stream->packet_events = 0;
	stream->used_bytes = sizeof(struct packet_head);
}

static void end_packet(struct pp_kernel_ctf *ctf, struct stream *stream, uint64_t end_ns)
{
	struct packet_head head = {
	    .magic = CTF_MAGIC,
	    .timestamp_begin = stream->begin_ns,
	    .timestamp_end = MAX(end_ns, stream->last_ns),
	    .content_size = stream->used_bytes * 8,
	    .packet_size = stream->used_bytes * 8,
	    .events_discarded = stream->discarded,
	    .cpu_id = stream->cpu,
	};
	int rc;

	memcpy(head.uuid, ctf->uuid, UUID_BYTES);
	memcpy(stream->packet, &head, sizeof(head));
	ctf->events -= pp_cpu_files_ready(&stream->files, stream->used_bytes, stream->begin_ns);
	rc = pp_cpu_files_write(&stream->files, stream->packet, stream->used_bytes,
				stream->packet_events);
	if (rc == 0) {
		ctf->events += stream->packet_events;
	} else {
		stream->discarded += stream->packet_events;
		ctf->unwritten += stream->packet_events;
		if (!ctf->first_error)
			ctf->first_error = rc;
	}
	begin_packet(stream, head.timestamp_end);
}

/* --- events --- */

static void put(struct stream *stream, const void *data, size_t len_bytes)
{
	memcpy(stream->packet + stream->used_bytes, data, len_bytes);
	stream->used_bytes += len_bytes;
}

static void put_i8(struct stream *stream, int8_t value)
{
	put(stream, &value, sizeof(value));
}

static void put_i16(struct stream *stream, int16_t value)
{
	put(stream, &value, sizeof(value));
}

static void put_i32(struct stream *stream, int32_t value)
{
	put(stream, &value, sizeof(value));
}

static void put_string(struct stream *stream, const char *text, size_t max_bytes)
{
	size_t len_bytes = strnlen(text, max_bytes - 1);

	put(stream, text, len_bytes);
	put_i8(stream, 0);
}

static void put_header(struct stream *stream, const struct pp_kevent *event, uint16_t id)
{
	uint32_t low = event->time_ns;

	if (id < ID_EXTENDED && event->time_ns - stream->last_ns <= UINT32_MAX) {
		put_i8(stream, (int8_t)id);
		put(stream, &low, sizeof(low));
	} else {
		put_i8(stream, (int8_t)ID_EXTENDED);
		put_i16(stream, (int16_t)id);
		put(stream, &event->time_ns, sizeof(event->time_ns));
	}
	stream->last_ns = event->time_ns;
}

/* Appends the low bytes of each value. */
static void put_full(struct stream *stream, const struct pp_kevent *event,
		     const struct pp_full_event *row)
{
	if (row->has_tid)
		put_i32(stream, event->tid);
	for (unsigned i = 0; i < PP_N_VALUES && row->fields[i].kernel; i++)
		put(stream, &event->values[i], row->fields[i].bytes);
}

/* LTTng's numbers: it does not tell threads on a CPU from those that wait for one. */
static int8_t lttng_status(const struct pp_kevent *event)
{
	enum { LTTNG_UNNAMED = 0, LTTNG_WAIT_CPU = 2, LTTNG_ZOMBIE = 4, LTTNG_WAIT = 5 };

	if (event->prev_state == 0)
		return LTTNG_WAIT_CPU;
	if (event->prev_state & PP_STATE_EXITED)
		return LTTNG_ZOMBIE;
	return event->prev_state & PP_STATE_SLEEPS ? LTTNG_WAIT : LTTNG_UNNAMED;
}

static void put_payload(struct stream *stream, const struct pp_kevent *event)
{
	switch ((enum pp_kevent_kind)event->kind) {
	case PP_KEVENT_SWITCH:
		put_string(stream, event->comm, PP_COMM_BYTES);
		put_i32(stream, event->tid);
		put_i8(stream, event->prio);
		put_i8(stream, (int8_t)event->prev_state);
		put_string(stream, event->other_comm, PP_COMM_BYTES);
		put_i32(stream, event->other_tid);
		put_i8(stream, event->other_prio);
		break;
	case PP_KEVENT_WAKING:
		put_i32(stream, event->other_tid);
		put_i8(stream, event->irq);
		put_string(stream, event->comm, PP_COMM_BYTES);
		put_i32(stream, event->tid);
		put_i8(stream, event->prio);
		put_i16(stream, (int16_t)event->target_cpu);
		break;
	case PP_KEVENT_FORK:
		put_string(stream, event->other_comm, PP_COMM_BYTES);
		put_i32(stream, event->other_tid);
		put_i32(stream, event->other_pid);
		put_string(stream, event->comm, PP_COMM_BYTES);
		put_i32(stream, event->tid);
		put_i32(stream, event->pid);
		break;
	case PP_KEVENT_EXIT:
		put_string(stream, event->comm, PP_COMM_BYTES);
		put_i32(stream, event->tid);
		put_i8(stream, event->prio);
		break;
	case PP_KEVENT_EXEC:
		put_string(stream, event->filename ?: PP_COMM_NOT_KNOWN, 4096);
		put_i32(stream, event->tid);
		put_i32(stream, event->other_tid);
		break;
	case PP_KEVENT_STATE:
		put_i32(stream, event->tid);
		put_i32(stream, event->pid);
		put_string(stream, event->comm, PP_COMM_BYTES);
		put_i8(stream, lttng_status(event));
		put_i8(stream, (int8_t)event->prev_state);
		break;
	default:
		put_full(stream, event, &pp_full_events[event->kind - PP_KEVENT_FULL]);
		break;
	}
}

static bool is_syscall(const struct pp_kevent *event)
{
	return event->kind == PP_KEVENT_SYSCALL_ENTRY || event->kind == PP_KEVENT_SYSCALL_EXIT;
}

static void put_syscall(struct stream *stream, const struct pp_kevent *event,
			const struct pp_kernel_layout *layout)
{
	put_i32(stream, event->tid);
	if (layout->has_number)
		put_i32(stream, event->number);
	for (unsigned i = 0; i < layout->n_values; i++)
		put(stream, &event->values[i], layout->bytes[i]);
}

void pp_kernel_ctf_write(struct pp_kernel_ctf *ctf, unsigned index, const struct pp_kevent *event)
{
	struct stream *stream = &ctf->streams[index];
	struct pp_kernel_layout layout = {.id = event->kind};

	/* Later events are written already, and times in a stream must not decrease. */
	if (event->time_ns < stream->last_ns) {
		stream->discarded++;
		return;
	}
	if (is_syscall(event) && pp_kernel_class(&ctf->classes, event, &layout)) {
		stream->discarded++;
		ctf->unwritten++;
		return;
	}
	if (stream->used_bytes + EVENT_MAX_BYTES > PACKET_BYTES)
		end_packet(ctf, stream, stream->last_ns);
	put_header(stream, event, layout.id);
	if (is_syscall(event))
		put_syscall(stream, event, &layout);
	else
		put_payload(stream, event);
	stream->packet_events++;
}

void pp_kernel_ctf_lost(struct pp_kernel_ctf *ctf, unsigned index, uint64_t time_ns, uint64_t count)
{
	struct stream *stream = &ctf->streams[index];

	/* End the packet, so that readers can locate the gap. */
	end_packet(ctf, stream, stream->last_ns);
	stream->discarded += count;
	end_packet(ctf, stream, time_ns);
}

void pp_kernel_ctf_tick(struct pp_kernel_ctf *ctf, uint64_t now_ns, uint64_t complete_ns)
{
	const uint64_t on_disk_ns = GUINT64_TO_LE(complete_ns);

	if (now_ns - ctf->tick_ns <= PACKET_AGE_NS)
		return;
	ctf->tick_ns = now_ns;
	for (unsigned i = 0; i < ctf->n_streams; i++)
		if (ctf->streams[i].packet_events)
			end_packet(ctf, &ctf->streams[i], ctf->streams[i].last_ns);
	/* If it cannot be written, readers do without it. */
	if (ctf->complete_fd >= 0)
		(void)pp_write_all_at(ctf->complete_fd, &on_disk_ns, sizeof(on_disk_ns), 0);
}

/* --- opening and closing --- */

static int create_file(int dir_fd, const char *name)
{
	int fd = openat(dir_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	return fd < 0 ? -errno : fd;
}

/* With `syscalls`, the file stays open for further classes. */
static int write_metadata(struct pp_kernel_ctf *ctf, int dir_fd, const char *text,
			  const struct pp_syscalls *syscalls)
{
	int fd = create_file(dir_fd, "metadata");
	int rc = fd < 0 ? fd : pp_write_all(fd, text, strlen(text));

	if (rc == 0 && syscalls)
		pp_kernel_classes_init(&ctf->classes, syscalls, fd, PP_N_KEVENTS);
	else if (fd >= 0)
		close(fd);
	return rc;
}

static int open_streams(struct pp_kernel_ctf *ctf, int kernel_fd, const int *cpus,
			uint64_t start_ns)
{
	for (unsigned i = 0; i < ctf->n_streams; i++) {
		struct stream *stream = &ctf->streams[i];
		int rc = pp_cpu_files_begin(&stream->files, kernel_fd, (unsigned)cpus[i]);

		if (rc)
			return rc;
		stream->cpu = cpus[i];
		begin_packet(stream, start_ns);
	}
	return 0;
}

static void parse_uuid(const char *text, uint8_t *uuid)
{
	for (unsigned n = 0; n < UUID_BYTES; text++)
		if (*text != '-') {
			uuid[n++] =
			    g_ascii_xdigit_value(text[0]) << 4 | g_ascii_xdigit_value(text[1]);
			text++;
		}
}

int pp_kernel_ctf_create(int dir_fd, const char *source, const struct pp_kernel_ctf_clock *clock,
			 const struct pp_syscalls *syscalls, unsigned n_streams, const int *cpus,
			 struct pp_kernel_ctf **ret_ctf, struct pp_error *err)
{
	g_autofree char *uuid = g_uuid_string_random();
	g_autofree char *metadata = make_metadata(source, syscalls, clock, uuid);
	struct pp_kernel_ctf *ctf = g_new0(struct pp_kernel_ctf, 1);
	int kernel_fd = -1, rc;

	parse_uuid(uuid, ctf->uuid);
	ctf->streams = g_new0(struct stream, n_streams);
	ctf->n_streams = n_streams;
	ctf->complete_fd = ctf->kernel_fd = -1;
	for (unsigned i = 0; i < n_streams; i++)
		ctf->streams[i].files.fd = -1;
	rc = mkdirat(dir_fd, "kernel", 0700) ? -errno : 0;
	if (rc == 0) {
		kernel_fd =
		    openat(dir_fd, "kernel", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		rc = kernel_fd < 0 ? -errno : 0;
	}
	if (rc == 0)
		rc = write_metadata(ctf, kernel_fd, metadata, syscalls);
	if (rc == 0)
		rc = open_streams(ctf, kernel_fd, cpus, clock->start_ns);
	if (rc == 0)
		ctf->complete_fd = create_file(kernel_fd, GM_KERNEL_COMPLETE);
	ctf->tick_ns = clock->start_ns;
	ctf->kernel_fd = kernel_fd;
	if (rc) {
		pp_kernel_ctf_free(ctf);
		return pp_error_add(err, rc, "kernel/: %s", g_strerror(-rc));
	}
	*ret_ctf = ctf;
	return 0;
}

void pp_kernel_ctf_keep(struct pp_kernel_ctf *ctf, uint64_t n_bytes, uint64_t ring_ns)
{
	for (unsigned i = 0; i < ctf->n_streams; i++) {
		ctf->streams[i].files.kept_bytes = n_bytes / ctf->n_streams;
		ctf->streams[i].files.kept_ns = ring_ns;
	}
}

int pp_kernel_ctf_end(struct pp_kernel_ctf *ctf, uint64_t end_ns)
{
	for (unsigned i = 0; i < ctf->n_streams; i++)
		end_packet(ctf, &ctf->streams[i], end_ns);
	if (ctf->complete_fd >= 0)
		unlinkat(ctf->kernel_fd, GM_KERNEL_COMPLETE, 0);
	return ctf->first_error;
}

uint64_t pp_kernel_ctf_events(const struct pp_kernel_ctf *ctf)
{
	return ctf->events;
}

uint64_t pp_kernel_ctf_discarded(const struct pp_kernel_ctf *ctf, unsigned stream)
{
	return ctf->streams[stream].discarded;
}

uint64_t pp_kernel_ctf_unwritten(const struct pp_kernel_ctf *ctf)
{
	return ctf->unwritten;
}

void pp_kernel_ctf_free(struct pp_kernel_ctf *ctf)
{
	if (!ctf)
		return;
	for (unsigned i = 0; i < ctf->n_streams; i++)
		pp_cpu_files_done(&ctf->streams[i].files);
	if (ctf->complete_fd >= 0)
		close(ctf->complete_fd);
	if (ctf->kernel_fd >= 0)
		close(ctf->kernel_fd);
	pp_kernel_classes_done(&ctf->classes);
	g_free(ctf->streams);
	g_free(ctf);
}
