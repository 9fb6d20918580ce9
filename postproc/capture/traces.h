/* SPDX-License-Identifier: MIT */
/* The CTF traces in a capture: which directories hold one that can be of it. */
#ifndef PP_CAPTURE_TRACES_H
#define PP_CAPTURE_TRACES_H

#include "capture/capture.h"

/* <parent>/<name>, if it is one, to the list. */
void pp_traces_add(struct pp_capture *capture, GPtrArray *to, const char *parent, const char *name,
		   struct pp_process *process);

/* Those below kernel/, and those below ust/. */
void pp_traces_add_kernel(struct pp_capture *capture);
void pp_traces_add_ust(struct pp_capture *capture);

/* What the kernel's traces of a capture can tell. */
struct pp_kernel_abilities {
	bool has_events;       /* there is a kernel trace at all */
	bool has_switch_pairs; /* a switch says who ran before and who after */
	bool has_wakings;
};

void pp_kernel_abilities(const struct pp_capture *capture, struct pp_kernel_abilities *ret);

#endif
