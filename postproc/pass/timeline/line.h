/* SPDX-License-Identifier: MIT */
/* The texts of a timeline's lines. */
#ifndef PP_PASS_TIMELINE_LINE_H
#define PP_PASS_TIMELINE_LINE_H

#include "pass/timeline/timeline.h"

/*
 * Appends "worker (tid 7)".  For a thread outside the capture (NULL), uses the tid and the name as
 * far as they are known.
 */
void pp_timeline_add_thread(GString *text, const struct pp_thread *thread, int64_t tid,
			    const char *comm);

/* Appends " = 3" or " = -EAGAIN". */
void pp_timeline_add_result(GString *text, int64_t result);

/* Appends "read(fd=3, buf=0x7f0000000000, count=100)". */
void pp_timeline_add_syscall(GString *text, const struct pp_event *event);

/* The file descriptor argument; -1 if there is none. */
int64_t pp_timeline_descriptor(const struct pp_event *event);

/* Appends "SIGUSR1". */
void pp_timeline_add_signal(GString *text, int number);

/* Appends "after 3.01 ms: blocked 2.10 ms (mutex), runnable 910 us". */
void pp_timeline_add_return(GString *text, const struct pp_timeline_line *line);

#endif
