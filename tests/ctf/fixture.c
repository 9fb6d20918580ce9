/* SPDX-License-Identifier: MIT */
/* Builds headers, packets and events byte by byte, as the formats define them. */
#include "fixture.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glib/gstdio.h>

#include "gmon-mt/samples.h"
#include "sync-trace/accesses.h"

#define MAGIC	   0xC1FC1FC1u
#define CLOCK_UUID "00112233-4455-4677-8899-aabbccddeeff"

enum shape {
	OP,
	BEGIN,
	VALUE,
	COND,
	ROUTINE,
	SITE,
	CALL_PATH,
	PATH,
	TRIES,
	CONDITIONALS,
	ORDER,
	SAME,
	IO
};

static const struct {
	const char *name;
	enum shape shape;
} events[] = {
#define EVENT(name, shape) {#name, shape},
    ST_EVENTS(EVENT)
#undef EVENT
#define SAME_EVENT(name) {#name, SAME},
	ST_SAME_EVENTS(SAME_EVENT)
#undef SAME_EVENT
};

static const char *const shape_fields[] = {
    [OP] = "u8 result; u16 site; u64 object;",
    [BEGIN] = "u8 result; u16 site; u64 object; u32 holder;",
    [VALUE] = "u8 result; u16 site; u64 object; u32 value;",
    [COND] = "u8 result; u16 site; u64 object; u64 mutex;",
    [ROUTINE] = "u8 result; u16 site; u64 object; u64 routine;",
    [SITE] = "u16 number; u64 address;",
    [CALL_PATH] = "u32 path; u32 object_low;",
    [PATH] = "u32 number; u32 parent; u64 address;",
    [TRIES] = "u64 object; u32 holder; u64 more;",
    [CONDITIONALS] = "u64 count;",
    [ORDER] = "u64 number;",
    [SAME] = "u8 result; u16 site;",
    [IO] = "u8 result; u16 site; u64 object; u8 call; u32 path; u64 duration;",
};

enum { SWITCH, WAKING, FORK, EXIT, EXEC };

static const struct {
	const char *name, *context, *fields;
} kernel_events[] = {
    [SWITCH] = {"sched_switch", "",
		"string prev_comm; i32 prev_tid; i32 prev_prio; "
		"i64 prev_state; string next_comm; i32 next_tid; i32 next_prio;"},
    [WAKING] = {"sched_waking", "i32 tid; u8 irq;",
		"string comm; i32 tid; i32 prio; i32 target_cpu;"},
    [FORK] = {"sched_process_fork", "",
	      "string parent_comm; i32 parent_tid; i32 parent_pid; "
	      "string child_comm; i32 child_tid; i32 child_pid;"},
    [EXIT] = {"sched_process_exit", "", "string comm; i32 tid; i32 prio;"},
    [EXEC] = {"sched_process_exec", "", "string filename; i32 tid; i32 old_tid;"},
};

static void must(gboolean done, const char *what)
{
	if (!done) {
		fprintf(stderr, "fixture: cannot write %s\n", what);
		exit(1);
	}
}

static void write_file(const char *path, const void *data, gsize len)
{
	/* Without flags glib neither waits for the disk nor truncates a file. */
	g_unlink(path);
	must(
	    g_file_set_contents_full(path, data, (gssize)len, G_FILE_SET_CONTENTS_NONE, 0600, NULL),
	    path);
}

static char *process_path(const char *dir, uint32_t pid, const char *name)
{
	g_autofree char *folder = g_strdup_printf("%u", pid);

	return g_build_filename(dir, folder, name, NULL);
}

/* The UUID of a trace; the kernel's is that of pid 0. */
static void make_uuid(uint32_t pid, uint8_t uuid[16])
{
	static const uint8_t base[16] = {0x12, 0x34, 0x56, 0x78, 0x9a, 0xbc,
					 0x4d, 0xef, 0x81, 0x23, 0x45, 0x67};

	memcpy(uuid, base, 12);
	memcpy(uuid + 12, &pid, sizeof(pid));
}

/* --- metadata ------------------------------------------------------------------------------- */

