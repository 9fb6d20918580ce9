/* SPDX-License-Identifier: MIT */
/* The grammar is in event_text.h. A line is split into words, a word into key and value. */
#include "event_text.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "access_text.h"
#include "sync-trace/accesses.h"

#define SAMPLE_NS 10000000 /* CPU time of a sample, unless stated */

struct reader {
	struct pp_text *text;
	struct pp_error *err;
	const char *name;
	unsigned line;
	char **words;	 /* of the line, NULL-terminated */
	unsigned n_used; /* number of words used so far */
	int64_t last_ns;
	bool seen_event;
	bool is_late;	/* of the last blocking call: its begin is no event */
	guint n_before; /* events before the last repeat or declaration */
};

static int fail(struct reader *reader, const char *format, ...) G_GNUC_PRINTF(2, 3);

static int fail(struct reader *reader, const char *format, ...)
{
	g_autofree char *what = NULL;
	va_list args;

	va_start(args, format);
	what = g_strdup_vprintf(format, args);
	va_end(args);
	return pp_error_add(reader->err, -EINVAL, "%s:%u: %s", reader->name, reader->line, what);
}

/* --- words ---------------------------------------------------------------------------------- */

static int parse_number(struct reader *reader, const char *what, const char *text, int64_t *ret)
{
	char *end;

	errno = 0;
	*ret = g_str_has_prefix(text, "0x") ? (int64_t)g_ascii_strtoull(text, &end, 16)
					    : g_ascii_strtoll(text, &end, 10);
	if (errno || end == text || *end)
		return fail(reader, "%s: '%s' is not a number", what, text);
	return 0;
}

/* The value of KEY=VALUE on this line; NULL if there is none. */
static const char *find_value(struct reader *reader, const char *key)
{
	size_t len = strlen(key);

	for (unsigned i = 1; reader->words[i]; i++)
		if (strncmp(reader->words[i], key, len) == 0 && reader->words[i][len] == '=') {
			reader->n_used++;
			return reader->words[i] + len + 1;
		}
	return NULL;
}

static int get_number(struct reader *reader, const char *key, int64_t otherwise, int64_t *ret)
{
	const char *value = find_value(reader, key);

	*ret = otherwise;
	return value ? parse_number(reader, key, value, ret) : 0;
}

static int need_number(struct reader *reader, const char *key, int64_t *ret)
{
	const char *value = find_value(reader, key);

	*ret = 0;
	return value ? parse_number(reader, key, value, ret) : fail(reader, "no %s=", key);
}

static int check_all_used(struct reader *reader)
{
	if (g_strv_length(reader->words) != reader->n_used)
		return fail(reader, "an unknown or duplicate word");
	return 0;
}

static bool has_flag(struct reader *reader, const char *flag)
{
	for (unsigned i = 1; reader->words[i]; i++)
		if (strcmp(reader->words[i], flag) == 0) {
			reader->n_used++;
			return true;
		}
	return false;
}

/* --- declarations ---------------------------------------------------------------------------- */

static int read_source(struct reader *reader)
{
	static const struct {
		const char *name;
		bool has_kernel, has_switch_pairs, has_wakings;
	} sources[] = {
	    {"kernel", true, true, true},
	    {"switches", true, false, false},
	    {"none", false, false, false},
	};

	for (unsigned i = 0; reader->words[1] && i < G_N_ELEMENTS(sources); i++)
		if (strcmp(reader->words[1], sources[i].name) == 0) {
			reader->text->has_kernel = sources[i].has_kernel;
			reader->text->has_switch_pairs = sources[i].has_switch_pairs;
			reader->text->has_wakings = sources[i].has_wakings;
			reader->n_used = 2;
			return check_all_used(reader);
		}
	return fail(reader, "unknown source (expected kernel, switches or none)");
}

static struct pp_process *process_of(struct pp_model *model, uint32_t pid)
{
	g_autofree char *folder = g_strdup_printf("%u", pid);

