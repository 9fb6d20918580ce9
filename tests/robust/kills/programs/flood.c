/* SPDX-License-Identifier: MIT */
/*
 * flood CAPTURE OVER MAX: connects to the `record` of CAPTURE (runtime/capture/recorder.h) again
 * and again without a pause, each time with a request that must be refused.  Prints "first" after
 * the first accepted connection.  Exits with 0 as soon as no process listens, with 1 after MAX
 * accepted connections since the file OVER exists.
 *
 * flood CAPTURE silent N: keeps N connections on which it sends nothing, and replaces each that is
 * closed, until no process listens.  Prints "first" as soon as it has made N, and at its end the
 * number of connections that it made.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define REQUEST_BYTES 200
#define SILENT_MAX    1000

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

static int stay_silent(const struct sockaddr_un *address, socklen_t n_bytes, int n)
{
	struct pollfd fds[SILENT_MAX];
	long n_made = 0;

	for (int i = 0; i < n; i++)
		fds[i] = (struct pollfd){.fd = -1, .events = POLLIN};
	for (;; poll(fds, (nfds_t)n, 1)) {
		for (int i = 0; i < n; i++) {
			if (fds[i].fd >= 0 && fds[i].revents == 0)
				continue;
			if (fds[i].fd >= 0)
				close(fds[i].fd);
			fds[i].revents = 0;
			fds[i].fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
			if (connect(fds[i].fd, (const struct sockaddr *)address, n_bytes) == 0) {
				if (++n_made == n)
					puts("first"), fflush(stdout);
			} else if (n_made >= n) {
				printf("%ld\n", n_made);
				return 0;
			} else {
				close(fds[i].fd);
				fds[i].fd = -1;
			}
		}
	}
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
	if (strcmp(argv[2], "silent") == 0)
		return most > 0 && most <= SILENT_MAX ? stay_silent(&address, n_bytes, (int)most)
						      : 2;
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
