/* SPDX-License-Identifier: MIT */
/*
 * Implements bpf.h in a build without libbpf or without a BPF compiler: opening fails with the
 * reason, and the next source is tried.
 */
#include "record/bpf/bpf.h"

#include <errno.h>

bool pp_bpf_is_built(void)
{
	return false;
}

bool pp_bpf_tells(enum pp_kevent_kind kind)
{
	(void)kind;
	return false;
}

int pp_bpf_open(struct pp_bpf *bpf, const struct pp_ring *rings, unsigned n_rings, pid_t root,
		bool full, struct pp_error *err)
{
	(void)bpf;
	(void)rings;
	(void)n_rings;
	(void)root;
	(void)full;
	return pp_error_add(err, -ENOTSUP, "this gprof-mt was built without " PP_BPF_LACKS);
}

int pp_bpf_add_thread(struct pp_bpf *bpf, pid_t tid)
{
	(void)bpf;
	(void)tid;
	return -ENOTSUP;
}

size_t pp_bpf_ring_bytes(const struct pp_bpf *bpf)
{
	(void)bpf;
	return 0;
}

void pp_bpf_drain(struct pp_bpf *bpf, unsigned ring,
		  void (*take)(void *data, unsigned ring, struct pp_kevent *event), void *data)
{
	(void)bpf;
	(void)ring;
	(void)take;
	(void)data;
}

uint64_t pp_bpf_unfinished(const struct pp_bpf *bpf)
{
	(void)bpf;
	return 0;
}

uint64_t pp_bpf_stop(struct pp_bpf *bpf)
{
	(void)bpf;
	return 0;
}

void pp_bpf_close(struct pp_bpf *bpf)
{
	(void)bpf;
}