	for (guint i = 0; i < model->processes->len; i++) {
		struct pp_process *process = model->processes->pdata[i];

		if (process->pid == pid)
			return process;
	}
	return pp_model_add_process(model, pid, folder);
}

static int read_process(struct reader *reader)
{
	struct pp_process *process;
	const char *accesses;
	int64_t pid, threshold_ns;
	int r;

	if (!reader->words[1])
		return fail(reader, "process needs a pid");
	reader->n_used = 2;
	if ((r = parse_number(reader, "process", reader->words[1], &pid)))
		return r;
	process = process_of(reader->text->model, (uint32_t)pid);
	if ((r = get_number(reader, "start", PP_TIME_UNKNOWN, &process->start_ns)) ||
	    (r = get_number(reader, "end", PP_TIME_UNKNOWN, &process->end_ns)) ||
	    (r = get_number(reader, "io", -1, &threshold_ns)))
		return r;
	process->io_recorded = threshold_ns >= 0;
	process->is_attached = has_flag(reader, "attached");
	accesses = find_value(reader, "accesses");
	if (accesses)
		process->accesses =
		    strcmp(accesses, "sampled") == 0 ? PP_ACCESSES_SAMPLED : PP_ACCESSES_COMPILED;
	process->io_threshold_ns = MAX(threshold_ns, 0);
	return check_all_used(reader);
}

static void set_calls(struct pp_thread *thread, int64_t calls)
{
	struct pp_arc arc = {.count = (uint64_t)calls};

	thread->arcs = g_array_new(FALSE, TRUE, sizeof(arc));
	g_array_append_val(thread->arcs, arc);
}

/* mutex_lock=7: that many operations did not wait and are not events. */
static int read_counted(struct reader *reader, struct pp_thread *thread)
{
	for (enum st_counted i = 0; i < ST_N_COUNTED; i++) {
		int64_t count;
		int r = get_number(reader, pp_sync_name(pp_sync_counted(i)), -1, &count);

		if (r)
			return r;
		if (count < 0)
			continue;
		thread->process->only_waits = thread->process->no_holds = true;
		thread->process->no_tries = true;
		if (!thread->sync_counts)
			thread->sync_counts = g_new0(uint64_t, ST_N_COUNTED);
		thread->sync_counts[i] = (uint64_t)count;
	}
	return 0;
}

/* since=30: only its waits from then on are recorded, as with sync.mode = auto. */
static int read_since(struct reader *reader, struct pp_thread *thread)
{
	int64_t since_ns;
	int r = get_number(reader, "since", -1, &since_ns);

	if (r || since_ns < 0)
		return r;
	thread->sync_since_ns = since_ns;
	thread->process->sync_auto = thread->process->only_waits = true;
	thread->process->no_holds = thread->process->no_tries = false;
	return 0;
}

/* samples=0x500*3,0x508*2: one for each 10 ms of CPU time. */
static int read_samples(struct reader *reader, struct pp_thread *thread)
{
	const char *value = find_value(reader, "samples");
	g_auto(GStrv) parts = value ? g_strsplit(value, ",", -1) : NULL;

	if (!value)
		return 0;
	thread->samples = g_array_new(FALSE, FALSE, sizeof(struct pp_sample));
	thread->process->sample_period_ns = SAMPLE_NS;
	for (char **part = parts; *part; part++) {
		g_auto(GStrv) words = g_strsplit(*part, "*", 2);
		int64_t address, count = 1;
		int r = parse_number(reader, "samples", words[0], &address);

		if (r == 0 && words[1])
			r = parse_number(reader, "samples", words[1], &count);
		if (r)
			return r;
		struct pp_sample sample = {(uint64_t)address, (uint64_t)count};
		g_array_append_val(thread->samples, sample);
	}
	return 0;
}

