/* SPDX-License-Identifier: MIT */
/* The sections are written one after the other; the first page stays in memory. */
#include "replay/live/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/operation.h"

#define PATIENCE_NS   UINT64_C(3000000000)
#define PATIENCE_GAPS 4 /* ... and so many times the longest time without an operation */

static bool is_of_pair(const struct pp_schedule_pair *pair, guint thread)
{
	return pair && (thread == pair->first || thread == pair->second);
}

/* The thread's operations that are written, with that which begins a section of the pair. */
static guint n_ops_of(const struct pp_schedule *schedule, const struct pp_schedule_pair *pair,
		      guint number)
{
	const struct pp_schedule_thread *thread = schedule->threads->pdata[number];
	uint64_t n = pair ? pair->n_ops[number] + is_of_pair(pair, number) : thread->ops->len;

	return (guint)MIN(n, thread->ops->len);
}

static const struct st_schedule_op *section_op(const struct pp_schedule *schedule,
					       const struct pp_schedule_pair *pair, guint number)
{
	const struct pp_schedule_thread *thread = schedule->threads->pdata[number];

	return pair->n_ops[number] < thread->ops->len
		   ? &g_array_index(thread->ops, struct st_schedule_op, pair->n_ops[number])
		   : NULL;
}

/* The thread's acquisitions between two turns of the lock. */
static uint32_t count_between(const struct pp_schedule_thread *thread,
			      const struct st_schedule_op *first,
			      const struct st_schedule_op *second)
{
	uint32_t n = 0;

	for (guint i = 0; i < thread->ops->len; i++) {
		const struct st_schedule_op *op =
		    &g_array_index(thread->ops, struct st_schedule_op, i);

		n += op->turn != ST_TURN_NONE && op->object == first->object &&
		     op->turn > first->turn && op->turn < second->turn;
	}
	return n;
}

/* Recursive acquisitions of the first thread have turns between those of the sections. */
bool pp_schedule_pair_is_good(const struct pp_schedule *schedule,
			      const struct pp_schedule_pair *pair)
{
	const struct st_schedule_op *first = section_op(schedule, pair, pair->first);
	const struct st_schedule_op *second = section_op(schedule, pair, pair->second);

	return first && second && first->turn != ST_TURN_NONE && second->turn != ST_TURN_NONE &&
	       first->object == second->object && second->turn > first->turn &&
	       count_between(schedule->threads->pdata[pair->first], first, second) ==
		   second->turn - first->turn - 1;
}

static void write_threads(FILE *file, const struct pp_schedule *schedule,
			  const struct pp_schedule_pair *pair)
{
	uint64_t first = 0;

	for (guint i = 0; i < schedule->threads->len; i++) {
		const struct pp_schedule_thread *thread = schedule->threads->pdata[i];
		guint n_ops = n_ops_of(schedule, pair, i);
		struct st_schedule_thread out = {.creator = thread->creator,
						 .nth = thread->nth,
						 .first_op = first,
						 .n_ops = n_ops,
						 .ended =
						     thread->ended && n_ops == thread->ops->len};

		fwrite(&out, sizeof(out), 1, file);
		first += n_ops;
	}
	for (guint i = 0; i < schedule->threads->len; i++) {
		const struct pp_schedule_thread *thread = schedule->threads->pdata[i];

		fwrite(thread->ops->data, sizeof(struct st_schedule_op),
		       n_ops_of(schedule, pair, i), file);
	}
}

/* Returns the modules of the sites, of const char *. */
static GPtrArray *write_sites(FILE *file, const struct pp_schedule *schedule)
{
	GPtrArray *modules = g_ptr_array_new();

	for (guint i = 0; i < schedule->sites->len; i++) {
		const struct pp_schedule_site *site =
		    &g_array_index(schedule->sites, struct pp_schedule_site, i);
		struct st_schedule_site out = {.offset = site->offset};

		if (!g_ptr_array_find(modules, site->module, &out.module)) {
			out.module = modules->len;
			g_ptr_array_add(modules, (char *)site->module);
		}
		fwrite(&out, sizeof(out), 1, file);
	}
	return modules;
}

static void write_modules(FILE *file, const GPtrArray *modules)
{
	for (guint i = 0; i < modules->len; i++) {
		struct st_schedule_module out = {{0}};

		g_strlcpy(out.name, modules->pdata[i], sizeof(out.name));
		fwrite(&out, sizeof(out), 1, file);
	}
}

/* The line of a module without call sites cannot be found; its module is one that there is not. */
static void write_lines(FILE *file, const struct pp_schedule_pair *pair, GPtrArray *modules)
{
	for (guint i = 0; i < pair->lines->len; i++) {
		const struct pp_schedule_line *line =
		    &g_array_index(pair->lines, struct pp_schedule_line, i);
		struct st_schedule_line out = {.offset = line->offset,
					       .bytes = line->bytes,
					       .module = ST_SCHEDULE_NONE,
					       .thread = line->thread};

		if (line->module && !g_ptr_array_find(modules, line->module, &out.module))
			out.module = modules->len;
		fwrite(&out, sizeof(out), 1, file);
	}
}

/* The acquisitions of the pair's lock before the pair. */
static uint32_t count_before(const struct pp_schedule *schedule,
			     const struct pp_schedule_pair *pair)
{
	uint32_t lock = section_op(schedule, pair, pair->first)->object, n = 0;

	for (guint i = 0; i < schedule->threads->len; i++) {
		const struct pp_schedule_thread *thread = schedule->threads->pdata[i];

		for (uint64_t k = 0; k < pair->n_ops[i] && k < thread->ops->len; k++) {
			const struct st_schedule_op *op =
			    &g_array_index(thread->ops, struct st_schedule_op, k);

			n += op->turn != ST_TURN_NONE && op->object == lock;
		}
	}
	return n;
}

