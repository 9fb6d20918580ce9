/* SPDX-License-Identifier: MIT */
/*
 * A process may give up its rights, or change its root or mounts: then it cannot reach the capture.
 * `record` can, and listens on a socket in the abstract namespace, which belongs to no file system.
 * It makes and opens the files that the process asks for, and passes their descriptors to a step of
 * files.h.  A program that is executed then knows nothing of the capture: it tells `record` that it
 * is not recorded.
 *
 * One request is one connection.  Either side proves that it knows the secret of `session`, which
 * no other user can read; the process also compares the number of the process that listens, before
 * it says anything.
 */
#ifndef GM_RUNTIME_RECORDER_H
#define GM_RUNTIME_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "runtime/capture.h"

enum gm_recorder_kind {
	GM_RECORDER_WORD = 1, /* the sender is not recorded: `code`, -errno */
	GM_RECORDER_OPEN = 2, /* `name` with `flags`; the reply has a descriptor */
	GM_RECORDER_MKDIR = 3,
	GM_RECORDER_RENAME = 4, /* to `to` */
	GM_RECORDER_UNLINK = 5,
	GM_RECORDER_REMOVE = 6, /* a directory and all in it */
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
	char name[GM_RECORDER_NAME_BYTES], to[GM_RECORDER_NAME_BYTES]; /* below the capture */
};

struct gm_recorder_reply {
	uint64_t proof[2]; /* the second half, if the request had the first */
	int64_t code;	   /* 0 or -errno */
};

/* The address for a capture, by the path of its configuration; returns its length. */
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

/* This process belongs to a capture that `record` made. */
void gm_recorder_set(const struct gm_capture *capture);

/*
 * Has `record` do that with a file below the capture.  Only in a step of gm_files_run().  A
 * descriptor or 0; -errno; -ENOTCONN: there is no `record` that answers.
 */
int gm_recorder_ask(enum gm_recorder_kind kind, const char *name, const char *to, int flags);

/*
 * Tells `record` that this process is not recorded, and why.  Only in a step of gm_files_run(),
 * since it opens a socket.  False: there is no `record`, or it cannot be told.
 */
bool gm_recorder_told(long code);

/* In the child of fork() of such a process: the same of itself. */
void gm_recorder_forked(void);

#endif
