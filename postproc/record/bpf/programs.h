/* SPDX-License-Identifier: MIT */
/*
 * The programs of the BPF object: which of them are loaded, and the kernel's objections to them.
 * The object is open, and its maps are made.
 */
#ifndef PP_RECORD_BPF_PROGRAMS_H
#define PP_RECORD_BPF_PROGRAMS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/error.h"

#define PP_BPF_MOST_PROGRAMS 11

struct bpf_object;
struct bpf_link;

struct pp_bpf_programs {
	struct bpf_object *object; /* with the maps; NULL: not open */
	struct bpf_link *links[PP_BPF_MOST_PROGRAMS];
	unsigned n_links;
};

#define PP_BPF_NOT_PERMITTED                                                                       \
	"bpf() is not permitted: it needs CAP_BPF and CAP_PERFMON, and no sandbox against it"

/* full: with those of level full; has_senders: with those of senders.bpf.h. */
void pp_bpf_programs_choose(struct pp_bpf_programs *programs, bool full, bool has_senders);

/* Returns 0 or -errno, with the kernel's objection. */
int pp_bpf_programs_load(struct pp_bpf_programs *programs, struct pp_error *err);

/* Returns 0 or -errno; the caller detaches those that are attached. */
int pp_bpf_programs_attach(struct pp_bpf_programs *programs);
void pp_bpf_programs_detach(struct pp_bpf_programs *programs);

/*
 * Returns how often the kernel skipped a program because it was already running on that CPU. Those
 * of senders.bpf.h record no event.
 */
uint64_t pp_bpf_programs_skipped(const struct pp_bpf_programs *programs);

#endif