static int read_thread(struct reader *reader)
{
	struct pp_model *model = reader->text->model;
	struct pp_process *process;
	struct pp_thread *thread;
	int64_t tid, pid, index, routine, calls;
	int r;

	if (!reader->words[1])
		return fail(reader, "thread needs a tid");
	reader->n_used = 2;
	if ((r = parse_number(reader, "thread", reader->words[1], &tid)))
		return r;
	process = model->processes->len ? model->processes->pdata[0] : NULL;
	if ((r = get_number(reader, "pid", process ? process->pid : tid, &pid)))
		return r;
	process = process_of(model, (uint32_t)pid);
	if ((r = get_number(reader, "index", process->threads->len, &index)))
		return r;
	thread = pp_model_add_thread(model, process, (uint32_t)tid, (uint32_t)index);
	thread->name = g_strdup(find_value(reader, "name"));
	thread->ended = has_flag(reader, "ended");
	process->has_openmp |= has_flag(reader, "openmp");
	if ((r = get_number(reader, "start", PP_TIME_UNKNOWN, &thread->start_ns)) ||
	    (r = get_number(reader, "end", PP_TIME_UNKNOWN, &thread->end_ns)) ||
	    (r = get_number(reader, "routine", 0, &routine)) ||
	    (r = get_number(reader, "calls", -1, &calls)) || (r = read_counted(reader, thread)) ||
	    (r = read_since(reader, thread)) || (r = read_samples(reader, thread)))
		return r;
	thread->start_routine = (uint64_t)routine;
	if (calls >= 0)
		set_calls(thread, calls);
	return check_all_used(reader);
}

/* --- events --------------------------------------------------------------------------------- */

static struct pp_thread *thread_at(const struct reader *reader, int64_t tid, int64_t time_ns)
{
	return tid > 0 ? pp_model_thread_at(reader->text->model, (uint32_t)tid, time_ns) : NULL;
}

static int need_thread(struct reader *reader, struct pp_event *event)
{
	int64_t tid;
	int r = need_number(reader, "tid", &tid);

	if (r)
		return r;
	event->thread = thread_at(reader, tid, event->time_ns);
	return event->thread ? 0 : fail(reader, "no thread %" G_GINT64_FORMAT, tid);
}

static int get_state(struct reader *reader, int64_t *ret)
{
	static const struct {
		const char *letter;
		int64_t state;
	} states[] = {{"R", 0}, {"S", 1}, {"D", 2}, {"X", 0x10}};
	const char *value = find_value(reader, "state");

	*ret = 0;
	for (unsigned i = 0; value && i < G_N_ELEMENTS(states); i++)
		if (strcmp(value, states[i].letter) == 0) {
			*ret = states[i].state;
			return 0;
		}
	return value ? parse_number(reader, "state", value, ret) : 0;
}

static int read_switch(struct reader *reader, struct pp_event *event)
{
	int64_t prev, next;
	int r;

	event->kind = PP_EVENT_SWITCH;
	if ((r = need_number(reader, "prev", &prev)) || (r = need_number(reader, "next", &next)) ||
	    (r = get_state(reader, &event->sched_switch.prev_state)))
		return r;
	event->sched_switch.next_comm = g_intern_string(find_value(reader, "comm"));
	event->sched_switch.prev_tid = (int32_t)prev;
	event->sched_switch.next_tid = (int32_t)next;
	event->sched_switch.prev = thread_at(reader, prev, event->time_ns);
	event->sched_switch.next = thread_at(reader, next, event->time_ns);
	return 0;
}

static int read_waking(struct reader *reader, struct pp_event *event)
{
	int64_t waker;
	int r;

	event->kind = PP_EVENT_WAKING;
	if ((r = need_thread(reader, event)) || (r = get_number(reader, "waker", 0, &waker)))
		return r;
	event->waking.target_cpu = PP_CPU_UNKNOWN;
	event->waking.waker = thread_at(reader, waker, event->time_ns);
	event->waking.waker_tid = waker ? (int32_t)waker : PP_TID_UNKNOWN;
	event->waking.by_interrupt = has_flag(reader, "interrupt");
	return 0;
}