static void append_head(GString *text, uint32_t pid, const char *env)
{
	uint8_t uuid[16];

	make_uuid(pid, uuid);
	for (unsigned bits = 8; bits <= 64; bits *= 2)
		g_string_append_printf(text,
				       "typealias integer { size = %u; align = 8; signed = false; "
				       "byte_order = le; } := u%u;\n"
				       "typealias integer { size = %u; align = 8; signed = true; "
				       "byte_order = le; } := i%u;\n",
				       bits, bits, bits, bits);
	g_string_append_printf(text,
			       "trace { major = 1; minor = 8; byte_order = le;\n"
			       "\tuuid = \"12345678-9abc-4def-8123-4567%02x%02x%02x%02x\";\n"
			       "\tpacket.header := struct { u32 magic; u8 uuid[16]; u32 stream_id; "
			       "u64 stream_instance_id; };\n};\n"
			       "env { %s };\n"
			       "clock { name = monotonic; uuid = \"" CLOCK_UUID "\"; "
			       "freq = 1000000000; offset_s = 0; offset = %" PRId64 "; };\n",
			       uuid[12], uuid[13], uuid[14], uuid[15], env, FIXTURE_OFFSET_NS);
	for (unsigned bits = 32; bits <= 64; bits *= 2)
		g_string_append_printf(text,
				       "typealias integer { size = %u; align = 8; signed = false; "
				       "byte_order = le; map = clock.monotonic.value; } := t%u;\n",
				       bits, bits);
}

static void append_stream(GString *text, const char *context)
{
	g_string_append_printf(text,
			       "stream { id = 0;\n"
			       "\tpacket.context := struct { u64 content_size; u64 packet_size; "
			       "t64 timestamp_begin; u64 events_discarded; %s };\n"
			       "\tevent.header := struct {\n"
			       "\t\tenum : u8 { compact = 0 ... 254, extended = 255 } id;\n"
			       "\t\tvariant <id> { struct { t32 timestamp; } compact; "
			       "struct { u8 id; t64 timestamp; } extended; } v;\n\t};\n};\n",
			       context);
}

static char *user_metadata(uint32_t pid)
{
	GString *text = g_string_new("/* CTF 1.8 */\n");

	append_head(text, pid, "tracer_name = \"fixture\";");
	append_stream(text, "u32 tid; u32 index;");
	for (unsigned id = 0; id < G_N_ELEMENTS(events); id++)
		g_string_append_printf(text,
				       "event { id = %u; name = \"%s\"; stream_id = 0; "
				       "fields := struct { %s }; };\n",
				       id, events[id].name, shape_fields[events[id].shape]);
	return g_string_free(text, FALSE);
}

static char *samples_metadata(uint32_t pid)
{
	GString *text = g_string_new("/* CTF 1.8 */\n");

	append_head(text, pid, "tracer_name = \"fixture\";");
	append_stream(text, "u32 tid; u32 index;");
	g_string_append_printf(text,
			       "event { id = %u; name = \"path\"; stream_id = 0; "
			       "fields := struct { %s }; };\n"
			       "event { id = %u; name = \"sample\"; stream_id = 0; "
			       "fields := struct { u32 path; u32 n; }; };\n",
			       GM_SAMPLES_PATH, shape_fields[PATH], GM_SAMPLES_SAMPLE);
	return g_string_free(text, FALSE);
}

static char *accesses_metadata(uint32_t pid)
{
	static const char *const access_events[ST_ACCESSES_N_EVENTS][2] = {
	    [ST_ACCESSES_LINES] = {"lines",
				   "u32 set; u32 n; struct { u64 address; u64 read; u64 written; "
				   "u64 changed; u32 first; u32 last; u64 first_site; "
				   "u64 last_site; } lines[n];"},
	    [ST_ACCESSES_SEGMENT] = {"segment",
				     "u32 set; u32 duration; u32 reads; u32 writes; u8 flags;"},
	    [ST_ACCESSES_SEGMENT_LONG] = {"segment_long", "u32 set; u64 duration; u64 reads; "
							  "u64 writes; u64 left_out; u8 flags;"},
	    [ST_ACCESSES_BLOCK] = {"block", "u64 address; u64 size; u64 site;"},
	    [ST_ACCESSES_FREED] = {"freed", "u64 address; u64 size;"},
	    [ST_ACCESSES_KNOWN_LINES] = {"known_lines", "u32 set; u32 last; u32 n; "
							"struct { u16 place; } places[n];"},
	};
	GString *text = g_string_new("/* CTF 1.8 */\n");

	append_head(text, pid, "tracer_name = \"fixture\";");
	append_stream(text, "u32 tid; u32 index;");
	for (unsigned id = ST_ACCESSES_LINES; id < ST_ACCESSES_N_EVENTS; id++)
		g_string_append_printf(text,
				       "event { id = %u; name = \"%s\"; stream_id = 0; "
				       "fields := struct { %s }; };\n",
				       id, access_events[id][0], access_events[id][1]);
	return g_string_free(text, FALSE);
}

