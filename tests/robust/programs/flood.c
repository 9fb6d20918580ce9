/* SPDX-License-Identifier: MIT */
/*
 * flood CAPTURE OVER MAX: connects to the `record` of CAPTURE (runtime/recorder.h) again and again,
 * as fast as it is let, with a request that is to be refused.  Ends with 0 when nobody listens any
 * more, with 1 when it was let MAX times after the file OVER was there.  It says "first" when it
 * was let for the first time.
 */
#define _GNU_SOURCE
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define REQUEST_BYTES 200

static socklen_t set_address(const char *capture, struct sockaddr_un *address)
{
	uint64_t value = 0xcbf29ce484222325u;
	char path[4096];
	int n;

	snprintf(path, sizeof(path), "%s/config", capture);
	for (const char *at = path; *at != '\0'; at++)
		value = (value ^ (unsigned char)*at) * 0x100000001b3u;
	*address = (struct sockaddr_un){.sun_family = AF_UNIX};
	n = snprintf(address->sun_path + 1, sizeof(address->sun_path) - 1,
		     "gprof-mt/record/%016llx", (unsigned long long)value);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
}

int main(int argc, char **argv)
{
	static const char request[REQUEST_BYTES];
	struct sockaddr_un address;
	socklen_t n_bytes;
	long n = 0, n_late = 0, most;

	if (argc != 4)
		return 2;
	n_bytes = set_address(argv[1], &address);
	most = atol(argv[3]);
	while (n_late < most) {
		int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);

		if (fd < 0)
			return 2;
		if (connect(fd, (const struct sockaddr *)&address, n_bytes) == 0) {
			if (n++ == 0)
				puts("first"), fflush(stdout);
			send(fd, request, sizeof(request), MSG_NOSIGNAL);
			n_late += access(argv[2], F_OK) == 0;
		} else if (n > 0) {
			break;
		}
		close(fd);
	}
	return n_late >= most;
}