static int read_state(struct reader *reader, struct pp_event *event)
{
	int r = need_thread(reader, event);

	event->kind = PP_EVENT_STATE;
	return r ? r : get_state(reader, &event->state.bits);
}

static int read_call(struct reader *reader, struct pp_event *event)
{
	int64_t from, self;
	int r;

	event->kind = strcmp(reader->words[1], "call") == 0 ? PP_EVENT_CALL : PP_EVENT_RETURN;
	if ((r = need_thread(reader, event)) || (r = get_number(reader, "from", 0, &from)) ||
	    (r = get_number(reader, "self", 0, &self)))
		return r;
	event->call.from = (uint64_t)from;
	event->call.self = (uint64_t)self;
	return 0;
}

/* The child is the next thread with that tid. */
static int read_fork(struct reader *reader, struct pp_event *event)
{
	const GPtrArray *threads = reader->text->model->threads;
	int64_t child, parent;
	int r;

	event->kind = PP_EVENT_FORK;
	if ((r = need_number(reader, "tid", &child)) ||
	    (r = get_number(reader, "parent", PP_TID_UNKNOWN, &parent)))
		return r;
	for (guint i = 0; i < threads->len; i++) {
		struct pp_thread *thread = threads->pdata[i];

		if (thread->tid == (uint32_t)child && thread->start_ns >= event->time_ns &&
		    (!event->thread || thread->start_ns < event->thread->start_ns))
			event->thread = thread;
	}
	if (!event->thread)
		return fail(reader, "no thread %" G_GINT64_FORMAT " starts then or later", child);
	event->thread->start_ns = event->time_ns;
	event->fork.child_tid = (int32_t)child;
	event->fork.parent_tid = (int32_t)parent;
	event->fork.parent = thread_at(reader, parent, event->time_ns);
	return 0;
}

static int read_exit(struct reader *reader, struct pp_event *event)
{
	event->kind = PP_EVENT_EXIT;
	return need_thread(reader, event);
}

static int read_exec(struct reader *reader, struct pp_event *event)
{
	event->kind = PP_EVENT_EXEC;
	return need_thread(reader, event);
}

static int read_syscall(struct reader *reader, struct pp_event *event)
{
	static const char *const names[] = {"fd", "result"};
	static const char *const mask_names[] = {"how", "nset"};
	int64_t how, set;
	bool is_exit = strcmp(reader->words[1], "syscall_exit") == 0;
	const char *name = find_value(reader, "name");
	int64_t value;
	int r;

	event->kind = is_exit ? PP_EVENT_SYSCALL_EXIT : PP_EVENT_SYSCALL_ENTRY;
	if ((r = need_thread(reader, event)) ||
	    (r = get_number(reader, names[is_exit], INT64_MIN, &value)))
		return r;
	event->syscall.name = g_intern_string(name ? name : "unknown");
	event->syscall.names = &names[is_exit];
	event->syscall.n_values = value != INT64_MIN;
	event->syscall.values[0] = value;
	if ((r = get_number(reader, "how", INT64_MIN, &how)) ||
	    (r = get_number(reader, "nset", 0, &set)) || how == INT64_MIN)
		return r;
	event->syscall.names = mask_names;
	event->syscall.n_values = 2;
	event->syscall.values[0] = how;
	event->syscall.values[1] = set;
	return 0;
}

static int read_fault(struct reader *reader, struct pp_event *event)
{
	int64_t address, ip;
	int r;

	event->kind = PP_EVENT_FAULT;
	if ((r = need_thread(reader, event)) || (r = get_number(reader, "address", 0, &address)) ||
	    (r = get_number(reader, "ip", 0, &ip)))
		return r;
	event->fault.address = (uint64_t)address;
	event->fault.ip = (uint64_t)ip;
	return 0;
}

