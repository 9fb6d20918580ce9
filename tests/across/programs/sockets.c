/* SPDX-License-Identifier: MIT */
/*
 * sockets ROUNDS: threads that send bytes to each other and wait for the answer, all at once: tcp_a
 * and tcp_b by TCP, six_a and six_b by TCP over IPv6 (if that is available), udp_a and udp_b by
 * UDP. They print nothing. A datagram that is lost ends the threads of UDP early.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <err.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

union address {
	struct sockaddr any;
	struct sockaddr_in four;
	struct sockaddr_in6 six;
};

struct side {
	const char *name;
	int fd;
	bool begins;
};

static int rounds;

static void set_loopback(union address *address, int family)
{
	memset(address, 0, sizeof(*address));
	address->any.sa_family = (sa_family_t)family;
	if (family == AF_INET)
		address->four.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	else
		address->six.sin6_addr = in6addr_loopback;
}

/* A socket bound to a free port; -1: the family is not available. */
static int bound(int family, int type, union address *address)
{
	socklen_t size = sizeof(*address);
	int fd = socket(family, type, 0);

	set_loopback(address, family);
	if (fd < 0 ||
	    bind(fd, &address->any,
		 family == AF_INET ? sizeof(address->four) : sizeof(address->six)) != 0 ||
	    getsockname(fd, &address->any, &size) != 0)
		return -1;
	return fd;
}

static void must_connect(int fd, const union address *address)
{
	if (connect(fd, &address->any,
		    address->any.sa_family == AF_INET ? sizeof(address->four)
						      : sizeof(address->six)) != 0)
		err(1, "connect");
}

static bool open_tcp(int family, int fds[2])
{
	union address address;
	int listener = bound(family, SOCK_STREAM, &address), on = 1;

	if (listener < 0 && family == AF_INET6)
		return false;
	if (listener < 0 || listen(listener, 1) != 0)
		err(1, "listen");
	fds[0] = socket(family, SOCK_STREAM, 0);
	must_connect(fds[0], &address);
	fds[1] = accept(listener, NULL, NULL);
	if (fds[1] < 0)
		err(1, "accept");
	for (int i = 0; i < 2; i++)
		setsockopt(fds[i], IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	return true;
}

static void open_udp(int fds[2])
{
	const struct timeval limit = {.tv_sec = 5};
	union address addresses[2];

	for (int i = 0; i < 2; i++) {
		fds[i] = bound(AF_INET, SOCK_DGRAM, &addresses[i]);
		setsockopt(fds[i], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	}
	for (int i = 0; i < 2; i++)
		must_connect(fds[i], &addresses[1 - i]);
}

static void *run(void *data)
{
	const struct side *side = data;
	char byte = 'x';

	pthread_setname_np(pthread_self(), side->name);
	for (int i = 0; i < rounds; i++) {
		if (side->begins && send(side->fd, &byte, 1, 0) != 1)
			err(1, "send");
		if (recv(side->fd, &byte, 1, 0) != 1)
			return NULL;
		if (!side->begins && send(side->fd, &byte, 1, 0) != 1)
			err(1, "send");
	}
	return NULL;
}

int main(int argc, char **argv)
{
	static const char *const names[] = {"tcp_a", "tcp_b", "udp_a", "udp_b", "six_a", "six_b"};
	struct side sides[6];
	pthread_t threads[6];
	int fds[6], n = 4;

	rounds = argc > 1 ? atoi(argv[1]) : 1000;
	open_tcp(AF_INET, fds);
	open_udp(fds + 2);
	if (open_tcp(AF_INET6, fds + 4))
		n = 6;
	for (int i = 0; i < n; i++) {
		sides[i] = (struct side){names[i], fds[i], i % 2 == 0};
		if (pthread_create(&threads[i], NULL, run, &sides[i]) != 0)
			errx(1, "pthread_create");
	}
	for (int i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