static char *kernel_metadata(const char *source)
{
	g_autofree char *env =
	    g_strdup_printf("domain = \"kernel\"; kernel_source = \"%s\";", source);
	GString *text = g_string_new("/* CTF 1.8 */\n");

	append_head(text, 0, env);
	append_stream(text, "u32 cpu_id;");
	for (unsigned id = 0; id < G_N_ELEMENTS(kernel_events); id++) {
		const char *context = kernel_events[id].context;

		g_string_append_printf(text,
				       "event { id = %u; name = \"%s\"; stream_id = 0; "
				       "%s%s%s fields := struct { %s }; };\n",
				       id, kernel_events[id].name,
				       *context ? "context := struct { " : "", context,
				       *context ? " };" : "", kernel_events[id].fields);
	}
	return g_string_free(text, FALSE);
}

/* --- files ---------------------------------------------------------------------------------- */

void fixture_capture(const char *dir, unsigned schema)
{
	g_autofree char *path = g_build_filename(dir, "session", NULL);
	g_autofree char *text = g_strdup_printf("gprof-mt-capture %u\nowner 1 2\n"
						"clock_offset_ns %" PRId64 "\n"
						"clock_uuid " CLOCK_UUID "\n",
						schema, FIXTURE_OFFSET_NS);

	must(g_mkdir_with_parents(dir, 0700) == 0, dir);
	write_file(path, text, strlen(text));
}

void fixture_process(const char *dir, uint32_t pid, const struct gm_thread_slot *slots,
		     unsigned n_slots)
{
	g_autofree char *user = process_path(dir, pid, "user");
	g_autofree char *threads = process_path(dir, pid, "threads");
	g_autofree char *maps = process_path(dir, pid, "maps");
	g_autofree char *metadata_path = g_build_filename(user, "metadata", NULL);
	g_autofree char *metadata = user_metadata(pid);
	g_autoptr(GByteArray) bytes = g_byte_array_new();
	struct gm_threads_header header = {
	    .schema = 1,
	    .header_bytes = sizeof(header),
	    .slot_bytes = sizeof(*slots),
	    .n_slots = n_slots,
	    .pid = pid,
	    .start_ns = n_slots ? slots[0].start_ns : 1,
	};

	must(g_mkdir_with_parents(user, 0700) == 0, user);
	memcpy(header.magic, GM_THREADS_MAGIC, sizeof(header.magic));
	g_byte_array_append(bytes, (const uint8_t *)&header, sizeof(header));
	g_byte_array_append(bytes, (const uint8_t *)slots, n_slots * (guint)sizeof(*slots));
	write_file(threads, bytes->data, bytes->len);
	write_file(maps, "", 0);
	write_file(metadata_path, metadata, strlen(metadata));
}

void fixture_calls(const char *dir, uint32_t pid, uint32_t index, uint32_t tid,
		   const struct gm_calls_arc *arcs, unsigned n_arcs)
{
	static const uint8_t padding[64];
	g_autofree char *path = process_path(dir, pid, "calls");
	g_autofree char *before = NULL;
	g_autoptr(GByteArray) bytes = g_byte_array_new();
	gsize before_bytes = 0;
	uint64_t n_bytes = sizeof(struct gm_calls_header) + n_arcs * sizeof(*arcs);
	struct gm_calls_header header = {
	    .schema = 1,
	    .header_bytes = sizeof(header),
	    .slot_bytes = sizeof(*arcs),
	    .n_slots = n_arcs,
	    .index = index,
	    .tid = tid,
	    .chunk_bytes = (n_bytes + 63) / 64 * 64,
	};

	memcpy(header.magic, GM_CALLS_MAGIC, sizeof(header.magic));
	if (g_file_get_contents(path, &before, &before_bytes, NULL))
		g_byte_array_append(bytes, (const uint8_t *)before, (guint)before_bytes);
	g_byte_array_append(bytes, (const uint8_t *)&header, sizeof(header));
	g_byte_array_append(bytes, (const uint8_t *)arcs, n_arcs * (guint)sizeof(*arcs));
	g_byte_array_append(bytes, padding, (guint)(header.chunk_bytes - n_bytes));
	write_file(path, bytes->data, bytes->len);
}

static void make_trace(const char *dir, uint32_t pid, const char *name, const char *metadata)
{
	g_autofree char *folder = process_path(dir, pid, name);
	g_autofree char *path = g_build_filename(folder, "metadata", NULL);

	must(g_mkdir_with_parents(folder, 0700) == 0, folder);
	write_file(path, metadata, strlen(metadata));
}

void fixture_samples(const char *dir, uint32_t pid)
{
	g_autofree char *text = samples_metadata(pid);

	make_trace(dir, pid, GM_SAMPLES_DIR, text);
}

