/* SPDX-License-Identifier: MIT */
/*
 * A process that gives up its rights, or changes its root or mounts, can no longer reach the
 * capture. `record` still can, and listens on a socket in the abstract namespace, which belongs to
 * no file system. It makes and opens the files that the process requests, and passes their
 * descriptors to a step of helper_task.h. A program executed afterwards knows nothing of the
 * capture, and reports to `record` that it is not recorded.
 *
 * One request is one connection. Each side proves that it knows the secret of `session`, which no
 * other user can read; the process also compares the pid of the listener before it sends any
 * content.
 */
#ifndef GM_RUNTIME_RECORDER_H
#define GM_RUNTIME_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "runtime/capture/capture.h"

enum gm_recorder_kind {
	GM_RECORDER_NOTICE = 1, /* the sender is not recorded: `code`, -errno */
	GM_RECORDER_OPEN = 2,	/* `name` with `flags`; the reply has a descriptor */
	GM_RECORDER_MKDIR = 3,
	GM_RECORDER_RENAME = 4, /* new name: `to` */
	GM_RECORDER_UNLINK = 5,
	GM_RECORDER_REMOVE = 6, /* a directory and its contents */
};

#define GM_RECORDER_MAGIC      UINT64_C(0x32726f772d746d67)
#define GM_RECORDER_NAME_BYTES 80

struct gm_recorder_request {
	uint64_t magic;
	uint64_t proof[2]; /* the first half of the secret; 0: the sender cannot read it */
	int32_t kind;
	int32_t code;
	int32_t flags;
	int32_t reserved;
	char name[GM_RECORDER_NAME_BYTES], to[GM_RECORDER_NAME_BYTES]; /* relative to the capture */
};

struct gm_recorder_reply {
	uint64_t proof[2]; /* the second half, if the request had the first */
	int64_t code;	   /* 0 or -errno */
};

/* Computes the address for a capture from the path of its configuration; returns its length. */
static inline socklen_t gm_recorder_address(const char *config, struct sockaddr_un *ret)
{
	static const char digits[] = "0123456789abcdef";
	uint64_t hash = 0xcbf29ce484222325; /* FNV-1a */
	char *at = ret->sun_path;

	for (const char *p = config; *p != '\0'; p++)
		hash = (hash ^ (unsigned char)*p) * 0x100000001b3;
	ret->sun_family = AF_UNIX;
	*at++ = '\0';
	for (const char *p = "gprof-mt/record/"; *p != '\0'; p++)
		*at++ = *p;
	for (unsigned i = 0; i < 16; i++)
		*at++ = digits[hash >> (60 - 4 * i) & 15];
	return (socklen_t)(at - (char *)ret);
}

/* Sets the capture, made by `record`, to which this process belongs. */
void gm_recorder_set(const struct gm_capture *capture);

/*
 * Requests an operation on a file below the capture. Only in a step of gm_files_run(). Returns a
 * descriptor or 0; -errno; -ENOTCONN: no `record` answers.
 */
int gm_recorder_ask(enum gm_recorder_kind kind, const char *name, const char *to, int flags);

/*
 * Reports to `record` that this process is not recorded, and why. Only in a step of gm_files_run(),
 * since it opens a socket. Returns false if there is no `record`, or it cannot be reached.
 */
bool gm_recorder_report(long code);

/* In the child of fork() of such a process: reports the same for the child. */
void gm_recorder_forked(void);

#endif