static int read_signal(struct reader *reader, struct pp_event *event)
{
	int64_t number, sender;
	int r;

	event->kind = PP_EVENT_SIGNAL;
	event->signal.delivered = strcmp(reader->words[1], "delivered") == 0;
	if ((r = need_thread(reader, event)) || (r = need_number(reader, "number", &number)) ||
	    (r = get_number(reader, "sender", PP_TID_UNKNOWN, &sender)))
		return r;
	event->signal.number = (int)number;
	event->signal.sender_tid = (int32_t)sender;
	event->signal.sender = thread_at(reader, sender, event->time_ns);
	return 0;
}

static int read_block(struct reader *reader, struct pp_event *event)
{
	int64_t bytes;
	int r;

	event->kind = PP_EVENT_BLOCK;
	event->block.is_write = has_flag(reader, "write");
	if ((r = need_thread(reader, event)) || (r = get_number(reader, "bytes", 0, &bytes)))
		return r;
	event->block.bytes = (uint64_t)bytes;
	return 0;
}

/* Events that have no field except their CPU. */
static int read_of_cpu(struct reader *reader, struct pp_event *event)
{
	event->kind = strcmp(reader->words[1], "timer") == 0 ? PP_EVENT_TIMER : PP_EVENT_UNSEEN;
	return 0;
}

static int read_lost(struct reader *reader, struct pp_event *event)
{
	int64_t count, tid;
	int r;

	event->kind = PP_EVENT_LOST;
	if ((r = need_number(reader, "count", &count)) || (r = get_number(reader, "tid", 0, &tid)))
		return r;
	event->lost.count = (uint64_t)count;
	event->thread = thread_at(reader, tid, event->time_ns);
	return 0;
}

/* path=0x400,0x500 */
static int get_path(struct reader *reader, const struct pp_path **ret)
{
	const char *value = find_value(reader, "path");
	g_auto(GStrv) parts = value ? g_strsplit(value, ",", -1) : NULL;
	uint64_t addresses[ST_PATH_MAX];
	unsigned n = 0;

	*ret = NULL;
	if (!value)
		return 0;
	for (; n < ST_PATH_MAX && parts[n]; n++) {
		int64_t address;
		int r = parse_number(reader, "path", parts[n], &address);

		if (r)
			return r;
		addresses[n] = (uint64_t)address;
	}
	*ret = pp_model_path(reader->text->model, addresses, n);
	return 0;
}

static int read_sample(struct reader *reader, struct pp_event *event)
{
	int64_t weight, end;
	int r;

	event->kind = PP_EVENT_SAMPLE;
	if ((r = need_thread(reader, event)) ||
	    (r = get_number(reader, "weight", SAMPLE_NS, &weight)) ||
	    (r = get_number(reader, "end", ST_PATH_OUTERMOST, &end)) ||
	    (r = get_path(reader, &event->sample.path)))
		return r;
	event->thread->process->has_stacks = true;
	event->sample.weight_ns = (uint64_t)weight;
	event->sample.end = (unsigned)end;
	return 0;
}

static int read_operation(struct reader *reader, struct pp_event *event, enum st_event op)
{
	int64_t object, result, site, holder, value, more, conditionals, order;
	int r;

	event->kind = PP_EVENT_SYNC;
	event->sync.op = op;
	if ((r = need_thread(reader, event)) || (r = need_number(reader, "object", &object)) ||
	    (r = get_number(reader, "result", 0, &result)) ||
	    (r = get_number(reader, "site", 0, &site)) ||
	    (r = get_number(reader, "holder", 0, &holder)) ||
	    (r = get_number(reader, "value", 0, &value)) ||
	    (r = get_number(reader, "mutex", value, &value)) ||
	    (r = get_number(reader, "routine", value, &value)) ||
	    (r = get_number(reader, "more", 0, &more)) ||
	    (r = get_number(reader, "conditionals", 0, &conditionals)) ||
	    (r = get_number(reader, "order", 0, &order)) ||
	    (r = get_path(reader, &event->sync.path)))
		return r;
	event->sync.object = (uint64_t)object;
	event->sync.result = (uint8_t)result;
	event->sync.site = (uint64_t)site;
	event->sync.holder = (uint32_t)holder;
	event->sync.value = (uint64_t)value;
	event->sync.more_tries = (uint64_t)more;
	event->sync.conditionals = (uint64_t)conditionals;
	event->sync.order = (uint64_t)order;
	return 0;
}

