/* SPDX-License-Identifier: MIT */
/*
 * A process may give up its rights, or change its root or mounts, and then execute a program.  That
 * program can neither reach the capture nor has it anything mapped.  It tells `record`, which
 * listens on a socket in the abstract namespace: that belongs to no file system.
 */
#ifndef GM_RUNTIME_RECORDER_H
#define GM_RUNTIME_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

/* One datagram; the sender's process number comes from the kernel. */
struct gm_recorder_word {
	uint64_t magic;
	int32_t code; /* -errno */
};
#define GM_RECORDER_MAGIC UINT64_C(0x64726f772d746d67)

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

/*
 * Tells `record` that this process is not recorded, and why.  Only in a step of gm_files_run(),
 * since it opens a socket.  False: there is no `record`, or it cannot be told.
 */
bool gm_recorder_told(long code);

/* In the child of fork() of such a process: the same of itself. */
void gm_recorder_forked(void);

#endif
