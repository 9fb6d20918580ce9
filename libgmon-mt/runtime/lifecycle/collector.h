/* SPDX-License-Identifier: MIT */
/* The kernel's events without `gprof-mt record`. */
#ifndef GM_RUNTIME_COLLECTOR_H
#define GM_RUNTIME_COLLECTOR_H

struct gm_process;

/*
 * Called from a library's constructor: starts `gprof-mt collector` if the configuration named by
 * GPROF_MT_CONFIG asks for kernel events and this library has made the capture. A failure prints
 * one line on stderr.
 */
void gm_collector_start(const struct gm_process *process);

#endif
