/* SPDX-License-Identifier: MIT */
/*
 * How far the process has read, in bytes of streams, for another thread that shows it.  Several
 * threads may read at the same time.
 */
#ifndef PP_CORE_PROGRESS_H
#define PP_CORE_PROGRESS_H

#include <stdint.h>

struct pp_progress {
	unsigned n_readings; /* begun so far */
	unsigned n_active;   /* of these, not ended */
	uint64_t read_bytes; /* of the last reading, and those that it overlapped */
	uint64_t all_bytes;  /* ... of about so many */
	/* The file that a server is asked for; "": none.  What has arrived, and in all; 0: not
	 * known. */
	char download[64];
	uint64_t download_bytes, download_all_bytes;
};

/* A reading of that many bytes begins, or ends. */
void pp_progress_begin(uint64_t all_bytes);
void pp_progress_end(void);

/* NULL: the download has ended. */
void pp_progress_download(const char *name, uint64_t n_bytes, uint64_t all_bytes);

void pp_progress_add(uint64_t read_bytes);
struct pp_progress pp_progress_now(void);

#endif
