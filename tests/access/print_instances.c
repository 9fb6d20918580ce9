/* SPDX-License-Identifier: MIT */
/*
 * print_instances CAPTURE: prints the segments and instances of critical sections that our readers
 * find, one a line, in the order in which they are read:
 *
 *   segment END TID DURATION READS WRITES LEFT_OUT FLAGS LINES
 *   block TID ADDRESS SIZE SITE
 *   freed ADDRESS SIZE
 *   instance BEGIN END TID OBJECT KNOWN READS WRITES LEFT_OUT FLAGS LINES
 *
 * LINES is "-" or ADDRESS:READ:WRITTEN:CHANGED:FIRST_SITE:LAST_SITE,... by address, hexadecimal.
 */
#include <inttypes.h>
#include <stdio.h>

#include "analysis/accesses/sections.h"
#include "capture/capture.h"
#include "events/events.h"

static void print_lines(const struct pp_access_set *set)
{
	if (!set->n)
		printf(" -");
	for (unsigned i = 0; i < set->n; i++) {
		const struct pp_access_line *line = &set->lines[i];

		printf("%c%" PRIx64 ":%" PRIx64 ":%" PRIx64 ":%" PRIx64 ":%" PRIx64 ":%" PRIx64,
		       i ? ',' : ' ', line->address, line->read, line->written, line->changed,
		       line->first_site, line->last_site);
	}
	printf("\n");
}

static void print_instance(void *data, const struct pp_access_instance *instance)
{
	(void)data;
	printf("instance %" PRId64 " %" PRId64 " %u %" PRIx64 " %d %" PRIu64 " %" PRIu64 " %" PRIu64
	       " %u",
	       instance->begin_ns, instance->end_ns, instance->thread->tid,
	       instance->object->address, (int)instance->known, instance->reads, instance->writes,
	       instance->left_out, instance->flags);
	print_lines(instance->set);
}

static void print_block(void *data, const struct pp_process *process, uint64_t address,
			uint64_t size, uint64_t site)
{
	(void)data;
	printf("block %u %" PRIx64 " %" PRIu64 " %" PRIx64 "\n", process->pid, address, size, site);
}

static void print_freed(void *data, const struct pp_process *process, uint64_t address,
			uint64_t size)
{
	(void)data;
	printf("freed %u %" PRIx64 " %" PRIu64 "\n", process->pid, address, size);
}

static void take(void *data, const struct pp_event *event)
{
	if (event->kind == PP_EVENT_SEGMENT) {
		printf("segment %" PRId64 " %u %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %u",
		       event->time_ns, event->thread->tid, event->segment.duration_ns,
		       event->segment.reads, event->segment.writes, event->segment.left_out,
		       event->segment.flags);
		print_lines(event->segment.set);
	}
	pp_access_sections_event(data, event);
}

int main(int argc, char **argv)
{
	static const struct pp_access_listener listener = {
	    .ended = print_instance, .block = print_block, .freed = print_freed};
	struct pp_error err = PP_ERROR_INIT;
	struct pp_pass_context context = {0};
	struct pp_access_sections *sections;
	struct pp_capture *capture;
	int ret = 0;

	if (argc != 2 || pp_capture_open(argv[1], &capture, &err) < 0) {
		g_autofree char *text = argc == 2 ? pp_error_text(&err) : NULL;

		fprintf(stderr, "%s\n", text ? text : "usage: print_instances CAPTURE");
		return 1;
	}
	context.model = capture->model;
	sections = pp_access_sections_new(&context, &listener);
	if (pp_events_read(capture, PP_ACCESS_SECTIONS_KINDS, take, sections, &err) < 0)
		ret = 1;
	pp_access_sections_finish(sections, capture->model->end_ns);
	pp_access_sections_free(sections, NULL);
	printf("sets %u\n", pp_access_sets_count(capture->model->access_sets));
	for (guint i = 0; i < capture->model->problems->len; i++) {
		const struct pp_problem *problem = capture->model->problems->pdata[i];

		printf("problem %s %" PRIu64 "\n", problem->what, problem->count);
	}
	pp_capture_free(capture);
	return ret;
}
