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

static void write_threads(FILE *file, const struct pp_schedule *schedule)
{
	uint64_t first = 0;

	for (guint i = 0; i < schedule->threads->len; i++) {
		const struct pp_schedule_thread *thread = schedule->threads->pdata[i];
		struct st_schedule_thread out = {.creator = thread->creator,
						 .nth = thread->nth,
						 .first_op = first,
						 .n_ops = thread->ops->len,
						 .ended = thread->ended};

		fwrite(&out, sizeof(out), 1, file);
		first += thread->ops->len;
	}
	for (guint i = 0; i < schedule->threads->len; i++) {
		const struct pp_schedule_thread *thread = schedule->threads->pdata[i];

		fwrite(thread->ops->data, sizeof(struct st_schedule_op), thread->ops->len, file);
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

static uint64_t patience_ns(const struct pp_schedule *schedule)
{
	uint64_t gaps_ns = PATIENCE_GAPS * (uint64_t)schedule->longest_gap_ns;

	return MIN(PATIENCE_NS + gaps_ns, ST_SCHEDULE_PATIENCE_MOST_NS);
}

static void write_schedule(FILE *file, const struct pp_schedule *schedule)
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
	fwrite(&page, sizeof(page), 1, file);
	write_threads(file, schedule);
	modules = write_sites(file, schedule);
	write_modules(file, modules);
	page.header.n_modules = modules->len;
	page.header.file_bytes = (uint64_t)ftell(file);
	rewind(file);
	fwrite(&page, sizeof(page), 1, file);
}

struct st_schedule *pp_schedule_write(const struct pp_schedule *schedule, const char *path,
				      struct pp_error *err)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "w+");
	void *page = MAP_FAILED;

	if (file) {
		write_schedule(file, schedule);
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
