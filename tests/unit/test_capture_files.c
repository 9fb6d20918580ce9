/* SPDX-License-Identifier: MIT */
/*
 * Capture files that are cut at every length or have wrong sizes: readable data is read, damage is
 * reported, and no value from the file is trusted.
 */
#include <glib/gstdio.h>

#include "check.h"
#include "gmon-mt/format.h"
#include "capture/capture.h"

#define DIR	  "capture"
#define N_THREADS 3u
#define N_ARCS	  4u

static struct {
	struct gm_threads_header header;
	struct gm_thread_slot slots[N_THREADS];
} threads;

static struct {
	struct gm_calls_header header;
	struct gm_calls_arc arcs[N_ARCS];
	char padding[32];
	struct gm_calls_header rest; /* follows the chunk; unused */
} calls;
_Static_assert(offsetof(__typeof__(calls), rest) % 64 == 0, "chunks are aligned");

static const char session[] = "gprof-mt-capture 1\nowner 1 2\nclock_offset_ns 5\nclock_uuid x\n";
static const char maps[] = "10 load 400000 402000 400000 0123ab /bin/a b\\nc\\\\d\n"
			   "11 load 7f0000 7f1000 7f0000 - /lib/x.so\n";

static void write_file(const char *path, const void *data, gsize len)
{
	/* Without flags glib neither waits for the disk nor truncates a file. */
	g_unlink(path);
	CHECK(g_file_set_contents_full(path, data, (gssize)len, G_FILE_SET_CONTENTS_NONE, 0600,
				       NULL));
}

static void write_text(const char *path, const char *text)
{
	write_file(path, text, strlen(text));
}

static void fill(void)
{
	memcpy(threads.header.magic, GM_THREADS_MAGIC, 8);
	threads.header.schema = 1;
	threads.header.header_bytes = sizeof(threads.header);
	threads.header.slot_bytes = sizeof(threads.slots[0]);
	threads.header.n_slots = N_THREADS;
	threads.header.pid = 77;
	threads.header.start_ns = 1000;
	threads.header.end_ns = 9000;
	for (unsigned i = 0; i < N_THREADS; i++) {
		struct gm_thread_slot *slot = &threads.slots[i];

		slot->state = GM_THREAD_ENDED;
		slot->tid = 77 + i;
		slot->parent_index = (int32_t)i - 1;
		slot->start_ns = 1000 + i;
		slot->end_ns = 8000;
		snprintf(slot->name, sizeof(slot->name), "thread%u", i);
	}
	memcpy(calls.header.magic, GM_CALLS_MAGIC, 8);
	calls.header.schema = 1;
	calls.header.header_bytes = sizeof(calls.header);
	calls.header.slot_bytes = sizeof(calls.arcs[0]);
	calls.header.n_slots = N_ARCS;
	calls.header.index = 1;
	calls.header.tid = 78;
	calls.header.chunk_bytes = offsetof(__typeof__(calls), rest);
	memcpy(calls.rest.magic, GM_CALLS_FREE, 8);
	calls.rest.chunk_bytes = sizeof(calls.rest);
	for (unsigned i = 0; i < N_ARCS; i++)
		calls.arcs[i] = (struct gm_calls_arc){0x400100 + i, 0x400200, 10};
	/* An unused slot of the hash table. */
	calls.arcs[2].self = 0;
}

static void write_all(void)
{
	CHECK_INT(g_mkdir_with_parents(DIR "/77", 0700), 0);
	write_file(DIR "/session", session, strlen(session));
	write_file(DIR "/77/threads", &threads, sizeof(threads));
	write_file(DIR "/77/calls", &calls, sizeof(calls));
	write_file(DIR "/77/maps", maps, strlen(maps));
}

static uint64_t count_calls(const struct pp_thread *thread)
{
	uint64_t sum = 0;

	for (guint i = 0; thread->arcs && i < thread->arcs->len; i++)
		sum += g_array_index(thread->arcs, struct pp_arc, i).count;
	return sum;
}

/* Opens the capture; returns the error text, or NULL on success. */
static char *try_open(struct pp_capture **ret)
{
	struct pp_error err = PP_ERROR_INIT;
	char *text = NULL;

	*ret = NULL;
	if (pp_capture_open(DIR, ret, &err) < 0)
		text = pp_error_text(&err);
	pp_error_done(&err);
	return text;
}