void fixture_accesses(const char *dir, uint32_t pid)
{
	g_autofree char *text = accesses_metadata(pid);

	make_trace(dir, pid, ST_ACCESSES_DIR, text);
}

void fixture_kernel(const char *dir, const char *source)
{
	g_autofree char *kernel = g_build_filename(dir, "kernel", NULL);
	g_autofree char *path = g_build_filename(kernel, "metadata", NULL);
	g_autofree char *text = kernel_metadata(source);

	must(g_mkdir_with_parents(kernel, 0700) == 0, kernel);
	write_file(path, text, strlen(text));
}

/* --- packets -------------------------------------------------------------------------------- */

static void put(struct fixture_stream *stream, const void *data, size_t len)
{
	g_byte_array_append(stream->bytes, data, (guint)len);
}

#define PUT(type, value)                                                                           \
	do {                                                                                       \
		type put_ = (type)(value);                                                         \
		put(stream, &put_, sizeof(put_));                                                  \
	} while (0)

static void put_text(struct fixture_stream *stream, const char *text)
{
	put(stream, text, strlen(text) + 1);
}

static void begin_packet(struct fixture_stream *stream, uint64_t begin_ns)
{
	uint8_t uuid[16];

	make_uuid(stream->pid, uuid);
	stream->packet = stream->bytes->len;
	PUT(uint32_t, MAGIC);
	put(stream, uuid, sizeof(uuid));
	PUT(uint32_t, 0);
	PUT(uint64_t, stream->cpu >= 0 ? (unsigned)stream->cpu : stream->index);
	PUT(uint64_t, 0);
	PUT(uint64_t, 0);
	PUT(uint64_t, begin_ns);
	PUT(uint64_t, stream->discarded);
	if (stream->cpu >= 0) {
		PUT(uint32_t, stream->cpu);
	} else {
		PUT(uint32_t, stream->tid);
		PUT(uint32_t, stream->index);
	}
	stream->last_ns = begin_ns;
}

static void end_packet(struct fixture_stream *stream)
{
	uint64_t bits = (stream->bytes->len - stream->packet) * UINT64_C(8);

	memcpy(stream->bytes->data + stream->packet + 32, &bits, sizeof(bits));
	memcpy(stream->bytes->data + stream->packet + 40, &bits, sizeof(bits));
}

static struct fixture_stream *new_stream(char *path, uint64_t begin_ns, uint32_t pid, uint32_t tid,
					 uint32_t index, int cpu)
{
	struct fixture_stream *stream = g_new0(struct fixture_stream, 1);

	stream->path = path;
	stream->bytes = g_byte_array_new();
	stream->pid = pid;
	stream->tid = tid;
	stream->index = index;
	stream->cpu = cpu;
	begin_packet(stream, begin_ns);
	return stream;
}

struct fixture_stream *fixture_thread_stream(const char *dir, uint32_t pid, uint32_t index,
					     uint32_t tid, uint64_t begin_ns)
{
	g_autofree char *name = g_strdup_printf("user/stream_%u", index);

	return new_stream(process_path(dir, pid, name), begin_ns, pid, tid, index, -1);
}

struct fixture_stream *fixture_cpu_stream(const char *dir, int cpu, uint64_t begin_ns)
{
	g_autofree char *name = g_strdup_printf("channel0_%d", cpu);

	return new_stream(g_build_filename(dir, "kernel", name, NULL), begin_ns, 0, 0, 0, cpu);
}

void fixture_packet(struct fixture_stream *stream, uint64_t begin_ns, uint64_t discarded)
{
	end_packet(stream);
	stream->discarded += discarded;
	begin_packet(stream, begin_ns);
}

void fixture_close(struct fixture_stream *stream)
{
	end_packet(stream);
	write_file(stream->path, stream->bytes->data, stream->bytes->len);
	g_byte_array_unref(stream->bytes);
	g_free(stream->path);
	g_free(stream);
}

/* --- events --------------------------------------------------------------------------------- */

static void put_header(struct fixture_stream *stream, uint64_t time_ns, uint8_t id)
{
	if (time_ns - stream->last_ns > UINT32_MAX) {
		PUT(uint8_t, ST_EVENT_EXTENDED);
		PUT(uint8_t, id);
		PUT(uint64_t, time_ns);
	} else {
		PUT(uint8_t, id);
		PUT(uint32_t, time_ns);
	}
	stream->last_ns = time_ns;
}

void fixture_site(struct fixture_stream *stream, uint64_t time_ns, uint16_t number,
		  uint64_t address)
{
	put_header(stream, time_ns, ST_EVENT_site);
	PUT(uint16_t, number);
	PUT(uint64_t, address);
}

