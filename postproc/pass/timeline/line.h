/* SPDX-License-Identifier: MIT */
/* The words of a timeline's lines. */
#ifndef PP_PASS_TIMELINE_LINE_H
#define PP_PASS_TIMELINE_LINE_H

#include "pass/timeline/timeline.h"

/* "worker (tid 7)"; where it is not ours (NULL), by its tid and name, as far as they are known. */
void pp_timeline_add_thread(GString *text, const struct pp_thread *thread, int64_t tid,
			    const char *comm);

/* " = 3", " = -EAGAIN" */
void pp_timeline_add_result(GString *text, int64_t result);

/* "read(fd=3, buf=0x7f0000000000, count=100)" */
void pp_timeline_add_syscall(GString *text, const struct pp_event *event);

/* The descriptor that it is about; -1: none. */
int64_t pp_timeline_descriptor(const struct pp_event *event);

/* "SIGUSR1" */
void pp_timeline_add_signal(GString *text, int number);

/* "after 3.01 ms: blocked 2.10 ms (mutex), runnable 910 us" */
void pp_timeline_add_return(GString *text, const struct pp_timeline_line *line);

#endif