static struct pp_capture *must_open(void)
{
	struct pp_capture *capture;
	g_autofree char *error = try_open(&capture);

	if (error)
		CHECK_STR(error, "");
	return capture;
}

static void must_fail(const char *words)
{
	struct pp_capture *capture;
	g_autofree char *error = try_open(&capture);

	CHECK_HOLDS(error, words);
	CHECK(!strchr(error, '\n'));
	CHECK(!capture);
}

static void must_be_damaged(const char *words)
{
	struct pp_capture *capture = must_open();

	CHECK(capture->damage->len > 0);
	CHECK_HOLDS((const char *)capture->damage->pdata[0], words);
	pp_capture_free(capture);
}

static void check_good(void)
{
	struct pp_capture *capture;
	const struct pp_process *process;
	const struct pp_thread *thread;
	const struct pp_load *load;

	write_all();
	capture = must_open();
	CHECK_INT(capture->damage->len, 0);
	CHECK_INT(capture->model->problems->len, 0);
	CHECK_INT(capture->clock_offset_ns, 5);
	CHECK_INT(capture->model->start_ns, 1000);
	CHECK_INT(capture->model->end_ns, 9000);
	process = capture->model->processes->pdata[0];
	CHECK_INT(process->threads->len, N_THREADS);
	thread = process->threads->pdata[1];
	CHECK_STR(thread->name, "thread1");
	CHECK_INT(thread->parent_index, 0);
	CHECK_INT(count_calls(thread), 30);
	thread = process->threads->pdata[0];
	CHECK(thread->arcs &&
	      thread->arcs->len == 0); /* the thread was recorded and called nothing */
	CHECK_INT(process->maps->len, 2);
	load = &g_array_index(process->maps, struct pp_load, 0);
	CHECK_STR(load->path, "/bin/a b\nc\\d");
	CHECK_STR(load->build_id, "0123ab");
	CHECK_INT(load->bias, 0x400000);
	CHECK(!g_array_index(process->maps, struct pp_load, 1).build_id);
	pp_capture_free(capture);
}

/* Samples have tables of their own in the same file. */
static void check_samples(void)
{
	struct pp_capture *capture;
	const struct pp_thread *thread;

	threads.header.sample_state = GM_SAMPLE_ON;
	threads.header.sample_period_ns = 10000000;
	threads.slots[1].samples_missed = 3;
	calls.header.flags = GM_CALLS_SAMPLES;
	write_all();
	capture = must_open();
	CHECK_INT(capture->damage->len, 0);
	thread = pp_process_thread(capture->model->processes->pdata[0], 1);
	CHECK_INT(thread->process->sample_period_ns, 10000000);
	CHECK(!thread->process->why_no_samples);
	CHECK_INT(count_calls(thread), 0);
	CHECK_INT(thread->samples->len, 3);
	CHECK_INT(g_array_index(thread->samples, struct pp_sample, 0).address, 0x400200);
	CHECK_INT(g_array_index(thread->samples, struct pp_sample, 0).count, 10);
	CHECK_INT(thread->samples_missed, 3);
	pp_capture_free(capture);

	threads.header.sample_period_ns = 0;
	write_all();
	must_be_damaged("invalid sampling period");
	threads.header.sample_period_ns = UINT64_MAX;
	write_all();
	must_be_damaged("invalid sampling period");
	threads.header.sample_state = 77;
	write_all();
	capture = must_open();
	CHECK_INT(capture->damage->len, 0);
	CHECK(((struct pp_process *)capture->model->processes->pdata[0])->why_no_samples);
	pp_capture_free(capture);
	threads.header.sample_state = 0;
	threads.header.sample_period_ns = 0;
	threads.slots[1].samples_missed = 0;
	calls.header.flags = 0;
	write_all();
}