void fixture_path(struct fixture_stream *stream, uint64_t time_ns, uint32_t number, uint32_t parent,
		  uint64_t address)
{
	put_header(stream, time_ns, ST_EVENT_path);
	PUT(uint32_t, number);
	PUT(uint32_t, parent);
	PUT(uint64_t, address);
}

void fixture_call_path(struct fixture_stream *stream, uint64_t time_ns, uint32_t number,
		       uint64_t object)
{
	put_header(stream, time_ns, ST_EVENT_call_path);
	PUT(uint32_t, number);
	PUT(uint32_t, object);
}

void fixture_tries(struct fixture_stream *stream, uint64_t time_ns, uint64_t object,
		   uint32_t holder, uint64_t more)
{
	put_header(stream, time_ns, ST_EVENT_tries);
	PUT(uint64_t, object);
	PUT(uint32_t, holder);
	PUT(uint64_t, more);
}

void fixture_order(struct fixture_stream *stream, uint64_t time_ns, uint64_t number)
{
	put_header(stream, time_ns, ST_EVENT_order);
	PUT(uint64_t, number);
}

void fixture_sync(struct fixture_stream *stream, uint64_t time_ns, enum st_event op, uint8_t result,
		  uint16_t site, uint64_t object, uint64_t extra)
{
	put_header(stream, time_ns, (uint8_t)op);
	PUT(uint8_t, result);
	PUT(uint16_t, site);
	PUT(uint64_t, object);
	switch (events[op].shape) {
	case BEGIN:
	case VALUE:
		PUT(uint32_t, extra);
		break;
	case COND:
	case ROUTINE:
		PUT(uint64_t, extra);
		break;
	case OP:
	case SITE:
	case CALL_PATH:
	case PATH:
	case CONDITIONALS:
	case ORDER:
	case TRIES:
	case SAME:
	case IO:
		break;
	}
}

void fixture_same(struct fixture_stream *stream, uint64_t time_ns, enum st_same_event id,
		  uint16_t site)
{
	put_header(stream, time_ns, (uint8_t)id);
	PUT(uint8_t, 0);
	PUT(uint16_t, site);
}

void fixture_io(struct fixture_stream *stream, uint64_t time_ns, enum st_io_call call,
		uint64_t object, uint64_t duration_ns)
{
	put_header(stream, time_ns, ST_EVENT_io_call);
	PUT(uint8_t, 0);
	PUT(uint16_t, 0);
	PUT(uint64_t, object);
	PUT(uint8_t, call);
	PUT(uint32_t, 0);
	PUT(uint64_t, duration_ns);
}

static const char *comm(int32_t tid)
{
	return tid ? "task" : "swapper/0";
}

void fixture_switch(struct fixture_stream *stream, uint64_t time_ns, int32_t prev_tid,
		    int16_t prev_state, int32_t next_tid)
{
	put_header(stream, time_ns, SWITCH);
	put_text(stream, comm(prev_tid));
	PUT(int32_t, prev_tid);
	PUT(int32_t, 20);
	PUT(int64_t, prev_state);
	put_text(stream, comm(next_tid));
	PUT(int32_t, next_tid);
	PUT(int32_t, 20);
}

void fixture_waking(struct fixture_stream *stream, uint64_t time_ns, int32_t tid,
		    int32_t target_cpu, int32_t waker, uint8_t irq)
{
	put_header(stream, time_ns, WAKING);
	PUT(int32_t, waker);
	PUT(uint8_t, irq);
	put_text(stream, comm(tid));
	PUT(int32_t, tid);
	PUT(int32_t, 20);
	PUT(int32_t, target_cpu);
}

void fixture_fork(struct fixture_stream *stream, uint64_t time_ns, int32_t parent_tid,
		  int32_t parent_pid, int32_t child_tid, int32_t child_pid)
{
	put_header(stream, time_ns, FORK);
	put_text(stream, "parent");
	PUT(int32_t, parent_tid);
	PUT(int32_t, parent_pid);
	put_text(stream, "child");
	PUT(int32_t, child_tid);
	PUT(int32_t, child_pid);
}

void fixture_exit(struct fixture_stream *stream, uint64_t time_ns, int32_t tid)
{
	put_header(stream, time_ns, EXIT);
	put_text(stream, comm(tid));
	PUT(int32_t, tid);
	PUT(int32_t, 20);
}

void fixture_exec(struct fixture_stream *stream, uint64_t time_ns, int32_t tid)
{
	put_header(stream, time_ns, EXEC);
	put_text(stream, "/bin/true");
	PUT(int32_t, tid);
	PUT(int32_t, tid);
}