static int read_io(struct reader *reader, struct pp_event *event)
{
	const char *name = find_value(reader, "call");
	int64_t duration_ns, fd, object, error, site;
	int r;

	event->kind = PP_EVENT_IO;
	event->io.call = name ? pp_io_find(name) : ST_N_IO_CALLS;
	if (event->io.call == ST_N_IO_CALLS)
		return fail(reader, "io: no call= of that name");
	if ((r = need_thread(reader, event)) || (r = need_number(reader, "for", &duration_ns)) ||
	    (r = get_number(reader, "fd", -1, &fd)) ||
	    (r = get_number(reader, "object", fd, &object)) ||
	    (r = get_number(reader, "error", 0, &error)) ||
	    (r = get_number(reader, "site", 0, &site)) || (r = get_path(reader, &event->io.path)))
		return r;
	event->io.duration_ns = (uint64_t)duration_ns;
	event->io.fd = (int)fd;
	event->io.object = (uint64_t)object;
	event->io.error = (uint8_t)error;
	event->io.site = (uint64_t)site;
	reader->is_late = has_flag(reader, "late");
	return 0;
}

static int read_segment(struct reader *reader, struct pp_event *event)
{
	const char *read = find_value(reader, "r"), *written = find_value(reader, "w");
	const char *changed = find_value(reader, "c");
	int64_t duration_ns, site, reads, writes, left_out, flags;
	GArray *order;
	int r;

	event->kind = PP_EVENT_SEGMENT;
	if ((r = need_thread(reader, event)) || (r = get_number(reader, "for", 0, &duration_ns)) ||
	    (r = get_number(reader, "site", 0, &site)) ||
	    (r = get_number(reader, "reads", pp_access_text_count(read), &reads)) ||
	    (r = get_number(reader, "writes", pp_access_text_count(written), &writes)) ||
	    (r = get_number(reader, "left_out", 0, &left_out)) ||
	    (r = get_number(reader, "flags", 0, &flags)))
		return r;
	event->segment.set = pp_access_text_set(reader->text->model->access_sets, read, written,
						changed, (uint64_t)site);
	if (!event->segment.set)
		return fail(reader, "segment: not a list of ADDRESS+LENGTH");
	g_ptr_array_add(reader->text->sets, event->segment.set);
	order = pp_access_text_order(read, written);
	g_ptr_array_add(reader->text->orders, order);
	event->segment.order = (const struct pp_access_order *)(const void *)order->data;
	event->segment.n_order = order->len;
	event->segment.duration_ns = (uint64_t)duration_ns;
	event->segment.reads = (uint64_t)reads;
	event->segment.writes = (uint64_t)writes;
	event->segment.left_out = (uint64_t)left_out;
	event->segment.flags = (unsigned)flags;
	return 0;
}

static int read_heap(struct reader *reader, struct pp_event *event)
{
	int64_t address, size, site;
	int r;

	event->kind =
	    strcmp(reader->words[1], "heap_block") == 0 ? PP_EVENT_HEAP_BLOCK : PP_EVENT_HEAP_FREED;
	if ((r = need_thread(reader, event)) || (r = need_number(reader, "address", &address)) ||
	    (r = need_number(reader, "size", &size)) || (r = get_number(reader, "site", 0, &site)))
		return r;
	event->heap.address = (uint64_t)address;
	event->heap.size = (uint64_t)size;
	event->heap.site = (uint64_t)site;
	return 0;
}