static void check_cut_threads(void)
{
	/* Every length outside the buckets, and a few inside them. */
	for (size_t cut = 0;
	     cut<sizeof(threads); cut += cut> 200 && cut + 200 < sizeof(threads.header) ? 97 : 1) {
		struct pp_capture *capture;
		size_t whole;

		write_file(DIR "/77/threads", &threads, cut);
		if (cut < sizeof(threads.header)) {
			must_fail("cut short");
			continue;
		}
		whole = (cut - sizeof(threads.header)) / sizeof(threads.slots[0]);
		capture = must_open();
		CHECK_INT(capture->model->threads->len, whole);
		CHECK(capture->damage->len > 0);
		pp_capture_free(capture);
	}
	write_all();
}

static void check_cut_calls(void)
{
	for (size_t cut = 0; cut < sizeof(calls); cut++) {
		struct pp_capture *capture;
		const struct pp_thread *thread;

		/* A file cut here ends like a complete list of chunks. */
		if (cut == offsetof(__typeof__(calls), rest))
			continue;

		write_file(DIR "/77/calls", &calls, cut);
		capture = must_open();
		thread = capture->model->threads->pdata[1];
		/* A process killed before it reserved space has counted nothing. */
		CHECK((capture->damage->len > 0) == (cut > 0));
		CHECK(count_calls(thread) <= 30);
		if (cut >= sizeof(calls.header) + sizeof(calls.arcs[0]))
			CHECK(count_calls(thread) >= 10);
		pp_capture_free(capture);
	}
	write_all();
}

static void check_cut_text(void)
{
	for (size_t cut = 0; cut < strlen(session); cut++) {
		struct pp_capture *capture;
		char *error;

		write_file(DIR "/session", session, cut);
		error = try_open(&capture);
		/* The line of the clock is the last one that is required. */
		if (cut < strlen(session) - strlen("clock_uuid x\n"))
			CHECK(error);
		g_free(error);
		pp_capture_free(capture);
	}
	write_all();
	for (size_t cut = 0; cut < strlen(maps); cut++) {
		struct pp_capture *capture;
		bool at_line = cut == 0 || maps[cut - 1] == '\n';

		write_file(DIR "/77/maps", maps, cut);
		capture = must_open();
		CHECK_INT(capture->damage->len > 0, !at_line);
		pp_capture_free(capture);
	}
	write_all();
}

#define LIE(field, value, path, whole, outcome)                                                    \
	do {                                                                                       \
		__typeof__(field) truth_ = (field);                                                \
		(field) = (value);                                                                 \
		write_file(DIR path, &(whole), sizeof(whole));                                     \
		outcome;                                                                           \
		(field) = truth_;                                                                  \
		write_file(DIR path, &(whole), sizeof(whole));                                     \
	} while (0)

#define THREADS_LIE(field, value, outcome) LIE(field, value, "/77/threads", threads, outcome)
#define CALLS_LIE(field, value, outcome)   LIE(field, value, "/77/calls", calls, outcome)

static void check_lies(void)
{
	THREADS_LIE(threads.header.magic[0], 'X', must_fail("does not begin with \"GMTHREAD\""));
	THREADS_LIE(threads.header.schema, 2, must_fail("use a newer"));
	THREADS_LIE(threads.header.header_bytes, 4, must_fail("damaged"));
	THREADS_LIE(threads.header.header_bytes, UINT32_MAX, must_fail("damaged"));
	THREADS_LIE(threads.header.slot_bytes, 0, must_fail("damaged"));
	THREADS_LIE(threads.header.slot_bytes, UINT32_MAX, must_fail("damaged"));
	THREADS_LIE(threads.header.n_slots, UINT32_MAX, must_fail("damaged"));
	THREADS_LIE(threads.header.n_slots, 1000000, must_be_damaged("cut short"));
	THREADS_LIE(threads.header.pid, 78, must_be_damaged("belongs to process 78"));
	THREADS_LIE(threads.slots[0].tid, 0, must_be_damaged("tid"));
	THREADS_LIE(threads.slots[1].state, 9, must_be_damaged("state"));
	THREADS_LIE(threads.slots[1].parent_index, 3, must_be_damaged("parent"));
	THREADS_LIE(threads.slots[1].parent_index, INT32_MIN, must_be_damaged("parent"));
	THREADS_LIE(threads.slots[1].end_ns, 5, must_be_damaged("end before they start"));
	THREADS_LIE(threads.slots[1].start_ns, UINT64_MAX,
		    must_be_damaged("end before they start"));
	CALLS_LIE(calls.header.magic[7], 'X', must_be_damaged("does not begin"));
	CALLS_LIE(calls.header.index, 7, must_be_damaged("the thread table lacks"));
	CALLS_LIE(calls.header.tid, 7, must_be_damaged("the thread table lacks"));
	CALLS_LIE(calls.header.n_slots, UINT32_MAX, must_be_damaged("damaged"));
	CALLS_LIE(calls.header.n_slots, 60000000, must_be_damaged("damaged"));
	CALLS_LIE(calls.header.chunk_bytes, 8, must_be_damaged("damaged"));
	CALLS_LIE(calls.header.chunk_bytes, UINT64_MAX - 63, must_be_damaged("cut short"));
	CALLS_LIE(calls.rest.chunk_bytes, 0, must_be_damaged("damaged"));
	CALLS_LIE(calls.rest.chunk_bytes, 128, must_be_damaged("cut short"));
	CALLS_LIE(calls.header.slot_bytes, 23, must_be_damaged("damaged"));
	CALLS_LIE(calls.header.schema, 9, must_be_damaged("use a newer"));
}

