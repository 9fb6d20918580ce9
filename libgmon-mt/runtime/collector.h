/* SPDX-License-Identifier: MIT */
/* The kernel's events without `gprof-mt record`. */
#ifndef GM_RUNTIME_COLLECTOR_H
#define GM_RUNTIME_COLLECTOR_H

struct gm_process;

/*
 * From a library's constructor: starts `gprof-mt collector` if the configuration that
 * GPROF_MT_CONFIG names asks for a source of the kernel's events and this library has made the
 * capture.  A failure is one line on stderr.
 */
void gm_collector_start(const struct gm_process *process);

#endif