static int read_kind(struct reader *reader, struct pp_event *event)
{
	static const struct {
		const char *name;
		int (*read)(struct reader *reader, struct pp_event *event);
	} kinds[] = {
	    {"switch", read_switch},
	    {"waking", read_waking},
	    {"fork", read_fork},
	    {"state", read_state},
	    {"exit", read_exit},
	    {"exec", read_exec},
	    {"lost", read_lost},
	    {"sample", read_sample},
	    {"call", read_call},
	    {"return", read_call},
	    {"syscall_entry", read_syscall},
	    {"syscall_exit", read_syscall},
	    {"fault", read_fault},
	    {"signal", read_signal},
	    {"delivered", read_signal},
	    {"block", read_block},
	    {"timer", read_of_cpu},
	    {"unseen", read_of_cpu},
	    {"io", read_io},
	    {"segment", read_segment},
	    {"heap_block", read_heap},
	    {"heap_freed", read_heap},
	};
	const char *name = reader->words[1];

	if (!name)
		return fail(reader, "a time without an event");
	for (unsigned i = 0; i < G_N_ELEMENTS(kinds); i++)
		if (strcmp(name, kinds[i].name) == 0)
			return kinds[i].read(reader, event);
	for (enum st_event op = ST_EVENT_site + 1; op < ST_N_EVENTS; op++)
		if (strcmp(name, pp_sync_name(op)) == 0)
			return read_operation(reader, event, op);
	return fail(reader, "unknown event '%s'", name);
}

static int64_t start_of(const struct pp_model *model, int64_t start_ns)
{
	for (guint i = 0; i < model->threads->len; i++) {
		const struct pp_thread *thread = model->threads->pdata[i];

		if (thread->start_ns != PP_TIME_UNKNOWN)
			start_ns = MIN(start_ns, thread->start_ns);
	}
	return start_ns;
}

/* After all events up to that time. */
static void insert_event(struct reader *reader, const struct pp_event *event)
{
	GArray *events = reader->text->events;
	guint at = events->len;

	while (at && g_array_index(events, struct pp_event, at - 1).time_ns > event->time_ns)
		at--;
	g_array_insert_val(events, at, *event);
}

/* The begin of a blocking call precedes events of other threads that were read before. */
static void insert_begin(struct reader *reader, const struct pp_event *event)
{
	const GArray *events = reader->text->events;
	struct pp_event begin = *event;

	if (event->kind != PP_EVENT_IO || reader->is_late)
		return;
	begin.kind = PP_EVENT_IO_BEGIN;
	begin.cpu = PP_CPU_UNKNOWN;
	begin.time_ns -= (int64_t)event->io.duration_ns;
	for (guint i = 0; i + 1 < events->len; i++) {
		const struct pp_event *before = &g_array_index(events, struct pp_event, i);

		if (before->thread == event->thread &&
		    (before->kind == PP_EVENT_SYNC || before->kind == PP_EVENT_IO))
			begin.time_ns = MAX(begin.time_ns, before->time_ns);
	}
	insert_event(reader, &begin);
	reader->text->model->start_ns = MIN(reader->text->model->start_ns, begin.time_ns);
}

static int read_event(struct reader *reader)
{
	struct pp_model *model = reader->text->model;
	struct pp_event event = {0};
	int64_t cpu;
	int r;

	if ((r = parse_number(reader, "time", reader->words[0], &event.time_ns)))
		return r;
	if (reader->seen_event && event.time_ns < reader->last_ns)
		return fail(reader, "time goes back");
	reader->n_used = 2;
	if ((r = get_number(reader, "cpu", PP_CPU_UNKNOWN, &cpu)))
		return r;
	event.cpu = (int)cpu;
	if ((r = read_kind(reader, &event)) || (r = check_all_used(reader)))
		return r;
	if (!reader->seen_event)
		model->start_ns = start_of(model, event.time_ns);
	model->end_ns = event.time_ns;
	reader->seen_event = true;
	reader->last_ns = event.time_ns;
	g_array_append_val(reader->text->events, event);
	insert_begin(reader, &event);
	return 0;
}