/* A name without a terminator, and one that is not text. */
static void check_names(void)
{
	char name[16];
	struct pp_capture *capture;

	memcpy(name, threads.slots[2].name, sizeof(name));
	memset(threads.slots[2].name, 'x', sizeof(threads.slots[2].name));
	threads.slots[2].name[3] = (char)0xff;
	write_file(DIR "/77/threads", &threads, sizeof(threads));
	capture = must_open();
	CHECK_STR(((struct pp_thread *)capture->model->threads->pdata[2])->name,
		  "xxx\357\277\275xxxxxxxxxxxx");
	pp_capture_free(capture);
	memcpy(threads.slots[2].name, name, sizeof(name));
	write_all();
}

/* A slot that was never filled leaves a gap in the indexes; it is no thread. */
static void check_gap(void)
{
	struct pp_capture *capture;
	const struct pp_process *process;

	threads.slots[0].state = GM_THREAD_FREE;
	write_file(DIR "/77/threads", &threads, sizeof(threads));
	capture = must_open();
	process = capture->model->processes->pdata[0];
	CHECK_INT(process->threads->len, N_THREADS - 1);
	CHECK_INT(count_calls(pp_process_thread(process, 1)), 30);
	CHECK_INT(capture->damage->len, 0);
	CHECK_INT(capture->model->problems->len, 1);
	pp_capture_free(capture);
	threads.slots[0].state = GM_THREAD_ENDED;
	write_all();
}

static void check_session(void)
{
	write_text(DIR "/session", "gprof-mt-capture 2\n");
	must_fail("schema 2");
	write_text(DIR "/session", "something else\n");
	must_fail("not a capture");
	write_text(DIR "/session", "");
	must_fail("record again");
	g_unlink(DIR "/session");
	must_fail("not a capture");
	write_all();
	write_text(DIR "/info.json", "[1, 2");
	must_be_damaged("info.json");
	write_text(DIR "/info.json", "{\"losses\": [1, {}, {\"what\": 3}, {\"what\": \"x\"}, "
				     "{\"what\": \"damage\", \"where\": \"here\"}]}");
	{
		struct pp_capture *capture = must_open();

		CHECK_INT(capture->model->problems->len, 1);
		pp_capture_free(capture);
	}
	g_unlink(DIR "/info.json");
}

static void check_nothing_there(void)
{
	g_unlink(DIR "/77/threads");
	must_fail("No such file");
	g_unlink(DIR "/77/calls");
	g_unlink(DIR "/77/maps");
	g_rmdir(DIR "/77");
	must_fail("empty capture");
	g_unlink(DIR "/session");
	g_rmdir(DIR);
	must_fail("no capture");
	write_file(DIR, "", 0);
	must_fail("not a directory");
}

int main(void)
{
	fill();
	check_good();
	check_samples();
	check_cut_threads();
	check_cut_calls();
	check_cut_text();
	check_lies();
	check_names();
	check_gap();
	check_session();
	check_nothing_there();
	return 0;
}