static void set_pair(struct st_schedule *header, const struct pp_schedule *schedule,
		     const struct pp_schedule_pair *pair)
{
	header->pair = (struct st_schedule_pair){
	    .is_set = 1,
	    .first = pair->is_reversed ? pair->second : pair->first,
	    .second = pair->is_reversed ? pair->first : pair->second,
	    .n_before = count_before(schedule, pair),
	    .n_lines = pair->lines->len,
	};
	header->n_ops = 0;
	for (guint i = 0; i < schedule->threads->len; i++)
		header->n_ops += n_ops_of(schedule, pair, i);
}

static uint64_t patience_ns(const struct pp_schedule *schedule)
{
	uint64_t gaps_ns = PATIENCE_GAPS * (uint64_t)schedule->longest_gap_ns;

	return MIN(PATIENCE_NS + gaps_ns, ST_SCHEDULE_PATIENCE_MOST_NS);
}

static void write_schedule(FILE *file, const struct pp_schedule *schedule,
			   const struct pp_schedule_pair *pair)
{
	union {
		struct st_schedule header;
		uint8_t bytes[ST_SCHEDULE_PAGE_BYTES];
	} page = {.header = {.version = ST_SCHEDULE_VERSION,
			     .n_events = ST_N_EVENTS,
			     .n_threads = schedule->threads->len,
			     .n_objects = schedule->n_objects,
			     .n_sites = schedule->sites->len,
			     .n_ops = schedule->n_ops,
			     .patience_ns = patience_ns(schedule)}};
	g_autoptr(GPtrArray) modules = NULL;

	memcpy(page.header.magic, ST_SCHEDULE_MAGIC, sizeof(page.header.magic));
	if (pair)
		set_pair(&page.header, schedule, pair);
	fwrite(&page, sizeof(page), 1, file);
	write_threads(file, schedule, pair);
	modules = write_sites(file, schedule);
	write_modules(file, modules);
	if (pair)
		write_lines(file, pair, modules);
	page.header.n_modules = modules->len;
	page.header.file_bytes = (uint64_t)ftell(file);
	rewind(file);
	fwrite(&page, sizeof(page), 1, file);
}

struct st_schedule *pp_schedule_write(const struct pp_schedule *schedule,
				      const struct pp_schedule_pair *pair, const char *path,
				      struct pp_error *err)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "w+");
	void *page = MAP_FAILED;

	if (file) {
		write_schedule(file, schedule, pair);
		if (fflush(file) == 0 && !ferror(file))
			page = mmap(NULL, ST_SCHEDULE_PAGE_BYTES, PROT_READ, MAP_SHARED, fd, 0);
	}
	if (page == MAP_FAILED)
		pp_error_add(err, -errno, "%s: cannot write the schedule: %s", path,
			     g_strerror(errno));
	if (file)
		fclose(file);
	return page == MAP_FAILED ? NULL : page;
}

void pp_schedule_page_free(struct st_schedule *page)
{
	if (page)
		munmap(page, ST_SCHEDULE_PAGE_BYTES);
}

/* --- the outcome ------------------------------------------------------------------------------ */

static void append_operation(GString *text, uint32_t event, const char *site)
{
	g_string_append(text, pp_sync_name(MIN(event, (uint32_t)ST_N_EVENTS)));
	if (site)
		g_string_append_printf(text, " at %s", site);
}

/* The operation that the schedule has there, if there is one. */
static void append_recorded(GString *text, const struct pp_schedule *schedule,
			    const struct st_schedule_outcome *outcome, const char *before)
{
	const struct pp_schedule_thread *thread = outcome->thread < schedule->threads->len
						      ? schedule->threads->pdata[outcome->thread]
						      : NULL;
	const struct st_schedule_op *op;

	if (!thread || outcome->op >= thread->ops->len)
		return;
	op = &g_array_index(thread->ops, struct st_schedule_op, outcome->op);
	g_string_append(text, before);
	append_operation(
	    text, op->event,
	    op->site < schedule->sites->len
		? g_array_index(schedule->sites, struct pp_schedule_site, op->site).name
		: NULL);
}

char *pp_schedule_left_text(const struct pp_schedule *schedule,
			    const struct st_schedule_outcome *outcome, const char *site)
{
	static const char *const whys[ST_N_LEFT_WHYS] = {
	    [ST_LEFT_OTHER] = "another operation",
	    [ST_LEFT_MORE] = "an operation after the thread's last recorded one",
	    [ST_LEFT_FEWER] = "the thread ended before it",
	    [ST_LEFT_THREAD] = "a thread was created that was not recorded",
	    [ST_LEFT_STUCK] = "its turn did not come",
	    [ST_LEFT_RESULT] = "another result",
	    [ST_LEFT_DAMAGED] = "the schedule is damaged",
	};
	GString *text = g_string_new(NULL);

	g_string_append_printf(text, "thread %u, operation %" PRIu64 ": %s", outcome->thread,
			       outcome->op + 1,
			       outcome->why < ST_N_LEFT_WHYS ? whys[outcome->why] : "?");
	switch ((enum st_schedule_why)outcome->why) {
	case ST_LEFT_OTHER:
	case ST_LEFT_MORE:
		g_string_append(text, ": ");
		append_operation(text, outcome->event, site);
		append_recorded(text, schedule, outcome, ", recorded as ");
		break;
	case ST_LEFT_FEWER:
	case ST_LEFT_STUCK:
	case ST_LEFT_RESULT:
		append_recorded(text, schedule, outcome, ": ");
		break;
	default:
		break;
	}
	return g_string_free(text, FALSE);
}