/* -------------------------------------------------------------------------------------------- */

static int read_repeat(struct reader *reader)
{
	GArray *events = reader->text->events;
	guint first = reader->n_before, end = events->len;
	int64_t n, every_ns, stride;
	int r;

	if (!reader->words[1])
		return fail(reader, "repeat without a number");
	reader->n_used = 2;
	if ((r = parse_number(reader, "repeat", reader->words[1], &n)) ||
	    (r = need_number(reader, "every", &every_ns)) ||
	    (r = get_number(reader, "stride", 0, &stride)) || (r = check_all_used(reader)))
		return r;
	for (int64_t i = 1; i < n; i++)
		for (guint e = first; e < end; e++) {
			struct pp_event event = g_array_index(events, struct pp_event, e);

			event.time_ns += i * every_ns;
			if (event.time_ns < reader->last_ns)
				return fail(reader, "time goes back");
			if (event.kind == PP_EVENT_SYNC)
				event.sync.object += (uint64_t)(i * stride);
			reader->last_ns = reader->text->model->end_ns = event.time_ns;
			g_array_append_val(events, event);
		}
	reader->n_before = events->len;
	return 0;
}

static char **split_words(char *line)
{
	GPtrArray *words = g_ptr_array_new();
	char *comment = strchr(line, '#');
	char *rest = line;
	char *word;

	if (comment)
		*comment = '\0';
	while ((word = strtok_r(rest, " \t\r", &rest)))
		g_ptr_array_add(words, g_strdup(word));
	g_ptr_array_add(words, NULL);
	return (char **)g_ptr_array_free(words, FALSE);
}

static int read_line(struct reader *reader)
{
	const char *word = reader->words[0];

	if (!word)
		return 0;
	if (g_ascii_isdigit(word[0]))
		return read_event(reader);
	if (strcmp(word, "repeat") == 0)
		return read_repeat(reader);
	reader->n_before = reader->text->events->len;
	if (strcmp(word, "source") == 0)
		return read_source(reader);
	if (strcmp(word, "process") == 0)
		return read_process(reader);
	if (strcmp(word, "thread") == 0)
		return read_thread(reader);
	return fail(reader, "'%s' is neither a declaration nor a time", word);
}

void pp_text_free(struct pp_text *text)
{
	if (!text)
		return;
	g_ptr_array_unref(text->sets);
	g_ptr_array_unref(text->orders);
	pp_model_free(text->model);
	g_array_unref(text->events);
	g_free(text);
}

int pp_text_read(const char *text, const char *name, unsigned first_line, struct pp_text **ret,
		 struct pp_error *err)
{
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
	struct pp_text *self = g_new0(struct pp_text, 1);
	struct reader reader = {
	    .text = self,
	    .err = err,
	    .name = name,
	};
	int r = 0;

	self->model = pp_model_new(name);
	self->events = g_array_new(FALSE, FALSE, sizeof(struct pp_event));
	self->sets = g_ptr_array_new_with_free_func((GDestroyNotify)pp_access_set_unref);
	self->orders = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);
	self->has_kernel = self->has_switch_pairs = self->has_wakings = true;
	for (unsigned i = 0; lines[i] && !r; i++) {
		reader.line = first_line + i;
		reader.words = split_words(lines[i]);
		r = read_line(&reader);
		g_strfreev(reader.words);
	}
	if (r) {
		pp_text_free(self);
		return r;
	}
	*ret = self;
	return 0;
}
