/* SPDX-License-Identifier: MIT */
/* The lines that a profiled program sees on stderr. */
#ifndef GM_RUNTIME_WARN_H
#define GM_RUNTIME_WARN_H

#define GM_WARNING_BYTES 768

/*
 * Prints one line on stderr: "gprof-mt: TEXT\n", by one write; keeps errno. Prints nothing if
 * descriptor 2 is another file than at gm_warn_init(), since that may have the program's data, nor
 * if the write would block: a full pipe, a stopped terminal.
 */
void gm_warn(const char *text);
void gm_warn_init(void);

/* The same, at most once per process, for errors that both libraries have. */
void gm_warn_once(const char *text);

#endif
